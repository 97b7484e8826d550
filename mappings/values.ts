/** Words, codes and amounts that mappings of both directions share. */
import { z } from "zod";
import { type Likeness, type References, skip, type Skip } from "../src/core/contract.ts";
import { Decimal } from "../src/core/decimal.ts";
import { NotMapped, Refused } from "../src/core/errors.ts";
import type { Kind } from "../src/core/kinds.ts";
import { amountText } from "../src/core/text.ts";
import { namedDay } from "../src/core/time.ts";
import { type DocumentName, documents } from "../src/formats/documents.ts";
import type { Layout } from "../src/formats/table/layouts.ts";
import type { Party } from "../src/ledger/documents.ts";

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
): string =>
  references.find(kind, companyId) === null
    ? codeOf(references, PARTY_TABLES[kind], companyId)
    : references.counterpart(kind, companyId);

/** The kind of links between an invoice that was paid and what the platform was told of it. */
export const INVOICE_PAYMENT = "invoice-payment";

/** Where a company's account stands. */
export const PARTY_TABLES = { customer: "customers", supplier: "vendors" } as const;

/** Members that a document has under the names of the record. Each is read by its name, so that `fuelbridge map` tells it. */
export const pick = <T extends object, K extends keyof T>(
  record: T,
  ...names: readonly K[]
): Pick<T, K> => {
  const picked: Partial<Pick<T, K>> = {};
  for (const name of names) picked[name] = record[name];
  return picked as Pick<T, K>;
};

/** A mapping to files of a document: its name, where it writes, and what it makes. */
export const toFiles = <const Name extends DocumentName>(document: Name) =>
  ({
    name: `canonical/${document}`,
    writes: `files.${document}`,
    output: documents[document].schema as (typeof documents)[Name]["schema"],
  }) as const;

/** A mapping of a list of any ERP: its name, what it reads, and what its records are called. */
export const fromList = <R, const Name extends string>(layout: Layout<R, Name>) => ({
  name: layout.name,
  reads: layout.name,
  input: layout.record,
  number: (record: R): string => layout.key(record) ?? "",
});

/** Of documents that are counted in gallons and have no amount, such as a plan or what was measured. */
export const gallonsOf = <Line>(lines: readonly Line[], of: (line: Line) => Decimal | null) => ({
  amount: null,
  gallons: Decimal.sum(lines.map((line) => of(line) ?? Decimal.zero)),
});

/** What is alike in records without names, loads, lines or a number of their own that tell them apart. */
export const alike = (
  one: Partial<Likeness> & Pick<Likeness, "party" | "amount" | "day">,
): Likeness => ({ company: one.party, names: [], loads: [], lines: null, number: null, ...one });

/** Digits of figures, for {@link Likeness}. */
export const digitsOf = (...figures: readonly (Decimal | null | undefined)[]): string[] =>
  figures.map((figure) => figure?.plain() ?? "");

/** Paths of fields, by blanks between them: what a mapping leaves out on purpose (`leaves`). */
export const paths = (text: string): string[] => text.trim().split(/\s+/);

/** The members that have a value: what the platform does not take as empty is left out. */
type Present<T> = { [K in keyof T]?: NonNullable<T[K]> };

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
    message: `${field}: ${amountText(amount)} is not in cents`,
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

/* What a ledger calls the things that the platform names, and what its mappings must know of the site. */

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

interface Statuses<S extends string> {
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
    next: "A person decides what becomes of it in the books, and closes it here.",
    field: "status",
  });
}
