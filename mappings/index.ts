/** The list of mappings: a new one is a file in a folder of its format and a line here. */
import type { Mapping } from "../src/core/contract.ts";
import { allocations } from "./canonical/allocations.ts";
import { connections } from "./canonical/connections.ts";
import { customerInvoices } from "./canonical/customer-invoices.ts";
import { deliveryTickets } from "./canonical/delivery-tickets.ts";
import { locations } from "./canonical/locations.ts";
import { orders } from "./canonical/orders.ts";
import {
  paymentsMade as canonicalPaymentsMade,
  paymentsReceived as canonicalPaymentsReceived,
} from "./canonical/payments.ts";
import { rackPrices as canonicalRackPrices } from "./canonical/rack-prices.ts";
import { supplierInvoices } from "./canonical/supplier-invoices.ts";
import { terminals as canonicalTerminals } from "./canonical/terminals.ts";
import { deliveryTickets as plainDeliveryTickets } from "./plain/delivery-tickets.ts";
import { endedFreightRates } from "./plain/ended-freight-rates.ts";
import { freightRates } from "./plain/freight-rates.ts";
import { orderNotes } from "./plain/order-notes.ts";
import { terminals } from "./plain/terminals.ts";
import { ticketSignatures } from "./plain/ticket-signatures.ts";
import { customers } from "./tryton-export/customers.ts";
import { invoices } from "./tryton-export/invoices.ts";
import { paidInvoices } from "./tryton-export/paid-invoices.ts";
import { rackPrices } from "./tryton-export/rack-prices.ts";
import { suppliers } from "./tryton-export/suppliers.ts";
import { customerInvoices as booksCustomerInvoices } from "./books/customer-invoices.ts";
import { customers as booksCustomers } from "./books/customers.ts";
import { deliveryTickets as booksDeliveryTickets } from "./books/delivery-tickets.ts";
import { invoices as booksInvoices } from "./books/invoices.ts";
import { orders as booksOrders } from "./books/orders.ts";
import { paidInvoices as booksPaidInvoices } from "./books/paid-invoices.ts";
import { paymentsMade, paymentsReceived } from "./books/payments.ts";
import { rackPrices as booksRackPrices } from "./books/rack-prices.ts";
import { supplierInvoices as booksSupplierInvoices } from "./books/supplier-invoices.ts";
import { suppliers as booksSuppliers } from "./books/suppliers.ts";

/** With their types, for what extends one of them by its name. */
export const shipped = [
  orders,
  deliveryTickets,
  customerInvoices,
  supplierInvoices,
  canonicalPaymentsReceived,
  canonicalPaymentsMade,
  canonicalRackPrices,
  canonicalTerminals,
  locations,
  allocations,
  connections,
  plainDeliveryTickets,
  ticketSignatures,
  freightRates,
  endedFreightRates,
  terminals,
  orderNotes,
  customers,
  suppliers,
  rackPrices,
  invoices,
  paidInvoices,
  booksOrders,
  booksDeliveryTickets,
  booksCustomerInvoices,
  booksSupplierInvoices,
  paymentsReceived,
  paymentsMade,
  booksCustomers,
  booksSuppliers,
  booksInvoices,
  booksPaidInvoices,
  booksRackPrices,
] as const;

export const mappings: readonly Mapping[] = [...shipped];
