import { expect, test } from "vitest";
import { bill, billMapping, engineOn, pagesOf, receiver } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { skip } from "../core/contract.ts";
import { Decimal } from "../core/decimal.ts";
import { runFlow } from "./daemon.ts";

test("a choice of records holds for those that begin: of what was delivered, each change goes on or is a person's", async () => {
  const bench = engineOn(tempFolder());
  const few = Decimal.of("100.00");
  const mapping: typeof billMapping = {
    ...billMapping,
    map: (one, references) =>
      references.isThere || one.amount.compare(few) < 0
        ? billMapping.map(one, references)
        : skip("too large"),
  };
  const source = pagesOf(
    [{ changes: [bill("INV-1", "99.00"), bill("INV-2", "100.00")], position: 1 }],
    [{ changes: [bill("INV-1", "101.00")], position: 2 }],
  );
  const flow = bench.flow({ mapping, sink: receiver(), source });
  const run = async () => {
    await runFlow(bench.engine, flow, new AbortController().signal);
    return Object.fromEntries(bench.store.deliveries.counts(flow.flow));
  };
  expect(await run()).toEqual({ delivered: 1, skipped: 1 });
  expect(await run()).toMatchObject({ delivered: 1, skipped: 1, quarantined: 1 });
  const causes = bench.store.questions.quarantine().map(({ code }) => code);
  expect(causes).toEqual(["amount-changed-after-posting"]);
});

test("a flow of which nothing can be sent lets others have their turn, and can be stopped", async () => {
  const bench = engineOn(tempFolder());
  const changes = Array.from({ length: 1_000 }, (_, at) => bill(`INV-${at}`, "1.00"));
  const mapping = { ...billMapping, map: () => skip("a draft") };
  const source = pagesOf([{ changes, position: 1 }]);
  const flow = bench.flow({ mapping, sink: receiver(), source });
  const stopping = new AbortController();
  setImmediate(() => stopping.abort());
  await runFlow(bench.engine, flow, stopping.signal);
  const counts = bench.store.deliveries.counts(flow.flow);
  expect(counts.get("pending")).toBeGreaterThan(0);
  await runFlow(bench.engine, flow, new AbortController().signal);
  expect(bench.store.deliveries.counts(flow.flow)).toEqual(new Map([["skipped", 1_000]]));
});
