/** Receivers that call us: until they are there, the engine neither sends nor looks. */
import { expect, test } from "vitest";
import { bill, engineOn, pagesOf, receiver } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { SourceUnavailable } from "../core/errors.ts";
import { Daemon, runFlow } from "./daemon.ts";

const signal = new AbortController().signal;

test("while the receiver is not there nothing is sent, looked for or counted, and its arrival sends what waits", async () => {
  const bench = engineOn(tempFolder());
  const seen: string[] = [];
  let isHere = false;
  const sink = receiver({
    async expect() {
      if (!isHere)
        throw new SourceUnavailable("it has not called", {
          next: "Have it call.",
          waitMs: 3_600_000,
        });
    },
    async send() {
      seen.push("sent");
      isHere = seen.length > 1;
      return seen.length > 1
        ? { outcome: "done", detail: "201", ids: ["INV-1"] }
        : { outcome: "unknown", detail: "the session ended" };
    },
    async find() {
      seen.push("looked");
      return { found: "none", detail: "not there" };
    },
  });
  const page = { changes: [bill("INV-1", "1")], position: 1 };
  const flow = bench.flow({ sink, source: pagesOf([page]), to: "erp.bills" });
  const daemon = new Daemon(bench.engine, [flow]);
  await runFlow(bench.engine, flow, signal);
  expect(seen).toEqual([]);
  expect(bench.store.journal.breakers()).toMatchObject([{ breaker: "receiver", scope: "erp" }]);

  isHere = true;
  daemon.arrived("erp");
  expect(bench.store.journal.breakers()).toEqual([]);
  await runFlow(bench.engine, flow, signal);
  expect(seen).toEqual(["sent"]);
  bench.clock.advance(600_000);
  await runFlow(bench.engine, flow, signal);
  expect(seen).toEqual(["sent"]);

  isHere = true;
  daemon.arrived("erp");
  await runFlow(bench.engine, flow, signal);
  expect(seen).toEqual(["sent", "looked", "sent"]);
});
