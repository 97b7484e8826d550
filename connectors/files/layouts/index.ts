/** Every layout that the files source reads. */
import { customerInvoices, supplierInvoices } from "./invoices.ts";
import { customers, suppliers } from "./parties.ts";
import { payments } from "./payments.ts";
import * as plain from "./plain.ts";
import { priceLists } from "./price-lists.ts";
import { products } from "./products.ts";
import type { Layout } from "./table.ts";

export const layouts: readonly Layout[] = [
  customers,
  suppliers,
  products,
  priceLists,
  customerInvoices,
  supplierInvoices,
  payments,
  plain.deliveryTickets,
  plain.ticketSignatures,
  plain.freightRates,
  plain.endedFreightRates,
  plain.terminals,
  plain.orderNotes,
];
