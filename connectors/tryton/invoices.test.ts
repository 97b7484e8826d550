import { describe, expect, test } from "vitest";
import { trytonIsThere, useTryton } from "../../test/support/tryton.ts";
import { billSink, invoiceSink } from "./sinks.fixture.ts";
import {
  allInvoices,
  between,
  billDocument,
  d,
  deskIn,
  deskWithOne,
  find,
  inspected,
  invoiceDocument,
  requestOf,
  rows,
  send,
} from "./sink.fixture.ts";

const never = new AbortController().signal;

describe.skipIf(!trytonIsThere)("invoices into Tryton", () => {
  const server = useTryton();

  test("an invoice is booked under the platform's number, posted, and due when it is due", async () => {
    const desk = deskIn(server);
    const sink = invoiceSink(desk.books);
    const document = invoiceDocument();
    expect(await find(sink, document)).toMatchObject({ found: "none" });
    expect(await send(sink, document)).toEqual({
      outcome: "done",
      detail: `${document.number} posted`,
      ids: [document.number],
    });
    expect(await find(sink, document)).toMatchObject({ found: "exact", ids: [document.number] });
    const [invoice] = await rows<object>(
      desk,
      "account.invoice",
      [],
      [
        "number",
        "reference",
        "description",
        "comment",
        "invoice_date",
        "state",
        "untaxed_amount",
        "tax_amount",
        "total_amount",
        "lines_to_pay.maturity_date",
        "party.code",
        "party.name",
      ],
    );
    expect(invoice).toMatchObject({
      number: document.number,
      reference: document.number,
      description: "PO 4711",
      comment: `platform:${document.id}`,
      invoice_date: "2026-11-21",
      state: "posted",
      untaxed_amount: d("18253.96"),
      tax_amount: d("1875.37"),
      total_amount: d("20129.33"),
      "lines_to_pay.": [{ maturity_date: "2026-12-08" }],
      "party.": { code: "CUST-1", name: "Ranch Supply" },
    });
  });

  test("lines have product, gallons, price and account; taxes are the platform's, to the cent", async () => {
    const desk = deskIn(server);
    await send(invoiceSink(desk.books), invoiceDocument());
    const lines = await rows<object>(
      desk,
      "account.invoice.line",
      [],
      [
        "product.code",
        "quantity",
        "unit.symbol",
        "unit_price",
        "amount",
        "account.code",
        "description",
      ],
    );
    expect(lines).toMatchObject([
      {
        "product.": { code: "ULSD-CLR" },
        quantity: d("7500.5"),
        "unit.": { symbol: "gal" },
        unit_price: d("2.4137"),
        amount: d("18103.96"),
        "account.": { code: "4000" },
        description: "ULSD; BOL 123456",
      },
      { amount: d("150.00"), "account.": { code: "4100" }, description: "Freight" },
    ]);
    const taxes = await rows<object>(
      desk,
      "account.invoice.tax",
      [],
      ["description", "account.code", "base", "amount", "manual"],
    );
    expect(taxes).toMatchObject([
      { description: "Federal excise", "account.": { code: "2300" }, amount: d("1830.12") },
      { description: "Sales tax", "account.": { code: "2320" }, base: d("18253.96") },
    ]);
  });

  test("a bill gets Tryton's number and keeps its supplier's", async () => {
    const desk = deskIn(server);
    const document = billDocument();
    expect(await send(billSink(desk.books), document)).toMatchObject({ ids: ["BILL-2026-00001"] });
    expect(await rows(desk, "account.invoice", [], ["reference", "type", "state"])).toMatchObject([
      { reference: document.number, type: "in", state: "posted" },
    ]);
  });

  test("one bad total among eight: both figures are told, and nothing is left behind; eight good ones are looked for, compared before they are posted and read after it, in six calls", async () => {
    const desk = deskIn(server, { numbering: "tryton" });
    const calls: string[] = [];
    const after = async (method: string): Promise<void> => void calls.push(method);
    const sink = invoiceSink(between(desk.books, { after }));
    const documents = Array.from({ length: 8 }, () => invoiceDocument());
    const bad = { ...invoiceDocument(), total: d("20129.34") };
    documents[5] = bad;
    expect(await send(sink, ...documents)).toMatchObject({
      outcome: "refused",
      fault: {
        code: "would-differ",
        message: `invoice ${bad.number} in Tryton would be booked otherwise:\ntotal: Tryton 20129.33, platform 20129.34`,
      },
    });
    expect(await allInvoices(desk)).toEqual([]);
    expect(await send(sink, bad)).toMatchObject({ outcome: "refused" });
    documents[5] = invoiceDocument();
    calls.length = 0;
    expect(await send(sink, ...documents)).toMatchObject({ outcome: "done" });
    expect(calls).toEqual([
      "model.party.party.search_read",
      "model.account.invoice.search_read",
      "model.account.invoice.create",
      "model.account.invoice.search_read",
      "model.account.invoice.post",
      "model.account.invoice.search_read",
    ]);
    const numbers = (await allInvoices(desk)).map(({ number }) => number);
    expect(numbers).toHaveLength(8);
    expect(numbers).toContain("INV-2026-00001");
    expect(numbers).toContain("INV-2026-00008");
  });

  test("under the platform's numbers nothing is left behind either", async () => {
    const desk = deskIn(server);
    const documents = [invoiceDocument(), { ...invoiceDocument(), tax: d("1875.38") }];
    expect(await send(invoiceSink(desk.books), ...documents)).toMatchObject({
      fault: {
        message: expect.stringContaining("tax: Tryton 1875.37, platform 1875.38") as string,
      },
    });
    expect(await allInvoices(desk)).toEqual([]);
  });

  test("an amount that is not quantity × price is booked as it is, and says what it comes from", async () => {
    const desk = deskIn(server);
    const document = invoiceDocument();
    const [fuel, freight] = document.lines;
    const lines = [{ ...fuel!, amount: d("18103.97") }, freight!];
    const more = { lines, subtotal: d("18253.97"), total: d("20129.34") };
    expect(await send(invoiceSink(desk.books), { ...document, ...more })).toMatchObject({
      outcome: "done",
    });
    const fields = ["product", "quantity", "unit", "amount", "account.code", "description"];
    expect((await rows(desk, "account.invoice.line", [], fields))[0]).toMatchObject({
      product: null,
      unit: null,
      amount: d("18103.97"),
      "account.": { code: "4000" },
      description: "ULSD; BOL 123456 (7500.5 gal × 2.4137 = 18103.97)",
    });
  });

  test("more digits than the unit takes are refused with both", async () => {
    const desk = deskIn(server);
    const [fuel] = invoiceDocument().lines;
    const lines = [{ ...fuel!, quantity: d("7500.50001") }];
    expect(await send(invoiceSink(desk.books), invoiceDocument({ lines }))).toMatchObject({
      outcome: "refused",
      fault: { code: "too-many-digits", message: expect.stringContaining("7500.50001") as string },
    });
    expect(await allInvoices(desk)).toEqual([]);
  });

  test.each([
    ["product", "product.product", "code", "ULSD-CLR"],
    ["unit", "product.uom", "symbol", "gal"],
  ] as const)(
    "a %s that people deactivate leaves what is booked in step, and takes no new document until it is active",
    async (what, model, field, code) => {
      const { desk, sink, document } = await deskWithOne(server, "out");
      const answer = await send(sink, document);
      const [one] = await rows<{ id: number }>(desk, model, [[field, "=", code]]);
      const makeActive = (active: boolean) =>
        desk.admin.call(`model.${model}.write`, [[one?.id], { active }]);
      await makeActive(false);
      desk.books.lookup.forget();
      expect(await inspected(sink, [document], answer)).toEqual([[]]);

      const next = invoiceDocument({ number: "FL-2" });
      expect(await send(sink, next)).toMatchObject({
        outcome: "refused",
        fault: {
          code: "inactive",
          message: `the ${what} ${code} is not active in Tryton`,
          next: expect.stringContaining(`Activate the ${what} in Tryton`) as string,
        },
      });
      expect(await allInvoices(desk)).toHaveLength(1);
      await makeActive(true);
      expect(await send(sink, next)).toMatchObject({ outcome: "done" });
    },
  );

  test("without a due date it is due at once, or after the payment term that is configured", async () => {
    const due = async (more: object): Promise<unknown> => {
      const desk = deskIn(server, more);
      await send(invoiceSink(desk.books), invoiceDocument({ dueDate: null }));
      return rows(desk, "account.invoice", [], ["lines_to_pay.maturity_date"]);
    };
    expect(await due({})).toMatchObject([{ "lines_to_pay.": [{ maturity_date: "2026-11-21" }] }]);
    expect(await due({ paymentTerm: "Net 10" })).toMatchObject([
      { "lines_to_pay.": [{ maturity_date: "2026-12-01" }] },
    ]);
  });

  test("posting: draft leaves a draft, known by its id until it has a number", async () => {
    const desk = deskIn(server, { posting: "draft", numbering: "tryton" });
    const sink = invoiceSink(desk.books);
    const document = invoiceDocument();
    const [id] = (await send(sink, document)).ids ?? [];
    expect(id).toMatch(/^#\d+$/);
    expect(await find(sink, document)).toMatchObject({ found: "exact", ids: [id] });
    const later = { ...document, dueDate: "2027-01-05", poNumber: "4712" };
    expect(await find(sink, later)).toMatchObject({ found: "none" });
    expect(await send(sink, later)).toMatchObject({ outcome: "done", ids: [id] });
    expect(await find(sink, later)).toMatchObject({ found: "exact", ids: [id] });
    expect(await send(sink, document)).toMatchObject({ outcome: "done", ids: [id] });
    const shorter = { ...document, lines: document.lines.slice(1) };
    expect(await send(sink, shorter)).toMatchObject({
      fault: { code: "differs", message: expect.stringContaining("line 2: Tryton") as string },
    });
    await desk.clerk.call("model.account.invoice.post", [[Number(id?.slice(1))]]);
    const posted = requestOf(sink, [document], [id ?? null]);
    expect(await sink.send(posted, never)).toMatchObject({
      outcome: "done",
      ids: ["INV-2026-00001"],
    });
  });
});
