/** What the platform holds, asked over HTTP as the reconciliation asks it. */
import { expect, test } from "vitest";
import { counting, items, never, usePlatform } from "../../../test/platform/support.ts";
import {
  type Holding,
  type HoldingKind,
  holdingKinds,
  type Holdings,
  type Scope,
} from "../../core/holdings.ts";
import { compare } from "../../ledger/compare.ts";
import { Decimal } from "../../core/decimal.ts";

const platform = usePlatform();
const { control } = platform;

const everything: Scope = { dated: null, changedSince: "1970-01-01T00:00:00.000Z", open: false };
const openOnly: Scope = { dated: null, changedSince: null, open: true };
const october: Scope = {
  dated: { from: "2026-10-01", to: "2026-10-31" },
  changedSince: null,
  open: false,
};

const held = (): Holdings => platform.endpoint().holdings as Holdings;

async function listed(kind: HoldingKind, scope = everything, holdings = held()) {
  const all: Holding[] = [];
  let total: number | null = null;
  for await (const page of holdings.list(kind, scope, null, never)) {
    all.push(...page.holdings);
    total = page.total ?? total;
  }
  return { all, total, numbers: all.map(({ facts }) => facts.number ?? "").toSorted() };
}

const invoice = (invoiceNumber: string, more: object = {}) => ({
  invoiceNumber,
  status: "OUTSTANDING",
  subtotal: 100.1,
  tax: 8.25,
  total: 108.35,
  lineItems: [],
  taxLines: [],
  ...more,
});
const at = (createdAt: string, updatedAt = createdAt) => ({ createdAt, updatedAt });

test("an invoice is told in the platform's words, its days by the company's calendar, what was paid left out of what is open", async () => {
  const [made] = await control.records("invoices", [
    invoice("INV-1", {
      ...at("2026-11-01T03:47:00Z"),
      dueDate: "2026-12-01T05:30:00Z",
      poNumber: "P-7",
      lineItems: [
        { description: "ULSD", product: "ULSD #2", gallons: 50, rate: 2.002, amount: 100.1 },
      ],
      taxLines: [{ taxType: "State Excise", amount: 8.25 }],
    }),
  ]);
  const id = made?.["id"];
  await control.records("payments", [
    { invoiceId: id, amount: 8.35, status: "SUCCEEDED", reference: "CHK 1" },
    { invoiceId: id, amount: 50, status: "FAILED" },
  ]);
  const { all, total } = await listed("invoice");
  expect(total).toBe(1);
  expect(all[0]).toMatchObject({ kind: "invoice", id, mark: null, change: { id } });
  const text = (value: unknown): unknown => (value instanceof Decimal ? value.plain() : value);
  const { facts } = all[0] as Holding;
  expect(facts).toMatchObject({
    number: "INV-1",
    state: "open",
    // 22:47 in Chicago on the last evening of October; due half an hour before midnight.
    days: { date: "2026-10-31", due: "2026-11-30", paid: null },
    words: { side: "sale", order: "PO P-7" },
    taxes: [{ code: "State Excise" }],
  });
  const money = Object.fromEntries(
    Object.entries(facts.money ?? {}).map(([name, value]) => [name, text(value)]),
  );
  expect(money).toEqual({ untaxed: "100.1", tax: "8.25", total: "108.35", open: "100" });
  const [again] = await held().get("invoice", [String(id), crypto.randomUUID()], never);
  expect(compare("invoice", facts, (again as Holding).facts)).toEqual([]);
});

test.each([
  ["as they are read here", {}],
  ["in another order", { walkOrder: "createdAtDesc" }],
  ["with an exclusive bound", { updatedSinceInclusive: false }],
  ["without lines", { listsCarryLines: false }],
  ["without taxes", { listsCarryLines: "noTaxes" }],
  ["under cursors that die at once", { cursorLifeSeconds: 0 }],
])("a period and all open invoices come whole, %s", async (_, readings) => {
  await control.records(
    "invoices",
    Array.from({ length: 120 }, (_, at) =>
      invoice(`O-${at}`, {
        createdAt: "2026-10-09T12:00:00Z",
        updatedAt: `2026-10-10T12:00:00.${100 + at}Z`,
      }),
    ),
  );
  await control.records("invoices", [
    invoice("OLD", { ...at("2025-01-05T00:00:00Z"), status: "OVERDUE" }),
    invoice("OLD-PAID", { ...at("2025-01-05T00:00:00Z"), status: "PAID" }),
  ]);
  await control.readings(readings);
  if ("cursorLifeSeconds" in readings) {
    // Refused three times, then it is said; nothing incomplete is told as whole.
    await expect(listed("invoice", october)).rejects.toThrow("refused its own cursors");
    return;
  }
  const { all, total, numbers } = await listed("invoice", { ...october, open: true });
  expect(new Set(numbers).size).toBe(121);
  expect(all).toHaveLength(121);
  expect(total).toBe(121);
  expect(all.every(({ change }) => change?.text.includes('"lineItems"'))).toBe(true);
  expect(all.every(({ facts }) => facts.taxes !== undefined)).toBe(true);
});

test("a status that is new to us has everything walked, for its counts do not add up", async () => {
  await control.records("invoices", [
    invoice("A", { ...at("2025-01-05T00:00:00Z"), status: "PARTLY_PAID" }),
    invoice("B", { ...at("2025-01-05T00:00:00Z"), status: "PAID" }),
  ]);
  expect((await listed("invoice", openOnly)).numbers).toEqual(["A", "B"]);
});

test("a record made after its last change has everything walked: its day cannot be told by changes", async () => {
  await control.records("invoices", [
    invoice("A", at("2026-10-05T00:00:00Z", "2026-10-04T00:00:00Z")),
    invoice("B", at("2026-10-05T00:00:00Z", "2025-10-04T00:00:00Z")),
  ]);
  expect((await listed("invoice", october)).numbers).toEqual(["A", "B"]);
});

test("an invoice as it is delivered is expected as the platform then shows it", async () => {
  const document = `{"invoiceNumber":"INV-9","subtotal":100.10,"tax":8.25,"total":108.35,"dueDate":"2026-12-01T12:00:00Z",
    "poNumber":"P-7","notes":"Gate 4","lineItems":[{"description":"ULSD","product":"ULSD #2","gallons":50,"rate":2.002}],
    "taxLines":[{"taxType":"State Excise","amount":8.25}]}`;
  const holdings = held();
  const [expected] = await holdings.expect("invoice", items(document), never);
  const sink = platform.sink("invoices");
  const key = "fb1_test_0123456789abcdef";
  const request = {
    ...sink.freeze(items(document)),
    key,
    items: items(document),
    firstSentAt: null,
  };
  await sink.send(request, never);
  const { all } = await listed("invoice");
  if (expected === undefined || !("facts" in expected)) throw new Error("no facts");
  expect(compare("invoice", expected.facts, (all[0] as Holding).facts)).toEqual([]);
  await control.patch("invoices", all[0]?.id, { poNumber: "P-8", total: 108.36 });
  const [changed] = await holdings.get("invoice", [String(all[0]?.id)], never);
  expect(
    compare("invoice", expected.facts, (changed as Holding).facts).map(({ field }) => field),
  ).toEqual(["money.total", "order"]);
});

test.each(holdingKinds)(
  "a text in the books that is no id of the platform's names no %s, and the others are told",
  async (kind) => {
    expect(await held().get(kind, ["entered by hand", "../x", ""], never)).toEqual([]);
  },
);

test("a party is the end of a connection that is not us, whichever way the connection runs", async () => {
  const [ours] = await control.keys();
  await control.records("connections", [
    {
      fromCompanyId: crypto.randomUUID(),
      toCompanyId: ours?.companyId,
      erpId: "000417",
      status: "ACCEPTED",
    },
    {
      fromCompanyId: ours?.companyId,
      toCompanyId: crypto.randomUUID(),
      erpId: "000418",
      status: "DECLINED",
    },
  ]);
  const { all } = await listed("party");
  const own = all.filter(({ mark }) => mark?.startsWith("0004"));
  expect(own.map(({ mark, facts }) => `${mark} ${facts.number} ${facts.state}`).toSorted()).toEqual(
    ["000417 000417 open", "000418 000418 ended"],
  );
  expect(all.some(({ id }) => id === ours?.companyId)).toBe(false);
});

test("the price in force counts, not one that is announced or was before", async () => {
  const price = (value: number, effectiveAt: string) => ({
    terminalId: "T-74-TX-2700",
    product: "ULSD #2",
    price: value,
    unit: "gal",
    effectiveAt,
  });
  const now = await control.now();
  const day = (days: number) => new Date(now + days * 86_400_000).toISOString();
  await control.records("rack-prices", [
    price(2.1, day(-3)),
    price(2.2, day(-1)),
    price(2.3, day(2)),
  ]);
  const { all } = await listed("price");
  expect(all.map(({ id, facts }) => [id, facts.money?.price?.plain()])).toEqual([
    ["T-74-TX-2700 ULSD #2", "2.2"],
  ]);
});

test("a price that has ended counts as ended, unless another one of its name is in force", async () => {
  const now = await control.now();
  const day = (days: number) => new Date(now + days * 86_400_000).toISOString();
  const price = (product: string, value: number, expiresAt: string | null, effective: number) => ({
    terminalId: "T-74-TX-2700",
    product,
    price: value,
    unit: "gal",
    effectiveAt: day(effective),
    expiresAt,
  });
  await control.records("rack-prices", [
    price("ended", 2.1, day(-1), -3),
    price("ends tomorrow", 2.2, day(1), -3),
    price("ended and in force", 2.3, day(-1), -2),
    price("ended and in force", 2.4, null, -3),
  ]);
  const { all } = await listed("price");
  const shown = all.map(({ facts: { money, state } }) => `${money?.price?.plain()} ${state}`);
  expect(shown.toSorted()).toEqual(["2.1 ended", "2.2 open", "2.4 open"]);
});

test("every request of a reconciliation counts as audit", async () => {
  await control.records("invoices", [invoice("A", at("2026-10-05T00:00:00Z"))]);
  const { governor, counts } = counting();
  const holdings = platform.endpoint({ governor }).holdings as Holdings;
  for (const kind of ["invoice", "bill", "payment", "bill-payment", "party", "price"] as const)
    await listed(kind, { ...october, open: true }, holdings);
  expect(Object.keys(counts())).toEqual(["audit"]);
});
