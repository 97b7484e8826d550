/** What two partners have agreed on for X12: the group `x12` of a source or a sink. */
import { z } from "zod";
import { choice } from "../../core/settings.ts";
import { versions } from "./grammar.ts";

const separator = (by: string) =>
  z
    .string()
    .regex(/^[^\p{L}\p{N}\p{Z}\p{Cc}]$/u, "is one character that is no letter, digit or blank")
    .default(by);

const Separators = z
  .strictObject({
    element: separator("*"),
    component: separator(">"),
    segment: separator("~"),
    repetition: separator("^"),
  })
  .refine((all) => new Set(Object.values(all)).size === 4, "has the same character twice");

const Code = z.string().regex(/^[A-Z0-9]{2}$/, "is a code of two capitals or digits");

const PartnerId = z
  .string()
  .regex(/^[A-Z0-9][A-Z0-9 .&-]{0,13}[A-Z0-9]$/, "is 2 to 15 capitals, digits, blanks, . & or -");

const Id = z.strictObject({
  qualifier: Code.default("ZZ").describe(
    "ISA05 or ISA07: 01 a DUNS number, 12 a phone, ZZ agreed.",
  ),
  id: PartnerId.describe("ISA06 or ISA08."),
  group: PartnerId.optional().describe("GS02 or GS03; left out: the same as `id`."),
});

const Measured = z
  .string()
  .regex(/^[A-Z0-9]{1,3}$/)
  .optional();

const parsed = <T>(schema: z.ZodType<T>, text: object = {}) => schema.parse(text);

export const X12Options = z.strictObject({
  us: Id.describe("Who we are to the partner."),
  partner: Id,
  version: z.enum(versions).default("004010").describe("The release, GS08."),
  usage: z
    .enum(["test", "production"])
    .describe("ISA15. Files of the other one are refused when they are read."),
  separators: Separators.default(parsed(Separators)).describe(
    "What we write. What we read says its own.",
  ),
  lineEnds: choice(["none", "lf", "crlf"], "What is written after each segment's terminator."),
  characters: z
    .enum(["basic", "extended"])
    .default("extended")
    .describe("The characters of X12 that are written: basic has no small letters."),
  text: choice(
    ["refuse", "replace"],
    "Descriptions, notes and names with other characters: refuse the document, or replace the characters as docs/x12.md says. Numbers and codes are never changed.",
  ),
  ourCode: z
    .string()
    .min(2)
    .max(80)
    .optional()
    .describe(
      "What the partner calls our company (N104 of the seller). Sources of invoices need it.",
    ),
  idQualifier: z
    .enum(["91", "92"])
    .default("92")
    .describe("N103 of what is written: 92 the buyer's."),
  product: Code.default("VP").describe(
    "Which product id counts and is written (IT106, PO106, LIN02).",
  ),
  units: z
    .record(z.string().min(1), Code)
    .default({ gal: "GA", ltr: "LT", liter: "LT", bbl: "BR" })
    .describe("What the partner calls our units."),
  taxes: z
    .record(z.string().min(1), Code)
    .default({})
    .describe("What the partner calls our tax codes (TXI01)."),
  taxesOn: choice(
    ["lines", "invoice"],
    "Where an 810 has its taxes (TXI): with the line that each is levied on, or after the total.",
  ),
  authorities: z
    .record(z.string().min(1), z.string().regex(/^[A-Z0-9]{1,10}$/))
    .default({})
    .describe(
      "What the partner calls who levies a tax (TXI05). One that is not here and does not fit is told in words (PID).",
    ),
  price: z
    .string()
    .regex(/^[A-Z0-9]{3}$/)
    .default("UCP")
    .describe(
      "Which price of an 832 counts (CTP02): UCP unit cost price, CON contract, RES resale. Others are left alone.",
    ),
  gross: Measured.describe("MEA02 of gross gallons; left out: they are not written, nor read."),
  temperature: Measured.describe("MEA02 of the temperature in an 856; left out: it is not read."),
  gravity: Measured.describe("MEA02 of the API gravity in an 856; left out: it is not read."),
  net: Measured.describe("MEA02 of net gallons; left out: they are not written, nor read."),
});
export type X12Options = z.infer<typeof X12Options>;

/** ISA15. */
export const usageOf = ({ usage }: Pick<X12Options, "usage">): string =>
  usage === "production" ? "P" : "T";

/** What sets become: 810 invoices, 832 prices, 820 invoices that were paid, 855 notes on orders, 856 delivery tickets. */
export const x12Layouts = [
  "books.invoices",
  "books.prices",
  "books.paidInvoices",
  "plain/order-notes",
  "plain/delivery-tickets",
] as const;
/** What is written: invoices as 810, orders as 850. */
export const x12Documents = ["customer-invoices", "orders"] as const;
