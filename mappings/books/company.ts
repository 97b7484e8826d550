/** What the mappings must know of our own company. */
import type { References } from "../../src/core/contract.ts";
import { cellOf } from "../crossref.ts";
import { TABLES } from "./tables.ts";

/** Where our own company's id stands, and which mappings read it. */
export const OUR_COMPANY = {
  table: TABLES.company,
  key: "companyId",
  column: "value",
  mappings: ["books/orders", "books/delivery-tickets"],
} as const;

/** The platform's UUID of our own company, from the table `company`. @throws NotMapped */
export const ourCompany = (references: References): string =>
  cellOf(references, OUR_COMPANY.table, OUR_COMPANY.key, OUR_COMPANY.column);

export const dayOrNone = (references: References, instant: string | null): string | null =>
  instant === null ? null : references.dayOf(instant);
