/**
 * What somebody does to an invoice between its comparison and its posting.
 *
 * @module-tag numbers
 */
import { describe, expect, test } from "vitest";
import { fileOf } from "../../test/support/tryton-file.ts";
import { trytonIsThere, useTryton } from "../../test/support/tryton.ts";
import {
  allInvoices,
  between,
  type Desk,
  deskIn,
  find,
  invoiceDocument,
  paymentDocument,
  rows,
  send,
} from "./sink.fixture.ts";
import { invoiceSink, paymentSink } from "./sinks.fixture.ts";

const POST = "model.account.invoice.post";

/** A write of somebody of the office, or a call of theirs, on a draft of ours that was compared and is not posted yet. */
const write = async (desk: Desk, model: string, values: object): Promise<void> => {
  const [first] = await rows<{ id: number }>(desk, model, []);
  await desk.clerk.call(`model.${model}.write`, [[first?.id], values]);
  // What is changed in the second in which it was made Tryton does not see over SQLite: it is posted.
  fileOf(desk.database).exec("UPDATE account_invoice SET write_date = create_date");
};
const CHANGES: Readonly<Record<string, (desk: Desk) => Promise<void>>> = {
  "text of line": (desk) => write(desk, "account.invoice.line", { description: "Other words" }),
  "account of line": async (desk) => {
    const [other] = await rows<{ id: number }>(desk, "account.account", [["code", "=", "4000"]]);
    await desk.clerk.call("model.account.invoice.line.write", [
      [(await rows<{ id: number }>(desk, "account.invoice.line", []))[1]?.id],
      { account: other?.id },
    ]);
  },
  "a line in the place of another": async (desk) => {
    const fields = ["invoice", "type", "account", "quantity", "unit_price"];
    const [, old] = await rows<{ id: number }>(desk, "account.invoice.line", [], fields);
    const { id, ...values } = old!;
    await desk.clerk.call("model.account.invoice.line.delete", [[id]]);
    const line = { ...values, description: "Other words" };
    await desk.clerk.call("model.account.invoice.line.create", [[line]]);
  },
  "text of tax": (desk) => write(desk, "account.invoice.tax", { description: "Other words" }),
  order: (desk) => write(desk, "account.invoice", { description: "PO 1" }),
};

describe.skipIf(!trytonIsThere)("an invoice that was compared and is posted", () => {
  const server = useTryton();

  test.each(Object.keys(CHANGES))(
    "is not called done when somebody changed it in between: %s",
    async (name) => {
      const desk = deskIn(server);
      const before = async (method: string): Promise<void> => {
        if (method === POST) await CHANGES[name]?.(desk);
      };
      const [document, other] = [invoiceDocument(), invoiceDocument()];
      const sink = invoiceSink(between(desk.books, { before }));
      const answer = await send(sink, document, other);
      expect({ name, ...answer }).toMatchObject({ name, outcome: "unknown" });
      expect(await find(sink, document, other)).toMatchObject({ found: "different" });
      expect(await allInvoices(desk)).toMatchObject([{ state: "posted" }, { state: "posted" }]);
    },
  );

  test("gets its due date again where somebody changed it in between", async () => {
    const desk = deskIn(server);
    const other = { __class__: "date", year: 2026, month: 12, day: 24 };
    const before = async (method: string): Promise<void> => {
      if (method === POST) await write(desk, "account.invoice", { payment_term_date: other });
    };
    const document = invoiceDocument();
    const sink = invoiceSink(between(desk.books, { before }));
    expect(await send(sink, document)).toMatchObject({ outcome: "done" });
    expect(await find(sink, document)).toMatchObject({ found: "exact" });
  });

  test("is called paid when somebody paid it right after it was posted", async () => {
    const desk = deskIn(server);
    const document = invoiceDocument();
    const payment = paymentDocument({ invoice: document.number, invoiceId: document.id });
    const after = async (method: string): Promise<void> => {
      if (method === POST) await send(paymentSink(desk.books), payment);
    };
    const sink = invoiceSink(between(desk.books, { after }));
    const detail = `${document.number} paid`;
    expect(await send(sink, document)).toMatchObject({ outcome: "done", detail });
  });
});
