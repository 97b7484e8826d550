/**
 * Every request that the connector for QuickBooks Desktop can write: what the driver asks of its adapters, over the little
 * company file, for the documents of all cases and for random ones. The same seed, the same bytes.
 */
import * as fc from "fast-check";
import { CompanyFile } from "../../connectors/quickbooks-desktop/company-file.fixture.ts";
import {
  asking,
  companyIn,
  HELLO,
  tell,
  type Wire,
} from "../../connectors/quickbooks-desktop/wire.ts";
import { DesktopConfig } from "../../connectors/quickbooks-desktop/config.ts";
import { ledgerOf } from "../../connectors/quickbooks-desktop/index.ts";
import type { Books, LedgerKind } from "../../src/ledger/port.ts";
import {
  InvoiceDocument,
  OrderDocument,
  PaymentDocument,
  ShipmentDocument,
} from "../../src/ledger/documents.ts";
import { ledgerSink } from "../../src/ledger/driver.ts";
import type { Surroundings } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Json } from "../../src/core/json.ts";
import type { Answer } from "../../src/core/outcome.ts";
import { surroundingsIn } from "../support/surroundings.ts";
import { documentsOfCases } from "./documents.ts";
import type { Emitted } from "./emitted.ts";

const never = new AbortController().signal;

const desktopConfig = DesktopConfig.parse({
  url: "http://localhost:8447/qbwc",
  user: "fuelbridge",
  password: "not-a-secret",
  fileId: "a2c7f1d4-0e58-4f5b-8f7d-1d1b3e9c4d22",
  company: "Prairie Fuel",
  chargeItem: "Freight & fees",
  taxCode: "Non",
  bankAccount: "Checking",
  depositAccount: "Undeposited Funds",
  paymentMethod: "ACH",
  sameName: "suffix",
  prices: { list: "Lubbock", levels: true },
  settleAfter: "0s",
});

export async function desktopRequests(seed: number, count: number): Promise<readonly Emitted[]> {
  const file = new CompanyFile();
  const wire = asking(
    ({ xml }) => Promise.resolve(file.answer(xml)),
    () => "r",
  );
  const clock = { ms: Date.parse("2026-11-21T12:00:00Z") };
  const surroundings = surroundingsIn(".", { now: () => new Date(clock.ms) });
  /** A minute between two documents: parties that were made a while ago are not read again. */
  const tick = (): void => {
    clock.ms += 60_000;
    file.now = new Date(clock.ms).toISOString().slice(0, 19);
  };
  const of = (): Books => ledgerOf(wire, desktopConfig, surroundings).books;
  const site = { file, sales: of(), purchases: of() };
  const linked = ledgerOf(wire, { ...desktopConfig, receipts: "linked" }, surroundings).books;
  const company = companyIn(await wire.read(HELLO, never), desktopConfig.company);
  await tell(wire, { get: () => null, set: () => {} }, company, "2026-11-21T12:00:00Z", never);
  for (const document of [
    ...documentsOfCases(InvoiceDocument, ["open", "paid", "disputed", "void"]),
    ...randomDocuments(seed, count),
  ]) {
    tick();
    await wholeLife(site, document);
  }
  for (const order of [
    ...documentsOfCases(OrderDocument, ["confirmed"]),
    ...randomOrders(seed, count),
  ]) {
    tick();
    await lifeOfOrder(site, linked, order);
  }
  for (const ticket of documentsOfCases(ShipmentDocument, ["done"]))
    await lifeOfTicket(site, ticket);
  const scope = { dated: null, changedSince: "2026-11-01T00:00:00Z", open: true };
  const period = { from: "2020-01-01", to: "2030-12-31" };
  for (const books of [site.sales, site.purchases])
    for (const kind of ["invoice", "bill", "payment"] as const) {
      const { adapters } = books;
      for await (const _ of adapters[kind]?.list({ ...scope, dated: period }, null, never) ?? []);
      await adapters[kind]?.named(["FL-1", "FL-2026-000118-ACME"], never);
    }
  await readSources(site, wire, surroundings);
  const requests = Map.groupBy(
    new Set(file.asked),
    (xml) => /<(\w+)Rq requestID/.exec(xml)?.[1] ?? "",
  );
  return [...requests].flatMap(([name, all]) =>
    all.map((xml, at) => ({ path: `${name}/${at + 1}.xml`, bytes: Buffer.from(xml) })),
  );
}

/** From the beginning, and again after everything has changed, and something was deleted. */
async function readSources(
  { file }: Given,
  wire: Pick<Wire, "read" | "write">,
  surroundings: Surroundings,
): Promise<void> {
  const { sources } = ledgerOf(wire, desktopConfig, surroundings);
  const reading = { signal: never, known: () => null, stored: () => false };
  file.enter("PriceLevel", { Name: "Lubbock & Amarillo" });
  for (const source of Object.values(sources)) {
    let position: Json = null;
    for (const now of ["2026-11-22T12:00:00", "2026-11-23T12:00:00"]) {
      for await (const page of source.read(position, reading)) position = page.position;
      file.now = now;
      for (const table of ["Customer", "Vendor", "Invoice", "PriceLevel"] as const)
        for (const [at, { id }] of file.rows(table).entries())
          if (at === 0 && table !== "PriceLevel") file.remove(table, id);
          else file.edit(table, id, {});
    }
  }
}

interface Given {
  readonly file: CompanyFile;
  readonly sales: Books;
  readonly purchases: Books;
}

/** It is booked, its due date changes, it is paid in part and settled; or it is void. */
async function wholeLife({ file, sales, purchases }: Given, given: InvoiceDocument): Promise<void> {
  const kind = given.type === "out" ? "invoice" : "bill";
  const books = kind === "invoice" ? sales : purchases;
  for (const { product, account } of given.lines)
    file.items.add(product ?? account ?? desktopConfig.chargeItem);
  for (const { account } of given.taxes) file.items.add(account);
  const first = await sent(books, kind, { ...given, status: "open" });
  const counterpart = first?.ids?.[0] ?? null;
  if (counterpart === null) return;
  const due = { ...given, dueDate: "2027-01-31" } as const;
  await sent(books, kind, { ...due, status: "open" }, counterpart);
  if (given.status === "void") {
    await sent(books, kind, { ...due, status: "void" }, counterpart);
    return;
  }
  const payment = {
    id: `payment-of-${given.id}`,
    number: `P-${given.number}`,
    type: given.type,
    invoice: counterpart,
    invoiceId: given.id,
    amount: Decimal.of("0.01"),
    date: given.invoiceDate,
    description: given.description ?? "ACH 4711",
  };
  await sent(books, "payment", PaymentDocument.parse(payment));
  const paidDate = given.paidDate ?? given.invoiceDate;
  await sent(books, kind, { ...due, status: "paid", paidDate }, counterpart);
}

/** It is made, its lines change, one bought is received with its prices and without, and it is closed. */
async function lifeOfOrder(site: Given, linked: Books, given: OrderDocument): Promise<void> {
  const books = given.type === "sale" ? site.sales : site.purchases;
  for (const { product } of given.lines) site.file.items.add(product);
  const first = await sent(books, "order", { ...given, status: "confirmed" });
  const order = first?.ids?.[0] ?? null;
  if (order === null) return;
  const [line] = given.lines;
  const lines = line === undefined ? [] : [...given.lines, line];
  await sent(books, "order", { ...given, lines, status: "confirmed" }, order);
  if (given.type === "purchase") {
    const ticket = ticketOf(given, order);
    await sent(linked, "shipment", {
      ...ticket,
      id: `linked-${given.id}`,
      number: `L${given.number}`,
    });
    await lifeOfTicket(site, ticket);
  }
  await sent(books, "order", { ...given, lines, status: "cancelled" }, order);
}

/** It is received at 0.00, corrected, and void. */
async function lifeOfTicket({ file, purchases }: Given, given: ShipmentDocument): Promise<void> {
  for (const { product } of given.lines) file.items.add(product);
  const first = await sent(purchases, "shipment", { ...given, type: "in", status: "done" });
  const link = first?.ids?.[0] ?? null;
  if (link === null) return;
  const corrected = { ...given, type: "in", reference: `${given.reference} B` } as const;
  await sent(purchases, "shipment", { ...corrected, status: "done" }, link);
  await sent(purchases, "shipment", { ...corrected, status: "cancelled" }, link);
}

const ticketOf = ({ id, number, party, date, lines }: OrderDocument, order: string) =>
  ShipmentDocument.parse({
    id: `ticket-of-${id}`,
    number: `T${number}`,
    party,
    type: "in",
    status: "done",
    order,
    date,
    reference: `BOL ${number}`,
    note: "driver Ana María Cruz\ngross 7528.4 gal",
    lines: lines.map(({ product, quantity, unit }) => ({
      product,
      quantity,
      unit,
      grossGallons: null,
      netGallons: quantity,
      temperature: null,
      apiGravity: null,
    })),
  });

/** Null: the books cannot keep it. */
async function sent(
  books: Books,
  kind: LedgerKind,
  document: InvoiceDocument | PaymentDocument | OrderDocument | ShipmentDocument,
  counterpart: string | null = null,
): Promise<Answer | null> {
  const { id, number } = document;
  const item = { id, number, revision: "r1", document, counterpart };
  const sink = ledgerSink(books, kind);
  try {
    const request = { ...sink.freeze([item]), key: `fb1_${id}`, items: [item], firstSentAt: null };
    return await sink.send(request, never);
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}

/** `count` sales and as many purchases. */
function randomOrders(seed: number, count: number): OrderDocument[] {
  const name = fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 41 });
  const units = (most: number, digits: number) =>
    fc
      .integer({ min: 1, max: most })
      .map((all) => Decimal.of(String(all)).times(Decimal.of(`0.${"0".repeat(digits - 1)}1`)));
  const line = fc.record({
    product: name,
    quantity: units(2_000_000_000, 5),
    unit: fc.constant("gal"),
    unitPrice: units(9_000_000, 6),
    description: fc.string({ unit: "grapheme", minLength: 1, maxLength: 150 }),
  });
  const body = fc.record({
    id: fc.uuid(),
    number: fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 30 }),
    status: fc.constant("confirmed" as const),
    date: fc.constantFrom("2026-11-20", null),
    description: fc.option(fc.string({ unit: "grapheme", minLength: 1, maxLength: 80 })),
    lines: fc.array(line, { minLength: 1, maxLength: 8 }),
  });
  return (["sale", "purchase"] as const).flatMap((type) =>
    fc
      .sample(body, { seed: seed + 1, numRuns: count })
      .map((one) => ({ ...one, type, party: ORDERING[type] })),
  );
}

/** Names of parties are as random as invoices have them. */
const ORDERING = {
  sale: { code: "Ordering, Inc.", name: "Ordering, Inc.", companyId: "company-of-sales" },
  purchase: { code: "Refining, L.P.", name: "Refining, L.P.", companyId: "company-of-purchases" },
} as const;

/** `count` invoices and as many bills, with texts and digits of every kind. */
function randomDocuments(seed: number, count: number): InvoiceDocument[] {
  const text = (most: number) => fc.string({ unit: "grapheme", minLength: 1, maxLength: most });
  const name = fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 41 });
  const scaled = (most: number, digits: number) =>
    fc
      .integer({ min: 0, max: most })
      .map((units) => Decimal.of(String(units)).times(Decimal.of(`0.${"0".repeat(digits - 1)}1`)));
  const day = fc
    .integer({ min: 0, max: 1_000 })
    .map((days) => new Date(Date.UTC(2026, 0, 1 + days)).toISOString().slice(0, 10));
  const line = fc.record({
    product: fc.option(name),
    account: fc.option(name),
    quantity: scaled(2_000_000_000, 5),
    unit: fc.constant("gal"),
    unitPrice: scaled(9_000_000, 6),
    amount: scaled(100_000_000, 2),
    description: text(150),
  });
  const tax = fc.record({
    account: name,
    description: text(60),
    base: scaled(100_000_000, 2),
    amount: scaled(10_000_000, 2),
  });
  const body = fc.record({
    id: fc.uuid(),
    number: fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 30 }),
    party: fc.record({ code: name, name: text(80), companyId: fc.uuid() }),
    status: fc.constantFrom("open", "paid", "void"),
    invoiceDate: day,
    dueDate: fc.option(day),
    paidDate: fc.option(day),
    description: fc.option(text(80)),
    lines: fc.array(line, { minLength: 1, maxLength: 8 }),
    taxes: fc.array(tax, { maxLength: 6 }),
  });
  return (["out", "in"] as const).flatMap((type) =>
    fc.sample(body, { seed, numRuns: count }).map((one): InvoiceDocument => {
      const subtotal = Decimal.sum(one.lines.map(({ amount }) => amount));
      const tax = Decimal.sum(one.taxes.map(({ amount }) => amount));
      return { ...one, type, subtotal, tax, total: subtotal.plus(tax) };
    }),
  );
}
