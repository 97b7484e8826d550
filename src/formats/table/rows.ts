/** A whole list that comes as rows (a view of a database), read as the table that a profile says it is. */
import type { Change, Page } from "../../core/contract.ts";
import { memoryScratch } from "../../core/scratch.ts";
import { HEADS, type Profile } from "./profile.ts";
import { changesOf, readRecords } from "./records.ts";
import { Sheet } from "./text.ts";

const PAGE = 200;

/**
 * Its pages. A record that cannot be read is a fault with the list's name, its key, the column and the value.
 * @param name how people call the list @param header the columns' names, as all rows have them @param next what a person does
 * about a record that cannot be read
 * @throws PartFault when columns are missing
 */
export async function* pagesOfRows(
  profile: Profile,
  name: string,
  header: readonly string[],
  rows: readonly Readonly<Record<string, string | null>>[],
  next: string,
): AsyncGenerator<Page> {
  const scratch = memoryScratch();
  const cells = rows.map((row) => header.map((column) => row[column] ?? ""));
  const sheet = await Sheet.of(batchOf([header, ...cells]), 1);
  const { nameless } = await readRecords(
    profile,
    new Map([[HEADS, { file: name, sheet }]]),
    {},
    scratch,
  );
  const total = scratch.count();
  for (let at = 0; at === 0 || at < total; at += PAGE) {
    // Rows of a view have no lines.
    const changes = changesOf(scratch, at, PAGE).map(({ id, version, text, fault }): Change => {
      const change = { id, version, text };
      if (fault === undefined) return change;
      return { ...change, fault: { ...fault, message: `${name}, ${id}: ${fault.message}`, next } };
    });
    const list = { name, total, isLast: at + PAGE >= total, isComplete: nameless === 0 };
    yield { changes, position: null, list };
  }
}

// oxlint-disable-next-line require-await -- a sheet takes its batches as they come
async function* batchOf(rows: readonly (readonly string[])[]) {
  yield rows.map((cells, at) => ({ line: at + 1, cells }));
  return null;
}
