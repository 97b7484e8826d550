import { describe, expect, test } from "vitest";
import { instant, times } from "../../../test/conformance/support.ts";
import { delivery } from "../../../test/platform/deliver.ts";
import { faultFor, items, never, outgoing, usePlatform } from "../../../test/platform/support.ts";
import type { Memory } from "../../core/contract.ts";
import { retry, select } from "../../office/decisions.ts";
import { testClock } from "../../../test/support/clock.ts";
import { invoices } from "./sinks.ts";
import { openSink } from "./write.ts";

const platform = usePlatform();
const { control } = platform;

const line = '{"description":"ULSD delivered","amount":1234.50}';
const invoice = (fields = ""): string =>
  `{"invoiceNumber":"INV-7","subtotal":1234.50,"tax":0.10,"total":1234.60,"lineItems":[${line}]${fields}}`;
const sink = () => platform.sink("invoices");
const ours = async () =>
  (await control.stored("invoices", "supplier")).filter((one) => one["invoiceNumber"] === "INV-7");
const send = async (document = invoice()) => {
  const to = sink();
  return to.send(outgoing(to, [document]), never);
};
const find = async (document = invoice()) => {
  const to = sink();
  const finding = await to.find(outgoing(to, [document]), never);
  expect((await control.requests()).filter(({ method }) => method !== "GET")).toEqual([]);
  return finding;
};
/** The invoice as the platform would keep it. */
const kept = (fields: object = {}) => ({
  invoiceNumber: "INV-7",
  subtotal: 1234.5,
  tax: 0.1,
  total: 1234.6,
  lineItems: [{ description: "ULSD delivered", amount: 1234.5 }],
  ...fields,
});

test("what is frozen has the digits of the document, and nothing else", () => {
  const long = invoice().replace("1234.60", "12345678901234567890.10");
  expect(sink().freeze(items(long))).toEqual({ target: "POST /invoices", body: long });
});

test.each([
  ["invoiceNumber", '{"subtotal":1,"total":1,"lineItems":[{"description":"d","amount":1}]}'],
  ["total", invoice().replace("1234.60", '"1234.60"')],
  ["lineItems.0.amount", invoice().replace('"amount"', '"rate":2.5,"gallons":494,"amount"')],
  ["payerCompanyId", invoice(',"payerCompanyId":"000417"')],
])(
  "what the contract does not take is refused before it costs a request: %s",
  (field, document) => {
    expect(faultFor(sink(), document)).toMatchObject({ code: "over-the-contract", field });
  },
);

test("what was sent is there once, with its digits, and its id is known", async () => {
  const answer = await send();
  const [record] = await ours();
  expect(answer).toEqual({ outcome: "done", detail: "201", ids: [record?.["id"]] });
  const { text } = await control.ask("GET", "/records/invoices");
  for (const digits of ['"subtotal":1234.50', '"tax":0.10', '"total":1234.60', '"amount":1234.50'])
    expect(text).toContain(digits);
});

test("what the platform refuses comes back with its words and the field", async () => {
  const nobody = "99999999-9999-4999-8999-999999999999";
  const answer = await send(invoice(`,"payerCompanyId":"${nobody}"`));
  expect(answer).toMatchObject({
    outcome: "refused",
    fault: { code: "platform-validation-error", field: "payerCompanyId" },
  });
  expect(answer.fault?.message).toContain(nobody);
});

describe("looking for an invoice", () => {
  test("none: no other number will do, nor one that only speaks of it", async () => {
    await control.records("invoices", [
      kept({ invoiceNumber: "INV-70" }),
      kept({ invoiceNumber: "INV 7" }),
      kept({ invoiceNumber: "INV-6", notes: "replaces INV-7" }),
    ]);
    expect(await find()).toEqual({ found: "none", detail: "no invoice INV-7" });
  });

  test("exact: by amount, not by digits", async () => {
    const [record] = await control.records("invoices", [kept()]);
    expect(await find()).toMatchObject({ found: "exact", ids: [record?.["id"]] });
    expect(await find(invoice().replace("1234.60", "1234.600"))).toMatchObject({ found: "exact" });
  });

  test("exact: lines without an amount are the platform's to compute", async () => {
    await control.records("invoices", [kept()]);
    const computed = invoice().replace('"amount":1234.50', '"rate":2.5,"gallons":494');
    expect(await find(computed)).toMatchObject({ found: "exact" });
  });

  test.each([
    ["total 1234.61 instead of 1234.60", { total: 1234.61 }],
    ["subtotal 1234.51 instead of 1234.50", { subtotal: 1234.51 }],
    ["tax 0 instead of 0.10", { tax: 0 }],
    ["another payer", { payerCompanyId: "99999999-9999-4999-8999-999999999999" }],
    ["0 lines instead of 1", { lineItems: [] }],
    ["lines of 1234.4 instead of 1234.50", { lineItems: [{ description: "d", amount: 1234.4 }] }],
  ])("different: %s", async (difference, fields) => {
    const [record] = await control.records("invoices", [kept(fields)]);
    expect(await find()).toEqual({
      found: "different",
      detail: `invoice number INV-7 is used by ${String(record?.["id"])}: ${difference}`,
    });
  });

  test("different: the platform keeps our number in other letters, so it is there once and for a person", async () => {
    await control.readings({ invoiceNumbersKept: "lowerCase" });
    const clock = await platform.clock();
    const lost = { method: "POST", path: "/invoices", kind: "status", status: 503, when: "after" };
    await control.fault({ ...lost, times: 1 });
    const work = delivery(platform.sink("invoices", { clock }), clock, [invoice()]);
    expect(await work.settled()).toEqual({ quarantined: 1 });
    const made = (await control.stored("invoices")).filter(
      (one) => one["invoiceNumber"] === "inv-7",
    );
    expect(made).toHaveLength(1);
  });

  test.each(["inv-7", " INV-7 "])(
    "different: %j is our number as people read it, and both are told",
    async (invoiceNumber) => {
      const [record] = await control.records("invoices", [kept({ invoiceNumber, total: 9 })]);
      expect(await find()).toEqual({
        found: "different",
        detail: `invoice number INV-7 is used by ${String(record?.["id"])}: number ${invoiceNumber} instead of INV-7`,
      });
    },
  );

  test("exact beside a different one of the same number is exact", async () => {
    const [, record] = await control.records("invoices", [
      kept({ total: 1 }),
      kept(),
      kept({ tax: 7 }),
    ]);
    expect(await find()).toMatchObject({ found: "exact", ids: [record?.["id"]] });
  });

  test("one that is void there is for a person; one of ours that was voided since is ours", async () => {
    const [record] = await control.records("invoices", [kept({ status: "VOID" })]);
    const id = String(record?.["id"]);
    expect(await find()).toMatchObject({
      found: "different",
      detail: `the platform has invoice INV-7, and it is void there: ${id}`,
      fault: {
        code: "number-taken",
        candidates: [id],
        reason: "the platform has the invoice, and it is void there",
      },
    });
    const to = sink();
    const sent = outgoing(to, [invoice()], { firstSentAt: instant(1) });
    expect(await to.find(sent, never)).toMatchObject({ found: "exact", ids: [id] });
    const memory: Memory = {
      linked: () => [],
      numbered: () => [],
      isTold: () => false,
      isDismissed: (one) => one === id,
    };
    expect(await to.find(sent, never, memory)).toMatchObject({ found: "none" });
  });

  test("one that is void there is issued once more when a person says so, and once only", async () => {
    await control.records("invoices", [kept({ status: "VOID", total: 1234.7, tax: 0.2 })]);
    const work = delivery(sink(), await platform.clock(), [invoice()]);
    expect(await work.settled()).toEqual({ quarantined: 1 });
    for (const chosen of select(work.engine, [work.flow], "all")) retry(work.engine, chosen);
    expect(await work.settled()).toEqual({ delivered: 1 });
    const statuses = (await ours()).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set(["OUTSTANDING", "VOID"]));
    expect(statuses).toHaveLength(2);
  });

  test("several: the same invoice twice", async () => {
    const records = await control.records("invoices", [kept(), kept()]);
    const finding = await find();
    expect(finding.found).toBe("several");
    for (const { id } of records) expect(finding.detail).toContain(String(id));
  });

  test("on any page of what the search finds, and once although the pages slide meanwhile", async () => {
    const other = (n: number) =>
      kept({ invoiceNumber: `OTHER-${n}`, notes: "see INV-7", createdAt: instant(n) });
    const [, record] = await control.records("invoices", [
      other(0),
      kept({ createdAt: instant(1) }),
      ...times(99, (n) => other(n + 2)),
    ]);
    const client = platform.client();
    const sliding = {
      ...client,
      async exchange(request: Parameters<typeof client.exchange>[0]) {
        const answer = await client.exchange(request);
        await control.records("invoices", [other(1_000)]);
        return answer;
      },
    };
    const context = {
      client: sliding,
      purpose: "read-back" as const,
      clock: testClock(),
      settleMs: null,
      ourselves: () => Promise.resolve(null),
    };
    const to = openSink(invoices, context);
    const finding = await to.find(outgoing(to, [invoice()]), never);
    expect(finding).toMatchObject({ found: "exact", ids: [record?.["id"]] });
    expect(await control.requests()).toHaveLength(2);
  });

  test("what others bill us under the same number is not ours", async () => {
    await control.records(
      "invoices",
      [kept({ payerCompanyId: platform.company("supplier") })],
      "carrier",
    );
    expect(await find()).toMatchObject({ found: "none" });
  });

  test("where lists carry no lines the amounts decide", async () => {
    await control.records("invoices", [kept()]);
    await control.readings({ listsCarryLines: false });
    expect(await find()).toMatchObject({ found: "exact" });
    expect(await find(invoice().replace("1234.60", "1234.61"))).toMatchObject({
      found: "different",
    });
  });

  test.each([
    [{ kind: "status", status: 503, retryAfter: 90 }, 90_000],
    [{ kind: "status", status: 401 }, undefined],
    [{ kind: "reset" }, undefined],
    [{ kind: "garbage" }, undefined],
  ])("unreadable, which proves nothing: %j", async (fault, waitMs) => {
    await control.records("invoices", [kept()]);
    await control.fault({ method: "GET", ...fault, times: 5 });
    const finding = await find();
    expect(finding).toMatchObject({
      found: "unreadable",
      ...(waitMs === undefined ? {} : { waitMs }),
    });
  });
});
