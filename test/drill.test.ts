/**
 * A small drill (`npm run drill` is the large one): the whole daemon against a platform in bad weather, killed again
 * and again, with a person who decides what no machine can tell. Another one: DRILL_SEED=7
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Decimal } from "../src/core/decimal.ts";
import type { Json } from "../src/core/json.ts";
import { audit, written } from "./drill/audit.ts";
import { drill, type Outcome } from "./drill/run.ts";
import { openSite } from "./drill/site.ts";

const SEED = Number(process.env["DRILL_SEED"] ?? 20_261_121);
const SLOW = 240_000;
const folder = mkdtempSync(join(tmpdir(), "fuelbridge-drill-"));
let outcome: Outcome;

beforeAll(async () => {
  outcome = await drill(folder, { documents: 60, kills: 8, seed: SEED, twoDaemons: true });
}, SLOW);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test(`60 documents, 8 kills, faults of every kind, seed ${SEED}: each is there once, to the cent`, () => {
  const { duplicates, lost, wrong, odd, faults, requests } = outcome;
  expect({ duplicates, lost, wrong, odd }).toEqual({
    duplicates: [],
    lost: [],
    wrong: [],
    odd: [],
  });
  expect(requests).toBeGreaterThan(60);
  expect(faults.size).toBeGreaterThan(2);
});

test("what a drill could do wrong is seen: one twice, one missing, a cent too much, an old price", async () => {
  const site = await openSite(folder, { settle: 2 });
  const { ask } = site.platform;
  try {
    const [first, second, third] = await site.platform.records("invoices");
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
    await patch("rack-prices", price?.["id"], { price: 9.99 });
    const found = await audit(site, outcome.books);
    expect(found.duplicates).toEqual([expect.stringContaining(written(first?.["invoiceNumber"]))]);
    expect(found.lost).toEqual([expect.stringContaining(written(second?.["invoiceNumber"]))]);
    expect(found.wrong).toEqual([
      expect.stringContaining(written(third?.["invoiceNumber"])),
      expect.stringContaining("nobody's"),
      expect.stringContaining("9.99"),
    ]);
    expect(found.odd).toEqual([expect.stringContaining("links of invoices")]);
  } finally {
    await site.platform.close();
  }
});
