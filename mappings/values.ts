/** Words, codes and amounts that mappings of both directions share. */
import { type References, skip, type Skip } from "../src/core/contract.ts";
import { Decimal } from "../src/core/decimal.ts";
import { NotMapped, Refused } from "../src/core/errors.ts";
import type { Kind } from "../src/core/kinds.ts";

/** The cross-reference tables that mappings of ledgers have beside those of {@link COLUMNS}, whatever the ERP. */
export const TABLES = {
  /** A tax type, and the accounts that it is booked on. */
  taxes: "tax-accounts",
  /** A line without a product, and the accounts that it is booked on. */
  accounts: "charge-accounts",
  /** A unit, and its symbol. */
  units: "units",
  /** A location, and the company that is billed for it. */
  sites: "sites",
  /** Settings of our own company. */
  company: "own-company",
} as const;

/** The tables that name goods: what is sold, in which unit and where. Without a row in them hardly a document goes. */
export const NAME_GOODS: ReadonlySet<string> = new Set([
  "items",
  "products",
  "terminals",
  TABLES.units,
]);

/** Each table with its columns, as a mapping names those that it looks things up in: the key, then what is read. */
export const COLUMNS = {
  items: ["product", "item"],
  taxes: ["tax_type", "tax"],
  customers: ["company", "account"],
  vendors: ["company", "account"],
  products: ["code", "product"],
  terminals: ["name", "terminal"],
} as const;

/** A cell of a cross-reference table. @throws NotMapped when there is no such row, or nothing in the cell yet */
export function cellOf(references: References, table: string, key: string, column: string): string {
  const cell = references.row(table, key)[column]?.trim();
  if (cell === undefined || cell === "") throw new NotMapped(table, key, column);
  return cell;
}

/** The same of a cell that a site may leave out. Null: there is none. */
export function cellOrNone(
  references: References,
  table: string,
  key: string,
  column: string,
): string | null {
  try {
    return cellOf(references, table, key, column);
  } catch (error) {
    if (error instanceof NotMapped) return null;
    throw error;
  }
}

/** The one cell of a row. @throws NotMapped when the table has no row for `key`, or the row no code yet */
export const codeOf = (references: References, table: keyof typeof COLUMNS, key: string): string =>
  cellOf(references, table, key, COLUMNS[table][1]);

/** The platform's name of an ERP product. @throws NotMapped */
export const productOf = (references: References, code: string): string =>
  codeOf(references, "products", code);

/** The account of a company: the one it was created from, or else the one in the table. @throws NotMapped */
export const accountOf = (
  references: References,
  kind: "customer" | "supplier",
  companyId: string,
): string => references.find(kind, companyId) ?? codeOf(references, PARTY_TABLES[kind], companyId);

/** The kind of links between an invoice that was paid and what the platform was told of it. */
export const INVOICE_PAYMENT = "invoice-payment";

/** Where a company's account stands. */
export const PARTY_TABLES = { customer: "customers", supplier: "vendors" } as const;

/** Members that a document has under the names of the record. Each is read by its name, so that `fuelbridge map` tells it. */
export const pick = <T extends object, K extends keyof T>(
  record: T,
  ...names: readonly K[]
): Pick<T, K> => Object.fromEntries(names.map((name) => [name, record[name]])) as Pick<T, K>;

/** Paths of fields, by blanks between them: what a mapping leaves out on purpose (`leaves`). */
export const paths = (text: string): string[] => text.trim().split(/\s+/);

/** The members that have a value: what the platform does not take as empty is left out. */
export type Present<T> = { [K in keyof T]?: NonNullable<T[K]> };

export const present = <T extends object>(members: T): Present<T> =>
  Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== null && value !== undefined),
  ) as Present<T>;

/** What there is of these, in one line. */
export const joined = (...parts: readonly (string | null)[]): string =>
  parts.filter((part) => part !== null && part.trim() !== "").join(", ");

/** `gross 7528.4 gal`; nothing without a value. */
export const labelled = (
  label: string,
  value: string | Decimal | null,
  unit = "",
): string | null => {
  const text = value instanceof Decimal ? value.plain() : value;
  return text === null || text.trim() === "" ? null : `${label} ${text}${unit}`;
};

/** Noon UTC is that day anywhere in America. */
export const noonOf = (day: string): string => `${day}T12:00:00Z`;

/** What whoever issued a document must do: nothing is corrected here. */
export const CORRECT_THERE =
  "Ask whoever issued it to correct it on the platform; the corrected version is delivered by itself.";

/** With two decimal places. @throws Refused for fractions of a cent, which no books hold. */
export function inCents(field: string, amount: Decimal): Decimal {
  const cents = amount.round(2);
  if (cents.equals(amount)) return cents;
  throw new Refused({
    code: "no-cents",
    message: `${field}: ${amount.text} is not in cents`,
    next: CORRECT_THERE,
    field,
  });
}

/* Statuses of the platform. */

/** What an unknown status asks of the books nobody knows; posting it as something else would be a guess. */
export const unknownStatus = (what: string, status: string): Refused =>
  new Refused({
    code: "unknown-enum",
    message: `the ${what} status ${status} is not known to this version`,
    next: `Update fuelbridge, then retry; until then book these ${what}s by hand.`,
    field: "status",
  });

const UNFINISHED: Readonly<Record<string, string>> = {
  DRAFT: "draft",
  VOID: "void",
  CANCELLED: "cancelled",
};

/**
 * A draft is nobody's business yet, and what was cancelled before the ERP heard of it never will be. Once delivered,
 * the ERP learns of every later status, these too.
 */
export function unfinished(
  references: References,
  kind: Kind,
  record: { readonly id: string; readonly status: string },
): Skip | null {
  const reason = UNFINISHED[record.status];
  if (reason === undefined || references.find(kind, record.id) !== null) return null;
  return skip(reason);
}

/* The platform's limits on text, kept before anything is sent: nothing is ever cut off. */

/**
 * The text without its outer white space; undefined when there is none.
 * @throws Refused when it has more than `max` UTF-16 units.
 */
export function within(max: number, field: string, value: string | null): string | undefined {
  const text = value?.trim() ?? "";
  if (text.length > max)
    throw new Refused({
      code: "too-long",
      message: `${field} has ${text.length} characters, the platform takes ${max}: "${text.slice(0, 60)}…"`,
      next: `Shorten ${field} in the ERP; it is taken when it is read again. Or enter this one on the platform by hand.`,
      field,
    });
  return text === "" ? undefined : text;
}

/** The same for a field that must not be empty. @throws Refused */
export function needed(max: number, field: string, value: string | null): string {
  const text = within(max, field, value);
  if (text !== undefined) return text;
  throw new Refused({
    code: "missing",
    message: `${field} is empty`,
    next: `Fill in ${field} in the ERP; it is taken when it is read again.`,
    field,
  });
}
