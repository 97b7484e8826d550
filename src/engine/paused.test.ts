/** A flow that a person has paused reads, sends and answers nothing, and does all of it once it goes on. */
import { expect, test } from "vitest";
import { bill, engineOn, pagesOf, receiver } from "../../test/support/engine.ts";
import { officeOn } from "../../test/support/office.ts";
import { tempFolder } from "../../test/support/folder.ts";
import type { Source } from "../core/contract.ts";
import { storeOffice } from "../../test/support/office.ts";
import { Daemon } from "./daemon.ts";
import type { Flow } from "./engine.ts";
import { howToGoOn, outOfStep } from "./schedule.ts";
import { pull, replyFlow } from "./pull.ts";

const signal = new AbortController().signal;

test("nothing is read, sent or answered while a flow is paused, and everything after", async () => {
  const bench = engineOn(tempFolder());
  const { engine, store } = bench;
  let reads = 0;
  const source: Source = {
    async *read() {
      reads++;
      const number = `INV-${reads}`;
      yield {
        changes: [bill(number, "1.00")],
        replies: [{ id: `997-${reads}`, content: { accepted: number } }],
        position: reads,
      };
    },
  };
  const [sink, answers] = [receiver(), receiver({ operation: "reply.write" })];
  const made = bench.flow({ sink, source });
  const bills: Flow = {
    ...made,
    get paused() {
      return store.flows.isHeld(made.flow);
    },
  };
  const replies = replyFlow(store, bills, answers);
  const flows = [bills, replies];
  Object.assign(engine, { flows });
  const daemon = new Daemon(engine, flows);
  const office = storeOffice({ engine, flows, daemon, version: "0", startedAt: new Date(0) });
  const done = () => [reads, sink.sent.length, answers.sent.length];

  // Read, and paused before anything of it went out.
  await pull(engine, bills, signal);
  await office.pause("bills", { by: "kim", note: "stocktaking" });
  expect([bills.paused, replies.paused]).toEqual([true, true]);
  await daemon.once(signal);
  expect(done()).toEqual([1, 0, 0]);
  const { flows: states } = await office.status();
  expect(states.map(({ state, pending }) => [state, pending])).toEqual([
    ["paused", 1],
    ["paused", 1],
  ]);

  await office.goOn("bills", { by: "kim", note: "counted" });
  expect([bills.paused, replies.paused]).toEqual([false, false]);
  await daemon.once(signal);
  expect(done()).toEqual([2, 2, 2]);

  await office.pause("bills", { by: "kim", note: "again" });
  await daemon.once(signal);
  expect(done()).toEqual([2, 2, 2]);
  store.close();
});

test("a paused flow says how it goes on: as it was paused, and its attachments with it", async () => {
  const bench = engineOn(tempFolder());
  const { engine, store } = bench;
  const bills = { ...bench.flow({ sink: receiver(), source: pagesOf([]) }), paused: true };
  const attached: Flow = { ...bills, name: "bills.pdf", attachesTo: "bills" };
  const told = () => [bills, attached].map((flow) => howToGoOn(engine, flow));
  const inConfiguration =
    "Take paused: true from the flow bills in the configuration, and start fuelbridge again.";
  expect(told()).toEqual([inConfiguration, inConfiguration]);
  expect(outOfStep(engine, [bills])).toMatchObject([{ code: "paused", next: inConfiguration }]);

  store.transaction(() => store.flows.hold(bills.flow, 1));
  const byPerson = "Let it go on: fuelbridge resume bills --note <text>.";
  expect(told()).toEqual([byPerson, byPerson]);
  const office = officeOn(engine, [bills]);
  await expect(office.goOn("bills", { by: "kim", note: "counted" })).resolves.toEqual({
    flow: "bills",
  });
});
