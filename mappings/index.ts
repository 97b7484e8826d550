/** The list of mappings: a new one is a file in a folder of its format and a line here. */
import type { Mapping } from "../src/core/contract.ts";
import { customerInvoices } from "./canonical/customer-invoices.ts";
import { deliveryTickets } from "./canonical/delivery-tickets.ts";
import { orders } from "./canonical/orders.ts";
import { supplierInvoices } from "./canonical/supplier-invoices.ts";

export const mappings: readonly Mapping[] = [
  orders,
  deliveryTickets,
  customerInvoices,
  supplierInvoices,
];
