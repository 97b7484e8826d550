/** The neutral records of books (`src/ledger/records.ts`), read from files: the shipped mappings `books/...` take them. */
import { InvoiceRecord, PartyRecord, PriceRecord } from "../../../ledger/records.ts";
import { day, decimal } from "../../../ledger/fields.ts";
import type { z } from "zod";
import type { CellType } from "../cells.ts";
import { fromSchema, type Types } from "./from-schema.ts";

const types: Types = new Map<z.ZodType, CellType>([
  [decimal, "decimal"],
  [day, "date"],
]);

export const parties = fromSchema(PartyRecord, types, {
  name: "books.parties",
  restates: true,
  key: ({ code }) => code,
});

export const prices = fromSchema(PriceRecord, types, {
  name: "books.prices",
  restates: true,
  key: ({ list, product }) =>
    list === null || product === null ? null : `${list.trim()}|${product}`,
});

/** A row is its invoice's own id: an invoice that gets another number is the same one. */
const key = ({ id, number }: { readonly id: string | null; readonly number: string | null }) =>
  id ?? number;

export const invoices = fromSchema(InvoiceRecord, types, {
  name: "books.invoices",
  restates: false,
  key,
});

export const paidInvoices = fromSchema(InvoiceRecord, types, {
  name: "books.paidInvoices",
  restates: false,
  key,
});
