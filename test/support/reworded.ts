/** Another text for a message of the product: equal messages stay equal, and nothing of the first text is left. */
import { hash } from "node:crypto";

export const REWORDED = /^reworded-[0-9a-f]{16}$/;

/** Strings, and strings in an array; anything else as it is. @public The plugin writes its import. */
export function reworded<T>(value: T): T {
  if (Array.isArray(value)) return value.map((one: unknown) => reworded(one)) as T;
  if (typeof value !== "string" || value === "" || REWORDED.test(value)) return value;
  return `reworded-${hash("sha256", value).slice(0, 16)}` as T;
}
