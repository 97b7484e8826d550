/**
 * What a flow may name after `platform.`: every source and sink once, with the operations of the contract that it uses.
 * Paths, page sizes and the way a list is read come from the table of operations.
 */
import type { Offer, Offers } from "../core/contract.ts";
import { defined } from "../core/defined.ts";
import type { ListOperation, OperationId } from "./contract/operations.ts";
import type { PdfOperation } from "./pdf.ts";
import type { Detail } from "./walk.ts";
import {
  invoices,
  orderNotes,
  paidInvoices,
  tickets,
  ticketSignatures,
} from "./sinks/documents.ts";
import { parties } from "./sinks/parties.ts";
import { endedFreightRates, freightRates, rackPrices, supplierTerminals } from "./sinks/terms.ts";
import type { SinkPart } from "./sinks/write.ts";

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
  invoices,
  customers: parties("customer"),
  suppliers: parties("supplier"),
  rackPrices,
  paidInvoices,
  tickets,
  ticketSignatures,
  freightRates,
  endedFreightRates,
  supplierTerminals,
  orderNotes,
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
  more: (part: Part) => Partial<Offer>,
): Readonly<Record<string, Offer>> =>
  Object.fromEntries(
    Object.entries(parts).map(([name, part]) => [
      name,
      { form: `platform.${name}`, ...more(part) },
    ]),
  );

/** Told without an address or a key, as a connector tells its own. */
export const platformOffers: Offers = {
  sources: offered<SourcePart>(sources, ({ pdf }) => defined({ pdf })),
  sinks: offered<SinkPart>(sinks, ({ anonymous }) => defined({ anonymous })),
};
