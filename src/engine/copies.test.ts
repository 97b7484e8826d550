import { expect, test } from "vitest";
import {
  type Bench,
  bill,
  billMapping,
  engineOn,
  pagesOf,
  receiver,
} from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import type { Change, Mapping } from "../core/contract.ts";
import type { Decimal } from "../core/decimal.ts";
import { retry, select } from "../office/decisions.ts";
import type { Flow } from "./engine.ts";
import { runFlow } from "./daemon.ts";

const signal = new AbortController().signal;

interface Told {
  readonly number: string;
  readonly amount: Decimal;
  readonly party?: string;
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
    day = "2026-11-20",
    reference = null,
    lines = null,
    isVoid,
  }) => (isVoid === true ? null : { party, amount, day, reference, lines, number }),
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
