import { expect, test } from "vitest";
import { bill, billMapping, engineOn, pagesOf, receiver } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { skip } from "../core/contract.ts";
import { runFlow } from "./daemon.ts";

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
