/**
 * Tryton's stamps for the walk of src/ledger/stamps.ts: `create_date`, and `write_date` from the first change on (null
 * before it).
 */
import { type Stamps, type StampFeed, stampSource } from "../../../src/ledger/stamps.ts";
import type { Source } from "../../../src/core/contract.ts";
import type { Books } from "../books.ts";
import { as, called } from "../rows.ts";
import { type Domain, either, rowsOf, where } from "../search.ts";
import { stamp } from "../values.ts";
import { unavailable } from "../errors.ts";

/** Rows of one model whose change is a change of a record: the record's own, or those of its parts. */
export interface Part {
  /** `account.invoice.line` */
  readonly model: string;
  /** The field that has the record's id: `invoice`, or `id` for the record itself. */
  readonly record: string;
  /** Which rows. They must not leave it by being changed, or that change is not seen. */
  readonly domain: Domain;
  /** What its position is stored under, where two parts are of one model; its model when left out. */
  readonly name?: string;
  /** See {@link StampFeed}. */
  readonly once?: boolean;
}

const STAMPS = ["create_date", "write_date"] as const;

/** A source of records that are made of these parts. */
export const feed = (books: Books, parts: readonly Part[], details: Stamps["details"]): Source =>
  stampSource({
    feeds: parts.flatMap((part) => STAMPS.map((field) => feedOf(books, part, field))),
    details,
    now: () => books.surroundings.now(),
    unavailable,
  });

function feedOf(books: Books, part: Part, field: (typeof STAMPS)[number]): StampFeed {
  const { model, record, name = model, once = false } = part;
  const fields = { at: called(field, as<string>()), record: called(record, as<number>()) };
  const read = (domain: Domain, direction: "ASC" | "DESC", most: number, signal: AbortSignal) => {
    const order = [
      [field, direction],
      ["id", direction],
    ] as const;
    const rows = [...part.domain, [field, "!=", null], ...unchanged(field), ...domain];
    // Inactive rows have changed too: that is how they became inactive.
    const search = { order, most, inactive: true, signal } as const;
    return rowsOf(books, model, rows, fields, search);
  };
  return {
    name: `${name} ${field}`,
    once,
    async newest(signal) {
      const [newest] = await read([], "DESC", 1, signal);
      return newest?.at ?? null;
    },
    page: ({ at, id }, until, most, signal) =>
      read(after(field, at, id, until), "ASC", most, signal),
  };
}

/** The rows after (at, id), up to a stamp. Comparisons with a stamp that is null are false on every database. */
const after = (field: string, at: string, id: number, until: string): Domain => [
  [field, "<=", stamp(until)],
  either({ [`${field} >`]: stamp(at) }, where({ [`${field} =`]: stamp(at), "id >": id })),
];

/** A row that was changed comes by its write_date. */
const unchanged = (field: string): Domain =>
  field === "create_date" ? where({ "write_date =": null }) : [];
