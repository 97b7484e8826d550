/** Every layout that the files source reads. */
import * as books from "./books.ts";
import { customerInvoices } from "./invoices.ts";
import { customers, suppliers } from "./parties.ts";
import * as plain from "./plain.ts";
import { priceLists } from "./price-lists.ts";
import type { Layout } from "./table.ts";

export const layouts: readonly Layout[] = [
  customers,
  suppliers,
  priceLists,
  customerInvoices,
  plain.deliveryTickets,
  plain.ticketSignatures,
  plain.freightRates,
  plain.endedFreightRates,
  plain.terminals,
  plain.orderNotes,
  books.parties,
  books.prices,
  books.invoices,
  books.paidInvoices,
];
