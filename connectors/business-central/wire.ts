/** The API of Business Central (v2.0): OData over HTTP, rows in pages, and what its errors mean. */
import { z } from "zod";
import type { Surroundings } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { defined } from "../../src/core/defined.ts";
import { Refused } from "../../src/core/errors.ts";
import type { FactLine, FactTax } from "../../src/core/holdings.ts";
import { beginningOf, byText } from "../../src/core/text.ts";
import { day, decimal, members, type Party, text } from "../../src/ledger/documents.ts";
import { some } from "../../src/ledger/entries.ts";
import { errorTable, TRIED_AGAIN } from "../../src/ledger/errors.ts";
import { equals, type Odata, openOdata, quoted } from "../../src/ledger/odata.ts";
import { LedgerError, type LedgerSide } from "../../src/ledger/port.ts";
import { clientCredentials, type Credentials, openRest } from "../../src/ledger/rest.ts";
import type { BusinessCentralConfig } from "./config.ts";

/** What people call it in a message. */
export const BOOKS = "Business Central";

/** One company, as every part of this connector uses it. */
export interface Central {
  readonly wire: Odata;
  readonly config: BusinessCentralConfig;
  readonly surroundings: Surroundings;
}

/** Any five minutes lie in six of ours: with this share of the limit in each (900 of 6,000), they have never more. */
const [SHARE, MINUTE_MS] = [0.15, 60_000];
const AUDIENCE = "https://api.businesscentral.dynamics.com";

/** The words end with an id for Microsoft's support, another one each time. */
const Told = z
  .object({ error: z.object({ code: z.string(), message: z.string() }) })
  .transform(({ error: { code, message } }) => ({
    code,
    message: message.replace(/\s*CorrelationId:.*$/s, ""),
  }));
const Companies = z.object({ value: z.array(z.object({ id: text })) });

export function openWire(config: BusinessCentralConfig, surroundings: Surroundings): Odata {
  const { tenant = "", environment, company, deadlineMs } = config;
  const rest = openRest({
    url: config.url ?? `${AUDIENCE}/v2.0/${tenant}/${encodeURIComponent(environment)}/api/v2.0`,
    deadlineMs,
    connections: 4,
    headers: paced(credentialsOf(config, surroundings), config.requests * SHARE, surroundings),
    error: Told,
  });
  let root: string | null = null;

  async function found(signal: AbortSignal): Promise<string> {
    if (z.guid().safeParse(company).success) return `/companies(${company})`;
    const $filter = encodeURIComponent(`name eq ${quoted(company)}`);
    const { value } = await rest.call(`/companies?$filter=${$filter}`, null, Companies, signal);
    const [one] = value;
    if (one !== undefined) return `/companies(${one.id})`;
    const missing = { status: 404, code: "Internal_CompanyNotFound" };
    throw new LedgerError("answered", `there is no company ${company}`, missing);
  }

  return openOdata(rest, {
    root: async (signal) => (root ??= await found(signal)),
    headers: { "accept-language": "en-US" },
    replica: { "data-access-intent": "ReadOnly" },
    stamp: "lastModifiedDateTime",
  });
}

function credentialsOf(
  { tenant, login, clientId = "", clientSecret = "", user, accessKey }: BusinessCentralConfig,
  surroundings: Surroundings,
): Credentials {
  const url = login ?? `https://login.microsoftonline.com/${tenant}/oauth2/v2.0/token`;
  if (user === undefined)
    return clientCredentials({ url, clientId, clientSecret, scope: `${AUDIENCE}/.default` }, () =>
      surroundings.now(),
    );
  const authorization = `Basic ${Buffer.from(`${user}:${accessKey}`).toString("base64")}`;
  return async () => ({ authorization });
}

/** A request waits for the next minute rather than being refused with all others of this user. */
function paced(credentials: Credentials, most: number, surroundings: Surroundings): Credentials {
  let [since, count] = [0, 0];
  return async (signal, refused) => {
    for (;;) {
      const nowMs = surroundings.now().getTime();
      if (nowMs - since >= MINUTE_MS) [since, count] = [nowMs, 0];
      if (count < most) break;
      await surroundings.pause(since + MINUTE_MS - nowMs, signal);
    }
    count++;
    return credentials(signal, refused);
  };
}

const RIGHTS =
  "In Business Central, on the page Microsoft Entra Applications (on premises: Users), open the one that fuelbridge logs in as, and add a permission set with what the message names.";

/** What the API's errors mean. The first row that matches counts; a write that no row knows is unknown. */
export const errors = errorTable(
  {
    "#invalid_client|unauthorized_client|invalid_request|access_denied configuration:credentials wrong-client":
      "Correct tenant, clientId and clientSecret in the configuration: they are those of the application in Microsoft Entra; its secret may have expired.",
    "401 configuration:credentials unauthorised":
      "Enable the application on the page Microsoft Entra applications of Business Central; on premises, correct user and accessKey.",
    "403 configuration:scope forbidden": RIGHTS,
    "~permission configuration:scope forbidden": RIGHTS,
    "#Internal_CompanyNotFound|NoEnvironment configuration:scope no-company":
      "Correct company (the page Companies of Business Central lists them) or environment in the configuration.",
    "#no-journal configuration:scope no-journal":
      "Create the batch in Business Central, without number series, or correct journals in the configuration.",
    "405 configuration:scope api-off":
      "On premises, switch on ODataServicesEnabled and ApiServicesEnabled of the server.",
    "409 raced raced": TRIED_AGAIN,
    "412 raced raced": TRIED_AGAIN,
    "#Internal_EntityWithSameKeyExists raced taken": TRIED_AGAIN,
    "~posted raced posted-before": TRIED_AGAIN,
    "404@posted raced gone": TRIED_AGAIN,
    "429 busy:30000 throttled": TRIED_AGAIN,
    "503 busy:60000 busy": TRIED_AGAIN,
    "~held busy:30000 busy": TRIED_AGAIN,
    "#beside busy:30000 busy": TRIED_AGAIN,
    "#Internal_InvalidTableRelation|Internal_RecordNotFound data not-in-business-central":
      "Create in Business Central what the message names, or correct the cross-reference or setting that names it; then retry.",
    "~closed data closed-period":
      "An accountant opens the posting period in Business Central (General Ledger Setup, User Setup), or books the document by hand; then retry.",
    "~blocked data blocked":
      "Whoever blocked it in Business Central decides: take the block off there and retry, or book by hand and close it here.",
    "~dimension data no-dimension":
      "Set dimensions in the configuration, or a default dimension on the party or account in Business Central; then retry.",
    "~manual configuration:scope number-series":
      "Allow manual numbers (Manual Nos.) in the number series of customers and vendors.",
    "400 data refused-by-business-central":
      "Correct what the message names in Business Central, or the document where it comes from; then retry.",
  },
  {
    permission: /permissions prevented the action|do not have the following permissions/,
    closed: /within your range of allowed posting dates/,
    blocked: /\bis blocked\b|must not be blocked|Blocked must be/i,
    dimension: /dimension/i,
    held: /locked by another (?:user|session)|deadlocked with another user|done by another session/,
    posted: /can be applied to a draft invoice only|There is nothing to post/,
    manual: /enter numbers manually/,
  },
);

/* What records of Business Central have in common: empties, enumerations, lines, and the platform's id where it stands. */

/** What there is not is empty text, and a day of the year 1. */
export const textOrNone = z.string().nullish().transform(some);
export const dayOrNone = day.nullish().transform((told) => (told && told >= "0002" ? told : null));
/** A blank stands in the name of an enumeration's value as `_x0020_`. */
export const named = z.string().transform((told) => told.replaceAll("_x0020_", " ").trim());

/** Characters of a text (names, descriptions, comments), and of a number that others gave a document. */
export const [TEXT, NUMBER] = [100, 35];

/** Every row. */
export const Head = z.object(members(text, "etag id lastModifiedDateTime"));

const namesOf = (documents: "sales" | "purchase", party: "customer" | "vendor") => ({
  parties: `${party}s`,
  party: `${party}Number`,
  invoices: `${documents}Invoices`,
  memos: `${documents}CreditMemos`,
  orders: `${documents}Orders`,
  batches: `${party}PaymentJournals`,
  payments: `${party}Payments`,
});

/** The names that the two sides give to the same; lines are called after their set ({@link linesOf}). */
export const SIDES = {
  sale: { ...namesOf("sales", "customer"), moved: "salesShipments", state: "shipped" },
  purchase: { ...namesOf("purchase", "vendor"), moved: "purchaseReceipts", state: "received" },
} as const;

/** The action that posts a document or a journal. */
export const POST = "Microsoft.NAV.post";

/** `salesInvoices`: `salesInvoiceLines`. */
export const linesOf = (set: string): string => `${set.slice(0, -1)}Lines`;
/** The field of a line's price. */
const priceOf = (set: string): string =>
  set.startsWith("sales") ? "unitPrice" : set === "purchaseOrders" ? "directUnitCost" : "unitCost";

/** Codes are kept in capitals. */
export const coded = (told: string): string => told.trim().toUpperCase();

/*
 * The platform's id in an external document number (35 capitals): `FB` and its digits; of an order `FBO`, for an invoice that
 * people make from one has its number, and is not the platform's.
 */
type Marked = "FB" | "FBO";

export const externalNumber = (mark: string, kind: Marked = "FB"): string =>
  `${kind}${mark.replaceAll("-", "").toUpperCase()}`;

/** Conditions of these marks. */
export const externallyNumbered = (marks: readonly string[], kind: Marked = "FB"): string[] =>
  equals(
    "externalDocumentNumber",
    marks.map((mark) => externalNumber(mark, kind)),
  );

export function markInNumber(told: string | null, kind: Marked = "FB"): string | null {
  const digits = new RegExp(`^${kind}([0-9A-F]{32})$`).exec(told ?? "")?.[1]?.toLowerCase();
  return digits?.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-") ?? null;
}

/*
 * Lines. A tax of the platform is a line on its account, and its second description says so: `tax on 18103.96`. A text
 * that is too long for the first description goes on in the second.
 */
const MORE_TEXT = 50;
/** Decimals that quantities and prices keep. */
const PLACES = 5;
const [ONE, STEP] = [Decimal.of("1"), Decimal.of("0.00001")];
const TAX = /^tax on (-?\d+(?:\.\d+)?)$/;

const Line = z.object({
  lineType: named,
  ...members(textOrNone, "lineObjectNumber unitOfMeasureCode"),
  ...members(z.string(), "description description2"),
  ...members(decimal, "sequence quantity price netAmount"),
  ...members(decimal.optional(), "shippedQuantity receivedQuantity invoicedQuantity"),
  dimensionSetLines: z.array(z.object(members(z.string(), "code valueCode"))).default([]),
});
type Line = z.infer<typeof Line>;

/** A document with its lines. `party`, `rows` and its day have other names in each set. */
export const Document = Head.extend({
  party: z.string(),
  due: dayOrNone,
  externalDocumentNumber: textOrNone,
  rows: z.array(Line),
});

/** Documents of a set in one form, their lines sorted out. @param dimensions those that lines are compared by */
export const documentRow = <Row extends z.infer<typeof Document>>(
  side: LedgerSide,
  set: string,
  shape: z.ZodType<Row>,
  dimensions: LineDimensions = {},
) =>
  z
    .preprocess((told) => {
      const row = told as Readonly<Record<string, unknown>>;
      const lines = row[linesOf(set)] as readonly Readonly<Record<string, unknown>>[] | undefined;
      // What has moved tells no amounts.
      const none = set === SIDES[side].moved ? { netAmount: Decimal.zero } : {};
      const rows = lines?.map((line) => ({ ...none, ...line, price: line[priceOf(set)] }));
      const date = row["invoiceDate"] ?? row["orderDate"];
      return { ...row, party: row[SIDES[side].party], date, due: row["dueDate"], rows };
    }, shape)
    .transform((row) => ({ ...row, ...linesIn(row.rows, dimensions) }));

/** What both descriptions hold of a line's text. Neither piece begins or ends with a blank or half a sign, which would not be kept. */
function split(told: string): [string, string] {
  let at = Math.min(TEXT, told.length);
  while (at > 0 && at < told.length && /\s|^[\uD800-\uDBFF]/.test(told.slice(at - 1, at + 1))) at--;
  return [told.slice(0, at), beginningOf(told.slice(at), MORE_TEXT)];
}

/** As Business Central rounds amounts: half a cent away from zero. */
export const cents = (amount: Decimal): Decimal => amount.round(2, "away");

/** `discount`: what its price of five decimals is too much. */
interface KeptLine extends FactLine {
  readonly discount?: Decimal;
}

/** Characters of a code. */
const CODE_MAX = 20;

/** @throws Refused for a party that no code of Business Central is */
export function expectCode({ code }: Party): void {
  if (code === coded(code) && code.length <= CODE_MAX) return;
  throw new Refused({
    code: "no-code",
    message: `${code} is no code in capitals of at most ${CODE_MAX} characters, as ${BOOKS} keeps`,
    next: "Shorten or correct it where it comes from; it is delivered by itself.",
    field: "party",
  });
}

/** Values by the codes of their dimensions, by the item or account of a line. */
type LineDimensions = BusinessCentralConfig["dimensions"]["lines"];

/** Those that the configuration has for this item or account. */
const dimensionsOf = (lines: LineDimensions, number: string | null) =>
  Object.entries(lines[number ?? ""] ?? {}).map(([code, valueCode]) => ({ code, valueCode }));

const dimensionText = (all: readonly { readonly code: string; readonly valueCode: string }[]) =>
  all
    .map(({ code, valueCode }) => `${code} ${valueCode}`)
    .toSorted(byText)
    .join(", ");

/**
 * A line as Business Central keeps it, the end of a long text cut off. @param account of a line that names none
 * @param dimensions those that it is compared by
 */
export function keptLine(
  line: FactLine,
  account: string,
  dimensions: LineDimensions = {},
): KeptLine {
  const isItem = line.product !== null;
  const of = coded(line.product ?? line.account ?? account);
  const wanted = dimensionsOf(dimensions, of);
  return {
    ...line,
    ...(line.text ? { text: split(line.text).join("") } : {}),
    ...pricedIn(line),
    product: isItem ? of : null,
    account: isItem ? null : of,
    unit: isItem && line.unit ? coded(line.unit) : null,
    ...(wanted.length === 0 ? {} : { dimensions: dimensionText(wanted) }),
  };
}

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

interface Content {
  readonly lines: readonly KeptLine[];
  readonly taxes?: readonly FactTax[];
  readonly comments?: readonly string[];
}

/** The lines that create a document of a set, and what the configuration says of every document. */
export function writtenLines(
  { taxCode, dimensions: { first, second, lines: ofLines } }: BusinessCentralConfig,
  set: string,
  { lines, taxes = [], comments = [] }: Content,
): object {
  const lineOf = (
    { product, account = null, unit, quantity, unitPrice, discount }: Partial<KeptLine>,
    [description, description2]: readonly [string, string | null],
  ) => {
    const dimensionSetLines = dimensionsOf(ofLines, product ?? account);
    return {
      ...(product
        ? { lineType: "Item", lineObjectNumber: product, unitOfMeasureCode: unit }
        : { lineType: "Account", lineObjectNumber: account }),
      description,
      // Lines of a purchase credit memo have one description alone.
      ...(set === SIDES.purchase.memos ? {} : { description2 }),
      quantity,
      [priceOf(set)]: unitPrice,
      ...(discount?.sign === 1 ? { discountAmount: discount } : {}),
      ...defined({ taxCode }),
      ...(dimensionSetLines.length === 0 ? {} : { dimensionSetLines }),
    };
  };
  return {
    ...defined({ shortcutDimension1Code: first, shortcutDimension2Code: second }),
    [linesOf(set)]: [
      ...lines.map((line) => lineOf(line, split(line.text ?? ""))),
      ...taxes.map(({ code: account, text, base, amount: unitPrice }) =>
        lineOf({ account, quantity: ONE, unitPrice }, [text ?? "", `tax on ${base?.plain()}`]),
      ),
      ...comments.map((description) => ({ lineType: "Comment", description })),
    ],
  };
}

const factLine = (row: Line, dimensions: LineDimensions): KeptLine => {
  const isItem = row.lineType === "Item";
  const named = dimensionsOf(dimensions, row.lineObjectNumber).map(({ code }) => code);
  const held = row.dimensionSetLines.filter(({ code }) => named.includes(code));
  return {
    product: isItem ? row.lineObjectNumber : null,
    account: isItem ? null : row.lineObjectNumber,
    quantity: row.quantity,
    unit: isItem ? row.unitOfMeasureCode : null,
    unitPrice: row.price,
    amount: row.netAmount,
    text: `${row.description}${row.description2}`,
    discount: cents(row.quantity.times(row.price)).minus(row.netAmount),
    ...(named.length === 0 ? {} : { dimensions: dimensionText(held) }),
  };
};

/** Lines, the platform's taxes among them, and the texts of comments, in their order. */
function linesIn(rows: readonly Line[], dimensions: LineDimensions) {
  const all = rows.toSorted((one, other) => one.sequence.compare(other.sequence));
  const is = Map.groupBy(all, ({ lineType, description2 }) =>
    // On posted papers a comment has no type.
    ["Comment", ""].includes(lineType) ? "comment" : TAX.test(description2) ? "tax" : "line",
  );
  return {
    comments: (is.get("comment") ?? []).map(({ description }) => description),
    lines: (is.get("line") ?? []).map((row) => factLine(row, dimensions)),
    taxes: (is.get("tax") ?? []).map((row): FactTax => ({
      code: row.lineObjectNumber ?? "",
      text: row.description,
      base: Decimal.of(TAX.exec(row.description2)?.[1] ?? "0"),
      amount: row.netAmount,
    })),
  };
}

/** The platform's number in a comment: `invoice FL-1`, `order SO-1001 platform:0b6f…`. */
export const numberIn = (comments: readonly string[], what: "invoice" | "order"): string | null =>
  comments
    .flatMap((one) => new RegExp(`^${what} (.+?)(?: platform:\\S+)?$`).exec(one)?.[1] ?? [])
    .at(0) ?? null;
