/** One file that a connector can write. */
import type { Item } from "../../src/core/contract.ts";
import { Refused } from "../../src/core/errors.ts";
import { bytesOf, type DocumentWriter } from "../../src/formats/format.ts";

export interface Emitted {
  /** From the format's own folder. */
  readonly path: string;
  readonly bytes: Buffer;
}

/** What the format has no room for is no file. `control`: of a format whose files are numbered. */
export function written(
  path: string,
  writer: DocumentWriter,
  items: readonly Item[],
  control?: number,
): Emitted[] {
  return emitted(path, () => bytesOf(writer.textOf(items, control), writer.encoding));
}

export function emitted(path: string, bytes: () => Buffer): Emitted[] {
  try {
    return [{ path, bytes: bytes() }];
  } catch (error) {
    if (error instanceof Refused) return [];
    throw error;
  }
}
