/** What the mappings must know of our own company. */
import type { References } from "../../src/core/contract.ts";
import { cellOf } from "../crossref.ts";

/** Where our own company's id stands, and which mappings read it. */
export const OUR_COMPANY = {
  table: "tryton-company",
  key: "companyId",
  column: "value",
  mappings: ["tryton/orders", "tryton/delivery-tickets"],
} as const;

/** The platform's UUID of our own company, from the table `tryton-company`. @throws NotMapped */
export const ourCompany = (references: References): string =>
  cellOf(references, OUR_COMPANY.table, OUR_COMPANY.key, OUR_COMPANY.column);

export const dayOrNone = (references: References, instant: string | null): string | null =>
  instant === null ? null : references.dayOf(instant);
