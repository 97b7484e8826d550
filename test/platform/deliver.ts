/** Documents on their way to a sandbox through the real store, engine and sink, with one clock for all of them. */
import { expect } from "vitest";
import { z } from "zod";
import { type Change, defineMapping, type Sink } from "../../src/core/contract.ts";
import { stringifyExact } from "../../src/core/json.ts";
import { push, runFlow } from "../../src/engine/daemon.ts";
import type { TestClock } from "../support/clock.ts";
import { engineOn, pagesOf } from "../support/engine.ts";
import { tempFolder } from "../support/folder.ts";
import { never } from "./support.ts";

const Passed = z.looseObject({});

/** The record is the document, but for `unseen`. */
const through = defineMapping({
  name: "test/through",
  kind: "invoice",
  input: Passed,
  output: Passed,
  number: (record) => {
    const { invoiceNumber, externalId, terminalId, terminalCode } = record;
    return String(invoiceNumber ?? externalId ?? terminalId ?? terminalCode);
  },
  map: (record) => {
    const { unseen: _, ...document } = record;
    return document;
  },
  figures: () => ({ amount: null, gallons: null }),
});

const change = (text: string, at: number): Change => ({ id: `D-${at}`, version: null, text });

/** A flow whose source tells these documents, each as JSON text, one read after the other. */
export function delivery(sink: Sink, clock: TestClock, ...reads: readonly (readonly string[])[]) {
  const bench = engineOn(tempFolder(), clock);
  const source = pagesOf(
    ...reads.map((documents) => [{ changes: documents.map(change), position: 1 }]),
  );
  const flow = bench.flow({ sink, source, mapping: through });

  return {
    engine: bench.engine,
    store: bench.store,
    flow,
    /** Runs, and waits as the daemon would, until nothing more is going to happen by itself. */
    async settled(): Promise<Record<string, number>> {
      let ran: { progress: number; wakeAt: { monoMs: number } | null } = {
        progress: 0,
        wakeAt: null,
      };
      for (const _ of reads) ran = await runFlow(bench.engine, flow, never);
      for (let turns = 0; ran.progress > 0 || ran.wakeAt !== null; turns++) {
        expect(turns, stringifyExact(bench.store.requests.open(flow.flow))).toBeLessThan(100);
        if (ran.wakeAt !== null)
          await clock.pause(Math.max(ran.wakeAt.monoMs - clock.now().monoMs, 1));
        ran = await push(bench.engine, flow, never);
      }
      return Object.fromEntries(bench.store.deliveries.counts(flow.flow));
    },
  };
}
