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
import { customerInvoices as trytonCustomerInvoices } from "./tryton/customer-invoices.ts";
import { customers as trytonCustomers } from "./tryton/customers.ts";
import { deliveryTickets as trytonDeliveryTickets } from "./tryton/delivery-tickets.ts";
import { invoices as trytonInvoices } from "./tryton/invoices.ts";
import { orders as trytonOrders } from "./tryton/orders.ts";
import { paidInvoices as trytonPaidInvoices } from "./tryton/paid-invoices.ts";
import { paymentsMade, paymentsReceived } from "./tryton/payments.ts";
import { rackPrices as trytonRackPrices } from "./tryton/rack-prices.ts";
import { supplierInvoices as trytonSupplierInvoices } from "./tryton/supplier-invoices.ts";
import { suppliers as trytonSuppliers } from "./tryton/suppliers.ts";

export const mappings: readonly Mapping[] = [
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
  trytonOrders,
  trytonDeliveryTickets,
  trytonCustomerInvoices,
  trytonSupplierInvoices,
  paymentsReceived,
  paymentsMade,
  trytonCustomers,
  trytonSuppliers,
  trytonInvoices,
  trytonPaidInvoices,
  trytonRackPrices,
];
