/** The list of mappings: a new one is a file in a folder of its format and a line here. */
import type { Mapping } from "../src/core/contract.ts";
import { customerInvoices } from "./canonical/customer-invoices.ts";
import { deliveryTickets } from "./canonical/delivery-tickets.ts";
import { orders } from "./canonical/orders.ts";
import { supplierInvoices } from "./canonical/supplier-invoices.ts";
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

/** With their types, for what extends one of them by its name. */
export const shipped = [
  orders,
  deliveryTickets,
  customerInvoices,
  supplierInvoices,
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
] as const;

export const mappings: readonly Mapping[] = [...shipped];
