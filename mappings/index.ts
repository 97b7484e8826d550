/** The list of mappings: a new one is an object in a file of its format and a line here. */
import type { Mapping } from "../src/core/contract.ts";
import * as bookGoods from "./books/goods.ts";
import * as bookInvoices from "./books/invoices-out.ts";
import * as bookRecords from "./books/records.ts";
import * as goods from "./canonical/goods.ts";
import * as invoices from "./canonical/invoices.ts";
import * as places from "./canonical/places.ts";
import * as plain from "./plain/records.ts";
import * as exported from "./tryton-export/records.ts";

/** With their types, for what extends one of them by its name. */
export const shipped = [
  goods.orders,
  goods.deliveryTickets,
  invoices.customerInvoices,
  invoices.supplierInvoices,
  invoices.paymentsReceived,
  invoices.paymentsMade,
  places.rackPrices,
  places.terminals,
  places.locations,
  places.allocations,
  places.connections,
  plain.deliveryTickets,
  plain.ticketSignatures,
  plain.freightRates,
  plain.endedFreightRates,
  plain.terminals,
  plain.orderNotes,
  exported.customers,
  exported.suppliers,
  exported.rackPrices,
  exported.invoices,
  exported.paidInvoices,
  bookGoods.orders,
  bookGoods.deliveryTickets,
  bookInvoices.customerInvoices,
  bookInvoices.supplierInvoices,
  bookInvoices.paymentsReceived,
  bookInvoices.paymentsMade,
  bookRecords.customers,
  bookRecords.suppliers,
  bookRecords.invoices,
  bookRecords.paidInvoices,
  bookRecords.rackPrices,
] as const;

export const mappings: readonly Mapping[] = [...shipped];
