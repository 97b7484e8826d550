/** Invoices we issued and invoices we pay, as the platform shows them now (specification 2.4; part 4, Invoices). */
import { namedDay } from "../../core/calendar.ts";
import { Decimal } from "../../core/decimal.ts";
import type {
  Facts,
  FactLine,
  FactTax,
  Holding,
  HoldingState,
  Scope,
} from "../../core/holdings.ts";
import { CreateInvoice, Invoice, type invoiceStatuses } from "../contract/invoice.ts";
import { toDecimal } from "../contract/primitives.ts";
import type { Query } from "../paging.ts";
import { changeOf } from "../walk.ts";
import type { PaidSoFar } from "./payments.ts";
import {
  changedIn,
  countOf,
  EPOCH,
  type KindHoldings,
  type ListPage,
  pageAt,
  type Reader,
  recordAt,
  recordIn,
  toldByWalks,
  walked,
  withMembers,
} from "./reading.ts";

type Kind = "invoice" | "bill";

const LIST = "listInvoices";
/** The statuses of {@link invoiceStatuses} in which money is owed. */
const OWED = ["OUTSTANDING", "OVERDUE", "DISPUTED"] as const;
/** As members of a record's text. */
const LINES = ['"lineItems"', '"taxLines"'] as const;
const SETTLED = ["DRAFT", "PAID", "VOID"] as const;

/** `shown` is told number and party of every invoice that was read. */
export function invoiceHoldings(
  reader: Reader,
  kind: Kind,
  paid: PaidSoFar,
  shown: Map<string, Pick<Facts, "number" | "party">>,
): KindHoldings {
  const told = async (
    record: string,
    paidOf: (invoiceId: string) => Promise<Decimal>,
  ): Promise<Holding> => {
    const holding = await holdingOf(reader, kind, record, paidOf);
    const { number, party = null } = holding.facts;
    if (number !== undefined) shown.set(holding.id, { number, party });
    return holding;
  };
  const role = kind === "invoice" ? "issuer" : "payer";
  const one = async (id: string, signal: AbortSignal): Promise<string | null> =>
    recordAt(reader, "getInvoice", id, signal);

  return {
    async *list(scope, signal) {
      const all = () => walked(reader, LIST, { role, updatedSince: EPOCH }, signal);
      yield* toldByWalks({
        walks: await walksFor(reader, role, scope, signal),
        all,
        isOlderThanItself,
        whole: (records) => withMembers(records, LINES, (id) => one(id, signal)),
        async tell(records) {
          const paidOf = paid.of(role, signal);
          const holdings: Holding[] = [];
          for (const record of records) holdings.push(await told(record, paidOf));
          return holdings;
        },
      });
    },

    async get(ids, signal) {
      const found: Holding[] = [];
      for (const id of ids) {
        const record = await one(id, signal);
        if (record !== null) found.push(await told(record, paid.ofOne(role, signal)));
      }
      return found;
    },

    async named(numbers, signal) {
      const found: Holding[] = [];
      for await (const records of namedIn(reader, role, numbers, signal))
        for (const record of await withMembers(records, LINES, (id) => one(id, signal)))
          found.push(await told(record, paid.ofOne(role, signal)));
      return found;
    },

    expect: ({ document }) => ({ facts: expected(reader, document) }),
  };
}

/** Searches of one call: one request each. More numbers are looked for in the whole list. */
const SEARCHES_MAX = 200;
/** `search` matches a part of a number or of notes (specification part 4, Invoices), and takes this many letters. */
const SEARCH_LETTERS = 100;

/**
 * The records with one of these numbers. What more than a page matches is looked for in the whole list, once, so that
 * a short number costs no more than that.
 */
async function* namedIn(
  reader: Reader,
  role: string,
  numbers: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<string[]> {
  const wanted = new Set(numbers);
  const isWanted = (record: string): boolean => {
    const { invoiceNumber } = recordIn(NumberedInvoice, record) ?? {};
    return invoiceNumber !== undefined && wanted.has(invoiceNumber);
  };
  const searchable = numbers.filter(({ length }) => length > 0 && length <= SEARCH_LETTERS);
  const isSearched = searchable.length <= SEARCHES_MAX;
  let isCommon = !isSearched;
  for (const search of isSearched ? searchable : []) {
    const page = await pageAt(reader, LIST, { role, search, pageSize: "100" }, signal);
    if (page.hasMore) isCommon = true;
    else yield page.records.filter(isWanted);
  }
  if (!isCommon) return;
  for await (const { records } of walked(reader, LIST, { role, updatedSince: EPOCH }, signal))
    yield records.filter(isWanted);
}

const NumberedInvoice = Invoice.pick({ invoiceNumber: true });

/**
 * Changed since the day before the period (a document is changed when it is made, or later), and what is open whatever
 * its age. The counts of the statuses known to us must add up, or there is a status that is new to us, and all is
 * walked; so it is when a list does not say how many it has.
 */
async function walksFor(
  reader: Reader,
  role: string,
  scope: Scope,
  signal: AbortSignal,
): Promise<AsyncIterable<ListPage>[]> {
  const since = changedIn(scope);
  const walk = (query: Query, updatedSince: string) =>
    walked(reader, LIST, { role, ...query, updatedSince }, signal);
  const walks = since === null ? [] : [walk({}, since)];
  if (!scope.open) return walks;
  const count = (query: Query) => countOf(reader, LIST, { role, ...query }, signal);
  const all = await count({});
  const owed: (number | null)[] = [];
  for (const status of OWED) owed.push(await count({ status }));
  let known = 0;
  for (const number of owed) known += number ?? Number.NaN;
  for (const status of SETTLED) known += (await count({ status })) ?? Number.NaN;
  if (all === null || known !== all) return [walk({}, EPOCH)];
  const filled = OWED.filter((_, at) => owed[at] !== 0);
  return [...walks, ...filled.map((status) => walk({ status }, EPOCH))];
}

function isOlderThanItself(record: string): boolean {
  const invoice = recordIn(Invoice, record);
  return invoice !== null && Date.parse(invoice.createdAt) > Date.parse(invoice.updatedAt);
}

/** A record that is not in its contract has no facts: it is compared with nothing, and a mapping says why. */
async function holdingOf(
  { dayOf }: Reader,
  kind: Kind,
  record: string,
  paid: (invoiceId: string) => Promise<Decimal>,
): Promise<Holding> {
  const change = changeOf(record);
  const invoice = recordIn(Invoice, record);
  const { id, version } = change;
  const common = { kind, id, version, mark: null, change } as const;
  if (invoice === null) return { ...common, facts: {} };
  const { status, total } = invoice;
  const isOwed = (OWED as readonly string[]).includes(status);
  const open = isOwed ? total.minus(await paid(id)) : Decimal.zero;
  const state = STATES[status as (typeof invoiceStatuses)[number]];
  const facts: Facts = {
    number: invoice.invoiceNumber,
    party: kind === "invoice" ? invoice.payerCompanyId : invoice.companyId,
    // A status that is new to us is not compared here; the mapping refuses it.
    ...(state === undefined ? {} : { state }),
    days: {
      date: dayOf(invoice.createdAt),
      due: invoice.dueDate === null ? null : dayOf(namedDay(invoice.dueDate)),
      paid: invoice.paidAt === null ? null : dayOf(invoice.paidAt),
    },
    money: { untaxed: invoice.subtotal, tax: invoice.tax, total, open },
    words: {
      side: kind === "invoice" ? "sale" : "purchase",
      order: orderOf(invoice.poNumber, invoice.contractNumber),
      notes: invoice.notes,
    },
    lines: invoice.lineItems.map((line) => ({
      product: line.product,
      quantity: line.gallons,
      unit: "gal",
      unitPrice: line.rate,
      amount: line.amount,
      text: line.description,
    })),
    taxes: invoice.taxLines.map(({ taxType, amount }) => ({ code: taxType, amount })),
  };
  return { ...common, facts };
}

const STATES: Readonly<Record<(typeof invoiceStatuses)[number], HoldingState>> = {
  DRAFT: "draft",
  OUTSTANDING: "open",
  OVERDUE: "open",
  PAID: "paid",
  DISPUTED: "disputed",
  VOID: "ended",
};

const orderOf = (po: string | null, contract: string | null): string | null =>
  [po === null ? [] : [`PO ${po}`], contract === null ? [] : [`contract ${contract}`]]
    .flat()
    .join(", ") || null;

/**
 * How a new invoice would be shown. What is not sent (the day it is made, a due date that is left out) is the
 * platform's to fill in, and not compared.
 */
function expected({ dayOf }: Reader, document: unknown): Facts {
  const invoice = CreateInvoice.parse(document);
  const { payerCompanyId, dueDate, notes, poNumber, contractNumber, taxLines } = invoice;
  return {
    number: invoice.invoiceNumber,
    ...(payerCompanyId === undefined ? {} : { party: payerCompanyId }),
    days: dueDate === undefined || dueDate === null ? {} : { due: dayOf(namedDay(dueDate)) },
    money: {
      untaxed: toDecimal(invoice.subtotal),
      tax: toDecimal(invoice.tax),
      total: toDecimal(invoice.total),
    },
    words: {
      side: "sale",
      order: orderOf(poNumber ?? null, contractNumber ?? null),
      ...(notes === undefined || notes === null ? {} : { notes }),
    },
    lines: invoice.lineItems.map(lineOf),
    ...(taxLines === undefined
      ? {}
      : {
          taxes: taxLines.map((tax): FactTax => ({
            code: tax.taxType,
            amount: toDecimal(tax.amount),
          })),
        }),
  };
}

/** A line without an amount is computed by the platform (rule I1). */
function lineOf(line: CreateInvoice["lineItems"][number]): FactLine {
  const [quantity, unitPrice, amount] = [line.gallons, line.rate, line.amount].map((value) =>
    value === undefined || value === null ? null : toDecimal(value),
  ) as [Decimal | null, Decimal | null, Decimal | null];
  return {
    product: line.product ?? null,
    quantity,
    unit: "gal",
    unitPrice,
    amount: amount ?? (quantity ?? Decimal.zero).times(unitPrice ?? Decimal.zero).round(2),
    text: line.description,
  };
}
