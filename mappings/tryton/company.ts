/** What the mappings must know of our own company. */
import type { References } from "../../src/core/contract.ts";
import { cellOf } from "../crossref.ts";

/** The platform's UUID of our own company, from the table `tryton-company`. @throws NotMapped */
export const ourCompany = (references: References): string =>
  cellOf(references, "tryton-company", "companyId", "value");

export const dayOrNone = (references: References, instant: string | null): string | null =>
  instant === null ? null : references.dayOf(instant);
