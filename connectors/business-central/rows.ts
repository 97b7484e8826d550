/** What records of Business Central have in common: empties, enumerations, lines, and the platform's id where it stands. */
import { z } from "zod";
import { Decimal } from "../../src/core/decimal.ts";
import { defined } from "../../src/core/defined.ts";
import { Refused } from "../../src/core/errors.ts";
import type { FactLine, FactTax, Scope } from "../../src/core/holdings.ts";
import { day, decimal, type Party, text } from "../../src/ledger/documents.ts";
import { some } from "../../src/ledger/entries.ts";
import { isSettlement, settlementMark } from "../../src/ledger/plan.ts";
import type { RowPage } from "../../src/ledger/port.ts";
import { unitedPages } from "../../src/ledger/stamps.ts";
import { stampedLists } from "../../src/ledger/table.ts";
import type { BusinessCentralConfig } from "./config.ts";
import { BOOKS, type Query, type Wire } from "./wire.ts";

/** What there is not is empty text, and a day of the year 1. */
export const textOrNone = z.string().nullish().transform(some);
export const dayOrNone = day
  .nullish()
  .transform((told) => ((told ?? "") < "0002" ? null : (told ?? null)));
const whole = decimal.transform((value) => Number(value.text));
/** A blank or a sign stands in the name of an enumeration's value as `_x0020_`. */
export const named = z
  .string()
  .transform((told) =>
    told
      .replaceAll(/_x([0-9A-F]{4})_/gi, (_, hex: string) =>
        String.fromCodePoint(Number.parseInt(hex, 16)),
      )
      .trim(),
  );

export const Head = z.object({ "@odata.etag": text, id: text, lastModifiedDateTime: text });
/** Of what is created. */
export const Made = z.object({ "@odata.etag": text, id: text });

/** The names that the two sides give to the same. */
export const SIDES = {
  sale: {
    list: "customers",
    party: "customerNumber",
    price: "unitPrice",
    invoices: "salesInvoices",
    lines: "salesInvoiceLines",
  },
  purchase: {
    list: "vendors",
    party: "vendorNumber",
    price: "unitCost",
    invoices: "purchaseInvoices",
    lines: "purchaseInvoiceLines",
  },
} as const;

/** What the configuration says of every document, and of every line. */
export const headOf = ({ dimensions: { first, second } }: BusinessCentralConfig) =>
  defined({ shortcutDimension1Code: first, shortcutDimension2Code: second });
export const lineOf = ({ taxCode }: BusinessCentralConfig) => defined({ taxCode });

/** Codes are kept in capitals. */
export const coded = (told: string): string => told.trim().toUpperCase();
const codedOrNone = (told: string | null): string | null => (told === null ? null : coded(told));

/*
 * The platform's id in an external document number (35 capitals): `FB` and its digits, or `FBS` where it settles an invoice.
 */
const MARK = /^FB(S?)([0-9A-F]{8})([0-9A-F]{4})([0-9A-F]{4})([0-9A-F]{4})([0-9A-F]{12})$/;

export function externalNumber(mark: string): string {
  const id = isSettlement(mark) ? mark.slice(settlementMark("").length) : mark;
  return `FB${isSettlement(mark) ? "S" : ""}${id.replaceAll("-", "").toUpperCase()}`;
}

export function markIn(told: string | null): string | null {
  const [, settles, ...parts] = MARK.exec(told ?? "") ?? [];
  if (settles === undefined) return null;
  const id = parts.join("-").toLowerCase();
  return settles === "S" ? settlementMark(id) : id;
}

/* Of an order `FBO`: an invoice that people make from one has its number, and is not the platform's. */
const ORDER = "FBO";
export const orderNumber = (mark: string): string => externalNumber(mark).replace("FB", ORDER);
export const orderMarkIn = (told: string | null): string | null =>
  told?.startsWith(ORDER) ? markIn(told.replace(ORDER, "FB")) : null;

/*
 * Lines. A tax of the platform is a line on its account, and its second description says so: `tax on 18103.96`. A text
 * that is too long for the first description goes on in the second.
 */
const TEXT = 100;
const MORE_TEXT = 50;
/** Decimals that quantities and prices keep. */
const PLACES = 5;
const STEP = Decimal.of("0.00001");
const TAX = /^tax on (-?\d+(?:\.\d+)?)$/;

export const LineRow = z.object({
  sequence: whole,
  lineType: named,
  lineObjectNumber: textOrNone,
  description: z.string(),
  description2: z.string(),
  unitOfMeasureCode: textOrNone,
  quantity: decimal,
  unitPrice: decimal.optional(),
  unitCost: decimal.optional(),
  directUnitCost: decimal.optional(),
  netAmount: decimal,
  shippedQuantity: decimal.optional(),
  receivedQuantity: decimal.optional(),
  invoicedQuantity: decimal.optional(),
});
export type LineRow = z.infer<typeof LineRow>;

/** What both descriptions hold of a line's text. Neither piece begins or ends with a blank, which would not be kept. */
function split(told: string): [string, string] {
  let at = Math.min(TEXT, told.length);
  while (at > 0 && at < told.length && /\s/.test(`${told[at - 1]}${told[at]}`)) at--;
  return [told.slice(0, at), told.slice(at, at + MORE_TEXT).trimEnd()];
}

/** As Business Central rounds amounts: half a cent away from zero. */
export const cents = (amount: Decimal): Decimal => amount.round(2, "away");

/** `discount`: what its price of five decimals is too much. */
interface KeptLine extends FactLine {
  readonly discount?: Decimal;
}

/** Characters of a code. */
const CODE_MAX = 20;

/** `message` ends before "Business Central keeps". */
export const notKept = (code: string, message: string, field: string): Refused => {
  const next = "Shorten or correct it where it comes from; it is delivered by itself.";
  return new Refused({ code, message: `${message} ${BOOKS} keeps`, field, next });
};

/** What holds for every document. `taxes`: a text has one description. @throws Refused */
export function expectKept(
  { code }: Party,
  taxes: readonly { readonly description: string }[] = [],
): void {
  if (taxes.some(({ description }) => description.length > TEXT))
    throw notKept(
      "text-too-long",
      `a tax has a text of more than the ${TEXT} characters that`,
      "taxes.description",
    );
  if (code !== coded(code) || code.length > CODE_MAX)
    throw notKept(
      "no-code",
      `${code} is no code in capitals of at most ${CODE_MAX} characters, as`,
      "party",
    );
}

/** A line as Business Central keeps it, the end of a long text cut off. @param account of a line that names none */
export const keptLine = (line: FactLine, account: string): KeptLine => ({
  ...line,
  ...(line.text ? { text: split(line.text).join("") } : {}),
  ...pricedIn(line),
  product: codedOrNone(line.product),
  account: line.product === null ? coded(line.account ?? account) : null,
  unit: line.product === null ? null : codedOrNone(line.unit),
});

/**
 * A price of more decimals comes to other cents: where the platform's own figures add up, the next greater one is taken, and a
 * discount of these cents.
 */
function pricedIn({ quantity, unitPrice, amount }: FactLine) {
  if (quantity === null || unitPrice === null) return { quantity, unitPrice };
  const [count, rounded] = [quantity.round(PLACES), unitPrice.round(PLACES)];
  const comesTo = (price: Decimal) => cents(count.times(price));
  const isRight = [quantity.times(unitPrice).round(2), cents(quantity.times(unitPrice))].some(
    (one) => one.equals(amount),
  );
  if (!isRight || comesTo(rounded).equals(amount)) return { quantity: count, unitPrice: rounded };
  const price = comesTo(rounded).compare(amount) < 0 ? rounded.plus(STEP) : rounded;
  return { quantity: count, unitPrice: price, discount: comesTo(price).minus(amount) };
}

/** What creates it. @param price the name of the field @param more of every line */
export function lineBody(line: KeptLine, price: string, more: object): object {
  const [description, description2] = split(line.text ?? "");
  return {
    ...(line.product === null
      ? { lineType: "Account", lineObjectNumber: line.account }
      : { lineType: "Item", lineObjectNumber: line.product, unitOfMeasureCode: line.unit }),
    description,
    description2,
    quantity: line.quantity,
    [price]: line.unitPrice,
    ...(line.discount?.sign === 1 ? { discountAmount: line.discount } : {}),
    ...more,
  };
}

export const taxBody = (tax: FactTax, price: string, more: object): object => ({
  lineType: "Account",
  lineObjectNumber: tax.code,
  description: tax.text,
  description2: `tax on ${tax.base?.plain()}`,
  quantity: 1,
  [price]: tax.amount,
  ...more,
});

export const commentBody = (description: string): object => ({ lineType: "Comment", description });

const factLine = (row: LineRow): KeptLine => ({
  product: row.lineType === "Item" ? row.lineObjectNumber : null,
  account: row.lineType === "Item" ? null : row.lineObjectNumber,
  quantity: row.quantity,
  unit: row.lineType === "Item" ? row.unitOfMeasureCode : null,
  unitPrice: priceOf(row),
  amount: row.netAmount,
  text: `${row.description}${row.description2}`,
  discount: cents(row.quantity.times(priceOf(row))).minus(row.netAmount),
});

const priceOf = ({ unitPrice, unitCost, directUnitCost }: LineRow): Decimal =>
  unitPrice ?? unitCost ?? directUnitCost ?? Decimal.zero;

/** Lines, the platform's taxes among them, and the texts of comments, in their order. */
export function linesIn(rows: readonly LineRow[]) {
  const all = rows.toSorted((one, other) => one.sequence - other.sequence);
  const is = Map.groupBy(all, ({ lineType, description2 }) =>
    lineType === "Comment" ? "comment" : TAX.test(description2) ? "tax" : "line",
  );
  return {
    comments: (is.get("comment") ?? []).map(({ description }) => description),
    lines: (is.get("line") ?? []).map(factLine),
    taxes: (is.get("tax") ?? []).map((row): FactTax => ({
      code: row.lineObjectNumber ?? "",
      text: row.description,
      base: Decimal.of(TAX.exec(row.description2)?.[1] ?? "0"),
      amount: row.netAmount,
    })),
  };
}

/** All of a set in a scope. @param date the field of its day @param open a condition of what is not over */
export const inScope = <Row>(
  wire: Wire,
  set: string,
  { query = {}, row, date, open }: Listing<Row>,
  scope: Scope,
  from: string | null,
  signal: AbortSignal,
): AsyncGenerator<RowPage<Row>> => {
  const { dated, changedSince } = scope;
  const filters = [
    ...(dated === null ? [] : [`${date} ge ${dated.from} and ${date} le ${dated.to}`]),
    ...(changedSince === null ? [] : [`lastModifiedDateTime ge ${changedSince}`]),
    ...(scope.open && open !== undefined ? [open] : []),
  ];
  const lists = filters.map((filter) => (start: string | null) => {
    const $filter = query["$filter"] === undefined ? filter : `${query["$filter"]} and ${filter}`;
    return wire.pages(set, { ...query, $filter }, row, signal, { from: start, replica: true });
  });
  return unitedPages(lists, from);
};

interface Listing<Row> {
  readonly query?: Query;
  readonly row: z.ZodType<Row>;
  readonly date: string;
  readonly open?: string;
}

/** What changed in a set, by the stamps of its rows. @param complete makes of a page's rows what is told of them */
export const changedIn = <Raw, Row extends { readonly lastModifiedDateTime: string }>(
  wire: Wire,
  set: string,
  row: z.ZodType<Raw>,
  query: Query,
  complete: (rows: readonly Raw[], signal: AbortSignal) => Promise<readonly Row[]>,
) =>
  stampedLists({
    name: set,
    stampOf: (one: Row) => one.lastModifiedDateTime,
    async *pages(since: string | null, signal: AbortSignal) {
      const $filter = since === null ? undefined : `lastModifiedDateTime ge ${since}`;
      const asked = { ...query, ...defined({ $filter }), $orderby: "lastModifiedDateTime" };
      for await (const { rows } of wire.pages(set, asked, row, signal, { replica: true }))
        yield await complete(rows, signal);
    },
  });

/** Rows that say all there is. */
export const asTheyAre = async <Row>(rows: readonly Row[]): Promise<readonly Row[]> => rows;
