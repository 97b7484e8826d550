/**
 * A small drill (`npm run drill` is the large one): the whole daemon against a platform in bad weather, killed again
 * and again, with a person who decides what no machine can tell. Another one: DRILL_SEED=7
 *
 * @module-tag numbers
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Decimal } from "../src/core/decimal.ts";
import type { Json } from "../src/core/json.ts";
import { audit, rowsIn, written } from "./drill/audit.ts";
import { drill, type Outcome } from "./drill/run.ts";
import { openSite } from "./drill/site.ts";

const SEED = Number(process.env["DRILL_SEED"] ?? 20_261_121);
const SLOW = 900_000;
const DOCUMENTS = 60;
const KILLS = 6;
/** Every two of them together; all sets of switches: `npm run drill -- --readings all`. */
const READINGS = [
  "walkOrder",
  "listsCarryLines",
  "externalIdBecomesErpId",
  "supplierConnectionRuns",
  "createdInvoiceStatus",
  "lateCommitSeconds",
  "replayShown",
];
const folder = mkdtempSync(join(tmpdir(), "fuelbridge-drill-"));
let outcome: Outcome;

beforeAll(async () => {
  outcome = await drill(folder, {
    documents: DOCUMENTS,
    kills: KILLS,
    seed: SEED,
    twoDaemons: true,
    readings: READINGS,
  });
}, SLOW);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test(`${DOCUMENTS} documents, ${KILLS} kills, faults of every kind, seed ${SEED}: each is there once, to the cent`, () => {
  const { duplicates, lost, wrong, silent, odd, faults, requests } = outcome;
  expect({ duplicates, lost, wrong, silent, odd }).toEqual({
    duplicates: [],
    lost: [],
    wrong: [],
    silent: [],
    odd: [],
  });
  expect(requests).toBeGreaterThan(DOCUMENTS);
  expect(faults.size).toBeGreaterThan(2);
});

test("what a drill could do wrong is seen: one twice, one missing, a cent too much, an old price", async () => {
  const site = await openSite(folder, { settle: 2 });
  const { ask } = site.platform;
  try {
    const [first, second, third, fourth] = (await site.platform.records("invoices")).filter(
      ({ invoiceNumber }) => written(invoiceNumber).startsWith("DRILL"),
    );
    const [price] = await site.platform.records("rack-prices");
    const patch = (resource: string, id: Json | undefined, fields: object): Promise<unknown> =>
      ask("PATCH", `/records/${resource}/${written(id)}`, fields);
    await ask("POST", "/records/invoices", {
      key: "supplier",
      records: [{ ...first, id: crypto.randomUUID() }],
    });
    await patch("invoices", second?.["id"], { invoiceNumber: "nobody's" });
    const total = third?.["total"] as Decimal;
    await patch("invoices", third?.["id"], { total: total.plus(Decimal.of("0.01")) });
    const dueDate = "2026-12-24T12:00:00.000Z";
    const payerCompanyId = site.platform.companyId;
    const taxLines = rowsIn(fourth ?? {}, "taxLines").map((tax) => ({
      ...tax,
      taxType: "Federal Tax",
    }));
    await patch("invoices", fourth?.["id"], { dueDate, payerCompanyId, taxLines });
    await patch("rack-prices", price?.["id"], { price: 9.99 });
    const found = await audit(site, outcome.books);
    expect(found.duplicates).toEqual([expect.stringContaining(written(first?.["invoiceNumber"]))]);
    expect(found.lost).toEqual([expect.stringContaining(written(second?.["invoiceNumber"]))]);
    expect(found.wrong).toHaveLength(7);
    expect(found.wrong).toEqual(
      expect.arrayContaining([
        expect.stringContaining(`${written(third?.["invoiceNumber"])}: total: held`),
        expect.stringContaining(`${written(fourth?.["invoiceNumber"])}: payer: held`),
        expect.stringContaining("due date: held 2026-12-24"),
        expect.stringContaining("tax State Tax: held none"),
        expect.stringContaining("tax Federal Tax: held "),
        expect.stringContaining("nobody's"),
        expect.stringContaining("9.99"),
      ]),
    );
    expect(found.silent).toHaveLength(5);
    expect(found.odd).toEqual([expect.stringContaining("links of invoices")]);
  } finally {
    await site.platform.close();
  }
});
