/** The books of one company, as every source and sink of this connector works with them. */
import type { Notes } from "../../src/ledger/notes.ts";
import type { Surroundings } from "../../src/core/contract.ts";
import type { TrytonConfig } from "./config.ts";
import type { Lookup } from "./lookup.ts";
import { texts, textsOrNone } from "./rows.ts";
import { either, rowsOf } from "./search.ts";
import type { Tryton } from "./wire.ts";

export interface Books {
  /** With the company's currency, ISO 4217. */
  readonly config: TrytonConfig & { readonly currency: string };
  readonly tryton: Tryton;
  readonly lookup: Lookup;
  readonly surroundings: Surroundings;
}

/** Notes on records, for src/ledger/notes.ts. */
export const notesOf = (books: Books): Notes => ({
  async on(resources, beginnings) {
    if (resources.length === 0) return [];
    const likes = beginnings.map((text) => ["message", "like", `${text}%`]);
    const domain = [
      ["resource", "in", resources],
      ...(likes.length === 0 ? [] : [either({}, ...likes)]),
    ];
    const fields = { ...texts("resource"), ...textsOrNone("message") };
    return rowsOf(books, "ir.note", domain, fields);
  },
  async add(resource, message) {
    await books.tryton.call("model.ir.note.create", [[{ resource, message }]]);
  },
});

/** What a note on an invoice is on. */
export const resourceOf = ({ id }: { readonly id: number }): string => `account.invoice,${id}`;
