/** Reads March anew over HTTP into a store, and is gone, by SIGKILL, once the first page of it is stored. */
import { customerInvoices } from "../../mappings/invoices.ts";
import type { Source } from "../../src/core/contract.ts";
import { Backfills } from "../../src/engine/backfill.ts";
import { openPlatform } from "../../src/platform/endpoint.ts";
import { testClock } from "./clock.ts";
import { engineOn, receiver } from "./engine.ts";

const [, , folder = "", url = "", apiKey = "", wallMs = ""] = process.argv;
const clock = testClock(Number(wallMs));
const bench = engineOn(folder, clock);
const { sources } = openPlatform({
  url,
  apiKey,
  auth: "bearer",
  environment: "live",
  clock,
  governor: { admit: async () => ({ admitted: true }), learn: () => {} },
  version: "0.0.0-test",
  overlapMs: 300_000,
  settleMs: null,
  dayOf: bench.engine.dayOf,
});
const flow = bench.flow({
  name: "invoices-issued",
  mapping: customerInvoices,
  from: "platform.invoicesIssued",
  to: "erp.invoices",
  side: "platform",
  source: sources["invoicesIssued"] as Source,
  sink: receiver(),
});
const backfills = new Backfills(bench.engine, { spent: () => 0, perMonth: 1_000 });
backfills.stirred = () => process.kill(process.pid, "SIGKILL");
const person = { by: "ann", note: "March is missing" };
await backfills.run({ flow, from: "2026-03-01", to: "2026-03-31", share: 5, person }, 158);
