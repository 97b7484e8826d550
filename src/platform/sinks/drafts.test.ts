/** Where a new invoice is a draft at the platform (reading `createdInvoiceStatus`): said, linked, and cleared by itself. */
import { beforeEach, describe, expect, test } from "vitest";
import { delivery } from "../../../test/platform/deliver.ts";
import { never, outgoing, usePlatform } from "../../../test/platform/support.ts";
import { testClock } from "../../../test/support/clock.ts";
import { parseExact, sliceArray } from "../../core/json.ts";
import { Daemon } from "../../engine/daemon.ts";
import { finish } from "../../engine/delivered.ts";
import { retry, select } from "../../office/decisions.ts";

const platform = usePlatform();
const { control } = platform;

const invoice = (number: string): string =>
  `{"invoiceNumber":"${number}","subtotal":7.10,"total":7.10,"lineItems":[{"description":"d","amount":7.10}]}`;
const posts = async () => (await control.requests("?method=POST")).length;
const work = async (...numbers: string[]) =>
  delivery(platform.sink("invoices"), await platform.clock(), numbers.map(invoice));

beforeEach(async () => void (await control.readings({ createdInvoiceStatus: "DRAFT" })));

const open = { code: "draft-at-receiver", next: expect.stringContaining("Issue it") as string };

test("a draft is no silent delivery: one group says so, the link is kept, and it never goes twice", async () => {
  const { engine, store, flow, ...sent } = await work("A", "B");
  expect(await sent.settled()).toEqual({ quarantined: 2 });
  expect(store.questions.quarantine()).toMatchObject([{ ...open, count: 2 }]);
  const [row] = await control.stored("invoices", "supplier");
  expect(store.links.numbered("invoice", "A", "erp")?.platformId).toBe(row?.["id"]);
  store.transaction(() => {
    for (const chosen of select(engine, [flow], "all")) retry(engine, chosen);
  });
  expect(await sent.settled()).toEqual({ quarantined: 2 });
  expect(await posts()).toBe(2);
});

test("it clears by itself once the invoice is issued, for one request", async () => {
  const { engine, store, flow, ...sent } = await work("A", "B");
  await sent.settled();
  expect(await finish(engine, flow, never)).toBe(0);
  const [first] = await control.stored("invoices", "supplier");
  await control.patch("invoices", first?.["id"], { status: "OUTSTANDING" });
  const before = (await control.requests()).length;
  const daemon = new Daemon(
    { ...engine, clock: { ...testClock(), pause: (ms, signal) => engine.clock.pause(ms, signal) } },
    [flow],
  );
  await daemon.once(never);
  expect((await control.requests()).length).toBe(before + 1);
  expect(Object.fromEntries(store.deliveries.counts(flow.flow))).toEqual({
    delivered: 1,
    quarantined: 1,
  });
});

test("the same when its answer was lost: the read-back finds the draft", async () => {
  await control.fault({ method: "POST", kind: "status", status: 503, when: "after" });
  const { store, ...sent } = await work("A");
  expect(await sent.settled()).toEqual({ quarantined: 1 });
  expect(store.questions.quarantine()).toMatchObject([open]);
  expect(await posts()).toBe(1);
});

test("a draft of ours that comes by in a poll settles nothing: the read-back says what it is", async () => {
  const sink = platform.sink("invoices");
  const request = outgoing(sink, [invoice("A")]);
  await sink.send(request, never);
  const { text } = await platform.get("/invoices");
  const record = sliceArray(text, "data")?.elements[0] ?? "";
  const shown = (status: string) => parseExact(record.replace('"DRAFT"', `"${status}"`));
  expect(sink.recognise?.(request, shown("DRAFT"))).toBeNull();
  expect(sink.recognise?.(request, shown("OUTSTANDING"))).toHaveLength(1);
});

test("two looks at once, as every flow makes before its first send, end it once", async () => {
  const { engine, store, flow, ...sent } = await work("A");
  await sent.settled();
  const [first] = await control.stored("invoices", "supplier");
  await control.patch("invoices", first?.["id"], { status: "OUTSTANDING" });
  const looks = [finish(engine, flow, never), finish(engine, flow, never)];
  expect((await Promise.all(looks)).sort((one, other) => one - other)).toEqual([0, 1]);
  expect(Object.fromEntries(store.deliveries.counts(flow.flow))).toEqual({ delivered: 1 });
});

describe("a newer version with nothing new for the platform does not hide the draft", () => {
  const twice = async () => {
    const clock = await platform.clock();
    const newer = invoice("A").replace("{", '{"unseen":1,');
    return delivery(platform.sink("invoices"), clock, [invoice("A")], [newer]);
  };
  const issue = async () => {
    const [first] = await control.stored("invoices", "supplier");
    await control.patch("invoices", first?.["id"], { status: "OUTSTANDING" });
  };

  test.each([
    ["that comes once it is told", [], { delivered: 1, superseded: 1 }],
    [
      "that waits while the answer is lost",
      [{ status: 503, when: "after" }],
      { delivered: 1, skipped: 1 },
    ],
  ])("%s; it counts once", async (_, faults, counts) => {
    for (const fault of faults) await control.fault({ method: "POST", kind: "status", ...fault });
    const { engine, store, flow, ...sent } = await twice();
    expect((await sent.settled())["quarantined"]).toBe(1);
    expect(store.questions.quarantine()).toMatchObject([open]);
    await issue();
    expect(await finish(engine, flow, never)).toBe(1);
    expect(store.questions.quarantine()).toEqual([]);
    expect(Object.fromEntries(store.deliveries.counts(flow.flow))).toEqual(counts);
    expect(await posts()).toBe(1);
  });
});
