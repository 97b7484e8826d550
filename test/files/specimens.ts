/**
 * Layouts of real exports that nothing delivers, since the platform takes no bills, products or payments: what the reader is
 * tried on besides those that the connector offers. Their files and profiles are in test/data/tryton-export.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { layoutOf } from "../../src/formats/table/layouts.ts";
import { parseProfile, type Profile } from "../../src/formats/table/profile.ts";
import { ProfileFile } from "../../src/formats/table/settings.ts";
import {
  day,
  dayOrNone,
  decimal,
  decimalOrNone,
  InvoiceRecord,
  text,
  textOrNone,
} from "../../src/ledger/documents.ts";

/** How the text of plain CSV is cut. */
export const COMMAS = ProfileFile.parse({ layout: "any", delimiter: "," });

const named = <K extends string, S>(schema: S, ...names: readonly K[]): Record<K, S> =>
  Object.fromEntries(names.map((name) => [name, schema])) as Record<K, S>;
/** Its own id: drafts have no number, and an invoice that gets another number is the same one. */
const ownId = ({ id }: { readonly id: string | null }): string | null => id;

export const supplierInvoices = layoutOf(InvoiceRecord, {
  name: "tryton-export/supplier-invoices",
  key: ownId,
});

/** Tryton's list of products. */
export const products = layoutOf(
  z.object({
    ...named(text, "id", "code", "name"),
    ...named(textOrNone, "type", "unit"),
    listPrice: decimalOrNone,
    category: textOrNone,
    active: z.boolean().nullable(),
  }),
  { name: "tryton-export/products", restates: true, key: ({ code }) => code },
);

/** Tryton's payment lines: the move lines that are linked to invoices. */
export const payments = layoutOf(
  z.object({
    id: text,
    date: day,
    /** `out`: a customer pays, the amount is in credit. `in`: we pay, it is in debit. */
    ...named(text, "type", "invoiceNumber"),
    /** Empty once the line is reconciled: not to be relied on. */
    ...named(textOrNone, "openInvoiceNumber", "partyCode", "party"),
    ...named(decimal, "debit", "credit"),
    ...named(textOrNone, "moveDescription", "moveNumber"),
    reconciled: dayOrNone,
    createdAt: textOrNone,
  }),
  { name: "tryton-export/payments", key: ownId },
);

/** By the name of the layout. */
export const specimenProfiles = new Map<string, Profile>(
  [supplierInvoices, products, payments].map((layout) => {
    const path = join(import.meta.dirname, "../../test/data", `${layout.name}.yaml`);
    return [layout.name, parseProfile(readFileSync(path, "utf8"), path, [layout])];
  }),
);
