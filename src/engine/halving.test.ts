import { expect, test } from "vitest";
import { randomOf } from "../../test/sim/model.ts";
import {
  bill,
  billMapping,
  engineOn,
  pagesOf,
  quickPolicy,
  receiver,
} from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { numbers, runs } from "../../test/support/runs.ts";
import { Daemon, runFlow } from "./daemon.ts";

const signal = new AbortController().signal;

/** Pushes `count` documents, of which a receiver refuses the bad ones' whole requests. */
async function pushed(count: number, bad: ReadonlySet<number>) {
  const bench = engineOn(tempFolder());
  const sink = receiver({ itemsMax: 200, writes: "upsert" });
  const whole = sink.send.bind(sink);
  let requests = 0;
  const fault = { code: "bad-row" as const, message: "the price is 0", next: "" };
  sink.send = async (request, by) => {
    requests++;
    const numbers = (JSON.parse(request.body) as { number: string }[]).map(({ number }) => number);
    return numbers.some((number) => bad.has(Number(number.slice(4))))
      ? { outcome: "refused", detail: "400", fault }
      : whole(request, by);
  };
  const changes = Array.from({ length: count }, (_, index) => bill(`INV-${index}`, "1"));
  const flow = bench.flow({ sink, source: pagesOf([{ changes, position: 1 }]) });
  await new Daemon(bench.engine, [flow]).once(signal);
  const executed = sink.executed.flatMap(({ body }) =>
    (JSON.parse(body) as { number: string }[]).map(({ number }) => number),
  );
  const numbers = bench.store.questions
    .quarantine()
    .flatMap((cause) => bench.store.questions.quarantined(cause))
    .map(({ number }) => number);
  return { requests, executed, quarantined: numbers };
}

test("one bad document among 200 costs ten requests at most; each good one is executed once", async () => {
  for (const at of [0, 37, 100, 199]) {
    const { requests, executed, quarantined } = await pushed(200, new Set([at]));
    expect(quarantined).toEqual([`INV-${at}`]);
    expect(new Set(executed).size).toBe(199);
    expect(executed).toHaveLength(199);
    // The batch itself, the search, and the bad one alone for its reason.
    expect(requests).toBeLessThanOrEqual(1 + 2 * Math.ceil(Math.log2(200)));
  }
});

const COUNT = runs(1_600, 10_000);
const BAD = COUNT / 100;

test(
  `${BAD} bad prices among ${COUNT} cost a tenth more than the good ones alone, and the search for each`,
  { ...numbers, timeout: 600_000 },
  async () => {
    const random = randomOf(7);
    const bad = new Set<number>();
    while (bad.size < BAD) bad.add(Math.floor(random() * COUNT));
    const { requests, executed, quarantined } = await pushed(COUNT, bad);
    expect(new Set(executed).size).toBe(COUNT - BAD);
    expect(executed).toHaveLength(COUNT - BAD);
    expect(new Set(quarantined)).toEqual(new Set([...bad].map((at) => `INV-${at}`)));
    const alone = Math.ceil((COUNT - BAD) / 200);
    // Each bad one: the batch it spoiled, and the halves until it stands alone.
    expect(requests).toBeLessThanOrEqual(alone * 1.1 + BAD * (1 + Math.log2(200)));
  },
);

test("when all of 200 are bad, each is told why, at one and a half times their number of requests at most", async () => {
  const all = new Set(Array.from({ length: 200 }, (_, at) => at));
  const { requests, quarantined } = await pushed(200, all);
  expect(new Set(quarantined).size).toBe(200);
  expect(requests).toBeLessThanOrEqual(300);
});

test("while a batch is of unknown outcome newer values gather behind it, and only the latest of each goes", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver({
    itemsMax: 200,
    writes: "upsert",
    policy: { ...quickPolicy, resend: "anew" },
    find: async () => ({ found: "different", detail: "older values" }),
  });
  sink.script.push(() => ({
    answer: { outcome: "unknown", holdMs: 60_000, detail: "500" },
    execute: true,
  }));
  const price = (amount: string) => ["ULSD", "UNL-87"].map((product) => bill(product, amount));
  const page = (amount: string, position: number) => [{ changes: price(amount), position }];
  const flow = bench.flow({
    sink,
    mapping: { ...billMapping, posts: false },
    source: pagesOf(page("2.41", 1), page("2.42", 2), page("2.43", 3)),
  });
  for (let poll = 0; poll < 3; poll++) await runFlow(bench.engine, flow, signal);
  expect(sink.sent).toHaveLength(1);
  await new Daemon(bench.engine, [flow]).once(signal);
  const sent = sink.sent.map(({ body }) =>
    (JSON.parse(body) as { amount: number }[]).map(({ amount }) => amount),
  );
  expect(sent).toEqual([
    [2.41, 2.41],
    [2.43, 2.43],
  ]);
  expect(Object.fromEntries(bench.store.deliveries.counts(flow.flow))).toEqual({
    delivered: 2,
    superseded: 4,
  });
});
