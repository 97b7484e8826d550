/** What is written as X12: by hand, by the table of elements, and as another reader sees it. */
import { X12Interchange, X12Parser } from "node-x12";
import { describe, expect, test } from "vitest";
import { X12Sink } from "../../../connectors/files/config.ts";
import { Refused } from "../../core/errors.ts";
import { acknowledgementSet, exchangeOf, type ReplyContent } from "./read.ts";
import { replyWriter, x12Sets, x12Writer } from "./write.ts";
import {
  agreed,
  context,
  d,
  envelope,
  golden810,
  golden832,
  golden850,
  invoice,
  itemOf,
  options,
  order,
  read,
} from "../../../test/files/x12.ts";

type SetOf = (typeof x12Sets)["orders"]["text"];
const invoiceSet: SetOf = (...all) => x12Sets["customer-invoices"].text(...all);
const orderSet: SetOf = (...all) => x12Sets.orders.text(...all);

const sink = (document: X12Sink["document"], more: object = {}, x12: object = {}) =>
  x12Writer(
    X12Sink.parse({ format: "x12", document, folder: "out", x12: { ...agreed, ...x12 }, ...more }),
    context(),
  );

const ours = { from: "SUPPLIERCO", to: "ACMEOIL" };

/** By npm's node-x12, which counts segments, sets and groups when it is strict. */
function secondReader(text: string): string[] {
  const interchange = new X12Parser(true).parse(text);
  if (!(interchange instanceof X12Interchange)) throw new Error("several interchanges");
  return interchange.functionalGroups.flatMap(({ transactions }) =>
    transactions.flatMap(({ header, segments, trailer }) =>
      [header, ...segments, trailer].map(({ tag, elements }) =>
        [tag, ...elements.map(({ value }) => value)].join("*"),
      ),
    ),
  );
}

describe("golden files", () => {
  test("an invoice becomes the 810 that was written by hand, to the character", () => {
    const text = sink("customer-invoices").textOf([itemOf(invoice())], 117);
    expect(text).toBe(envelope({ functionalId: "IN", sets: [golden810], ...ours }));
  });

  test("the platform's units have their codes without a setting", () => {
    const [line] = order().lines;
    for (const [unit, code] of [
      ["gal", "GA"],
      ["liter", "LT"],
      ["bbl", "BR"],
    ] as const) {
      const changed = order({ lines: line === undefined ? [] : [{ ...line, unit }] });
      expect(sink("orders").textOf([itemOf(changed)], 117)).toContain(`*${code}*`);
    }
  });

  test("an order becomes the 850 that was written by hand, to the character", () => {
    const expected = envelope({ functionalId: "PO", sets: [golden850], ...ours });
    const text = sink("orders").textOf([itemOf(order())], 117);
    expect(
      text.replaceAll(/261112\*0915|20261112\*0915/g, (date) => date.replace("12*", "18*")),
    ).toBe(expected);
  });

  test("the notes of an order are MSG in release 004010 and MTX in 005010", () => {
    const noted = order({ notes: "Gate B" });
    expect(orderSet(context(), noted, 0)).toContain("MSG*Gate B");
    expect(orderSet(context({ version: "005010" }), noted, 0)).toContain("MTX**Gate B");
  });

  test("several documents are as many sets of one group", () => {
    const items = [itemOf(invoice()), itemOf(invoice({ id: "another", number: "INV-2" }))];
    const text = sink("customer-invoices", { per: "batch" }).textOf(items, 9);
    expect(text.match(/~ST\*810\*000\d/g)).toEqual(["~ST*810*0001", "~ST*810*0002"]);
    expect(text).toContain("~GE*2*9~IEA*1*000000009~");
  });
});

describe("what is told of lines", () => {
  const [first, second] = invoice().lines as [Line, Line];
  const [tax] = invoice().taxes as [Tax];
  type Line = ReturnType<typeof invoice>["lines"][number];
  type Tax = ReturnType<typeof invoice>["taxes"][number];
  const taxed = (taxes: Tax[], more: object = {}): string[] => {
    const lines = [first, { ...second, product: "E10" }];
    const total = taxes.reduce((sum, { amount }) => sum.plus(amount), d("18282.01"));
    return invoiceSet(context(more), invoice({ lines, taxes, total }), 0).filter((row) =>
      /^(IT1|TXI|TDS|PID)/.test(row),
    );
  };

  test("each tax stands with the line that it is levied on, with who levies it; more than ten of them go", () => {
    const of = (product: string, authority: string | null) => ({ ...tax, product, authority });
    expect(taxed([of("E10", "TX"), of("ULSD-CLR", null), of("E10", "State of Oklahoma")])).toEqual([
      "IT1*1*7998*GA*2.3457**VP*ULSD2",
      "TXI*FT*1951.51",
      "PID*F****ULSD NO 2",
      "IT1*2*1*EA*-478.9",
      "TXI*FT*1951.51**VD*TX",
      "TXI*FT*1951.51",
      "PID*F****Credit, freight",
      "PID*F****Federal excise: State of Oklahoma",
      "TDS*2413654",
    ]);
    const many = Array.from({ length: 20 }, (_, at) => of(at % 2 === 0 ? "E10" : "ULSD-CLR", null));
    expect(taxed(many).filter((row) => row.startsWith("TXI"))).toHaveLength(20);
    const named = { authorities: { "State of Oklahoma": "OK" } };
    expect(taxed([of("E10", "State of Oklahoma")], named)).toContain("TXI*FT*1951.51**VD*OK");
  });

  test("taxes stand after the total where the partner wants them there", () => {
    const rows = taxed([tax], { taxesOn: "invoice" });
    expect(rows.slice(-2)).toEqual(["TDS*2023352", "TXI*FT*1951.51**VD*IRS"]);
  });

  test("an order has its window, and the loading number of a line that has its own", () => {
    const [line] = order().lines as [ReturnType<typeof order>["lines"][number]];
    const told = orderSet(
      context(),
      order({
        deliveryStart: "6:00",
        deliveryEnd: "14:30",
        lines: [{ ...line, lineLoadingNumber: "LN-88121-A" }],
      }),
      0,
    );
    expect(told).toEqual(
      expect.arrayContaining([
        "DTM*064*20261117*0600",
        "DTM*063*20261117*1430",
        "REF*LO*LN-88121-A",
      ]),
    );
  });

  test("an order whose number has no room goes under a short one that stays the same and is its own, and tells the long one", () => {
    const id = "1c6f7a52-4c1e-4d8a-9f5e-1c2d3e4f5a6b";
    const [, beg, , ref] = orderSet(context(), order({ number: id }), 0);
    const [, short = ""] = /^BEG\*00\*SA\*(FL[0-9A-Z]{20})\*/.exec(beg ?? "") ?? [];
    expect(ref).toBe(`REF*IL**${id}`);
    const ids = (more: object) =>
      sink("orders").idsOf?.({
        target: "",
        body: "",
        items: [itemOf(order({ number: id, ...more }))],
      });
    expect(ids({})).toEqual([short]);
    expect(ids({ version: "2026-12-01T00:00:00Z" })).toEqual([short]);
    expect(ids({ id: "1c6f7a52-4c1e-4d8a-9f5e-1c2d3e4f5a6c" })).not.toEqual([short]);
    expect(ids({ number: "LN-1" })).toEqual(["LN-1"]);
  });
});

describe("node-x12 as a second reader, strict", () => {
  const content: ReplyContent = {
    at: "2026-11-18T09:15:00Z",
    functionalId: "SC",
    control: "117",
    summary: ["R", "1", "1", "0"],
    segments: [
      ["AK2", "832", "0001"],
      ["AK3", "LIN", "6", "", "8"],
      ["AK4", "3", "234", "5", "TOO LONG"],
      ["AK5", "R", "5"],
    ],
  };

  test.each([
    [
      "810",
      sink("customer-invoices").textOf([itemOf(invoice())], 117),
      invoiceSet(context(), invoice(), 0),
    ],
    ["850", sink("orders").textOf([itemOf(order())], 117), orderSet(context(), order(), 0)],
    [
      "810 of 005010, other separators, lines",
      sink(
        "customer-invoices",
        {},
        {
          version: "005010",
          separators: { element: "|", segment: "!" },
          lineEnds: "crlf",
          text: "replace",
        },
      ).textOf([itemOf(invoice())], 117),
      invoiceSet(context(), invoice(), 0),
    ],
    [
      "997",
      replyWriter(options()).textOf([{ ...itemOf(order()), document: { id: "x", content } }], 118),
      acknowledgementSet(options(), content),
    ],
  ])("%s", (_, text, segments) => {
    expect(secondReader(text)).toEqual(segments);
  });

  test("it refuses a wrong count of segments, as our own reader does", () => {
    const text = envelope({ functionalId: "SC", sets: [golden832] }).replace("SE*13*", "SE*12*");
    expect(() => secondReader(text)).toThrow();
    expect(read("books.prices", text).changes[0]?.fault?.message).toContain("SE01 (4)");
  });
});

describe("limits", () => {
  const refusal = (work: () => unknown): string => {
    try {
      work();
    } catch (error) {
      if (error instanceof Refused) return `${error.fault.code}: ${error.message}`;
      throw error;
    }
    return "written";
  };
  const [tax] = invoice().taxes;
  const free = { ...tax, amount: d("0.00") };
  const written = (more: object, x12: object = {}): string =>
    refusal(() => invoiceSet(context(x12), invoice(more), 0));

  test.each([
    [
      { number: "INV-0123456789-0123456789" },
      'too-long-for-x12: number is 25 characters long; BIG02 has room for 22: "INV-0123456789-0123456789"',
    ],
    [{ number: "INV*1" }, /^does-not-fit-x12: number has the character "\*", which BIG02/],
    [{ customer: "Ä1" }, /^does-not-fit-x12: customer has the character "Ä"/],
    [{ notes: "Gate B\ndock 3" }, /^does-not-fit-x12: notes has the character "\n"/],
    [{ total: d("20233.53") }, /^does-not-add-up: lines and taxes come to 20,233.52/],
    [
      { total: d("18282.01"), taxes: Array.from({ length: 11 }, () => free) },
      "does-not-fit-x12: line 1 has 11 taxes; an 810 of release 004010 has room for 10 (TXI)",
    ],
  ])("%o is refused, with the element", (more, expected) => {
    expect(written(more)).toMatch(expected);
  });

  test("text for people is replaced by the rule of docs/x12.md where the site says so; numbers never are", () => {
    const notes = "Größe “A” – Ölsperre*\n3~4";
    const [note] = invoiceSet(context({ text: "replace" }), invoice({ notes }), 0).filter((one) =>
      one.startsWith("NTE"),
    );
    expect(note).toBe('NTE*GEN*Grosse "A" - Olsperre 3 4');
    expect(written({ number: "INV~1" }, { text: "replace" })).toMatch(/BIG02 cannot have/);
    const basic = invoiceSet(context({ text: "replace", characters: "basic" }), invoice(), 0);
    expect(basic).toContain("NTE*GEN*GATE B, DOCK 3");
  });

  test("a tax and a unit without the partner's code are refused, with the setting", () => {
    expect(written({}, { taxes: {} })).toBe(
      'no-x12-code: the partner\'s code of the tax "FED-EX" is not set',
    );
  });

  test("what is void is not told as an invoice", () => {
    const ended = itemOf(invoice({ status: "VOID" }));
    expect(refusal(() => sink("customer-invoices").textOf([ended], 1))).toMatch(
      /^ended: it is VOID/,
    );
  });
});

test("an 810 names its PO, its contract, and where it was delivered: once, or on each line where there are several places", () => {
  const at = (...places: (string | null)[]): string[] => {
    const lines = invoice().lines.map((one, index) => ({
      ...one,
      location: places[index] ?? null,
    }));
    const more = { lines, poNumber: "4711", contractNumber: "C-9" };
    const rows = secondReader(
      sink("customer-invoices").textOf([itemOf(invoice(more))], 117),
    ).filter((row) => /^(?:BIG|REF\*CT|IT1|N1\*ST)/.test(row));
    return rows.map((row) =>
      /^(?:N1|REF)/.test(row) ? row : (/^IT1\*\d/.exec(row)?.[0] ?? row.slice(-5)),
    );
  };
  const head = ["*4711", "REF*CT*C-9"];
  expect(at("YARD 3", null)).toEqual([...head, "N1*ST*YARD 3", "IT1*1", "IT1*2"]);
  const each = ["IT1*1", "N1*ST*YARD 3", "IT1*2", "N1*ST*YARD 4"];
  expect(at("YARD 3", "YARD 4")).toEqual([...head, ...each]);
  // A name that has no room.
  expect(at("Y".repeat(61), null)).toEqual([...head, "IT1*1", "IT1*2"]);
});

test("a later version that says the same to the partner is nothing new; another amount is", () => {
  const { concerns } = sink("customer-invoices");
  const now = JSON.stringify(concerns?.(invoice()));
  const paid = {
    status: "PAID",
    paidDate: "2026-11-28T00:00:00Z",
    version: "2026-11-28T10:00:00Z",
  };
  expect(JSON.stringify(concerns?.(invoice(paid)))).toBe(now);
  // What an 810 does not say of a line.
  const lines = invoice().lines.map((one) => ({
    ...one,
    carrier: "Bayou Trucking",
    spec: "ASTM D975",
  }));
  expect(JSON.stringify(concerns?.(invoice({ lines })))).toBe(now);
  expect(JSON.stringify(concerns?.(invoice({ status: "VOID" })))).not.toBe(now);
  expect(JSON.stringify(concerns?.(invoice({ total: d("1") })))).not.toBe(now);
});

test("the same number gives the same name and bytes; another one others, which the 997 will name", () => {
  const writer = sink("customer-invoices");
  const items = [itemOf(invoice())];
  expect(writer.nameOf(items, 117)).toMatch(
    /^customer-invoices_INV2026000118ACME_[0-9a-f]{8}_000000117\.edi$/,
  );
  expect(writer.textOf(items, 117)).toBe(writer.textOf(items, 117));
  expect(writer.nameOf(items, 118)).not.toBe(writer.nameOf(items, 117));
  const frozen = { target: `out/${writer.nameOf(items, 117)}`, body: "" };
  expect(writer.acknowledged?.references(frozen, 1)).toEqual([
    { exchange: exchangeOf(options(), 117), item: "0001", sentAs: "IN 004010" },
  ]);
});
