/** Parties in the ledger, as documents need them: a code, a name, and the platform's id of the company. */
import type { BookAdapter, Standing } from "../../src/books/adapter.ts";
import { partiesOnce, partyFacts } from "../../src/books/booked.ts";
import { PartyRow } from "./rows.ts";
import { partyChange } from "./sources.ts";
import { reading, table } from "./tables.ts";
import type { Wire } from "./wire.ts";

export function partyAdapter(wire: Wire): BookAdapter<"party", PartyRow> {
  const rows = table(wire, "parties", PartyRow);
  return {
    ...reading(rows, standingOf),
    ...partiesOnce(["posted", "cancelled"], 100),
    expected: async (parties) => parties.map(({ code, name }) => partyFacts(code, name)),
    locate: async (wanted, { signal }) => {
      const marks = wanted.map(({ mark }) => mark);
      const ids = wanted.flatMap(({ number }) => number ?? []);
      return (await rows.search({ marks, ids }, signal)).map(standingOf);
    },
    create: (wanted, call) =>
      rows.create(
        wanted.map(({ mark, document }) => ({ mark, id: document.code, name: document.name })),
        call,
      ),
  };
}

const standingOf = (row: PartyRow): Standing<PartyRow> => ({
  id: row.id,
  mark: row.mark,
  number: row.id,
  party: null,
  rung: row.active ? "posted" : "cancelled",
  unfinished: false,
  touched: row.touched,
  disputed: false,
  payments: [],
  facts: partyFacts(row.id, row.name),
  paid: null,
  change: partyChange(row),
  version: row.version,
  native: row,
});
