/** Answers of QuickBooks: one reply per request. What cannot be read is `torn`: nobody knows what happened. */
import { XMLParser, XMLValidator } from "fast-xml-parser";
import { Decimal } from "../../src/core/decimal.ts";
import { LedgerError } from "../../src/ledger/port.ts";

/* XML as elements. No document type is taken, and no entity but XML's own five and characters by their number. */

export interface Element {
  /** Without its prefix. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Of itself, not of what is below. */
  readonly text: string;
  readonly below: readonly Element[];
}

/** What XML cannot be read as. */
export class XmlFault extends Error {}

/** Characters of the largest text that is read. */
const CHARACTERS_MAX = 64_000_000;

/** The root element. @throws XmlFault */
export function elementIn(given: string): Element {
  if (given.length > CHARACTERS_MAX) throw new XmlFault("it is too large");
  // Blanks and a byte order mark stand before many a declaration.
  const text = given.trimStart();
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text)) throw new XmlFault("it declares a document type");
  const checked = XMLValidator.validate(text);
  if (checked !== true) throw new XmlFault(`it is not whole XML: ${checked.err.msg}`);
  const nodes = parser.parse(text) as readonly Node[];
  const [root, another] = nodes.flatMap(elementOf);
  if (root === undefined || another !== undefined) throw new XmlFault("it has not one root");
  return root;
}

export const below = (element: Element, name: string): readonly Element[] =>
  element.below.filter((one) => one.name === name);

/** The first one; null: there is none. */
export const child = (element: Element, name: string): Element | null =>
  element.below.find((one) => one.name === name) ?? null;

/** The text of the first one of that name, trimmed; null: there is none, or it is empty. */
export function textOf(element: Element, name: string): string | null {
  const text = child(element, name)?.text.trim() ?? "";
  return text === "" ? null : text;
}

/** Text for an element or an attribute in double quotes. ASCII stays, everything else goes by its number. */
export const escaped = (text: string): string =>
  text.replace(/[&<>"]|[^\x20-\x7e]/gu, (one) => MARKS[one] ?? `&#${one.codePointAt(0)};`);

const MARKS: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

const CDATA = "#cdata";

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: "",
  removeNSPrefix: true,
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  processEntities: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  cdataPropName: CDATA,
});

/** As the parser has it: one key with what is below, and `:@` with attributes. */
type Node = Readonly<Record<string, unknown>>;

function elementOf(node: Node): Element[] {
  const name = Object.keys(node).find((key) => key !== ":@");
  if (name === undefined || name === "#text" || name === CDATA) return [];
  const nodes = node[name] as readonly Node[];
  const attributes = Object.entries((node[":@"] ?? {}) as Record<string, string>);
  return [
    {
      name,
      attributes: Object.fromEntries(attributes.map(([key, text]) => [key, resolved(text)])),
      text: nodes.map(textIn).join(""),
      below: nodes.flatMap(elementOf),
    },
  ];
}

function textIn(node: Node): string {
  const { "#text": text, [CDATA]: raw } = node;
  if (typeof text === "string") return resolved(text);
  return raw === undefined
    ? ""
    : (raw as readonly Node[]).map((one) => one["#text"] as string).join("");
}

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

const resolved = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(\w+));/g, (all, digits, hex, name) => {
    const code = digits ? Number(digits) : hex ? Number.parseInt(hex, 16) : null;
    if (code === null) return NAMED[name as string] ?? all;
    return code > 0x10ffff ? "\ufffd" : String.fromCodePoint(code);
  });

export interface Reply {
  /** The `requestID` that it answers; null: it does not say. */
  readonly request: string | null;
  /** QuickBooks' status code: 0 is good. */
  readonly code: number;
  readonly message: string;
  /** What it answers with: `InvoiceRet`. */
  readonly rets: readonly Element[];
  /** Null: it is not read page by page. */
  readonly iterator: { readonly id: string; readonly left: number } | null;
}

/** Who asks QuickBooks and changes nothing. */
export interface Querying {
  /** Queries: one reply each. Nothing found is no error. @throws LedgerError */
  read(requests: readonly Request[], signal: AbortSignal): Promise<readonly Reply[]>;
}

/** In the order of the requests; fewer when QuickBooks stopped at an error. @throws LedgerError */
export function repliesIn(xml: string): Reply[] {
  let root: Element;
  try {
    root = elementIn(xml);
  } catch (error) {
    if (!(error instanceof XmlFault)) throw error;
    throw new LedgerError("torn", `QuickBooks' answer cannot be read: ${error.message}`);
  }
  const all = child(root, "QBXMLMsgsRs");
  if (root.name !== "QBXML" || all === null)
    throw new LedgerError("torn", "QuickBooks' answer is no qbXML answer");
  return all.below.map(({ attributes, below: rets }) => {
    const {
      requestID: request = null,
      statusCode = "",
      statusMessage = "",
      iteratorID = "",
      iteratorRemainingCount = "",
    } = attributes;
    if (!/^\d{1,5}$/.test(statusCode))
      throw new LedgerError("torn", "QuickBooks' answer has no status code");
    return {
      request,
      code: Number(statusCode),
      message: statusMessage,
      rets: rets.filter(({ name }) => name.endsWith("Ret")),
      iterator:
        iteratorID === "" || !/^\d+$/.test(iteratorRemainingCount)
          ? null
          : { id: iteratorID, left: Number(iteratorRemainingCount) },
    };
  });
}

/** A field that every such record has. @throws LedgerError */
export function needed(element: Element, name: string): string {
  const text = textOf(element, name);
  if (text === null)
    throw new LedgerError("torn", `QuickBooks' answer has no ${name} in ${element.name}`);
  return text;
}

/** A day (`YYYY-MM-DD`), which the schema lets QuickBooks tell with a zone; null: it is not there. */
export const dayOf = (element: Element, name: string): string | null =>
  textOf(element, name)?.slice(0, 10) ?? null;

/** The same of a day that every such record has. @throws LedgerError */
export const dayIn = (element: Element, name: string): string => needed(element, name).slice(0, 10);

/** Yes or no, as words or as digits; null: it is not there. */
export function yesOf(element: Element, name: string): boolean | null {
  const text = textOf(element, name);
  return text === null ? null : text === "true" || text === "1";
}

/** An amount or a quantity; null: it is not there. @throws LedgerError */
export function decimalOf(element: Element, name: string): Decimal | null {
  const text = textOf(element, name)?.replace(/^\+/, "") ?? null;
  if (text === null) return null;
  if (!Decimal.is(text))
    throw new LedgerError("torn", `${name} of QuickBooks is no number: ${text}`);
  return Decimal.of(text);
}

/** An amount that counts as nothing where it is not there. @throws LedgerError */
export const amountOf = (element: Element, name: string): Decimal =>
  decimalOf(element, name) ?? Decimal.zero;

/** What a reference names. */
export function refOf(
  element: Element,
  name: string,
): { readonly id: string | null; readonly name: string | null } {
  const found = child(element, name);
  return found === null
    ? { id: null, name: null }
    : { id: textOf(found, "ListID"), name: textOf(found, "FullName") };
}

/**
 * The requests that this connector writes: their elements in the order that QuickBooks enforces, with lengths and shapes,
 * of qbXML 13.0 (https://developer.intuit.com/app/developer/qbdesktop/docs/api-reference). Elements that are never written are left
 * out; QuickBooks refuses a whole document for one element at a wrong place.
 */
type Shape =
  | { readonly is: "text"; readonly most: number }
  | { readonly is: "id" | "amount" | "number" | "day" | "moment" | "yes" | "guid" | "count" }
  | { readonly is: "group"; readonly fields: readonly Field[] };

interface Field {
  readonly name: string;
  readonly shape: Shape;
  /** It must be there. Left out: it may be missing. */
  readonly needed?: true;
  /** It may be there several times. */
  readonly many?: true;
}

/**
 * Elements as this file writes them: `Name! text41, AppliedToTxnAdd* (TxnID! id, PaymentAmount amount)`. `!` must be there, `*` may
 * be there several times. `text41` has at most 41 characters; `ref41` is a reference whose full name has so many; `number`, of
 * prices and quantities, has up to ten digits before the point and five after. @throws TypeError for another form
 */
function elements(text: string): readonly Field[] {
  const tokens = text.match(/[\w]+[!*]*|[(),]/g) ?? [];
  let at = 0;
  const fields = (): Field[] => {
    const found: Field[] = [];
    for (; at < tokens.length && tokens[at] !== ")"; at++) {
      if (tokens[at] === ",") continue;
      const [, name = "", marks = ""] = /^(\w+)([!*]*)$/.exec(tokens[at] ?? "") ?? [];
      at++;
      found.push({
        name,
        shape: shape(),
        ...(marks.includes("!") ? { needed: true } : {}),
        ...(marks.includes("*") ? { many: true } : {}),
      });
    }
    return found;
  };
  const shape = (): Shape => {
    const word = tokens[at] ?? "";
    if (word === "(") {
      at++;
      return { is: "group", fields: fields() };
    }
    const [, is = "", most] = /^([a-z]+)(\d*)$/.exec(word) ?? [];
    if (is === "text") return { is, most: Number(most) };
    if (is === "ref")
      return { is: "group", fields: elements(`ListID id, FullName text${most ?? ""}`) };
    if (!PLAIN.has(is)) throw new TypeError(`${word} is no shape of an element: ${text}`);
    return { is } as Shape;
  };
  return fields();
}

const PLAIN = new Set(["id", "amount", "number", "day", "moment", "yes", "guid", "count"]);

const RETURNED = "IncludeRetElement* text50";
const LINES = "IncludeLineItems yes";
const LINKED = `${LINES}, IncludeLinkedTxns yes`;
const PAID = "PaidStatus text11";

const LIST_QUERY = `
  ListID* id, FullName* text209, MaxReturned count, ActiveStatus text12, FromModifiedDate moment, ${RETURNED}`;
/** @param number characters of the document's number */
const txnQuery = (number: number, ...last: readonly string[]): string =>
  [
    `TxnID* id, RefNumberCaseSensitive* text${number}, MaxReturned count`,
    "ModifiedDateRangeFilter (FromModifiedDate moment, ToModifiedDate moment)",
    "TxnDateRangeFilter (FromTxnDate day, ToTxnDate day)",
    ...last,
  ].join(", ");
/** What was deleted: QuickBooks tells the last 90 days. */
const deletedQuery = (type: string): string =>
  `${type}!* text25, DeletedDateRangeFilter (FromDeletedDate moment)`;

const APPLIED = "AppliedToTxnAdd* (TxnID! id, PaymentAmount amount)";
const UNSENT = "IsToBePrinted yes, IsToBeEmailed yes";
const HELD = "TxnID! id, EditSequence! text16";
const MEMO = "Memo text4095, ExternalGUID guid";
const ITEM = "ItemRef ref159, Desc text4095, Quantity number";
const SOLD = `${ITEM}, Rate number, Amount amount, SalesTaxCodeRef ref3`;
const BOUGHT = `${ITEM}, Cost number, Amount amount`;
const ORDERED = `${ITEM}, Rate number, Amount amount`;

/** An Add, a Mod or a void has its content in one element. */
const CONTENTS = {
  CustomerAdd:
    "Name! text41, CompanyName text41, TermsRef ref31, Notes text4095, ExternalGUID guid",
  VendorAdd: "Name! text41, CompanyName text41, Notes text4095, TermsRef ref31, ExternalGUID guid",
  InvoiceAdd: `
    CustomerRef! ref209, ClassRef ref159, ARAccountRef ref159, TxnDate day, RefNumber text11, PONumber text25,
    DueDate day, Memo text4095, ${UNSENT}, ExternalGUID guid, InvoiceLineAdd* (${SOLD})`,
  InvoiceMod: `${HELD}, PONumber text25, DueDate day`,
  BillAdd: `
    VendorRef! ref41, APAccountRef ref159, TxnDate day, DueDate day, RefNumber text20, ${MEMO}, ItemLineAdd*
    (${BOUGHT}, ClassRef ref159)`,
  BillMod: `${HELD}, DueDate day`,
  ReceivePaymentAdd: `
    CustomerRef! ref209, ARAccountRef ref159, TxnDate day, RefNumber text20, TotalAmount amount,
    PaymentMethodRef ref31, Memo text4095, DepositToAccountRef ref159, ExternalGUID guid, ${APPLIED}`,
  // One of IsToBePrinted and RefNumber.
  BillPaymentCheckAdd: `
    PayeeEntityRef! ref209, APAccountRef ref159, TxnDate day, BankAccountRef! ref159, IsToBePrinted yes,
    RefNumber text11, ${MEMO}, ${APPLIED}`,
  SalesOrderAdd: `
    CustomerRef! ref209, TxnDate day, RefNumber text11, Memo text4095, ${UNSENT}, ExternalGUID guid,
    SalesOrderLineAdd* (${SOLD})`,
  SalesOrderMod: `
    ${HELD}, RefNumber text11, IsManuallyClosed yes, Memo text4095, SalesOrderLineMod* (TxnLineID! id, ${SOLD})`,
  PurchaseOrderAdd: `
    VendorRef! ref41, TxnDate day, RefNumber text11, Memo text4095, ${UNSENT}, ExternalGUID guid,
    PurchaseOrderLineAdd* (${ORDERED})`,
  PurchaseOrderMod: `
    ${HELD}, RefNumber text11, IsManuallyClosed yes, Memo text4095, PurchaseOrderLineMod* (TxnLineID! id,
    ${ORDERED})`,
  ItemReceiptAdd: `
    VendorRef! ref41, TxnDate day, RefNumber text20, ${MEMO}, ItemLineAdd* (${BOUGHT}, LinkToTxn (TxnID! id,
    TxnLineID! id))`,
  ItemReceiptMod: `${HELD}, TxnDate day, RefNumber text20, Memo text4095, ItemLineMod* (TxnLineID! id, ${BOUGHT})`,
} as const;

const QUERIES = {
  HostQuery: "",
  CompanyQuery: "",
  PreferencesQuery: RETURNED,
  CustomerQuery: LIST_QUERY,
  VendorQuery: LIST_QUERY,
  AccountQuery: LIST_QUERY,
  ClassQuery: LIST_QUERY,
  ItemQuery: LIST_QUERY,
  SalesTaxCodeQuery: LIST_QUERY,
  PaymentMethodQuery: LIST_QUERY,
  PriceLevelQuery: LIST_QUERY,
  StandardTermsQuery: LIST_QUERY,
  ListDeletedQuery: deletedQuery("ListDelType"),
  TxnDeletedQuery: deletedQuery("TxnDelType"),
  InvoiceQuery: txnQuery(11, PAID, LINKED, RETURNED),
  BillQuery: txnQuery(20, PAID, LINKED),
  ReceivePaymentQuery: txnQuery(20, LINES),
  BillPaymentCheckQuery: txnQuery(11, LINES),
  SalesOrderQuery: txnQuery(11, LINKED),
  PurchaseOrderQuery: txnQuery(11, LINKED),
  ItemReceiptQuery: txnQuery(20, LINKED),
  TxnVoid: "TxnVoidType! text20, TxnID! id",
} as const;

/** By the name of the request without `Rq`. */
export const requests: Readonly<Record<string, readonly Field[]>> = Object.fromEntries([
  ...Object.entries(QUERIES).map(([name, text]) => [name, elements(text)] as const),
  ...Object.entries(CONTENTS).map(
    ([name, text]) => [name, elements(`${name}! (${text})`)] as const,
  ),
]);

/* Requests as qbXML 13.0, by the tables: element order is the table's, never that of the values. Pure. */

type Value = string | number | boolean | Decimal | Values | readonly Value[] | null | undefined;
export interface Values {
  readonly [name: string]: Value;
}

export interface Request {
  /** Of the table: `InvoiceAdd`. */
  readonly name: string;
  readonly values: Values;
  /** Of a query that is read page by page, within one session. */
  readonly iterator?: "Start" | { readonly id: string };
}

/** A document that is asked, and the id of its requests. */
export interface Asked {
  readonly id: string;
  readonly xml: string;
}

/**
 * One document; the `requestID` of each request is `id` and its place ({@link requestId}).
 * @throws TypeError for values that the table does not have, or that are too long: a fault in the connector
 */
export function document(all: readonly Request[], id: string): string {
  const inner = all
    .map(({ name, values, iterator }, at) => {
      const fields = requests[name];
      if (fields === undefined) throw new TypeError(`there is no table for ${name}`);
      const pages =
        iterator === undefined
          ? ""
          : iterator === "Start"
            ? ' iterator="Start"'
            : ` iterator="Continue" iteratorID="${escaped(iterator.id)}"`;
      return `<${name}Rq requestID="${requestId(id, at)}"${pages}>${written(name, fields, values)}</${name}Rq>`;
    })
    .join("");
  return `<?xml version="1.0" encoding="utf-8"?><?qbxml version="13.0"?><QBXML><QBXMLMsgsRq onError="stopOnError">${inner}</QBXMLMsgsRq></QBXML>`;
}

/** QuickBooks echoes it: an answer is known by it. 50 characters at most. */
const requestId = (id: string, at: number): string => `${id}.${at + 1}`;

/** The place of the request of this `requestID` among those of its document, from 0. */
export const placeOf = (requestID: string): number =>
  Number(requestID.slice(requestID.lastIndexOf(".") + 1)) - 1;

/** Does this `requestID` belong to the document of that id? */
export const isOf = (requestID: string, id: string): boolean => requestID.startsWith(`${id}.`);

function written(path: string, fields: readonly Field[], values: Values): string {
  for (const name of Object.keys(values))
    if (fields.every((field) => field.name !== name))
      throw new TypeError(`${path} has no element ${name}`);
  return fields
    .map(({ name, shape, needed, many }) => {
      const value = values[name];
      const all = Array.isArray(value) ? (value as readonly Value[]) : [value];
      const there = all.filter((one) => one !== null && one !== undefined);
      if (needed === true && there.length === 0) throw new TypeError(`${path} lacks ${name}`);
      if (many !== true && there.length > 1) throw new TypeError(`${path} has one ${name} only`);
      return there
        .map((one) => `<${name}>${shaped(`${path}.${name}`, shape, one)}</${name}>`)
        .join("");
    })
    .join("");
}

function shaped(path: string, shape: Shape, value: Value): string {
  if (shape.is === "group") return written(path, shape.fields, value as Values);
  if (shape.is === "amount" || shape.is === "number") {
    if (!(value instanceof Decimal)) throw new TypeError(`${path} is no decimal`);
    const digits = shape.is === "amount" ? value.fixed(2) : value.plain();
    const isKept = shape.is === "amount" ? value.round(2).equals(value) : true;
    if (!isKept || !SHAPES[shape.is].test(digits))
      throw new TypeError(`${path}: ${value.text} has digits that QuickBooks does not keep`);
    return digits;
  }
  const said = typeof value === "string" ? value : JSON.stringify(value);
  const isRight =
    shape.is === "text" ? said.length <= shape.most && said !== "" : SHAPES[shape.is].test(said);
  if (!isRight) throw new TypeError(`${path} cannot be ${JSON.stringify(said)}`);
  return escaped(said);
}

const SHAPES = {
  amount: /^-?\d{1,13}\.\d\d$/,
  number: /^-?\d{1,10}(?:\.\d{1,5})?$/,
  id: /^\S{1,36}$/,
  day: /^\d{4}-\d\d-\d\d$/,
  moment: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/,
  yes: /^(?:true|false)$/,
  guid: /^\{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}$/,
  count: /^[1-9]\d{0,4}$/,
} as const;
