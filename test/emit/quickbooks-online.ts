/** Every request body that quickbooks-online can send: of the cases of mappings/books, and of random documents per kind. */
import { join } from "node:path";
import * as fc from "fast-check";
import {
  accountIn,
  amendment,
  bodyOf,
  paymentBody,
  type Writer,
} from "../../connectors/quickbooks-online/documents.ts";
import { orderBody, orderChange } from "../../connectors/quickbooks-online/orders.ts";
import { partyBody } from "../../connectors/quickbooks-online/online.ts";
import { bodyText, SIDES } from "../../connectors/quickbooks-online/wire.ts";
import { NAME_MOST, oneLine, partyName } from "../../connectors/quickbooks/text.ts";
import { InvoiceDocument, OrderDocument, PaymentDocument } from "../../src/ledger/documents.ts";
import { sideOf } from "../../src/ledger/port.ts";
import { Refused } from "../../src/core/errors.ts";
import { readCases } from "../../src/mapping/cases.ts";
import { anyInvoice, anyOrder, anyParty, anyPayment } from "./documents.ts";
import type { Emitted } from "./emitted.ts";

const CASES = join(import.meta.dirname, "../../mappings/books/cases");

/** What a company names otherwise: both ways of each setting. */
const settings = [
  { salesTax: "not-taxable", multicurrency: "refuse" },
  { salesTax: "off", multicurrency: "home" },
] as const;

const writerOf = (at: number): Writer => ({
  config: {
    ...(settings[at % 2] ?? settings[0]),
    items: { charge: "Charge" },
    accounts: { expense: "5000", paymentsMade: "1010" },
  },
  surroundings: { currency: "USD" },
  names: { id: async (_, name) => String((name.length * 7919) % 9973) },
});

export async function quickbooksOnlineBodies(seed: number, count: number): Promise<Emitted[]> {
  const all: Emitted[] = [];
  for await (const one of bodies(seed, count)) all.push(one);
  return all;
}

async function* bodies(seed: number, count: number): AsyncGenerator<Emitted> {
  for (const [name, type] of [
    ["customer-invoices", "out"],
    ["supplier-invoices", "in"],
  ] as const) {
    for (const [at, one] of casesOf(name).entries())
      yield* documentFiles(`case-${at + 1}`, at, InvoiceDocument.parse(one));
    for (const [at, one] of fc.sample(anyInvoice(type), { seed, numRuns: count }).entries())
      yield* documentFiles(`random-${at + 1}`, at, one);
  }
  for (const [at, one] of casesOf("orders").entries())
    yield* orderFiles(`case-${at + 1}`, at, OrderDocument.parse(one));
  for (const type of ["sale", "purchase"] as const)
    for (const [at, one] of fc.sample(anyOrder(type), { seed, numRuns: count }).entries())
      yield* orderFiles(`random-${at + 1}`, at, one);
  for (const [name, type] of [
    ["payments-received", "out"],
    ["payments-made", "in"],
  ] as const) {
    for (const [at, one] of casesOf(name).entries())
      yield paymentFile(`case-${at + 1}`, at, PaymentDocument.parse(one));
    for (const [at, one] of fc.sample(anyPayment(type), { seed, numRuns: count }).entries())
      yield paymentFile(`random-${at + 1}`, at, one);
  }
  for (const entity of ["customer", "vendor"])
    for (const [at, one] of fc.sample(anyParty, { seed, numRuns: count }).entries())
      yield* written(`${entity}/random-${at + 1}`, async () =>
        partyBody(one, partyName(one.code, NAME_MOST.online, oneLine)),
      );
}

const casesOf = (name: string): unknown[] =>
  readCases(join(CASES, `${name}.json`)).cases.flatMap(({ expected }) =>
    "document" in expected ? [expected.document] : [],
  );

/** With the party that it is sent for. */
const of = (type: "in" | "out", body: object): object => ({
  ...body,
  [SIDES[sideOf({ type })].partyRef]: { value: "58" },
});

async function* documentFiles(
  name: string,
  at: number,
  document: InvoiceDocument,
): AsyncGenerator<Emitted> {
  const { type } = document;
  const side = sideOf(document);
  const kind = type === "out" ? "invoice" : "bill";
  const made = () => bodyOf(side, writerOf(at), document);
  yield* written(`${kind}/${name}`, async () => of(type, await made()));
  if (kind === "bill") return;
  const row = { Id: "145", SyncToken: String(at) };
  yield* written(`${kind}/${name}-amended`, async () => amendment(row, await made()));
  yield* written(`${kind}/${name}-void`, async () => row);
}

/** An order without lines is looked for and never written. */
async function* orderFiles(
  name: string,
  at: number,
  order: OrderDocument,
): AsyncGenerator<Emitted> {
  if (order.lines.length === 0) return;
  const writer = writerOf(at);
  const type = order.type === "sale" ? "out" : "in";
  const entity = SIDES[order.type].order.toLowerCase();
  yield* written(`${entity}/${name}`, async () => of(type, await orderBody(writer, order)));
  if (order.type === "purchase") return;
  const row = { Id: "145", SyncToken: String(at) };
  for (const to of ["amended", "posted", "cancelled"] as const)
    yield* written(`${entity}/${name}-${to}`, () => orderChange(to, row, writer, order));
}

function paymentFile(name: string, at: number, payment: PaymentDocument): Emitted {
  const billPayments = at % 2 === 0 ? "check" : "credit-card";
  const side = sideOf(payment);
  const hasAccount = side === "purchase" || at % 2 !== 0;
  const body = {
    ...paymentBody({ billPayments }, { ...payment, invoice: "145" }),
    ...(hasAccount ? accountIn({ billPayments }, side, "35") : {}),
  };
  return fileOf(`${SIDES[side].payment.toLowerCase()}/${name}`, of(payment.type, body));
}

/** What these books refuse is no file. */
async function* written(path: string, make: () => Promise<object>): AsyncGenerator<Emitted> {
  try {
    yield fileOf(path, await make());
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
  }
}

const fileOf = (path: string, body: object): Emitted => ({
  path: `${path}.json`,
  bytes: Buffer.from(`${bodyText(body)}\n`),
});
