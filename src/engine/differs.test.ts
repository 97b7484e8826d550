import { expect, test } from "vitest";
import { bill, billMapping, engineOn, pagesOf, receiver } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import type { Decimal } from "../core/decimal.ts";
import { type Change, gone, type Inspection } from "../core/contract.ts";
import type { Difference } from "../core/holdings.ts";
import { refused } from "../core/outcome.ts";
import { type Chosen, resolve, retry, select } from "../office/decisions.ts";
import { Daemon, runFlow } from "./daemon.ts";
import { verify } from "./verify.ts";

const signal = new AbortController().signal;

const payer = (held: string): Difference => ({ field: "party", expected: "A-1001", held });
const due = (held: string): Difference => ({
  field: "days.due",
  expected: "2026-12-08",
  held,
});
const there = (...differences: Difference[]): Inspection => ({ is: "there", differences });

/** Books that say of each document (by number) how it stands, and a source that tells these versions. */
function booksOf(...reads: Change[][]) {
  const bench = engineOn(tempFolder());
  const standing = new Map<string, Inspection>();
  const sink = receiver({
    writes: "upsert",
    // As books do: what a person linked is there, and is compared with nothing.
    inspect: async (delivered) =>
      delivered.map(({ id, body }) => (body === null ? there() : (standing.get(id) ?? there()))),
  });
  const pages = reads.map((changes, position) => [{ changes, position }]);
  const flow = bench.flow({
    sink,
    from: "platform.bills",
    to: "erp.bills",
    side: "platform",
    source: pagesOf(...pages),
  });
  return {
    bench,
    sink,
    flow,
    standing,
    /** A start: everything is verified and delivered. */
    once: () => new Daemon(bench.engine, [flow]).once(signal),
    verified: () => verify(bench.engine, flow, signal),
    counts: () => Object.fromEntries(bench.store.deliveries.counts(flow.flow)),
    groups: () => bench.store.questions.quarantine(),
    causes: () => bench.store.questions.quarantine().map(({ cause }) => cause),
    decide: (how: (chosen: Chosen) => void) =>
      bench.store.transaction(() => {
        for (const one of select(bench.engine, [flow], "all")) how(one);
      }),
    events: (number: string) =>
      bench.store.questions
        .deliveries(number)
        .flatMap(({ delivery }) => bench.store.questions.audit(delivery, null))
        .map(({ event }) => event),
  };
}
const accept =
  (bench: ReturnType<typeof booksOf>["bench"]) =>
  (one: Chosen): void =>
    resolve(bench.engine, [one], { by: "Ann", note: "the books are right" });

test("what is held otherwise is with a person, one line per field, keeps its link, and closes by itself", async () => {
  const { bench, standing, once, verified, counts, groups, events } = booksOf([
    bill("INV-1", "1"),
    bill("INV-2", "1"),
  ]);
  await once();
  standing.set("INV-1", there(payer("A-1038"), due("none")));
  await verified();
  expect(counts()).toEqual({ delivered: 1, quarantined: 1 });
  const cause = "payer: erp A-1038, platform A-1001\ndue date: erp none, platform 2026-12-08";
  expect(groups()).toMatchObject([{ code: "differs", cause, count: 1 }]);
  expect(groups()[0]?.next).toContain("close it: exactly these values are accepted");
  expect(bench.store.links.find("invoice", "platform", "INV-1")?.erpId).toBe("id-of-INV-1");

  // Told once, however often it is inspected; other values take the place of the old ones.
  await verified();
  expect(events("INV-1").filter((event) => event === "differs")).toHaveLength(1);
  standing.set("INV-1", there(payer("A-1039")));
  await verified();
  expect(groups()).toMatchObject([{ cause: "payer: erp A-1039, platform A-1001", count: 1 }]);

  standing.delete("INV-1");
  await verified();
  expect(counts()).toEqual({ delivered: 2 });
  expect(groups()).toEqual([]);
  expect(events("INV-1").at(-1)).toBe("agrees again");
});

test("what a payment settles is told by its number, not by the id that the books have", async () => {
  const { standing, once, verified, causes } = booksOf([bill("INV-1", "1")]);
  await once();
  standing.set(
    "INV-1",
    there({ field: "document", expected: "id-of-INV-1", held: "id-of-no-one" }),
  );
  await verified();
  expect(causes()).toEqual(["invoice: erp id-of-no-one, platform INV-1"]);
});

test("what a person accepted stays accepted for exactly these values, and other values are told", async () => {
  const { bench, standing, once, verified, counts, causes, decide, events } = booksOf(
    [bill("INV-1", "1")],
    [],
    [bill("INV-1", "1", { status: "PAID" })],
  );
  await once();
  standing.set("INV-1", there(payer("A-1038")));
  await verified();
  decide(accept(bench));
  await once();
  await verified();
  expect(counts()).toEqual({ resolved: 1 });
  // A later version with the same difference says nothing new.
  await once();
  await verified();
  expect(counts()).toEqual({ resolved: 1, delivered: 1 });
  standing.set("INV-1", there(payer("A-7")));
  await verified();
  expect(causes()).toEqual(["payer: erp A-7, platform A-1001"]);
  decide(accept(bench));

  // Once both agree it is over: the same values again are told again.
  standing.set("INV-1", there());
  await verified();
  expect(counts()).toEqual({ resolved: 1, delivered: 1 });
  standing.set("INV-1", there(payer("A-7")));
  await verified();
  expect(causes()).toEqual(["payer: erp A-7, platform A-1001"]);
  expect(events("INV-1").filter((event) => event === "differs")).toHaveLength(3);
});

test("a retry delivers the current version again, and what still differs then is told again", async () => {
  const { bench, flow, sink, standing, once, verified, counts, causes, decide } = booksOf([
    bill("INV-1", "1"),
  ]);
  await once();
  standing.set("INV-1", there(payer("A-1038")));
  await verified();
  sink.script.push(() => ({
    answer: { outcome: "done", detail: "brought back", ids: ["id-of-INV-1"] },
    execute: true,
  }));
  decide((one) => retry(bench.engine, one));
  await runFlow(bench.engine, flow, signal);
  expect(sink.sent).toHaveLength(2);
  expect(new Set(sink.sent.map(({ key }) => key)).size).toBe(2);
  expect(counts()).toEqual({ delivered: 1 });
  await verified();
  expect(causes()).toEqual(["payer: erp A-1038, platform A-1001"]);
});

test("what differs, and is refused when a person retries it, stays with the person until both agree", async () => {
  const { bench, flow, sink, standing, once, verified, counts, groups, decide } = booksOf([
    bill("INV-1", "1"),
  ]);
  await once();
  const twice = { field: "record", expected: "one", held: "S-1 and S-2" };
  standing.set("INV-1", there(twice));
  await verified();
  const fault = {
    code: "twice-in-books",
    message: "it is there twice",
    next: "Cancel one.",
  } as const;
  sink.script.push(() => ({ answer: refused(fault), execute: false }));
  decide((one) => retry(bench.engine, one));
  await runFlow(bench.engine, flow, signal);
  expect(groups()).toMatchObject([{ code: "twice-in-books" }]);
  await verified();
  await verified();
  expect(groups()).toMatchObject([{ count: 1 }]);
  expect(counts()).toEqual({ quarantined: 1 });
  standing.clear();
  await verified();
  expect(counts()).toEqual({ delivered: 1 });
});

test("a newer version of what differs is delivered; one that says nothing new stays with the person", async () => {
  const { bench, flow, sink, standing, once, verified, counts, causes, decide } = booksOf(
    [bill("INV-1", "1", { status: "OPEN" })],
    [{ ...bill("INV-1", "1", { status: "OPEN" }), version: "2026-11-21T08:00:00.000000000Z" }],
    [],
    [bill("INV-1", "1", { status: "PAID" })],
  );
  await once();
  standing.set("INV-1", there(payer("A-1038")));
  await verified();
  await runFlow(bench.engine, flow, signal);
  expect(counts()).toEqual({ superseded: 1, quarantined: 1 });
  expect(causes()).toEqual(["payer: erp A-1038, platform A-1001"]);
  decide((one) => retry(bench.engine, one));
  await runFlow(bench.engine, flow, signal);
  expect(sink.sent).toHaveLength(2);
  expect(counts()).toEqual({ superseded: 1, delivered: 1 });
  await verified();
  expect(counts()).toEqual({ superseded: 1, quarantined: 1 });
  await runFlow(bench.engine, flow, signal);
  expect(sink.sent).toHaveLength(3);
  expect(counts()).toEqual({ superseded: 2, delivered: 1 });
  standing.clear();
  await verified();
  expect(counts()).toEqual({ superseded: 2, delivered: 1 });
});

test("documents that differ alike are one group with the values of each, and one notice", async () => {
  const numbers = Array.from({ length: 60 }, (_, at) => `INV-${at}`);
  const { bench, standing, once, verified, counts, groups } = booksOf(
    numbers.map((number) => bill(number, "1")),
  );
  await once();
  for (const [at, number] of numbers.entries())
    if (at < 40) standing.set(number, there(due(`2026-11-${10 + (at % 20)}`)));
  standing.set("INV-59", there(payer("A-7")));
  await verified();
  expect(counts()).toEqual({ delivered: 19, quarantined: 41 });
  const [storm, other, ...rest] = groups();
  expect(rest).toEqual([]);
  expect(other).toMatchObject({ cause: "payer: erp A-7, platform A-1001", count: 1 });
  expect(storm).toMatchObject({
    reason: 'differs in "erp" from what was delivered: due date',
    count: 40,
  });
  const [first] = storm === undefined ? [] : bench.store.questions.quarantined(storm);
  expect(first?.cause).toBe("due date: erp 2026-11-10, platform 2026-12-08");
  expect(bench.notes.filter((note) => note === "many differ")).toHaveLength(1);
});

test("links of any age are inspected in turn, a bounded number at a time", async () => {
  const { bench, flow, sink, verified } = booksOf();
  const links = Array.from({ length: 2_700 }, (_, at) => `P-${at}`);
  bench.store.transaction(() => {
    for (const [at, id] of links.entries())
      bench.store.links.save(
        {
          kind: "invoice",
          platformId: id,
          erpId: `E-${at}`,
          born: "platform",
          number: id,
          content: null,
          amount: null,
        },
        at,
      );
  });
  const asked: number[] = [];
  const seen = new Set<string>();
  sink.inspect = async (delivered) => {
    asked.push(delivered.length);
    for (const { id } of delivered) seen.add(id);
    return delivered.map(() => there());
  };
  for (let run = 0; run < 6; run++) await verify(bench.engine, flow, signal);
  expect(seen.size).toBe(links.length);
  expect(Math.max(...asked)).toBeLessThanOrEqual(500);
  expect(asked.length).toBeLessThanOrEqual(12);
  expect(await verified()).toBe(0);
});

test("what differs and is then gone is told as gone, accepted or not", async () => {
  const { bench, standing, once, verified, counts, groups, decide } = booksOf([
    bill("INV-1", "1"),
    bill("INV-2", "1"),
  ]);
  await once();
  for (const number of ["INV-1", "INV-2"]) standing.set(number, there(payer(number)));
  await verified();
  decide((one) => {
    if (one.row.number === "INV-1") accept(bench)(one);
  });
  expect(counts()).toEqual({ quarantined: 1, resolved: 1 });
  for (const number of ["INV-1", "INV-2"]) standing.set(number, gone);
  await verified();
  expect(groups()).toMatchObject([{ code: "gone", count: 2 }]);
});

test("what was inspected while a newer version arrived is not held against that", async () => {
  const { bench, flow, sink, once, verified, counts } = booksOf(
    [bill("INV-1", "1")],
    [bill("INV-1", "1", { status: "PAID" })],
  );
  await once();
  sink.inspect = async (delivered) => {
    await runFlow(bench.engine, flow, signal);
    return delivered.map(() => there(payer("A-1038")));
  };
  await verified();
  expect(sink.sent).toHaveLength(2);
  expect(counts()).toEqual({ delivered: 2 });
});

test("what the receiver refused because it differs closes by itself once a person has brought it there by hand", async () => {
  const { bench, flow, sink, standing, once, verified, counts, causes } = booksOf(
    [bill("INV-1", "1")],
    [bill("INV-1", "1", { note: "other payer" })],
    [bill("INV-1", "1", { note: "other payer" })],
  );
  await once();
  const fault = {
    code: "differs" as const,
    message: "payer: erp A-1038, platform A-1001",
    next: "",
  };
  sink.script.push(() => ({
    answer: { outcome: "refused", detail: "differs", fault },
    execute: false,
  }));
  await runFlow(bench.engine, flow, signal);
  expect(causes()).toEqual([fault.message]);
  // It is compared with the version that was refused, and not with the one before.
  let asked: string | null = null;
  sink.inspect = async (delivered) =>
    delivered.map(({ id, body }) => {
      asked = body;
      return standing.get(id) ?? there();
    });
  standing.set("INV-1", there(payer("A-1038")));
  await verified();
  expect(asked).toContain("other payer");
  expect(causes()).toEqual([fault.message]);
  standing.clear();
  await verified();
  expect(counts()).toEqual({ delivered: 2 });
  await once();
  expect(sink.sent).toHaveLength(2);
});

test("an amount that was changed there, or a void, is told by what comes by, where the receiver is not asked", async () => {
  const bench = engineOn(tempFolder());
  const about = ({ amount, state }: { amount: Decimal; state?: unknown }) => ({
    amount,
    ended: state === "void",
  });
  const mapping = { ...billMapping, about };
  const out = bench.flow({
    mapping,
    sink: receiver(),
    source: pagesOf([{ changes: [bill("INV-1", "100.00"), bill("INV-2", "5")], position: 1 }]),
  });
  const read = (number: string, amount: string, version: string, more?: object): Change => ({
    ...bill(number, amount, more),
    id: `id-of-${number}`,
    version,
  });
  const page = (position: number, ...changes: Change[]) => [{ changes, position }];
  const home = bench.flow({
    name: "home",
    side: "platform",
    from: "platform.bills",
    to: "erp.bills",
    mapping,
    sink: receiver({ operation: "file.bill" }),
    source: pagesOf(
      page(1, read("INV-1", "100", "1"), read("INV-2", "5.00", "1")),
      page(2, read("INV-1", "90.00", "2")),
      page(3, read("INV-1", "90.0", "3")),
      page(4, read("INV-1", "100.00", "4")),
      page(5, read("INV-2", "5.00", "2", { state: "void" })),
    ),
  });
  const daemon = new Daemon(bench.engine, [out, home]);
  const told = async () => {
    await daemon.once(signal);
    return bench.store.questions.quarantine().map(({ cause }) => cause);
  };
  expect(await told()).toEqual([]);
  const cause = "total: platform 90.00, erp 100.00";
  expect(await told()).toEqual([cause]);
  expect(await told()).toEqual([cause]);
  expect(await told()).toEqual([]);
  expect(Object.fromEntries(bench.store.deliveries.counts(out.flow))).toEqual({ delivered: 2 });
  expect(await told()).toEqual(["state: platform void, erp valid"]);
  expect(Object.fromEntries(bench.store.deliveries.counts(home.flow))).toEqual({ echo: 6 });
});
