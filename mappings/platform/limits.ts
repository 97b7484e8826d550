/** The platform's limits on text, kept before anything is sent: nothing is ever cut off. */
import { Refused } from "../../src/core/errors.ts";

/**
 * The text without its outer white space; undefined when there is none.
 * @throws Refused when it has more than `max` UTF-16 units.
 */
export function within(max: number, field: string, value: string | null): string | undefined {
  const text = value?.trim() ?? "";
  if (text.length > max)
    throw new Refused({
      code: "too-long",
      message: `${field} has ${text.length} characters, the platform takes ${max}: "${text.slice(0, 60)}…"`,
      next: `Shorten ${field} in the ERP; it is taken when it is read again. Or enter this one on the platform by hand.`,
      field,
    });
  return text === "" ? undefined : text;
}

/** The same for a field that must not be empty. @throws Refused */
export function needed(max: number, field: string, value: string | null): string {
  const text = within(max, field, value);
  if (text !== undefined) return text;
  throw new Refused({
    code: "missing",
    message: `${field} is empty`,
    next: `Fill in ${field} in the ERP; it is taken when it is read again.`,
    field,
  });
}
