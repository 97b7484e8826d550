/**
 * What people edit, cancel, credit or pay in a real Tryton, and what the platform changes after posting, is told.
 *
 * @module-tag numbers
 */
import { describe, expect, test } from "vitest";
import { fileOf } from "../../test/support/tryton-file.ts";
import { trytonIsThere, useTryton } from "../../test/support/tryton.ts";
import type { InvoiceDocument } from "../../src/ledger/documents.ts";
import { billSink, invoiceSink } from "./sinks.fixture.ts";
import { inLines } from "../../src/ledger/compare.ts";
import { fixedIn, type TrytonInvoice } from "./invoice-rows.ts";
import { isAmendable } from "../../src/ledger/plan.ts";
import type { Books } from "./books.ts";
import { capabilitiesOf } from "./invoices.ts";
import { pay } from "./payments.ts";
import { day } from "./rows.ts";
import { creditInTryton, takeBack, wizard } from "./clerk.fixture.ts";
import {
  allInvoices,
  between,
  billDocument,
  d,
  type Desk,
  deskIn,
  deskWithOne,
  find,
  inspected,
  invoiceDocument,
  type InvoiceRow,
  losing,
  rows,
  send,
} from "./sink.fixture.ts";

type Change = (document: InvoiceDocument) => Partial<InvoiceDocument>;
type Line = InvoiceDocument["lines"][number];
type Tax = InvoiceDocument["taxes"][number];

const line =
  (at: number, more: Partial<Line>): Change =>
  ({ lines }) => ({ lines: lines.map((one, n) => (n === at ? { ...one, ...more } : one)) });
const tax =
  (at: number, more: Partial<Tax>): Change =>
  ({ taxes }) => ({ taxes: taxes.map((one, n) => (n === at ? { ...one, ...more } : one)) });

/** Another company of the platform, with a party of its own there. */
const OTHER = { code: "CUST-2", companyId: "0a000000-0000-4000-8000-00000000c002" };

/** What the platform changes after posting, and what a person is told. */
const CHANGES: Readonly<Record<string, readonly [Change, ...(string | RegExp)[]]>> = {
  payer: [
    ({ party }) => ({ party: { ...party, ...OTHER } }),
    "payer: Tryton CUST-1, platform CUST-2",
  ],
  number: [
    ({ number }) => ({ number: `${number}-A` }),
    /^number: Tryton FL-\d+, platform FL-\d+-A$/,
    /^reference: Tryton FL-\d+, platform FL-\d+-A$/,
  ],
  date: [() => ({ invoiceDate: "2026-11-20" }), "date: Tryton 2026-11-21, platform 2026-11-20"],
  description: [() => ({ poNumber: "4712" }), "PO and contract: Tryton PO 4711, platform PO 4712"],
  "subtotal, tax and total": [
    () => ({ subtotal: d("18253.97"), tax: d("1875.36"), total: d("20129.34") }),
    "subtotal: Tryton 18253.96, platform 18253.97",
    "tax: Tryton 1875.37, platform 1875.36",
    "total: Tryton 20129.33, platform 20129.34",
  ],
  product: [line(0, { product: "087" }), "line 1 product: Tryton ULSD-CLR, platform 087"],
  account: [line(1, { account: "4000" }), "line 2 account: Tryton 4100, platform 4000"],
  quantity: [
    line(0, { quantity: d("7500.501") }),
    "line 1 quantity: Tryton 7500.50, platform 7500.501",
  ],
  unit: [line(0, { unit: "l" }), "line 1 unit: Tryton gal, platform l"],
  "unit price": [
    line(0, { unitPrice: d("2.413701") }),
    "line 1 unit price: Tryton 2.4137, platform 2.413701",
  ],
  "a cent of a line": [
    line(1, { amount: d("150.01") }),
    "line 2 unit price: Tryton 150.00, platform 150.01",
    "line 2 amount: Tryton 150.00, platform 150.01",
    "line 2 text: Tryton Freight, platform Freight (1 × 150 = 150.01)",
  ],
  text: [
    line(1, { description: "Freight, ticket 7" }),
    "line 2 text: Tryton Freight, platform Freight, ticket 7",
  ],
  "a line that is lost": [
    ({ lines }) => ({ lines: lines.slice(0, 1) }),
    "line 2: Tryton Freight 150.00, platform none",
  ],
  "a line more": [
    ({ lines }) => ({ lines: [...lines, lines[1] as Line] }),
    "line 3: Tryton none, platform Freight 150.00",
  ],
  "a tax's account": [
    tax(0, { account: "2310" }),
    "tax 2310 Federal excise: Tryton none, platform 1830.12",
    "tax 2300 Federal excise: Tryton 1830.12, platform none",
  ],
  "a tax's kind": [
    tax(1, { description: "Use tax" }),
    "tax 2320 Use tax: Tryton none, platform 45.25",
    "tax 2320 Sales tax: Tryton 45.25, platform none",
  ],
  "a tax's amount": [
    tax(1, { amount: d("45.26") }),
    "tax 2320 Sales tax: Tryton 45.25, platform 45.26",
  ],
  "a tax's base": [
    tax(1, { base: d("18253.95") }),
    "tax 2320 Sales tax base: Tryton 18253.96, platform 18253.95",
  ],
};

/** What somebody changes in the books behind Tryton's back, by SQL on one invoice, and what the inspection says. */
const EDITS: Readonly<Record<string, readonly [sql: string, ...told: string[]]>> = {
  reference: ["update account_invoice set reference = 'X' where id = :id", "reference: X for"],
  mark: ["update account_invoice set comment = 'none' where id = :id", "mark: none for 5f0c"],
  description: ["update account_invoice set description = null where id = :id", "order: none for"],
  number: ["update account_invoice set number = 'X' where id = :id", "number: X for"],
  date: [
    "update account_invoice set invoice_date = '2026-10-31' where id = :id",
    "days.date: 2026",
  ],
  party: [
    "update account_invoice set party = (select id from party_party where code = 'SELF') where id = :id",
    "party: SELF for CUST-1",
  ],
  currency: [
    "update account_invoice set currency = (select id from currency_currency where code = 'EUR') where id = :id",
    "currency: EUR for USD",
  ],
  "due date": [
    "update account_move_line set maturity_date = '2026-12-31' where maturity_date is not null and move = (select move from account_invoice where id = :id)",
    "days.due: 2026-12-31 for 2026-12-08",
  ],
  text: [
    "update account_invoice_line set description = 'X' where invoice = :id and product is null",
    "lines.2.text: X for Freight",
  ],
  tax: [
    "update account_invoice_tax set base = 1 where invoice = :id and description = 'Sales tax'",
    "taxes.2320 Sales tax.base: 1.00 for 18253.96",
  ],
};

const PAID = { status: "paid", paidDate: "2026-11-20" } as const;

describe.skipIf(!trytonIsThere)("an invoice that differs", () => {
  const server = useTryton();

  test("whatever the platform changes after posting is told field by field, by a read-back too; ignored fields are not", async () => {
    const { desk, sink, document } = await deskWithOne(server, "out");
    const identifiers = [["create", [{ code: OTHER.companyId }]]];
    const another = { name: "Another", code: OTHER.code, identifiers };
    await desk.admin.call("model.party.party.create", [[another]]);
    const told: Record<string, unknown> = {};
    for (const [name, [change, ...lines]] of Object.entries(CHANGES)) {
      const later = { ...document, ...change(document) };
      const found = await find(sink, later);
      const { fault } = await send(sink, later);
      expect(found, name).toEqual({ found: "different", detail: fault?.message, fault });
      expect(fault?.code, name).toBe("differs");
      told[name] = fault?.message.split("\n").slice(1);
      expect(told[name], name).toEqual(
        lines.map((one) => (one instanceof RegExp ? expect.stringMatching(one) : one)),
      );
    }
    expect(await allInvoices(desk)).toHaveLength(1);

    const ignore = { invoice: ["order", "lines.text"] };
    const surroundings = { ...desk.books.surroundings, ignore };
    const lax = invoiceSink({ ...desk.books, surroundings });
    const ignored = { ...document, ...line(1, { description: "X" })(document), description: "X" };
    expect(await find(lax, ignored)).toMatchObject({ found: "exact" });
    expect(await send(lax, ignored)).toMatchObject({ outcome: "done" });
    const alsoPayer = { ...ignored, party: { ...document.party, ...OTHER } };
    expect(await send(lax, alsoPayer)).toMatchObject({
      fault: { message: expect.stringMatching(/:\npayer: .*CUST-2$/) as string },
    });
    // The code of one and the id of another prove no party (ADR 0008).
    const unproven = { ...ignored, party: { ...document.party, code: OTHER.code } };
    const why = `cannot be compared: CUST-2 is in Tryton the party of another company of the platform (${OTHER.companyId})`;
    expect(await send(lax, unproven)).toMatchObject({
      fault: { code: "differs", message: expect.stringContaining(why) as string },
    });
  });

  test("a due date is brought over, whichever answer is lost; of an invoice that is paid too", async () => {
    const desk = deskIn(server);
    const sink = billSink(desk.books);
    const [document, paid] = [billDocument(), billDocument(PAID)];
    await send(sink, document, paid);
    const due = async (): Promise<unknown> =>
      (
        await rows<{ "lines_to_pay.": unknown }>(
          desk,
          "account.invoice",
          [],
          ["lines_to_pay.maturity_date"],
        )
      ).map((row) => row["lines_to_pay."]);
    const later = [document, paid].map((one) => ({ ...one, dueDate: "2027-01-05" }));
    expect(await find(sink, ...later)).toMatchObject({ found: "none" });
    const lossy = billSink(losing(desk.books, 1).books);
    expect(await send(lossy, ...later)).toMatchObject({
      outcome: "unknown",
      probe: true,
      unanswered: true,
    });
    expect(await find(sink, ...later)).toMatchObject({ found: "none" });
    const answer = await send(sink, ...later);
    expect(answer).toMatchObject({ outcome: "done" });
    expect(await due()).toMatchObject([
      [{ maturity_date: "2027-01-05" }],
      [{ maturity_date: "2027-01-05" }],
    ]);
    const calls: string[] = [];
    const counted = between(desk.books, { after: async (method) => void calls.push(method) });
    expect(await send(billSink(counted), ...later)).toEqual(answer);
    expect(calls.filter((method) => method.endsWith(".write"))).toEqual([]);
    expect(await find(sink, ...later)).toMatchObject({ found: "exact" });
  });

  test("what is edited, cancelled, credited or paid there by other hands is told; what our payments did is not", async () => {
    const desk = deskIn(server);
    const sink = invoiceSink(desk.books);
    const names = [
      "edited",
      "cancelled",
      "credited",
      "partly paid",
      "paid",
      "partly paid by us",
      "settled by us",
      "apart",
    ] as const;
    const documents = names.map((name) =>
      invoiceDocument(name === "settled by us" || name === "apart" ? PAID : {}),
    );
    const answer = await send(sink, ...documents);
    expect(answer).toMatchObject({ outcome: "done" });
    expect(await inspected(sink, documents, answer)).toEqual(names.map(() => []));

    const all = await allInvoices(desk);
    const idOf = (name: (typeof names)[number]): number =>
      all.find(({ number }) => number === documents[names.indexOf(name)]?.number)?.id ?? 0;
    await desk.admin.call("model.currency.currency.create", [
      [
        {
          name: "Euro",
          code: "EUR",
          symbol: "€",
          rates: [["create", [{ date: day("2020-01-01"), rate: d("1") }]]],
        },
      ],
    ]);
    const payment = (name: (typeof names)[number], description: string, how: "part" | "all") => ({
      invoice: idOf(name),
      date: "2026-11-19",
      description,
      how,
      amount: d(how === "part" ? "129.33" : "20129.33"),
    });
    const kept = desk.database.keep();
    for (const [edit, [sql, ...words]] of Object.entries(EDITS)) {
      fileOf(desk.database)
        .prepare(sql)
        .run({ id: idOf("edited") });
      const [edited, ...untouched] = await inspected(sink, documents, answer);
      expect(edited, edit).toEqual(words.map((one) => expect.stringContaining(one) as string));
      expect(untouched.flat(), edit).toEqual([]);
      desk.database.restore(kept);
    }

    await pay(desk.books, payment("partly paid", "check 12", "part"));
    await pay(desk.books, payment("paid", "check 13", "all"));
    await pay(desk.books, payment("partly paid by us", "payment:4711 check 14", "part"));
    await creditInTryton(desk, idOf("cancelled"), true);
    await creditInTryton(desk, idOf("credited"), false);
    await unreconcile(desk, idOf("apart"));
    const told = await inspected(sink, documents, answer);
    expect(Object.fromEntries(names.map((name, at) => [name, told[at]]))).toEqual({
      edited: [],
      cancelled: ["state: cancelled for open", "credit note: CRN-2026-00001 of -20129.33 for none"],
      credited: ["credit note: CRN-2026-00002 of -20129.33 for none"],
      "partly paid": [
        expect.stringMatching(
          /^money.open: 20000.00 \(payment #\d+ of 129.33; the platform cannot take partial payments\) for 20129.33$/,
        ),
      ],
      paid: [expect.stringMatching(/^state: paid \(payment #\d+ of 20129.33\) for open$/)],
      "partly paid by us": [],
      "settled by us": [],
      apart: ["state: posted: what paid it is no longer reconciled with it for paid"],
    });
  });

  test("PAID that is taken back is a person's while our settlement stands, and delivered once they have taken it back", async () => {
    const desk = deskIn(server);
    const sink = billSink(desk.books);
    const document = billDocument();
    await send(sink, { ...document, ...PAID });
    const [{ id }] = (await allInvoices(desk)) as [InvoiceRow];
    const [move] = await rows<{ id: number }>(desk, "account.move", [
      ["description", "like", `platform:${document.id}%`],
    ]);
    const { fault } = await send(sink, document);
    expect(fault).toMatchObject({
      code: "settled-before",
      message: expect.stringContaining(`#${move?.id} of 20129.33`) as string,
    });
    const detail = fault?.message;
    expect(await find(sink, document)).toEqual({ found: "different", detail, fault });
    await unreconcile(desk, id);
    expect(await send(sink, document)).toMatchObject({ fault: { code: "settled-before" } });
    await takeBack(desk, move?.id ?? 0);
    expect(await send(sink, document)).toMatchObject({ outcome: "done" });
    expect(await find(sink, document)).toMatchObject({ found: "exact" });
    const lines = await rows<{ id: number }>(desk, "account.move.line", [
      ["move", "=", move?.id],
      ["account.code", "=", "2100"],
    ]);
    const payment_lines = [["remove", lines.map((line) => line.id)]];
    await desk.clerk.call("model.account.invoice.write", [[id], { payment_lines }]);
    // What was taken back once is never settled a second time by machine.
    expect(await send(sink, { ...document, ...PAID })).toMatchObject({
      outcome: "refused",
      fault: { code: "settled-before" },
    });
  });
});

describe("what is brought over", () => {
  const entry = {
    made: true,
    ours: true,
    state: "posted",
    lines_to_pay: [1],
  } as unknown as TrytonInvoice;
  const differs = (field: string) => ({ field, expected: "a", held: "b" });
  const BOOKS = { config: { posting: "post", numbering: "platform", batch: 20 } } as Books;

  test.for([
    ["the due date of a posted invoice", entry, "days.due", true],
    [
      "that of several terms is not",
      { ...entry, lines_to_pay: [1, 2] as never },
      "days.due",
      false,
    ],
    ["that of one entered by hand is not", { ...entry, made: false }, "days.due", false],
    ["nothing else of a posted one", entry, "reference", false],
    ["the head of our draft", { ...entry, state: "draft", lines_to_pay: [] }, "order", true],
    ["not its lines", { ...entry, state: "draft", lines_to_pay: [] }, "lines.1.text", false],
    [
      "not a draft that somebody works on",
      { ...entry, state: "draft", ours: false },
      "order",
      false,
    ],
  ] as const)("%s", ([, one, field, expected]) => {
    const can = capabilitiesOf(BOOKS, "out");
    const status = one.state === "draft" ? "draft" : "posted";
    expect(isAmendable(can, field, { status, fixed: fixedIn(one) })).toBe(expected);
  });

  test("of many differences twelve are told, and how many more there are", () => {
    const differences = Array.from({ length: 14 }, (_, at) => differs(`lines.${at + 1}.amount`));
    const lines = inLines("bill", differences, "books").split("\n");
    expect(lines).toHaveLength(13);
    expect([lines[0], lines.at(-1)]).toEqual(["line 1 amount: books b, platform a", "and 2 more"]);
  });
});

/** As by hand: what paid it stays entered on it. */
async function unreconcile(desk: Desk, invoice: number): Promise<void> {
  const [row] = await rows<{ lines_to_pay: number[] }>(
    desk,
    "account.invoice",
    [["id", "=", invoice]],
    ["lines_to_pay"],
  );
  await wizard(desk, "account.move.unreconcile_lines", "unreconcile", {}, [
    "account.move.line",
    row?.lines_to_pay[0] ?? 0,
  ]);
}
