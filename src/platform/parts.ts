/**
 * What a flow may name after `platform.`: every source and sink once, with the operations of the contract that it uses.
 * Paths, page sizes and the way a list is read come from the table of operations.
 */
import type { Offer, Offers, Sink } from "../core/contract.ts";
import type { ListOperation, OperationId } from "./contract/operations.ts";
import type { PdfOperation } from "./pdf.ts";
import type { Detail } from "./walk.ts";
import { deliveryTickets, ticketSignatures } from "./sinks/delivery-tickets.ts";
import { endedFreightRates, freightRates } from "./sinks/freight-rates.ts";
import { invoices } from "./sinks/invoices.ts";
import { markPaid } from "./sinks/mark-paid.ts";
import { orderNotes } from "./sinks/order-notes.ts";
import type { Ourselves } from "./sinks/ourselves.ts";
import { parties } from "./sinks/parties.ts";
import { rackPrices } from "./sinks/rack-prices.ts";
import { supplierTerminals } from "./sinks/supplier-terminals.ts";
import type { Surroundings } from "./sinks/write.ts";

/**
 * A list of the platform as a source: walked by `updatedSince` where the contract allows that, else read whole. Only a walk
 * reads details.
 */
export interface SourcePart {
  readonly list: ListOperation;
  readonly query?: Readonly<Record<string, string>>;
  readonly detail?: Detail;
  /** What fetches a record's PDF. */
  readonly pdf?: PdfOperation;
}

export interface SinkPart {
  /** The operations that it writes and reads back with. */
  readonly uses: readonly OperationId[];
  readonly open: (surroundings: Surroundings, us: Ourselves) => Sink;
  /** The platform gives what is written no id of its own ({@link Offer.anonymous}). */
  readonly anonymous?: true;
}

const orderDetail = { operation: "getOrder", lines: "lines" } as const;
const ticketDetail = { operation: "getDeliveryTicket", lines: "productLines" } as const;
const invoiceDetail = {
  operation: "getInvoice",
  lines: "lineItems",
  others: ["taxLines"],
} as const;

export const sources = {
  orders: { list: "listOrders", detail: orderDetail },
  deliveryTickets: {
    list: "listDeliveryTickets",
    detail: ticketDetail,
    pdf: "getDeliveryTicketPdf",
  },
  invoicesIssued: {
    list: "listInvoices",
    query: { role: "issuer" },
    detail: invoiceDetail,
    pdf: "getInvoicePdf",
  },
  // A feed of its own: what we must pay (specification part 4, query `role`).
  invoicesPayable: {
    list: "listInvoices",
    query: { role: "payer" },
    detail: invoiceDetail,
    pdf: "getInvoicePdf",
  },
  paymentsReceived: { list: "listPayments", query: { role: "issuer" } },
  paymentsMade: { list: "listPayments", query: { role: "payer" } },
  connections: { list: "listConnections" },
  rackPrices: { list: "listRackPrices" },
  supplierTerminals: { list: "listSupplierTerminals" },
  locations: { list: "listLocations" },
  allocations: { list: "listAllocations" },
} as const satisfies Record<string, SourcePart>;

export const sinks = {
  invoices: { uses: ["createInvoice", "listInvoices"], open: invoices },
  customers: {
    uses: ["createCustomer", "listConnections"],
    open: (surroundings, us) => parties(surroundings, "customer", us),
  },
  suppliers: {
    uses: ["createSupplier", "listConnections"],
    open: (surroundings, us) => parties(surroundings, "supplier", us),
  },
  rackPrices: { uses: ["upsertRackPrices", "listRackPrices"], open: rackPrices, anonymous: true },
  paidInvoices: { uses: ["markInvoicePaid", "getInvoice"], open: markPaid },
  tickets: {
    uses: [
      "createDeliveryTicket",
      "listDeliveryTickets",
      "updateDeliveryTicket",
      "getDeliveryTicket",
    ],
    open: deliveryTickets,
  },
  ticketSignatures: { uses: ["signDeliveryTicket", "getDeliveryTicket"], open: ticketSignatures },
  freightRates: {
    uses: ["createFreightRate", "updateFreightRate", "listFreightRates"],
    open: freightRates,
  },
  endedFreightRates: { uses: ["deleteFreightRate", "listFreightRates"], open: endedFreightRates },
  supplierTerminals: {
    uses: [
      "createSupplierTerminal",
      "listSupplierTerminals",
      "updateSupplierTerminal",
      "getSupplierTerminal",
    ],
    open: supplierTerminals,
  },
  orderNotes: { uses: ["addOrderNote", "listOrderNotes"], open: orderNotes },
} as const satisfies Record<string, SinkPart>;

/** The operations that a source reads with. */
export const readsOf = ({ list, detail }: SourcePart): readonly OperationId[] =>
  detail === undefined ? [list] : [list, detail.operation];

/** The list that a source of this name reads; undefined: there is none such. */
export const listOf = (source: string): ListOperation | undefined =>
  Object.entries<SourcePart>(sources).find(([name]) => name === source)?.[1].list;

/** What fetches the PDF of a record of this source; null: it has none. */
export const pdfOf = (source: string): PdfOperation | null =>
  Object.entries<SourcePart>(sources).find(([name]) => name === source)?.[1].pdf ?? null;

const offered = <Part extends object>(
  parts: Readonly<Record<string, Part>>,
  more: (part: Part) => Partial<Offer> = () => ({}),
): Readonly<Record<string, Offer>> =>
  Object.fromEntries(
    Object.entries(parts).map(([name, part]) => [
      name,
      { form: `platform.${name}`, ...more(part) },
    ]),
  );

/** Told without an address or a key, as a connector tells its own. */
export const platformOffers: Offers = {
  sources: offered<SourcePart>(sources, ({ pdf }) => (pdf === undefined ? {} : { pdf })),
  sinks: offered<SinkPart>(sinks, ({ anonymous }) =>
    anonymous === undefined ? {} : { anonymous },
  ),
};
