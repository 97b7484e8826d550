/** What a ledger calls the things that the platform names, and what its mappings must know of the site. */
import { z } from "zod";
import {
  accountOf,
  cellOf,
  cellOrNone,
  COLUMNS,
  PARTY_TABLES,
  TABLES,
  unknownStatus,
} from "./values.ts";
import { namedDay } from "../src/core/time.ts";
import { type References, skip, type Skip } from "../src/core/contract.ts";
import { Refused } from "../src/core/errors.ts";
import type { Kind } from "../src/core/kinds.ts";
import type { Party } from "../src/ledger/documents.ts";

/** A party that came from the books is known there by its code; the name counts for those that are made there. */
export function partyOf(
  references: References,
  kind: "customer" | "supplier",
  companyId: string,
): Party {
  const code = accountOf(references, kind, companyId);
  return {
    code,
    name: cellOrNone(references, PARTY_TABLES[kind], companyId, "name") ?? code,
    companyId,
  };
}

/** The symbol of a unit in the books: `l` for `liter`. @throws NotMapped */
export const symbolOf = (references: References, unit: string): string =>
  cellOf(references, TABLES.units, unit, UNIT_COLUMNS[1]);

const UNIT_COLUMNS = ["unit", "symbol"] as const;

/**
 * The account of what has no product in the books: a tax type (`taxes`), or `charge`, and a product that is billed
 * without gallons (`accounts`). @throws NotMapped
 */
export const ledgerAccount = (
  references: References,
  table: "taxes" | "accounts",
  key: string,
  type: "out" | "in",
): string => cellOf(references, TABLES[table], key, ACCOUNT_COLUMNS[type]);

const ACCOUNT_COLUMNS = { out: "sales", in: "purchases" } as const;

/* What the mappings must know of this site: options of the flow, or rows of tables where a flow does not set them. */

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

/** Of orders and delivery tickets: books may keep one side of them only. */
export const SidedOptions = z.strictObject({
  company: z
    .uuid()
    .optional()
    .describe(
      "Our own company's id on the platform, a UUID. Left out: the row companyId of own-company.csv.",
    ),
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

/** What orders and tickets look up: what goes, between whom, in which unit; and our own company, where no option says it. */
export const goodsTables = ({ company }: SidedOptions) => ({
  items: COLUMNS.items,
  customers: COLUMNS.customers,
  vendors: COLUMNS.vendors,
  [TABLES.units]: UNIT_COLUMNS,
  ...(company === undefined ? { [OUR_COMPANY.table]: ["setting", "value"] as const } : {}),
});

/** What invoices of a side look up: the accounts of lines without a product only where no option names that of charges. */
export const invoiceTables = ({ chargeAccount }: ChargeOptions, type: "out" | "in") => ({
  items: COLUMNS.items,
  [type === "out" ? "customers" : "vendors"]: COLUMNS.customers,
  [TABLES.taxes]: ["tax_type", ACCOUNT_COLUMNS[type]] as const,
  [TABLES.units]: UNIT_COLUMNS,
  ...(chargeAccount === undefined
    ? { [TABLES.accounts]: ["line", ACCOUNT_COLUMNS[type]] as const }
    : {}),
});

/** The platform's UUID of our own company: the option, or the row of the table `company`. @throws NotMapped */
export const ourCompany = (references: References, { company }: SidedOptions): string =>
  company ?? cellOf(references, OUR_COMPANY.table, OUR_COMPANY.key, OUR_COMPANY.column);

/** Of a field that names a day: due, delivered. */
export const dayOrNone = (references: References, instant: string | null): string | null =>
  instant === null ? null : references.dayOf(namedDay(instant));

export interface Statuses<S extends string> {
  /** What links and sentences call it. */
  readonly kind: Kind;
  readonly what: string;
  readonly known: readonly string[];
  /** Statuses that are booked, and as what. */
  readonly booked: Readonly<Record<string, S>>;
  /** Statuses that matter only to what is in the books already. */
  readonly ended: Readonly<Record<string, S>>;
  /**
   * What the others are where a lost store or lost books may hide that it was booked: the sink looks for it. Left out:
   * they are skipped, and reconciliation finds what was booked.
   */
  readonly uncounted?: S;
}

/** Fields of documents that only one which is looked for has, after a loss of the store or of the books. */
export const TAKEN_BACK_ONLY = ["platformStatus"];

/**
 * What a record's status means to the books. Until it counts there it is nobody's business, and what ended before
 * they heard of it never will be.
 * @throws Refused for statuses that are new to us, and for what is in the books and no longer counts on the platform.
 */
export function statusOf<S extends string>(
  references: References,
  { kind, what, known, booked, ended, uncounted }: Statuses<S>,
  { id, status }: { readonly id: string; readonly status: string },
): S | Skip {
  const asBooked = booked[status];
  if (asBooked !== undefined) return asBooked;
  if (!known.includes(status)) throw unknownStatus(what, status);
  const isThere = references.find(kind, id) !== null;
  const end = ended[status];
  // A store or books that were lost or set back do not know its link: the sink looks for the document.
  const looked = end ?? uncounted;
  if (looked !== undefined && !isThere && references.wasLost?.(id) === true) return looked;
  if (!isThere) return skip(status.toLowerCase());
  if (end !== undefined) return end;
  throw new Refused({
    code: "taken-back",
    message: `the ${what} is ${status} on the platform, and it is in the books`,
    next: "A person decides what becomes of it in the books, and resolves it here.",
    field: "status",
  });
}
