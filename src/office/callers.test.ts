/** Endpoints that call us, in status and alerts: between two calls all is well, after too long a silence it is not. */
import { expect, test } from "vitest";
import { bill, engineOn, pagesOf, receiver } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { conditionsOf } from "../alerts/alerts.ts";
import { statusText } from "../views/status.ts";
import { SourceUnavailable } from "../core/errors.ts";
import type { Presence } from "../core/contract.ts";
import { runFlow } from "../engine/daemon.ts";
import { storeOffice } from "../../test/support/office.ts";

const LAST = "2026-11-21T11:00:00.000Z";
const signal = new AbortController().signal;

test("what waits for the next call of an endpoint is no trouble; a silence that is too long is, and is alerted", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver({
    expect: () => Promise.reject(new SourceUnavailable("it is not here", { next: "Wait." })),
  });
  const page = { changes: [bill("INV-1", "1"), bill("INV-2", "2")], position: 1 };
  const flow = bench.flow({ sink, source: pagesOf([page]), to: "erp.bills" });
  await runFlow(bench.engine, flow, signal);
  const statusWith = async (more: Partial<Presence>) => {
    const presence = { lastAt: LAST, isHere: false, isAwaited: true, silence: null, ...more };
    const status = await storeOffice({
      engine: bench.engine,
      flows: [flow],
      endpoints: new Map([["erp", { presence: () => presence }]]),
      daemon: null,
      version: "0",
      startedAt: new Date(),
    }).status();
    const conditions = conditionsOf(status, { unreachableMs: 0 }, bench.clock.now().wallMs);
    return { ...status, text: statusText(status), keys: conditions.map(({ key }) => key) };
  };
  const awaited = await statusWith({});
  expect(awaited).toMatchObject({ healthy: true, stops: [], keys: [] });
  expect(awaited.outOfStep.map(({ code }) => code)).toContain("pending");
  expect(awaited.text).toContain("2 documents wait for its next call");

  const quiet = { since: LAST, limitMs: 1, message: "It has not called.", next: "Look there." };
  const silent = await statusWith({ silence: quiet });
  expect(silent).toMatchObject({ healthy: false, stops: [{ breaker: "receiver", scope: "erp" }] });
  expect(silent.keys).toContain("silent erp");
  expect(silent.text).toContain("erp does not call: It has not called.");

  const amiss = await statusWith({ isAwaited: false });
  expect(amiss).toMatchObject({ healthy: false, stops: [{ breaker: "receiver", scope: "erp" }] });
});
