/** A field that a person corrects: beside what was received, once, and never an amount (ADR 0007). */
import { expect, test } from "vitest";
import { whyNotCorrected } from "./quarantine.ts";
import { bill, billMapping, engineOn, pagesOf, receiver } from "../../test/support/engine.ts";
import { officeOn } from "../../test/support/office.ts";
import { tempFolder } from "../../test/support/folder.ts";
import type { Change, Endpoint, Item, Sink } from "../core/contract.ts";
import { Daemon } from "../engine/daemon.ts";
import { WaitsFor, OfficeError } from "../core/errors.ts";
import type { Holding } from "../core/holdings.ts";
import { tell } from "../engine/reconcile/plan.ts";
import { causeOf } from "../reconcile/judge.ts";

const signal = new AbortController().signal;
const ANN = { by: "ann", note: "the driver wrote AVGS" };

/** One flow that has read the first page; each `read` reads the next one. */
async function setup(sink: Sink, ...pages: Change[][]) {
  const bench = engineOn(tempFolder());
  const { engine, store } = bench;
  const source = pagesOf(...pages.map((changes, at) => [{ changes, position: at }]));
  const mapping: typeof billMapping = {
    ...billMapping,
    map: (bill, references) => {
      if (bill.product === "WAITS") throw new WaitsFor("customer", "c-1");
      if (bill.product !== undefined && bill.product !== "AVGAS")
        references.row("products", bill.product);
      return bill;
    },
    about: ({ amount }) => ({ amount }),
  };
  const flow = bench.flow({ sink, source, mapping });
  const daemon = new Daemon(engine, [flow]);
  const office = officeOn(engine, [flow], daemon);
  const read = (): Promise<unknown> => daemon.once(signal);
  await read();
  const waiting = async () => {
    const groups = await office.quarantine();
    const shown = await Promise.all(groups.map(({ id }) => office.quarantineShow(id)));
    return shown.flatMap(({ code, cause, deliveries }) =>
      deliveries.map((one) => ({ ...one, code, cause })),
    );
  };
  const selector = async (): Promise<string> => (await waiting())[0]?.delivery ?? "";
  return { engine, flow, store, office, read, waiting, selector };
}

const refusalOf = (edited: Promise<unknown>): Promise<string> =>
  edited.then(
    () => "taken",
    (error: unknown) =>
      error instanceof OfficeError ? `${error.message} ${error.next}` : "thrown",
  );

test("a corrected field goes out at the next retry under a key of its own, and what was received stays", async () => {
  const sink = receiver();
  const lines = [{ product: "other" }];
  const change = bill("INV-1", "1.00", { product: "AVGS", lines });
  const { store, office, read, waiting, selector } = await setup(sink, [change], [change]);
  const id = await selector();

  const first = await office.edit(id, { field: "product", value: "AVGA" }, ANN);
  expect(first.still).toContain("AVGA");
  const edited = await office.edit(id, { field: "product", value: "AVGAS" }, ANN);
  expect(edited).toMatchObject({ was: "AVGA", value: "AVGAS", still: null });
  expect(edited.revision).not.toBe(first.revision);
  expect((await waiting())[0]?.corrections).toMatchObject([
    { field: "product", was: "AVGS", value: "AVGAS", by: "ann", reason: ANN.note },
  ]);
  expect(sink.sent).toEqual([]);

  // The same record once more is nothing new, and ends nothing.
  await read();
  expect(await office.retry(id)).toEqual({ retried: 1, left: 0 });
  await read();
  expect(sink.executed.map(({ body }) => body)).toEqual([
    '[{"number":"INV-1","amount":1.00,"product":"AVGAS","lines":[{"product":"other"}]}]',
  ]);
  expect(store.waits.text(Number(id))).toBe(change.text);
  const [found] = (await office.documents({ text: "INV-1", before: null })).documents;
  const life = await office.document(found?.id ?? "");
  expect(life.record).toContainEqual({ path: "product", value: "AVGS" });
  expect(life.corrections).toMatchObject([{ value: "AVGAS" }]);
  const { steps } = await office.trace("INV-1");
  expect(steps.filter(({ event }) => event === "corrected").map(({ detail }) => detail)).toEqual([
    `${ANN.by}: ${ANN.note}, product: "AVGS" is "AVGA" now`,
    `${ANN.by}: ${ANN.note}, product: "AVGA" is "AVGAS" now`,
  ]);
  store.close();
});

test("a newer version ends a correction, and waits for a person when it says the same again", async () => {
  const sink = receiver({ writes: "upsert" });
  const version = (product: string, memo: string): Change[] => [
    bill("INV-1", "1.00", { product, memo }),
  ];
  const { store, office, read, waiting, selector } = await setup(
    sink,
    version("AVGS", "a"),
    version("AVGS", "b"),
    version("AVGAS", "c"),
  );
  const id = await selector();
  await office.edit(id, { field: "product", value: "AVGAS" }, ANN);
  await office.retry(id);
  await read();
  // That read took the second version, too.
  expect(await waiting()).toMatchObject([{ code: "corrected-before", corrections: [] }]);
  expect(sink.executed.every(({ body }) => !body.includes("AVGS"))).toBe(true);
  const { steps } = await office.trace("INV-1");
  expect(steps.filter(({ event }) => event === "correction ended")).toHaveLength(1);
  await read();
  expect(await waiting()).toEqual([]);
  expect(sink.executed.at(-1)?.body).toContain('"product":"AVGAS","memo":"c"');
  store.close();
});

test("nothing is corrected that would change an amount, a number, or what was sent", async () => {
  const extra = {
    product: "WAITS",
    unit: "GAL",
    rate: "3.10",
    status: "draft",
    paidAt: null,
    isPosted: false,
    totalText: "7",
    payer: "c-1",
  };
  const { store, office, selector, waiting } = await setup(receiver(), [
    bill("INV-1", "1.00", extra),
  ]);
  const id = await selector();
  const edit = (field: string, value: string): Promise<string> =>
    refusalOf(office.edit(id, { field, value }, ANN));
  for (const field of ["amount", "unit", "rate", "status", "paidAt", "isPosted", "totalText"])
    expect([field, await edit(field, "9")]).toEqual([
      field,
      expect.stringContaining("cannot be corrected here"),
    ]);
  expect(await edit("number", "INV-2")).toContain("names the document");
  expect(await edit("prodct", "ULSD")).toContain('Did you mean "product"?');
  expect(await edit("product", "WAITS")).toContain("already");
  expect(await refusalOf(office.edit("all", { field: "product", value: "x" }, ANN))).toBe("taken");
  expect((await waiting())[0]?.correctable.map(({ field }) => field)).toEqual(["product", "payer"]);
  store.close();
});

test("a document of unknown outcome is decided first, and is not corrected before", async () => {
  const sink = receiver();
  sink.script.push(async () => ({
    answer: { outcome: "unknown", detail: "no answer" },
    execute: true,
  }));
  sink.find = async () => ({ found: "several", detail: "two of them" });
  const { store, office, selector } = await setup(sink, [bill("INV-1", "1.00", { memo: "x" })]);
  const id = await selector();
  const refused = await refusalOf(office.edit(id, { field: "memo", value: "y" }, ANN));
  expect(refused).toContain("nobody knows yet whether it arrived");
  expect(sink.sent).toHaveLength(1);
  store.close();
});

test("reconciliation expects the corrected value at the receiver, and says that it was corrected", async () => {
  const change = bill("INV-1", "1.00", { product: "AVGS" });
  const { engine, flow, store, office, selector } = await setup(receiver(), [change]);
  await office.edit(await selector(), { field: "product", value: "AVGAS" }, ANN);
  const expected: unknown[] = [];
  const holdings = {
    list: () => Promise.reject(new TypeError("nothing is listed here")),
    expect: async (_kind: unknown, items: readonly Item[]) => {
      expected.push(...items.map(({ document }) => document));
      return items.map(() => ({ facts: { number: "INV-1" } }));
    },
  };
  const endpoint = { holdings } as unknown as Endpoint;
  const books: Holding[] = [
    { kind: "invoice", id: "INV-1", facts: { number: "INV-1" }, change, mark: null } as never,
  ];
  const one = { kind: "invoice", key: "books:INV-1", platform: [], books, by: null } as never;
  const plans = [{ kind: "invoice", flows: [flow] }] as never;
  const told = await tell(engine, new Map([["platform", endpoint]]), plans, [one], signal);
  expect(expected).toMatchObject([{ product: "AVGAS" }]);
  const corrected = told.get(one)?.corrected;
  expect(corrected).toBe('product from "AVGS" to "AVGAS" (ann)');
  const facing = { one, told: told.get(one) ?? null, stored: {}, differences: [], skip: null };
  expect(causeOf("equal", facing)).toMatchObject({ code: "corrected" });
  store.close();
});

test("a person may say that what settles an invoice counts as money, and never how much it was", () => {
  const field = "clearedBy";
  expect(whyNotCorrected({ field, value: "credit note #34 of 846.91" }, [])).toBeNull();
  expect(whyNotCorrected({ field: "paidByOthers", value: "846.91" }, [])).not.toBeNull();
});

test("a document that comes to another amount there is linked only by a person who names that amount", async () => {
  const fault = {
    code: "sales-tax-added" as const,
    message: "19934.08 on the platform and 21578.64 in QuickBooks: sales tax added 1644.56",
    next: "Make it not taxable, then retry.",
    amount: "21578.64",
  };
  const sink = receiver({
    find: async () => ({ found: "different", detail: fault.message, fault }),
  });
  sink.script.push(() => ({
    answer: { outcome: "unknown", detail: fault.message },
    execute: true,
  }));
  const { office, read, waiting, store } = await setup(sink, [bill("INV-1", "19934.08")]);
  await read();
  await read();
  const [delivery] = await waiting();
  expect(delivery).toMatchObject({ code: "sales-tax-added" });
  const accept = (amount?: string) =>
    office.resolve(delivery?.delivery ?? "", {
      ...ANN,
      receiverId: "145",
      ...(amount === undefined ? {} : { amount }),
    });
  await expect(accept()).rejects.toThrow(OfficeError);
  await expect(accept("19934.08")).rejects.toThrow(/another amount/);
  await accept("$21,578.64");
  expect(store.links.find("invoice", "erp", "INV-1")).not.toBeNull();
});
