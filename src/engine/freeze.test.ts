import { expect, test } from "vitest";
import { bill, engineOn, pagesOf, receiver, type Bench } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { sha256 } from "../core/keys.ts";
import type { Link } from "../store/links.ts";
import { runFlow } from "./run.ts";

const signal = new AbortController().signal;
const causes = ({ store }: Bench) =>
  store.questions.quarantine().map(({ cause, count }) => [cause, count]);

test("an amount that is changed back closes by itself, and a payment taken back reaches the receiver", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver({ writes: "upsert" });
  const page = (amount: string, status: string) => [
    { changes: [bill("INV-1", amount, { status })], position: 1 },
  ];
  const flow = bench.flow({
    sink,
    source: pagesOf(
      page("1", "OUTSTANDING"),
      page("2", "OUTSTANDING"),
      page("1.00", "OUTSTANDING"),
      page("1", "PAID"),
      page("1", "OUTSTANDING"),
    ),
  });
  const run = () => runFlow(bench.engine, flow, signal);
  await run();
  await run();
  expect(causes(bench)).toEqual([["the amount changed from 1 to 2 after it was delivered", 1]]);
  await run();
  expect(causes(bench)).toEqual([]);
  expect(sink.sent).toHaveLength(1);
  await run();
  await run();
  expect(sink.sent.map(({ body }) => JSON.parse(body)[0].status)).toEqual([
    "OUTSTANDING",
    "PAID",
    "OUTSTANDING",
  ]);
});

test("what was delivered is not changed by another notation, nor in a store that hashed its text", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver();
  const told = (version: string, text: string) => [
    { changes: [{ id: "INV-1", version, text }], position: 1 },
  ];
  const first = '{"number":"INV-1","amount":100,"paidAt":"2026-10-31T10:46:39.500Z"}';
  const flow = bench.flow({
    sink,
    source: pagesOf(
      told("1", first),
      told("2", '{ "amount": 1e2, "number": "INV-1", "paidAt": "2026-10-31T04:46:39.5-06:00" }'),
      told("3", first),
    ),
  });
  await runFlow(bench.engine, flow, signal);
  await runFlow(bench.engine, flow, signal);
  expect(causes(bench)).toEqual([]);
  const link = bench.store.links.find("invoice", "erp", "INV-1") as Link;
  bench.store.transaction(() =>
    bench.store.links.save({ ...link, content: sha256(first).slice(0, 22), amount: "100.00" }, 0),
  );
  await runFlow(bench.engine, flow, signal);
  expect(causes(bench)).toEqual([]);
  expect(Object.fromEntries(bench.store.deliveries.counts(flow.flow))).toEqual({
    delivered: 1,
    skipped: 2,
  });
});
