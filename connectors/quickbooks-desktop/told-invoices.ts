/** Customer invoices as sources tell them, with what was paid on them. A job's invoice is its customer's. */
import type { LedgerAdapter, Entry } from "../../src/ledger/port.ts";
import { invoiceRecord } from "../../src/ledger/facts.ts";
import type { InvoiceRecord } from "../../src/ledger/records.ts";
import { platformIdIn } from "../../src/ledger/marks.ts";
import type { Change } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import type { FactLine } from "../../src/core/holdings.ts";
import { stringifyExact } from "../../src/core/json.ts";
import { deletedInvoice, paidBy, taxesOf } from "../quickbooks/told.ts";
import type { DesktopConfig } from "./config.ts";
import type { DeletedRow } from "./lists.ts";
import { openOf, totalOf } from "./lines.ts";
import { partyCode } from "./party-codes.ts";
import { amountOf, dayIn, dayOf, decimalOf, needed, refOf, textOf, yesOf } from "./read.ts";
import type { Row } from "./rows.ts";
import type { Wire } from "./wire.ts";
import type { Element } from "./xml.ts";

export interface Telling {
  readonly wire: Pick<Wire, "read">;
  readonly config: Pick<DesktopConfig, "taxItems">;
  /** The company's, ISO 4217. */
  readonly currency: string;
}

type Invoice = Entry<Row>;

/** What is told of these, each under a number of the caller's. @throws LedgerError */
export async function invoiceTeller(
  { wire, config, currency }: Telling,
  entries: readonly Invoice[],
  signal: AbortSignal,
): Promise<(entry: Invoice, number: string) => Change> {
  const payers = await payersOf(wire, entries, signal);
  return (entry, number) => {
    const { row } = entry.native;
    const payer = payers.get(refOf(row, "CustomerRef").id ?? "") ?? null;
    const record = recordOf(entry, { number, payer, currency, taxItems: config.taxItems });
    return { id: record.id, version: null, text: stringifyExact(record) };
  };
}

/** The same adapter, which tells what sources tell of each record as well: for reconciliation. */
export const telling = (
  adapter: LedgerAdapter<"invoice", Row>,
  how: Telling,
): LedgerAdapter<"invoice", Row> => {
  const told = async (entries: readonly Invoice[], signal: AbortSignal): Promise<Invoice[]> => {
    const change = await invoiceTeller(how, entries, signal);
    return entries.map((one) => ({ ...one, change: change(one, issuedNumber(one)) }));
  };
  return {
    ...adapter,
    get: async (ids, call) => told(await adapter.get(ids, call), call.signal),
    named: async (numbers, signal) => told(await adapter.named(numbers, signal), signal),
    async *list(scope, from, signal) {
      for await (const page of adapter.list(scope, from, signal))
        yield { ...page, entries: await told(page.entries, signal) };
    },
  };
};

/** What people know it by; of one that is void, or has no number, its id. */
export const issuedNumber = (one: Invoice): string =>
  one.status === "cancelled" ? idOf(one) : (textOf(one.native.row, "RefNumber") ?? idOf(one));

export const idOf = ({ native: { row } }: Invoice): string => needed(row, "TxnID");

/** QuickBooks tells its id and number, and nothing else of it. */
export function goneInvoice({ id, at, madeAt, name }: DeletedRow, currency: string): Change {
  const number = name === null ? "" : ` (number ${name})`;
  return deletedInvoice(id, "cancelled", {
    party: "(deleted)",
    days: { date: (madeAt === "" ? at : madeAt).slice(0, 10) },
    words: { currency, order: `deleted in QuickBooks at ${at}${number}` },
  });
}

interface Payer {
  readonly code: string;
  /** The platform's id of the company; null: its notes name none. */
  readonly companyId: string | null;
}

const FIELDS = ["ListID", "Name", "FullName", "Notes"];

/** By the ids of customers and jobs: the customer who is billed. @throws LedgerError */
async function payersOf(
  wire: Pick<Wire, "read">,
  entries: readonly Invoice[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Payer>> {
  const refs = new Map(
    entries.flatMap(({ native }) => {
      const { id, name } = refOf(native.row, "CustomerRef");
      return id === null ? [] : [[id, (name ?? "").split(":")] as const];
    }),
  );
  const jobs = [...refs].filter(([, names]) => names.length > 1);
  const ask = async (values: object): Promise<readonly Element[]> => {
    const all = { ...values, IncludeRetElement: FIELDS };
    const [reply] = await wire.read([{ name: "CustomerQuery", values: all }], signal);
    return reply?.rets ?? [];
  };
  const own = [...refs.keys()].filter((id) => jobs.every(([job]) => job !== id));
  const customers = own.length === 0 ? [] : await ask({ ListID: own });
  const tops = [...new Set(jobs.map(([, [top = ""]]) => top))];
  const parents = tops.length === 0 ? [] : await ask({ FullName: tops });
  return new Map(
    [...refs].flatMap(([id, [top = ""]]) => {
      const isOwn = own.includes(id);
      const row = isOwn
        ? customers.find((one) => needed(one, "ListID") === id)
        : parents.find((one) => textOf(one, "FullName")?.toLowerCase() === top.toLowerCase());
      if (row === undefined) return [];
      const code = partyCode("customer", needed(row, "ListID"));
      return [[id, { code, companyId: platformIdIn(textOf(row, "Notes")) }] as const];
    }),
  );
}

const STATES = { settled: "paid", cancelled: "cancelled" } as const;

function recordOf(
  entry: Invoice,
  told: {
    readonly number: string;
    readonly payer: Payer | null;
    readonly currency: string;
    readonly taxItems: readonly string[];
  },
): InvoiceRecord {
  const { status, mark, paid } = entry;
  const { row } = entry.native;
  const isTax = ({ product }: FactLine): boolean =>
    product !== null && told.taxItems.includes(product);
  const all = entry.native.lines;
  const salesTax = amountOf(row, "SalesTaxTotal");
  const total = totalOf("invoice", entry.native);
  const open = openOf("invoice", entry.native);
  const taxes = all.filter(isTax);
  const tax = Decimal.sum(taxes.map(({ amount }) => amount)).plus(salesTax);
  const untaxed = total.minus(tax);
  const isPosted = status !== "settled" && status !== "cancelled";
  const isPending = yesOf(row, "IsPending") === true;
  return invoiceRecord(
    {
      party: told.payer?.code ?? refOf(row, "CustomerRef").name,
      days: { date: dayIn(row, "TxnDate") },
      money: { untaxed, tax, total },
      words: {
        currency: foreignIn(row) ?? told.currency,
        reference: textOf(row, "PONumber"),
        order: textOf(row, "Memo")?.replace(/^VOID:\s*/i, "") ?? null,
      },
      lines: all.filter((line) => !isTax(line)),
      taxes: taxesOf(taxes, salesTax, untaxed),
    },
    {
      number: told.number,
      id: needed(row, "TxnID"),
      state: isPosted ? (isPending ? "draft" : "posted") : STATES[status],
      partyCompanyId: told.payer?.companyId ?? null,
      dueDate: dayOf(row, "DueDate"),
      open,
      paidDate: paid,
      ...paidBy(entry, total, open),
      platformId: mark,
      productNames: all.filter((line) => !isTax(line)).map(({ product }) => product),
    },
  );
}

/** The name of the invoice's currency where it is not the company's own, whose rate is 1. */
function foreignIn(row: Element): string | null {
  const rate = decimalOf(row, "ExchangeRate");
  const isOwn = rate === null || rate.equals(Decimal.of("1"));
  return isOwn ? null : refOf(row, "CurrencyRef").name;
}
