import { expect, test } from "vitest";
import { Decimal } from "../../core/decimal.ts";
import { brokenRules, textOfLines } from "../../../test/files/idoc-rules.ts";
import { linesOf, rowsOf, segments, SegmentWriter } from "./segments.ts";
import {
  bill,
  billLine,
  billTax,
  compact,
  faultOf,
  golden,
  itemOf,
  openSap,
  order,
  outgoing,
  sinkConfig,
  ticket,
} from "../../../test/files/idoc.ts";

test("a vendor bill is written as SAP's invoice verification reads it", () => {
  const frozen = openSap("INVOIC").freeze([itemOf(bill())]);
  expect(frozen.body).toBe(compact(golden("INVOIC")));
  expect(frozen.target).toBe("to-sap/INVOIC_FUELBRIDGE_3360453450796026.xml");
});

test("an order that we sell is written with its sales area, our number and a price of two decimals", () => {
  const frozen = openSap("ORDERS").freeze([itemOf(order())]);
  expect(frozen.body).toBe(compact(golden("ORDERS")));
  const texts = openSap("ORDERS", { headerText: "0001" }).freeze([itemOf(order())]).body;
  expect(texts).toContain("<TDLINE>deliver 6:00 to 10:00</TDLINE>");
});

test("a ticket of what we receive is announced with SAP's purchase order, one of what we ship confirms SAP's delivery", () => {
  const sink = openSap("DELVRY");
  expect(sink.freeze([itemOf(ticket())]).body).toBe(compact(golden("DESADV")));
  expect(sink.freeze([itemOf(shipped())]).body).toBe(compact(golden("SHPCON")));
});

test("the time of a delivery is the company's, where one is told", () => {
  const told = (of: ReturnType<typeof ticket>): string =>
    /<E1EDT13 .*?<\/E1EDT13>/.exec(openSap("DELVRY").freeze([itemOf(of)]).body)?.[0] ?? "";
  const deliveredAt = "2026-08-14T15:02:11Z";
  expect(told(ticket({ deliveredAt }))).toContain("<NTANZ>100200</NTANZ>");
  expect(told(shipped({ deliveredAt }))).toContain("<ISDZ>100200</ISDZ>");
  expect(told(ticket())).not.toContain("NTANZ");
});

const shipped = (more: Parameters<typeof ticket>[0] = {}) =>
  ticket({
    type: "out",
    number: "80001234",
    order: "FL-7C9E6679742540DE944BE07FC1F90AE7",
    ...more,
  });

test("what SAP never had and what it could not take is skipped with a word", () => {
  const skipped = (message: "ORDERS" | "DELVRY", document: object, more = {}) =>
    openSap(message, more).skips?.(document);
  expect(skipped("ORDERS", order())).toBeNull();
  expect(
    skipped("ORDERS", order({ status: "taken-back", platformStatus: "DRAFT", lines: [] })),
  ).toBe("draft, and as far as is known here SAP never had it");
  expect(skipped("DELVRY", ticket({ status: "cancelled" }))).toBe(
    "cancelled, and as far as is known here SAP never had it",
  );
  expect(skipped("DELVRY", shipped())).toBeNull();
  expect(skipped("DELVRY", shipped(), { deliveryNumber: undefined })).toMatch(/SHPCON must name/);
});

test("the item of a purchase order is the one its number names, else the product's place among the bill's products", () => {
  const items = (more: Parameters<typeof bill>[0], settings = {}): string[] => {
    const { body } = openSap("INVOIC", settings).freeze([itemOf(bill(more))]);
    const orders = body.matchAll(/<QUALF>001<\/QUALF><BELNR>(\d+)<\/BELNR>(?:<ZEILE>(\d+))?/g);
    return Array.from(orders, ([, order = "", item = "none"]) => `${order} ${item}`);
  };
  const [first, charge] = bill().lines as [BillLine, BillLine];
  const zero = Decimal.of("0");
  const lines = [
    first,
    charge,
    { ...first, amount: zero },
    { ...first, item: "000418", amount: zero },
  ];
  const order = "4500017823";
  // Freight between two products takes the place of neither.
  expect(items({ lines })).toEqual(["10", "30", "10", "20"].map((one) => `${order} 0000${one}`));
  expect(items({ poNumber: `${order}/30` })).toEqual([`${order} 000030`, `${order} 000030`]);
  expect(items({}, { orderItems: "material" })).toEqual([`${order} none`, `${order} none`]);
});
type BillLine = ReturnType<typeof bill>["lines"][number];

test("a bill names the one place that its lines were delivered to, and its contract", () => {
  const said = (...places: string[]): RegExpExecArray | null => {
    const lines = bill().lines.map((one, at) => ({ ...one, location: places[at] ?? null }));
    const more = { lines, contractNumber: "C-9" };
    const { body } = openSap("INVOIC").freeze([itemOf(bill(more))]);
    expect(body).toContain("<QUALF>006</QUALF><BELNR>C-9</BELNR>");
    return /<PARVW>WE<\/PARVW><NAME1>([^<]*)/.exec(body);
  };
  expect(said("Yard 3")?.[1]).toBe("Yard 3");
  expect(said("Yard 3", "Yard 4")).toBeNull();
});

test("each tax stands with the item that it is levied on, and the head has the sum of each code", () => {
  const [first] = bill().lines as [BillLine];
  const lines = [
    { ...first, product: "A", gallons: Decimal.of("10"), amount: Decimal.of("10") },
    { ...first, product: "B", gallons: Decimal.of("20"), amount: Decimal.of("20") },
    { ...first, product: "B", gallons: Decimal.of("30"), amount: Decimal.of("30") },
  ];
  const tax = (
    taxCode: string,
    amount: string,
    product: string | null,
    gallons: string | null,
  ) => ({
    ...billTax(amount),
    taxCode,
    product,
    gallons: gallons === null ? null : Decimal.of(gallons),
  });
  const taxes = [tax("F1", "1", "B", "30"), tax("F1", "2", "A", null), tax("S1", "4", null, null)];
  const sums = { subtotal: Decimal.of("60"), taxTotal: Decimal.of("7"), total: Decimal.of("67") };
  const { body } = openSap("INVOIC", { taxCode: "I0" }).freeze([
    itemOf(bill({ ...sums, lines, taxes })),
  ]);
  const told = (segment: string) =>
    Array.from(
      body.matchAll(new RegExp(`<${segment} [^>]*><MWSKZ>(\\w+)</MWSKZ><MWSBT>([^<]+)`, "g")),
      ([, code = "", amount = ""]) => `${code} ${amount}`,
    );
  expect(told("E1EDK04")).toEqual(["F1 3.00", "S1 4.00", "I0 0.00"]);
  expect(told("E1EDP04")).toEqual(["F1 2.00", "S1 4.00", "I0 0.00", "F1 1.00"]);
  expect(brokenRules(body)).toEqual([]);
});

test("the same document is the same file, name and number whenever it is written; another version is another one", () => {
  const sink = openSap("INVOIC");
  const first = sink.freeze([itemOf(bill())]);
  expect(openSap("INVOIC").freeze([itemOf(bill())])).toEqual(first);
  expect(sink.freeze([itemOf(bill(), "rev-b")]).target).not.toBe(first.target);
  expect(
    sink.freeze([itemOf(bill({ id: "0b6f7a52-4c1e-4d8a-9f5e-1c2d3e4f5a6b" }))]).target,
  ).not.toBe(first.target);
});

test("a value of one character more than its field is refused with field, value and length, in every field", () => {
  const writer = new SegmentWriter({ characters: "refuse" });
  for (const [name, fields] of Object.entries(segments))
    for (const [field, { length, kind, decimals }] of Object.entries(fields)) {
      const write = (value: string | Decimal): unknown =>
        writer.rows(rowsOf(`${name} ${field}={value} # it`), { value });
      const ofLength = (digits: number): string | Decimal => {
        if (kind !== "number") return "7".repeat(digits);
        const point = decimals === null || decimals === 0 ? 0 : decimals + 1;
        const whole = "7".repeat(digits - point);
        return Decimal.of(point === 0 ? whole : `${whole}.${"7".repeat(decimals ?? 0)}`);
      };
      expect(write(ofLength(length))).toContain("7");
      const { code, message } = faultOf(() => write(ofLength(length + 1)));
      expect(code).toBe("no-room");
      expect(message).toContain(`${name}-${field}`);
      expect(message).toContain(`${length + 1} characters`);
      expect(message).toContain(`room for ${length}`);
    }
});

const LONG = "INV-2026-ACME-000017";

test("an invoice number that SAP has no room for is refused, or shortened where the site says so", () => {
  const fault = faultOf(() => openSap("INVOIC").freeze([itemOf(bill({ number: LONG }))]));
  expect(fault).toMatchObject({ code: "no-room", field: "invoiceNumber" });
  expect(fault.message).toBe(
    `the invoice number "${LONG}" is 20 characters long; SAP keeps 16 (XBLNR)`,
  );
  expect(fault.next).toContain("numberTooLong: shorten");
  const { body } = openSap("INVOIC", { numberTooLong: "shorten" }).freeze([
    itemOf(bill({ number: LONG })),
  ]);
  expect(/<QUALF>009<\/QUALF><BELNR>([^<]+)/.exec(body)?.[1]).toMatch(/^[0-9A-F]{5}-CME-000017$/);
});

const REFUSALS: readonly [string, string, () => unknown][] = [
  ["a paid bill", "already-paid", () => frozenBill({ status: "PAID" })],
  ["a void bill", "not-open", () => frozenBill({ status: "VOID" })],
  ["a disputed bill", "not-open", () => frozenBill({ status: "DISPUTED" })],
  ["a bill without a purchase order", "no-purchase-order", () => frozenBill({ poNumber: "" })],
  ["half a cent", "no-room", () => frozenBill(inHalves)],
  ["lines without the subtotal", "does-not-add-up", () => frozenBill({ lines: [] })],
  ["taxes without their total", "does-not-add-up", () => frozenBill({ taxes: [] })],
  [
    "a total that is another",
    "does-not-add-up",
    () => frozenBill({ total: Decimal.of("19737.26") }),
  ],
  ["a vendor's code of 18 characters", "no-room", () => frozenBill({ vendor: "V".repeat(18) })],
  ["a code that ends with a blank", "no-room", () => frozenBill({ number: "F-1 " })],
  ["a bell in a number", "unprintable", () => frozenBill({ number: "F-\u0007" })],
  ["half a character in a note", "unprintable", () => frozenBill({ notes: "a \ud83d b" })],
  ["26 tax codes", "no-room", () => frozenBill({ taxes: taxes(26), ...sums26 })],
  ["a purchase", "no-purchases", () => frozenOrder({ type: "purchase" })],
  ["a cancelled order", "not-confirmed", () => frozenOrder({ status: "cancelled" })],
  ["a unit without a code", "unknown-unit", () => frozenOrder({ lines: [lineIn("drum")] })],
  [
    "a terminal without a plant",
    "unknown-plant",
    () => frozenOrder({ lines: [{ ...lineIn("gal"), terminal: "Elsewhere" }] }),
  ],
  [
    "a ticket of what we receive without an order",
    "no-purchase-order",
    () => openSap("DELVRY").freeze([itemOf(ticket({ order: null }))]),
  ],
  [
    "a ticket whose number is no delivery of SAP's",
    "no-delivery",
    () => openSap("DELVRY").freeze([itemOf(shipped({ number: "DT-1" }))]),
  ],
  [
    "a void ticket",
    "cancelled",
    () => openSap("DELVRY").freeze([itemOf(ticket({ status: "cancelled" }))]),
  ],
];
const sums26 = { taxTotal: Decimal.of("26"), total: Decimal.of("18263.00") };
const inHalves = {
  subtotal: Decimal.of("0.005"),
  taxTotal: Decimal.zero,
  total: Decimal.of("0.005"),
  lines: [billLine("000417", "1", "0.005", "0.005")],
  taxes: [],
};
const frozenBill = (more: Parameters<typeof bill>[0]) =>
  openSap("INVOIC").freeze([itemOf(bill(more))]);
const frozenOrder = (more: Parameters<typeof order>[0]) =>
  openSap("ORDERS").freeze([itemOf(order(more))]);
const lineIn = (unit: string) => ({
  ...(order().lines[0] as ReturnType<typeof order>["lines"][number]),
  unit,
});
const taxes = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ ...billTax("1"), taxCode: `T${at}` }));

test.each(REFUSALS)("%s is refused, with what to do", (_, code, work) => {
  const fault = faultOf(work);
  expect(fault.code).toBe(code);
  expect(fault.next.length).toBeGreaterThan(20);
});

test("with characters: clean, texts lose what XML has no place for, and codes are refused still", () => {
  const sink = openSap("INVOIC", { characters: "clean", itemText: "0001" });
  const notes = "tab\there, bell\u0007, half \ud83d, whole 🛢, <b>&\u2028end";
  const { body } = sink.freeze([itemOf(bill({ notes }))]);
  expect(body).toContain(
    "<TDLINE>tab here, bell, half \ufffd, whole 🛢, &lt;b&gt;&amp; end</TDLINE>",
  );
  expect(faultOf(() => sink.freeze([itemOf(bill({ number: "F-\u0007" }))])).code).toBe(
    "unprintable",
  );
});

test("a credit has the type of a credit memo and amounts without a sign", () => {
  const credit = bill({
    subtotal: Decimal.of("-100.00"),
    taxTotal: Decimal.of("0"),
    total: Decimal.of("-100.00"),
    lines: [billLine("000417", "-40", "2.5", "-100.00")],
    taxes: [],
  });
  const { body } = openSap("INVOIC").freeze([itemOf(credit)]);
  expect(body).toContain("<BSART>CRME</BSART>");
  expect(body).toContain("<MENGE>40.000</MENGE>");
  expect(body).toContain("<BETRG>100.00</BETRG>");
  expect(body).not.toMatch(/\d-</);
});

test("only what SAP gets of a document makes another version of it", () => {
  const concerns = (more: Parameters<typeof bill>[0], paid = "refuse"): unknown =>
    openSap("INVOIC", { paid }).concerns?.(bill(more));
  const open = concerns({});
  expect(concerns({ status: "OVERDUE", version: "2026-09-14T00:00:00Z" })).toEqual(open);
  expect(concerns({ notes: "other" })).toEqual(open);
  expect(concerns({ status: "PAID", paidDate: "2026-09-14T00:00:00Z" })).not.toEqual(open);
  expect(concerns({ status: "PAID", paidDate: "2026-09-14T00:00:00Z" }, "deliver")).toEqual(open);
  expect(concerns({ vendor: "104712" })).not.toEqual(open);
});

test("an order is known by the reference that its deliveries name", async () => {
  const sink = openSap("ORDERS");
  const request = outgoing(sink, itemOf(order()));
  expect(request.body).toContain("<BELNR>FL-7C9E6679742540DE944BE07FC1F90AE7</BELNR>");
  expect(sink.writes).toBe("create");
  expect(sinkConfig("ORDERS")).toMatchObject({ characters: "refuse" });
});

test("a long text is lines of 70 characters, from which the same text is made", () => {
  const text = `${"word ".repeat(30).trim()}\n\n  indented  ${"x".repeat(200)}  double  blanks 🛢🛢\nend`;
  const lines = linesOf(text, 70);
  expect(Math.max(...lines.map(({ TDLINE }) => TDLINE.length))).toBeLessThanOrEqual(70);
  expect(textOfLines(lines)).toBe(text);
});
