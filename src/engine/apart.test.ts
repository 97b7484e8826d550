/** A document that a person must decide about holds up what depends on it, and nothing else. */
import { expect, test } from "vitest";
import { type Bench, bill, engineOn, quickPolicy, receiver } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { numbers, runs } from "../../test/support/runs.ts";
import { randomOf } from "../../test/sim/model.ts";
import type { Change, Sink } from "../core/contract.ts";
import type { Answer, Policy } from "../core/outcome.ts";
import { resolve, retry, select } from "../office/decisions.ts";
import { Daemon } from "./daemon.ts";
import type { Flow } from "./engine.ts";

const signal = new AbortController().signal;
const keyless: Policy = { ...quickPolicy, settleMs: 0, keyLifeMs: null, probeMs: 0 };
const lost: Answer = { outcome: "unknown", unanswered: true, detail: "no answer came" };

const counts = ({ store }: Bench, { flow }: Flow) =>
  Object.fromEntries(store.deliveries.counts(flow));
const numbersIn = (body: string) =>
  (JSON.parse(body) as { number: string }[]).map(({ number }) => number);

/** Books that take several documents at once; a clerk has one of `other` under its number already. */
function books(policy: Policy = keyless, options: Partial<Sink> = {}) {
  const there = new Map<string, string>();
  const other = new Set<string>();
  const answers: (Answer & { readonly keeps?: readonly string[] })[] = [];
  const looks: string[][] = [];
  const sends: string[][] = [];
  const executed: string[] = [];
  const sink = receiver({
    itemsMax: 20,
    writes: "upsert",
    policy,
    async find({ body }) {
      const numbers = numbersIn(body);
      looks.push(numbers);
      const clash = numbers.find((number) => other.has(number));
      if (clash !== undefined)
        return { found: "different", detail: `${clash} is another one of 5.00` };
      return numbers.every((number) => there.has(number))
        ? { found: "exact", ids: numbers.map((number) => `book-${number}`), detail: "there" }
        : { found: "none", detail: "not all of it is there" };
    },
    ...options,
  });
  sink.send = async ({ body }) => {
    const numbers = numbersIn(body);
    sends.push(numbers);
    const { keeps, ...answer } = answers.shift() ?? {
      outcome: "done",
      detail: "200",
      ids: numbers.map((number) => `book-${number}`),
    };
    const kept = keeps ?? (answer.outcome === "done" ? numbers : []);
    for (const number of numbers.filter((one) => kept.includes(one))) {
      there.set(number, body);
      executed.push(number);
    }
    return answer;
  };
  return { sink, other, answers, looks, sends, executed };
}

function flowOf(bench: Bench, sink: Sink) {
  const pages: Change[][] = [];
  let position = 0;
  const source = {
    async *read() {
      for (const changes of pages.splice(0)) yield { changes, position: ++position };
    },
  };
  const flow = bench.flow({ sink, source });
  const once = async (...changes: Change[]) => {
    pages.push(changes);
    return new Daemon(bench.engine, bench.engine.flows).once(signal);
  };
  return { flow, once };
}

const bills = (count: number, from = 1) =>
  Array.from({ length: count }, (_, at) => bill(`INV-${from + at}`, "1"));

const causes = ({ store }: Bench) =>
  store.questions
    .quarantine()
    .flatMap((row) => store.questions.quarantined(row))
    .map(({ number, cause }) => [number, cause]);

test("of a batch that only a person can settle one document is the person's, and the others go by themselves", async () => {
  const bench = engineOn(tempFolder());
  const { sink, other, answers, looks, sends } = books();
  const { flow, once } = flowOf(bench, sink);
  other.add("INV-3");
  // Two of five arrived, and the answer is lost.
  answers.push({ ...lost, keeps: ["INV-1", "INV-2"] });
  await once(...bills(5));
  expect(counts(bench, flow)).toEqual({ delivered: 4, quarantined: 1 });
  expect(causes(bench)).toEqual([
    ["INV-3", "nobody can tell by machine whether it arrived: INV-3 is another one of 5.00"],
  ]);
  expect(looks[0]).toHaveLength(5);
  // What is there is found by itself and not sent again.
  expect(looks).toContainEqual(["INV-1"]);
  expect(sends.slice(1)).toEqual([["INV-4"], ["INV-5"]]);
});

test("what a look after a lost answer found is told as what it is, with its own next step", async () => {
  const bench = engineOn(tempFolder());
  const fault = {
    code: "rejected-by-erp",
    message: "the period is closed",
    next: "Open it.",
  } as const;
  const { sink, answers } = books(keyless, {
    find: async () => ({ found: "different", detail: fault.message, fault }),
  });
  answers.push(lost);
  await flowOf(bench, sink).once(...bills(1));
  expect(bench.store.questions.quarantine()).toMatchObject([{ code: fault.code }]);
  expect(causes(bench)).toEqual([["INV-1", fault.message]]);
});

test("what comes after it goes out, too, at once and after a restart", async () => {
  const folder = tempFolder();
  const bench = engineOn(folder);
  const { sink, other, answers } = books();
  const { flow, once } = flowOf(bench, sink);
  other.add("INV-1");
  answers.push(lost);
  await once(...bills(2));
  await once(...bills(59, 10));
  expect(counts(bench, flow)).toEqual({ delivered: 60, quarantined: 1 });
  bench.store.close();
  bench.clock.restart();
  const again = engineOn(folder, bench.clock);
  const second = flowOf(again, sink);
  await second.once(...bills(3, 100));
  expect(counts(again, second.flow)).toEqual({ delivered: 63, quarantined: 1 });
});

test("killed while its documents go one by one, each arrives once", async () => {
  const folder = tempFolder();
  const bench = engineOn(folder);
  const { sink, other, answers, sends } = books();
  const { once } = flowOf(bench, sink);
  other.add("INV-2");
  const stop = new AbortController();
  answers.push({ ...lost, keeps: ["INV-1"] });
  const find = sink.find.bind(sink);
  let looks = 0;
  sink.find = async (request, by) => {
    // The process ends after the first document was looked for by itself.
    if (++looks === 3) throw new TypeError("killed");
    return find(request, by);
  };
  await once(...bills(4)).catch(() => stop.abort());
  bench.store.close();
  bench.clock.restart();
  sink.find = find;
  const again = engineOn(folder, bench.clock);
  const second = flowOf(again, sink);
  await second.once();
  expect(counts(again, second.flow)).toEqual({ delivered: 3, quarantined: 1 });
  const alone = sends.slice(1).flat();
  expect(alone.toSorted()).toEqual(["INV-3", "INV-4"]);
});

test("where reads that find nothing leave a batch to a person, they leave each of its documents to one", async () => {
  const bench = engineOn(tempFolder());
  const policy: Policy = { ...keyless, afterTimeout: "person" };
  const { sink, answers, sends } = books(policy);
  const { flow, once } = flowOf(bench, sink);
  // Held for a day; one of three arrived all the same.
  answers.push({ outcome: "unknown", holdMs: 86_400_000, detail: "504", keeps: ["INV-2"] });
  await once(...bills(3));
  expect(counts(bench, flow)).toEqual({ delivered: 1, quarantined: 2 });
  expect(sends).toHaveLength(1);
  await once(...bills(2, 10));
  expect(counts(bench, flow)).toEqual({ delivered: 3, quarantined: 2 });
});

test("a key that somebody else has used gives none of its documents a new one unread", async () => {
  const bench = engineOn(tempFolder());
  const { sink, answers, sends } = books();
  const { flow, once } = flowOf(bench, sink);
  answers.push({
    outcome: "unknown",
    person: "now",
    detail: "409 key conflict",
    keeps: ["INV-1"],
  });
  await once(...bills(3));
  expect(counts(bench, flow)).toEqual({ delivered: 1, quarantined: 2 });
  expect(sends).toHaveLength(1);
});

test("a look before the first send that meets another document sends the others", async () => {
  const bench = engineOn(tempFolder());
  const { sink, other, sends } = books({ ...keyless, preflight: true });
  const { flow, once } = flowOf(bench, sink);
  other.add("INV-2");
  await once(...bills(3));
  expect(counts(bench, flow)).toEqual({ delivered: 2, quarantined: 1 });
  expect(causes(bench)).toEqual([
    ["INV-2", "the receiver has another document under this number: INV-2 is another one of 5.00"],
  ]);
  expect(sends).toEqual([["INV-1"], ["INV-3"]]);
});

test("a newer version of what a person has is looked for by itself and takes its place", async () => {
  const bench = engineOn(tempFolder());
  const { sink, other, answers, looks } = books();
  const { flow, once } = flowOf(bench, sink);
  other.add("INV-1");
  answers.push(lost);
  await once(...bills(2));
  other.clear();
  const before = looks.length;
  await once(bill("INV-1", "1", { note: "new" }), ...bills(2, 10));
  expect(counts(bench, flow)).toEqual({ superseded: 1, delivered: 4 });
  expect(looks.slice(before)).toEqual([["INV-1"]]);
  // No request is left behind that nobody sees.
  expect(bench.store.requests.open(flow.flow)).toEqual([]);
});

test("a person who retries the one document has it sent, and nothing else again", async () => {
  const bench = engineOn(tempFolder());
  const { sink, other, answers, sends } = books();
  const { flow, once } = flowOf(bench, sink);
  other.add("INV-1");
  answers.push(lost);
  await once(...bills(3));
  other.clear();
  bench.store.transaction(() => {
    for (const one of select(bench.engine, [flow], "all")) retry(bench.engine, one);
  });
  const before = sends.length;
  await once();
  expect(counts(bench, flow)).toEqual({ delivered: 3 });
  expect(sends.slice(before)).toEqual([["INV-1"]]);
});

test("a version that cannot be read hides no earlier one that a person must decide about: both are decided at once", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver({
    send: async () => ({ outcome: "unknown", holdMs: 86_400_000, detail: "504" }),
    find: async () => ({ found: "none", detail: "not there" }),
  });
  const { flow, once } = flowOf(bench, sink);
  await once(bill("INV-1", "1"));
  await once({ id: "INV-1", version: null, text: '{"number":"INV-1","amount":"no number"}' });
  expect(counts(bench, flow)).toEqual({ superseded: 1, quarantined: 1 });
  const decision = { by: "ann", note: "there", receiverId: "P-1" };
  bench.store.transaction(() =>
    resolve(bench.engine, select(bench.engine, [flow], "all"), decision),
  );
  expect(bench.store.requests.open(flow.flow)).toEqual([]);
});

const SEEDS = runs(10, 100, 400);

test(
  `once a receiver works again nothing is left on its way, nothing doubled, and a person has what nobody else can settle (${SEEDS} seeds)`,
  { ...numbers, timeout: 300_000 },
  async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const random = randomOf(seed);
      const folder = tempFolder();
      let bench = engineOn(folder);
      const itemsMax = random() < 0.7 ? 4 : 1;
      const { sink, other, answers, executed } = books(keyless, { itemsMax });
      let site = flowOf(bench, sink);
      const count = 4 + Math.floor(random() * 8);
      for (let at = 1; at <= count; at++) if (random() < 0.15) other.add(`INV-${at}`);
      for (let at = 0; at < 6; at++) {
        const kind = random();
        const some = bills(count).map(({ id }) => id);
        const keeps = some.filter(() => random() < 0.3);
        if (kind < 0.4) answers.push({ ...lost });
        else if (kind < 0.6) answers.push({ outcome: "unknown", unlisted: true, detail: "3171" });
        else if (kind < 0.8) answers.push({ outcome: "nothing", waitMs: 60_000, detail: "busy" });
        else answers.push({ outcome: "refused", detail: "a bad one" });
        if (kind < 0.4 && random() < 0.5) answers[answers.length - 1] = { ...lost, keeps };
      }
      await site.once(...bills(count));
      if (random() < 0.5) {
        bench.store.close();
        bench.clock.restart();
        bench = engineOn(folder, bench.clock);
        site = flowOf(bench, sink);
      }
      for (let at = 0; at < 5; at++) {
        bench.clock.advance(20 * 60_000);
        await site.once();
      }
      const left = counts(bench, site.flow);
      expect({ seed, pending: left["pending"] ?? 0, frozen: left["frozen"] ?? 0 }).toEqual({
        seed,
        pending: 0,
        frozen: 0,
      });
      // A step is repeated where it did half of a request: what is there of it is there already.
      if (itemsMax === 1) expect(executed).toHaveLength(new Set(executed).size);
      bench.store.close();
    }
  },
);
