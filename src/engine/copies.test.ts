import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  type Bench,
  bill,
  billMapping,
  engineOn,
  pagesOf,
  receiver,
} from "../../test/support/engine.ts";
import { officeOn } from "../../test/support/office.ts";
import { testClock } from "../../test/support/clock.ts";
import { tempFolder } from "../../test/support/folder.ts";
import type { Change, Mapping } from "../core/contract.ts";
import { Decimal } from "../core/decimal.ts";
import { Refused, SourceUnavailable } from "../core/errors.ts";
import type { FactLine, Facts, Holding, Holdings, Scope } from "../core/holdings.ts";
import { resolve, retry, select } from "../office/decisions.ts";
import type { Flow } from "./engine.ts";
import { Daemon, runFlow } from "./daemon.ts";

const signal = new AbortController().signal;

interface Told {
  readonly number: string;
  readonly amount: Decimal;
  readonly party?: string;
  readonly company?: string;
  readonly loads?: readonly string[];
  readonly day?: string;
  readonly reference?: string | null;
  readonly lines?: readonly string[];
  readonly isVoid?: boolean;
}

const mapping: Mapping<Told, Told> = {
  ...(billMapping as unknown as Mapping<Told, Told>),
  likeness: ({
    number,
    amount,
    party = "C-1",
    company = null,
    loads = [],
    day = "2026-11-20",
    reference = null,
    lines = null,
    isVoid,
  }) => {
    const names = reference === null ? [] : [reference];
    return isVoid === true ? null : { party, company, amount, day, names, loads, lines, number };
  },
};

const copy = (id: string, number: string, amount: string, more: object = {}): Change => ({
  ...bill(number, amount, { reference: "PO 7", ...more }),
  id,
});

/** Each read tells these. */
function flowOf(bench: Bench, reads: readonly (readonly Change[])[], more: Partial<Flow> = {}) {
  const sink = receiver(more.sink ?? {});
  const source = pagesOf(...reads.map((changes) => [{ changes, position: 1 }]));
  return { sink, flow: bench.flow({ mapping, source, ...more, sink }) };
}

const quarantine = ({ store }: Bench) =>
  store.questions.quarantine().map(({ code, cause }) => ({ code, cause }));

test("a copied invoice waits before its first byte leaves, told with both, and goes when a person says that it is another", async () => {
  const folder = tempFolder();
  const bench = engineOn(folder);
  const { sink, flow } = flowOf(bench, [
    [copy("7", "INV-1", "40035.09")],
    [copy("8", "INV-2", "40035.090")],
  ]);
  await runFlow(bench.engine, flow, signal);
  await runFlow(bench.engine, flow, signal);
  expect(sink.sent).toHaveLength(1);
  expect(quarantine(bench)).toMatchObject([
    { code: "duplicate", cause: expect.stringContaining("INV-2 (8) looks like INV-1 (7)") },
  ]);

  bench.store.transaction(() => {
    for (const chosen of select(bench.engine, [flow], "all")) retry(bench.engine, chosen);
  });
  await runFlow(bench.engine, flow, signal);
  expect(sink.sent).toHaveLength(2);
  expect(quarantine(bench)).toEqual([]);
});

test("two copies on one page, and in one batch, are one that goes and one that waits", async () => {
  for (const itemsMax of [1, 5]) {
    const bench = engineOn(tempFolder());
    const both = [copy("7", "INV-1", "5"), copy("8", "INV-2", "5"), copy("9", "INV-3", "6")];
    const { sink, flow } = flowOf(bench, [both], { sink: receiver({ itemsMax }) });
    await runFlow(bench.engine, flow, signal);
    expect(
      sink.sent.flatMap(({ body }) => JSON.parse(body) as Told[]).map((one) => one.number),
    ).toEqual(["INV-1", "INV-3"]);
    expect(quarantine(bench)).toMatchObject([{ code: "duplicate" }]);
  }
});

test("after a restart the first of them is still known", async () => {
  const folder = tempFolder();
  const before = engineOn(folder);
  await runFlow(before.engine, flowOf(before, [[copy("7", "INV-1", "5")]]).flow, signal);
  before.store.close();
  const after = engineOn(folder);
  const { sink, flow } = flowOf(after, [[copy("8", "INV-2", "5")]]);
  await runFlow(after.engine, flow, signal);
  expect(sink.sent).toEqual([]);
  expect(quarantine(after)).toMatchObject([{ code: "duplicate" }]);
});

test.each([
  ["another party", copy("8", "INV-2", "5", { party: "C-2" })],
  ["another amount", copy("8", "INV-2", "5.01")],
  ["another day", copy("8", "INV-2", "5", { day: "2026-11-21" })],
  ["another reference", copy("8", "INV-2", "5", { reference: "PO 8" })],
  ["no reference to go by", copy("8", "INV-2", "5", { reference: null })],
])("%s is another document", async (_, other) => {
  const bench = engineOn(tempFolder());
  const { sink, flow } = flowOf(bench, [[copy("7", "INV-1", "5")], [other]]);
  await runFlow(bench.engine, flow, signal);
  await runFlow(bench.engine, flow, signal);
  expect(sink.sent).toHaveLength(2);
});

test("a copy that lost its reference, or the original that lacks one, is known by the same lines; two references are two documents", async () => {
  const lines = ["ULSD", "8000.5"];
  const without = { reference: null, lines };
  for (const [one, other, isCopy] of [
    [{ lines }, without, true],
    [without, { lines }, true],
    [without, without, true],
    [{ lines }, { lines, reference: "PO 8" }, false],
    [{ lines }, { ...without, lines: ["ULSD", "8000.6"] }, false],
  ] as const) {
    const bench = engineOn(tempFolder());
    const both = [[copy("7", "INV-1", "5", one)], [copy("8", "INV-2", "5", other)]];
    const { sink, flow } = flowOf(bench, both);
    await runFlow(bench.engine, flow, signal);
    await runFlow(bench.engine, flow, signal);
    expect([one, other, sink.sent.length]).toEqual([one, other, isCopy ? 1 : 2]);
  }
});

test("what came from one side and is entered by hand on the other under its number waits, told with both; another amount goes", async () => {
  const there = copy("P-7", "INV-1", "5", {
    party: "company-1",
    day: "2026-11-18",
    reference: "PO 7",
  });
  const here = (more: object, amount = "5") =>
    copy("8", "A-1", amount, { party: "C-1", day: "2026-11-25", reference: "inv-1 ", ...more });
  for (const [entered, isFirst, isCopy] of [
    [here({}), false, true],
    [here({}), true, true],
    [here({}, "6"), false, false],
    [here({ reference: "INV-2" }), false, false],
    [here({ reference: null }), false, false],
  ] as const) {
    const bench = engineOn(tempFolder());
    const books = flowOf(bench, [[there], []], {
      name: "to-books",
      side: "platform",
      from: "platform.invoices",
      to: "erp.invoices",
    });
    const platform = flowOf(bench, [[entered], []], { name: "to-platform" });
    const flows = isFirst ? [platform, books] : [books, platform];
    for (const { flow } of flows) await runFlow(bench.engine, flow, signal);
    const sent = flows.map(({ sink }) => sink.sent.length);
    expect([entered, ...sent]).toEqual([entered, 1, isCopy ? 0 : 1]);
    const cause = isFirst
      ? 'INV-1 (P-7) looks like A-1 (8), which "erp" has already'
      : 'A-1 (8) looks like INV-1 (P-7), which "platform" has already';
    expect(quarantine(bench)).toMatchObject(
      isCopy ? [{ code: "duplicate", cause: expect.stringContaining(cause) }] : [],
    );
  }
});

test.each(["dup-1 ", "Dup-1", " DUP-1"])(
  "a party's number that is there already, read as people read it, waits whatever the amount: %j",
  async (number) => {
    const bench = engineOn(tempFolder());
    const { sink, flow } = flowOf(bench, [
      [copy("7", "DUP-1", "5")],
      [copy("8", number, "9", { reference: "PO 9" })],
    ]);
    await runFlow(bench.engine, flow, signal);
    await runFlow(bench.engine, flow, signal);
    expect(sink.sent).toHaveLength(1);
    expect(quarantine(bench)).toMatchObject([
      { code: "duplicate", cause: expect.stringContaining("looks like DUP-1 (7)") },
    ]);
  },
);

test("what is void is like nothing, and a flow that says so sends copies too", async () => {
  const bench = engineOn(tempFolder());
  const voided = flowOf(
    bench,
    [
      [copy("7", "INV-1", "5")],
      [copy("7", "INV-1", "5", { isVoid: true }), copy("8", "INV-2", "5")],
    ],
    { sink: receiver({ writes: "upsert" }) },
  );
  await runFlow(bench.engine, voided.flow, signal);
  await runFlow(bench.engine, voided.flow, signal);
  expect(voided.sink.sent).toHaveLength(3);

  const other = engineOn(tempFolder());
  const { sink, flow } = flowOf(other, [[copy("7", "INV-1", "5"), copy("8", "INV-2", "5")]], {
    duplicates: "deliver",
  });
  await runFlow(other.engine, flow, signal);
  expect(sink.sent).toHaveLength(2);
});

/* Entered by hand on the other side, without anything that names the first one. */

const twoFlows = (bench: Bench, there: Change, entered: Change, more: Partial<Flow> = {}) => {
  const books = flowOf(bench, [[there], [], []], {
    name: "to-books",
    side: "platform",
    from: "platform.invoices",
    to: "erp.invoices",
  });
  const platform = flowOf(bench, [[entered], [], []], { name: "to-platform", ...more });
  return { books, platform };
};

test.each([
  ["of the same day", {}, true],
  ["dated when it was entered, three days later", { day: "2026-11-21" }, true],
  ["of the week after: a standing delivery", { day: "2026-11-25" }, false],
  ["of another party", { company: "company-2" }, false],
  ["of a party that the platform does not know", { company: null }, false],
  ["with another order", { reference: "PO 8" }, false],
  ["without an order", { reference: null }, true],
  ["with its order written otherwise", { reference: "PO no. po-7" }, true],
  ["of another load: one of two equal ones of a day", { loads: ["BOL 2"] }, false],
  ["of the same load", { loads: ["bol 1 "] }, true],
  ["where the flow says so", {}, false, { duplicates: "deliver" as const }],
] as const)(
  "what is entered by hand on the other side under a number of its own waits: %s",
  async (_, more, waits, flow: Partial<Flow> = {}) => {
    const there = copy("P-7", "INV-1", "5", {
      party: "company-1",
      company: "company-1",
      day: "2026-11-18",
      reference: "PO 7",
      loads: ["BOL 1"],
    });
    const own = {
      party: "C-1",
      company: "company-1",
      day: "2026-11-18",
      reference: "PO 7",
      ...more,
    };
    const entered = copy("8", "A-1", "5", own);
    for (const isFirst of [false, true]) {
      const bench = engineOn(tempFolder());
      const { books, platform } = twoFlows(bench, there, entered, flow);
      const order = isFirst ? [platform, books] : [books, platform];
      for (const one of order) await runFlow(bench.engine, one.flow, signal);
      expect(order.map(({ sink }) => sink.sent.length)).toEqual([
        1,
        waits || (isFirst && flow.duplicates !== undefined) ? 0 : 1,
      ]);
      if (!waits) continue;
      const cause = isFirst ? "INV-1 (P-7) looks like A-1 (8)" : "A-1 (8) looks like INV-1 (P-7)";
      expect(quarantine(bench)).toMatchObject([
        { code: "duplicate", cause: expect.stringContaining(cause) },
      ]);
    }
  },
);

test("what the books cannot take and a clerk enters there by hand goes to nobody a second time; a person's word counts for both", async () => {
  const bench = engineOn(tempFolder());
  const same = { company: "company-1", day: "2026-11-18", reference: null };
  const there = copy("P-7", "INV-1", "5", { ...same, party: "company-1", product: "unknown" });
  const { books, platform } = twoFlows(bench, there, copy("8", "A-1", "5", same));
  for (const { flow } of [books, platform]) await runFlow(bench.engine, flow, signal);
  expect([books, platform].map(({ sink }) => sink.sent.length)).toEqual([0, 0]);
  expect(
    quarantine(bench)
      .map(({ code }) => code)
      .toSorted(),
  ).toEqual(["duplicate", "not-mapped"]);

  const engine = { ...bench.engine, tables: { row: () => ({ item: "087" }) } };
  bench.store.transaction(() => {
    for (const chosen of select(engine, [platform.flow, books.flow], "all")) retry(engine, chosen);
  });
  for (const { flow } of [books, platform]) await runFlow(engine, flow, signal);
  expect([books, platform].map(({ sink }) => sink.sent.length)).toEqual([1, 1]);
});

/* What only the receiver knows. */

const facts = (number: string, amount: string, more: Partial<Facts> = {}): Facts => ({
  number,
  party: "company-1",
  days: { date: "2026-11-18" },
  money: { total: Decimal.of(amount) },
  words: { side: "sale" },
  lines: [],
  ...more,
});

/** A receiver that shows these; `lists`: the scopes that it was asked for. */
function showing(held: readonly Partial<Holding>[]) {
  const lists: Scope[] = [];
  const holdings: Pick<Holdings, "strength" | "list" | "expect"> = {
    strength: { invoice: "asked" },
    async *list(kind, scope) {
      lists.push(scope);
      const all = held.map((one, at) => {
        const id = `P-${at + 1}`;
        return { kind, id, version: null, mark: null, change: null, facts: {}, ...one };
      });
      yield { holdings: all, position: null, total: null, serverTime: null };
    },
    expect: async (_, items) =>
      items.map(({ document, number }) => {
        const { amount, party = "company-1", due = null } = document as Told & { due?: string };
        const lines = (document as Told).lines?.map((one) => lineOf(one));
        return {
          facts: facts(number, amount.plain(), {
            party,
            days: { due },
            ...(lines === undefined ? {} : { lines }),
          }),
        };
      }),
  };
  return { lists, holdings };
}

const lineOf = (amount: string): FactLine => ({
  product: null,
  quantity: Decimal.of(amount),
  unit: "gal",
  unitPrice: null,
  amount: Decimal.of(amount),
});

const own = (id: string, number: string, amount: string, more: object = {}): Change =>
  copy(id, number, amount, { party: "company-1", day: "2026-11-18", reference: null, ...more });

test("a restored store does not send what was given another number meanwhile: it waits, told with both numbers and ids, by one list for all", async () => {
  const folder = tempFolder();
  const backup = join(tempFolder(), "backup.sqlite");
  const store = join(folder, "fuelbridge.sqlite");
  const clock = testClock(Date.parse("2026-11-18T18:00:00Z"));
  const told = [own("1", "INV-1", "1")];
  /** What it knows now, and sent before; the invoice 7 was sent as INV-7 after the backup. */
  const { lists, holdings } = showing([
    { facts: facts("INV-7", "40035.09") },
    { facts: facts("INV-8", "8") },
    { facts: facts("INV-9", "9"), mark: "another" },
    { facts: facts("INV-10", "10", { state: "ended" }) },
  ]);
  const life = async (changes: readonly Change[], decide?: (bench: Bench, flow: Flow) => void) => {
    clock.advance(60_000);
    const bench = engineOn(folder, clock);
    const finds = async ({ items }: { items: readonly { number: string }[] }) =>
      items[0]?.number === "INV-8"
        ? ({ found: "exact", ids: ["P-2"], detail: "there" } as const)
        : ({ found: "none", detail: "not there" } as const);
    const sink = receiver({ find: finds });
    const { flow } = flowOf(bench, [changes], { sink, holdings: { ...holdings } });
    const ends = { side: "platform", from: "platform.invoices", to: "erp.x" } as const;
    const back = flowOf(bench, [[]], { name: "back", ...ends });
    const daemon = new Daemon(bench.engine, [flow, back.flow]);
    const office = officeOn(bench.engine, [flow], daemon);
    await daemon.once(signal);
    decide?.(bench, flow);
    const isRestored = bench.store.journal.breakers().some(({ breaker }) => breaker === "restored");
    if (isRestored) {
      expect(sink.sent).toEqual([]);
      await office.release("restored", "eva");
    }
    await daemon.once(signal);
    const waiting = quarantine(bench);
    const links = ["1", "7", "8", "9"].map((id) => bench.store.links.find("invoice", "erp", id));
    bench.store.close();
    return { sent: sink.sent.map(({ body }) => /INV-\w+/.exec(body)?.[0]), waiting, links };
  };
  expect(await life(told)).toMatchObject({ sent: ["INV-1"], waiting: [] });
  copyFileSync(store, backup);
  // A send that the backup does not know of.
  await life([own("7", "INV-7", "40035.09")]);
  for (const end of ["-wal", "-shm"]) rmSync(`${store}${end}`, { force: true });
  copyFileSync(backup, store);
  lists.length = 0;

  const after = await life([
    own("7", "INV-7-NEW", "40035.09"),
    own("8", "INV-8", "8"),
    own("9", "INV-90", "9"),
    own("10", "INV-100", "10"),
    own("11", "INV-11", "40035.09", { day: "2026-11-25" }),
  ]);
  expect(new Set(after.sent)).toEqual(new Set(["INV-100", "INV-11", "INV-90"]));
  expect(after.waiting).toMatchObject([
    {
      code: "duplicate",
      cause: expect.stringContaining('INV-7-NEW (7) looks like INV-7 (P-1), which "platform" has'),
    },
  ]);
  expect(lists).toHaveLength(1);
  expect(lists[0]).toMatchObject({ dated: { from: "2026-11-15", to: "2026-11-21" } });

  // It is that one.
  const linked = await life([], (bench, flow) => {
    const chosen = select(bench.engine, [flow], "all");
    bench.store.transaction(() =>
      resolve(bench.engine, chosen, { by: "eva", note: "it is that one", receiverId: "P-1" }),
    );
  });
  expect(linked).toMatchObject({ sent: [], waiting: [] });
  expect(linked.links[1]).toMatchObject({ platformId: "P-1", number: "INV-7-NEW" });
});

test.each([
  ["while a flow begins", [{ facts: facts("HAND-1", "5") }], {}, true],
  [
    "due on the same day, dated otherwise",
    [{ facts: facts("HAND-1", "5", { days: { date: "2026-10-01", due: "2026-12-01" } }) }],
    { due: "2026-12-01" },
    true,
  ],
  [
    "of another day",
    [{ facts: facts("HAND-1", "5", { days: { date: "2026-11-11" } }) }],
    {},
    false,
  ],
  [
    "with other lines",
    [{ facts: facts("HAND-1", "5", { lines: [lineOf("1"), lineOf("4")] }) }],
    { lines: ["2", "3"] },
    false,
  ],
  [
    "entered as its sum",
    [{ facts: facts("HAND-1", "5", { lines: [lineOf("5")] }) }],
    { lines: ["2", "3"] },
    true,
  ],
  ["of another party", [{ facts: facts("HAND-1", "5", { party: "company-2" }) }], {}, false],
  [
    "where the flow says so",
    [{ facts: facts("HAND-1", "5") }],
    {},
    false,
    { duplicates: "deliver" },
  ],
] as const)(
  "a first send is compared with what its receiver lists: %s",
  async (_, held, more, waits, options: Partial<Flow> = {}) => {
    const bench = engineOn(tempFolder(), testClock(Date.parse("2026-11-18T18:00:00Z")));
    const { lists, holdings } = showing(held);
    const { sink, flow } = flowOf(bench, [[own("7", "A-1", "5", more)]], { holdings, ...options });
    await runFlow(bench.engine, flow, signal);
    expect(sink.sent).toHaveLength(waits ? 0 : 1);
    expect(lists.length).toBe(options.duplicates === "deliver" ? 0 : 1);
    if (!waits) return;
    expect(quarantine(bench)).toMatchObject([
      { code: "duplicate", cause: expect.stringContaining("A-1 (7) looks like HAND-1 (P-1)") },
    ]);
    bench.store.transaction(() => {
      for (const chosen of select(bench.engine, [flow], "all")) retry(bench.engine, chosen);
    });
    await runFlow(bench.engine, flow, signal);
    expect(sink.sent).toHaveLength(1);
  },
);

test("once it is certain what a flow delivered, the receiver is asked no more where a flow reads it; where none does, it is asked for what changed", async () => {
  for (const isRead of [true, false]) {
    const bench = engineOn(tempFolder(), testClock(Date.parse("2026-11-18T18:00:00Z")));
    const { lists, holdings } = showing([]);
    const source = pagesOf(
      ...["1", "2"].map((id) => [{ changes: [own(id, `A-${id}`, id)], position: 1 }]),
    );
    const { flow } = { flow: bench.flow({ mapping, source, sink: receiver({}), holdings }) };
    if (isRead)
      flowOf(bench, [[]], { name: "back", side: "platform", from: "platform.x", to: "erp.x" });
    const daemon = new Daemon(bench.engine, [flow]);
    await daemon.once(signal);
    bench.clock.advance(60_000);
    await daemon.once(signal);
    expect(lists.map(({ dated }) => dated === null)).toEqual(isRead ? [false] : [false, true]);
  }
});

test("what its mapping refuses by the time of its first send is judged anew, and not sent", async () => {
  const bench = engineOn(tempFolder(), testClock(Date.parse("2026-11-18T18:00:00Z")));
  let maps = 0;
  const refuses: Mapping<Told, Told> = {
    ...mapping,
    map(record) {
      if (++maps > 1) throw new Refused({ code: "no-item", message: "no item", next: "Add it." });
      return record;
    },
  };
  const { holdings } = showing([]);
  const { sink, flow } = flowOf(bench, [[own("7", "A-1", "5")]], {
    holdings,
    mapping: refuses,
  });
  await runFlow(bench.engine, flow, signal);
  await runFlow(bench.engine, flow, signal);
  expect(sink.sent).toEqual([]);
  expect(quarantine(bench)).toEqual([{ code: "no-item", cause: "no item" }]);
});

test("while the receiver cannot be asked nothing is sent, and it is told why", async () => {
  const bench = engineOn(tempFolder(), testClock(Date.parse("2026-11-18T18:00:00Z")));
  const holdings = {
    ...showing([]).holdings,
    // eslint-disable-next-line require-yield
    async *list(): AsyncGenerator<never> {
      throw new SourceUnavailable("no right to read invoices", { next: "Give it." });
    },
  };
  const { sink, flow } = flowOf(bench, [[own("7", "A-1", "5")]], { holdings });
  await runFlow(bench.engine, flow, signal);
  expect(sink.sent).toEqual([]);
  expect(bench.store.journal.breakers()).toMatchObject([{ message: "no right to read invoices" }]);
});

test("a process that is ended while it asks the receiver sends nothing, and leaves no stop behind", async () => {
  const bench = engineOn(tempFolder(), testClock(Date.parse("2026-11-18T18:00:00Z")));
  const ending = new AbortController();
  const holdings = {
    ...showing([]).holdings,
    // eslint-disable-next-line require-yield
    async *list(): AsyncGenerator<never> {
      ending.abort();
      throw new SourceUnavailable("the reading was stopped", { next: "Look at the address." });
    },
  };
  const { sink, flow } = flowOf(bench, [[own("7", "A-1", "5")]], { holdings });
  await runFlow(bench.engine, flow, ending.signal);
  expect(sink.sent).toEqual([]);
  expect(bench.store.journal.breakers()).toEqual([]);
});
