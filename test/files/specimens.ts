/**
 * Layouts of real exports that nothing delivers, since the platform takes no bills, products or payments: what the reader is
 * tried on besides those that the connector offers. Their files and profiles are in test/data/tryton-export.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { z } from "zod";
import {
  date,
  decimal,
  filled,
  flag,
  invoiceHead,
  ownId,
  records,
  stamp,
  text,
} from "../../src/formats/table/layouts.ts";
import { parseProfile } from "../../src/formats/table/profile-load.ts";

export const supplierInvoices = records({
  name: "tryton-export/supplier-invoices",
  head: invoiceHead,
  lists: {
    dueDates: { due: date },
    lines: {
      product: text,
      description: text,
      quantity: decimal,
      unit: text,
      unitPrice: decimal,
      amount: decimal,
    },
  },
  key: ownId,
});

export type SupplierInvoice = z.infer<typeof supplierInvoices.record>;

/** Tryton's list of products. */
export const products = records({
  name: "tryton-export/products",
  restates: true,
  head: {
    id: filled(text),
    code: filled(text),
    name: filled(text),
    type: text,
    unit: text,
    listPrice: decimal,
    category: text,
    active: flag,
  },
  key: ({ code }) => code,
});

/** Tryton's payment lines: the move lines that are linked to invoices. */
export const payments = records({
  name: "tryton-export/payments",
  head: {
    id: filled(text),
    date: filled(date),
    /** `out`: a customer pays, the amount is in credit. `in`: we pay, it is in debit. */
    type: filled(text),
    invoiceNumber: filled(text),
    /** Empty once the line is reconciled: not to be relied on. */
    openInvoiceNumber: text,
    partyCode: text,
    party: text,
    debit: filled(decimal),
    credit: filled(decimal),
    moveDescription: text,
    moveNumber: text,
    reconciled: date,
    createdAt: stamp,
  },
  key: ({ id }) => id,
});

/** By the name of the layout. */
export const specimenProfiles = new Map(
  [supplierInvoices, products, payments].map((layout) => {
    const path = join(import.meta.dirname, "../../test/data", `${layout.name}.yaml`);
    return [layout.name, parseProfile(readFileSync(path, "utf8"), path, [layout])];
  }),
);
