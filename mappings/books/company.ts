/** What the mappings must know of this site: options of the flow, or rows of tables where a flow does not set them. */
import { z } from "zod";
import { namedDay } from "../../src/core/calendar.ts";
import { type References, skip, type Skip } from "../../src/core/contract.ts";
import { cellOf } from "../crossref.ts";
import { TABLES } from "./tables.ts";

/** The row that each option stands for. */
export const STANDS_FOR = {
  company: { table: TABLES.company, key: "companyId" },
  chargeAccount: { table: TABLES.accounts, key: "charge" },
} as const;

/** Where our own company's id stands, and which mappings read it. */
export const OUR_COMPANY = {
  ...STANDS_FOR.company,
  column: "value",
  mappings: ["books/orders", "books/delivery-tickets"],
} as const;

export const CompanyOptions = z.strictObject({
  company: z
    .uuid()
    .optional()
    .describe(
      "Our own company's id on the platform, a UUID. Left out: the row companyId of own-company.csv.",
    ),
});
export type CompanyOptions = z.infer<typeof CompanyOptions>;

/** Of orders and delivery tickets: books may keep one side of them only. */
export const SidedOptions = CompanyOptions.extend({
  only: z
    .enum(["sales", "purchases"])
    .optional()
    .describe("Takes only what we sell (sales) or buy (purchases). Left out: both."),
});
export type SidedOptions = z.infer<typeof SidedOptions>;

/** Null: it is taken. */
export const otherSide = ({ only }: SidedOptions, type: "sale" | "purchase"): Skip | null =>
  only === undefined || only === `${type}s` ? null : skip(`${type}, and the flow takes ${only}`);

export const ChargeOptions = z.strictObject({
  chargeAccount: z
    .string()
    .min(1)
    .optional()
    .describe(
      "The account of lines without a product: its code. Left out: the row charge of charge-accounts.csv.",
    ),
});
export type ChargeOptions = z.infer<typeof ChargeOptions>;

/** The table of our own company, where no option says which it is. */
export const companyTable = ({ company }: CompanyOptions) =>
  company === undefined ? { [OUR_COMPANY.table]: ["setting", "value"] as const } : {};

/** The table of accounts without a product, where no option names that of charges. */
export const accountsTable = ({ chargeAccount }: ChargeOptions, column: "sales" | "purchases") =>
  chargeAccount === undefined ? { [TABLES.accounts]: ["line", column] as const } : {};

/** The platform's UUID of our own company: the option, or the row of the table `company`. @throws NotMapped */
export const ourCompany = (references: References, { company }: CompanyOptions): string =>
  company ?? cellOf(references, OUR_COMPANY.table, OUR_COMPANY.key, OUR_COMPANY.column);

/** Of a field that names a day: due, delivered. */
export const dayOrNone = (references: References, instant: string | null): string | null =>
  instant === null ? null : references.dayOf(namedDay(instant));
