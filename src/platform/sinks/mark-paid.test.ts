import { describe, expect, test } from "vitest";
import { nowhere } from "../../../test/conformance/samples.ts";
import type { Row } from "../../../test/conformance/support.ts";
import { delivery } from "../../../test/platform/deliver.ts";
import { deliverThrough, unknownOutcomes } from "../../../test/platform/outcomes-unknown.ts";
import type { Memory } from "../../core/contract.ts";
import { faultFor, never, outgoing, usePlatform } from "../../../test/platform/support.ts";

const platform = usePlatform();
const { control } = platform;

const paidAt = "2026-11-20T12:00:00Z";
const sink = () => platform.sink("paidInvoices");
const made = async (fields: Row = {}): Promise<string> =>
  String((await control.records("invoices", [{ invoiceNumber: "INV-7", ...fields }]))[0]?.["id"]);
const stored = async () => (await control.stored("invoices", "supplier"))[0];
const payment = (invoiceId: string, more = `,"paidAt":"${paidAt}"`): string =>
  `{"invoiceId":"${invoiceId}"${more}}`;
const send = async (document: string) => {
  const to = sink();
  return to.send(outgoing(to, [document]), never);
};
const find = async (document: string) => {
  const to = sink();
  return to.find(outgoing(to, [document]), never);
};

test("what is frozen names the invoice in its target, and nowhere else", () => {
  expect(outgoing(sink(), [payment(nowhere)])).toMatchObject({
    target: `PUT /invoices/${nowhere}/mark-paid`,
    body: `{"paidAt":"${paidAt}"}`,
  });
  expect(outgoing(sink(), [payment(nowhere, "")]).body).toBe("{}");
});

test.each([
  ["invoiceId", "{}"],
  ["invoiceId", payment("INV-7")],
  ["paidAt", payment(nowhere, ',"paidAt":"2026-11-20"')],
  ["notes", payment(nowhere, `,"notes":"${"x".repeat(1001)}"`)],
])(
  "what the contract does not take is refused before it costs a request: %s",
  (field, document) => {
    expect(faultFor(sink(), document)).toMatchObject({ code: "over-the-contract", field });
  },
);

test("the stored target is what is sent to, whatever the items say by now", async () => {
  const id = await made();
  const to = sink();
  const request = { ...outgoing(to, [payment(id)]), items: [] };
  expect(await to.send(request, never)).toMatchObject({ outcome: "done", ids: [id] });
  expect(await stored()).toMatchObject({ status: "PAID", paidAt });
});

test("the same again is replayed", async () => {
  const id = await made();
  await send(payment(id));
  expect(await send(payment(id))).toMatchObject({ outcome: "done", repeated: true, ids: [id] });
});

test("an invoice that is not there is refused", async () => {
  expect(await send(payment(nowhere))).toMatchObject({
    outcome: "refused",
    fault: { code: "platform-not-found" },
  });
});

describe("looking for a payment", () => {
  test.each([
    ["exact", { status: "PAID", paidAt }, payment],
    ["exact", { status: "PAID", paidAt: "2026-11-20T06:00:00.900-06:00" }, payment],
    ["exact", { status: "PAID", paidAt: "2026-01-01T00:00:00Z" }, (id: string) => payment(id, "")],
    ["exact", { status: "PAID", paidAt: "2026-11-20T12:00:02Z" }, payment],
    ["exact", { status: "PAID", paidAt: "2026-11-19T12:00:00Z" }, payment],
    ["none", { status: "PAID" }, payment],
    ["none", { status: "OUTSTANDING" }, payment],
    ["none", { status: "OVERDUE" }, payment],
    ["none", { status: "SETTLED-SINCE-V2" }, payment],
    ["different", { status: "VOID" }, payment],
    ["different", { status: "DISPUTED" }, payment],
  ])("%s: %j", async (found, fields, document) => {
    const id = await made(fields);
    const finding = await find(document(id));
    expect(finding).toMatchObject({ found, ...(found === "exact" ? { ids: [id] } : {}) });
    expect(finding.detail).toContain(`INV-7 is ${fields.status}`);
  });

  test.each([
    ["exact", paidAt],
    ["none", "2026-11-19T12:00:00Z"],
  ])("of one that we marked before, as the books have it now: %s %s", async (found, marked) => {
    const id = await made({ status: "PAID", paidAt: marked });
    const to = sink();
    const link = { kind: "invoice-payment", counterpart: id, number: "INV-7", body: null } as const;
    const memory: Memory = {
      linked: () => [{ ...link, isOwnKind: true, isOwnRecord: true }],
      numbered: () => [],
      isTold: () => false,
      isDismissed: () => false,
    };
    expect(await to.find(outgoing(to, [payment(id)]), never, memory)).toMatchObject({ found });
  });

  test("none: no such invoice", async () => {
    expect(await find(payment(nowhere))).toEqual({
      found: "none",
      detail: `no invoice ${nowhere}`,
    });
  });

  test.each([{ kind: "garbage" }, { kind: "status", status: 503 }])(
    "unreadable, which proves nothing: %j",
    async (fault) => {
      const id = await made({ status: "PAID", paidAt });
      await control.fault({ method: "GET", path: "/invoices/{id}", ...fault, times: 5 });
      expect(await find(payment(id))).toMatchObject({ found: "unreadable" });
    },
  );
});

describe("through the engine", () => {
  const write = { method: "PUT", path: "/invoices/{id}/mark-paid" };

  test.each(unknownOutcomes)("paid once, on its day: %j", async (fault) => {
    const id = await made();
    const document = { invoiceId: id, paidAt };
    expect(await deliverThrough(platform, sink(), document, fault, write)).toEqual({
      delivered: 1,
    });
    expect(await stored()).toMatchObject({ status: "PAID", paidAt });
  });

  test("one that the customer has paid on the platform keeps the time of it", async () => {
    const there = { status: "PAID", paidAt: "2026-11-19T15:04:05Z", notes: "card 4711" };
    const id = await made(there);
    const work = delivery(sink(), await platform.clock(), [payment(id)]);
    expect(await work.settled()).toEqual({ delivered: 1 });
    expect(await stored()).toMatchObject(there);
    expect(await control.requests("?method=PUT")).toEqual([]);
  });

  test.each(["VOID", "DISPUTED"])(
    "one that is %s is never marked: a person decides",
    async (status) => {
      const id = await made({ status });
      const work = delivery(sink(), await platform.clock(), [payment(id)]);
      expect(await work.settled()).toEqual({ quarantined: 1 });
      expect(await control.requests("?method=PUT")).toEqual([]);
    },
  );
});
