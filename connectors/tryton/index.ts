/** Tryton over its JSON-RPC: the books of one company, as any of its clients writes them. */
import { defineConnector } from "../../src/core/contract.ts";
import { sha256Hex } from "../../src/core/keys.ts";
import { markOf, platformIdIn } from "../../src/ledger/entries.ts";
import type { FileTable } from "../../src/ledger/files.ts";
import { NOTHING, ticketIn } from "../../src/ledger/goods.ts";
import { type Ledger, offered, openLedger } from "../../src/ledger/table.ts";
import { type Books, openLookup, resourceOf as onInvoice } from "./books.ts";
import { TrytonConfig } from "./config.ts";
import { checksOf, controlOf } from "./examine.ts";
import { orderTable, ticketTable } from "./goods.ts";
import { draftsIn } from "./invoice-rows.ts";
import { invoiceTable } from "./invoices.ts";
import { partyTable, priceTable } from "./lists.ts";
import { paymentTable } from "./payments.ts";
import * as rpc from "./rows.ts";
import { openTryton, TRYTON } from "./wire.ts";

/** The books of one company as the driver of src/ledger sees them. */
export const ledgerOf = (books: Books): Ledger =>
  openLedger({
    ...TRYTON,
    tables: {
      invoice: invoiceTable(books, "invoice"),
      bill: invoiceTable(books, "bill"),
      payment: paymentTable(books),
      party: partyTable(books),
      price: priceTable(books),
      order: orderTable(books),
      shipment: ticketTable(books),
    },
    config: books.config,
    onAccount: true,
    surroundings: books.surroundings,
    files: fileTables(books),
    async currency(signal) {
      const { company } = await books.tryton.session();
      const own = rpc.where({ "id =": company });
      const fields = rpc.texts("currency.code");
      return (await rpc.rowsOf(books, "company.company", own, fields, { signal }))[0]?.currency;
    },
    checks: (needs) => checksOf(books, needs),
  });

/** Sinks for what hangs on documents, by the sinks that book these. */
const FILES = {
  invoices: { pdf: "invoiceFiles" },
  bills: { pdf: "billFiles" },
  shipments: { pdf: "shipmentFiles" },
};

export const tryton = defineConnector<TrytonConfig>({
  name: "tryton",
  config: TrytonConfig,
  offers: () => ({
    sources: offered(["parties", "invoices", "paidInvoices", "prices"]),
    sinks: offered(["invoices", "bills", "payments", "orders", "shipments"], FILES),
  }),
  open(settings, surroundings) {
    const config = { ...settings, currency: surroundings.currency };
    const wire = openTryton(config, surroundings);
    const lookup = openLookup(wire, surroundings);
    const books: Books = { config, tryton: wire, lookup, surroundings };
    const { holdings, ...ledger } = ledgerOf(books);
    return {
      ...ledger,
      readAgain: () => lookup.forget(),
      holdings: { ...holdings, control: (kind, signal) => controlOf(books, kind, signal) },
      close: () => wire.close(),
    };
  },
});

/* PDFs on booked documents, as records of `ir.attachment`: whose each is stands beside its bytes, with their hash. */

const MODEL = "ir.attachment";
const FILE = { ...rpc.textsOrNone("description"), data_size: rpc.as<number>() };
const DATA = { data: rpc.as<{ readonly base64: string } | null>() };

/** What an answer of Tryton has room for, in base64. A larger file is taken for what its mark says. */
const READ_BYTES_MAX = 20 * 1024 * 1024;

const toldOf = (id: number, sha256: string) => ({
  id: String(id),
  told: `attachment #${id}, sha256 ${sha256}`,
});

/** By their names as sinks. */
export function fileTables(books: Books): Record<string, FileTable> {
  const files: Pick<FileTable, "find" | "add" | "names"> = {
    async find(resource, { id: mark, name }) {
      const domain = rpc.where({ "resource =": resource, "name =": name });
      const found = [];
      for (const { id, description, data_size } of await rpc.rowsOf(books, MODEL, domain, FILE)) {
        const marked = /(?:^|\s)sha256:(\S+)/.exec(description ?? "")?.[1] ?? null;
        const isRead = data_size <= READ_BYTES_MAX;
        const data = isRead ? (await rpc.rowOf(books, MODEL, id, DATA)).data : null;
        const read = isRead ? sha256Hex(Buffer.from(data?.base64 ?? "", "base64")) : null;
        const sha256 = read ?? marked ?? "";
        const isOurs = platformIdIn(description) === mark && marked === sha256;
        const whose = isOurs ? ("ours" as const) : ("unknown" as const);
        found.push({ ...toldOf(id, sha256), whose, sha256 });
      }
      return found;
    },
    async add(resource, { id: mark, name, bytes, sha256 }) {
      const data = { __class__: "bytes", base64: Buffer.from(bytes).toString("base64") };
      const description = `${markOf(mark)} sha256:${sha256}`;
      const values = { resource, name, type: "data", data, description };
      const [made] = await books.tryton.call<[number]>(`model.${MODEL}.create`, [[values]]);
      return toldOf(made, sha256);
    },
    async names(ids, signal) {
      const domain = rpc.where({ "id in": ids.map(Number) });
      const rows = await rpc.rowsOf(books, MODEL, domain, rpc.texts("name"), { signal });
      return new Map(rows.map(({ id, name }) => [String(id), name]));
    },
  };
  const onInvoices = (operation: string, type: "in" | "out"): FileTable => ({
    ...files,
    operation,
    nameOf: ({ number }) => number,
    async on({ id, counterpart }) {
      // `#12`, as links have it.
      const [draft] = draftsIn([counterpart]);
      const name = draft === undefined ? { "number =": counterpart } : { "id =": draft };
      const domain = await rpc.ownOf(books, rpc.where({ "type =": type, ...name }));
      const rows = await rpc.rowsOf(books, "account.invoice", domain, rpc.textsOrNone("comment"));
      // Books that were restored give a number again; one that a person entered has no mark.
      const [row, another] = rows.filter(({ comment }) => (platformIdIn(comment) ?? id) === id);
      return row === undefined || another !== undefined ? null : onInvoice(row);
    },
  });
  const tickets = ticketTable(books);
  return {
    invoiceFiles: onInvoices("invoice.attach", "out"),
    billFiles: onInvoices("bill.attach", "in"),
    // One when the ticket waits, one when it is done.
    shipmentFiles: {
      ...files,
      operation: "shipment.attach",
      nameOf: ({ number, counterpart }) => ticketIn(counterpart)?.brought ?? number,
      async on({ id, number, counterpart }, signal) {
        const numbers = [ticketIn(counterpart)?.number ?? number];
        const rows = await tickets.search({ ...NOTHING, numbers, marks: [id] }, signal);
        return rows.find(({ marks }) => marks.includes(id))?.id ?? null;
      },
    },
  };
}
