/** Parties in the ledger, as documents need them: a code, a name, and the platform's id of the company. */
import { type LedgerAdapter, type Entry, PLAIN_ENTRY } from "../../src/ledger/port.ts";
import { partiesOnce, partyFacts } from "../../src/ledger/entries.ts";
import { PartyRow } from "./rows.ts";
import { partyChange } from "./sources.ts";
import { reading, table } from "./tables.ts";
import type { Wire } from "./wire.ts";

export function partyAdapter(wire: Wire): LedgerAdapter<"party", PartyRow> {
  const rows = table(wire, "parties", PartyRow);
  return {
    ...reading(rows, entryOf),
    ...partiesOnce(["posted", "cancelled"], 100),
    expected: async (parties) => parties.map(({ code, name }) => partyFacts(code, name)),
    locate: async (desired, { signal }) => {
      const marks = desired.map(({ mark }) => mark);
      const ids = desired.flatMap(({ number }) => number ?? []);
      return (await rows.search({ marks, ids }, signal)).map(entryOf);
    },
    create: (desired, call) =>
      rows.create(
        desired.map(({ mark, document }) => ({ mark, id: document.code, name: document.name })),
        call,
      ),
  };
}

const entryOf = (row: PartyRow): Entry<PartyRow> => ({
  ...PLAIN_ENTRY,
  id: row.id,
  mark: row.mark,
  number: row.id,
  status: row.active ? "posted" : "cancelled",
  touched: row.touched,
  facts: partyFacts(row.id, row.name),
  change: partyChange(row),
  version: row.version,
  native: row,
});
