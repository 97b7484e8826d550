/** The papers of a store, matched: which days they stand on. */
import { expect, test } from "vitest";
import { defineMapping } from "../core/contract.ts";
import { memoryScratch } from "../core/scratch.ts";
import { bill, billMapping, engineOn, pagesOf, receiver } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { runFlow } from "./daemon.ts";
import { Matcher } from "./match.ts";

const signal = new AbortController().signal;
const options = {
  days: 30,
  tolerancePercent: 0,
  toleranceGallons: 0,
  basis: "net",
  parties: {},
  patienceMs: 0,
  unbilledDays: 3,
  pricesBefore: false,
  alertAbove: null,
} as const;

test.each([
  ["as it came back from there", true],
  ["as it was sent, where no flow reads it back", false],
])("an invoice that we sent stands on its own day, %s", async (_, isRead) => {
  const bench = engineOn(tempFolder());
  const { engine } = bench;
  const sent = { id: "S-7", invoiceNumber: "S-7", status: "OUTSTANDING", lineItems: [] };
  const bills = bench.flow({
    name: "sent",
    to: "platform.invoices",
    mapping: defineMapping({
      ...billMapping,
      about: (one) => ({ day: String(one["invoiceDate"]) }),
    }),
    sink: receiver({
      freeze: () => ({ target: "/invoices", body: JSON.stringify(sent) }),
      send: () => Promise.resolve({ outcome: "done", detail: "201", ids: [ID] }),
    }),
    source: pagesOf([
      { changes: [bill("S-7", "1.00", { invoiceDate: "2026-10-31" })], position: 1 },
    ]),
  });
  await runFlow(engine, bills, signal);
  const createdAt = "2026-11-21T12:00:00Z";
  const record = JSON.stringify({ ...sent, id: ID, number: "S-7", amount: 1, createdAt });
  const back = bench.flow({
    name: "issued",
    from: "platform.invoicesIssued",
    to: "erp.invoices",
    side: "platform",
    sink: receiver(),
    source: pagesOf([{ changes: [{ id: ID, version: createdAt, text: record }], position: 1 }]),
  });
  if (isRead) await runFlow(engine, back, signal);
  const matcher = new Matcher(engine, options, memoryScratch);
  const countedIn = async (from: string, to: string): Promise<number> =>
    (await matcher.match({ from, to, party: null, direction: null, by: "ann" })).invoices.all;
  expect(await countedIn("2026-10-31", "2026-10-31")).toBe(1);
  expect(await countedIn("2026-11-01", "2026-12-31")).toBe(0);
});
const ID = "00000000-0000-4000-8000-000000000007";
