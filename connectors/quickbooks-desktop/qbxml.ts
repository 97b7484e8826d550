/**
 * qbXML 13.0 (https://developer.intuit.com/app/developer/qbdesktop/docs/api-reference): XML as elements, the requests that
 * this connector writes, and QuickBooks' replies, one per request. A reply that cannot be read is `torn`: nobody knows what
 * happened.
 */
import { XMLParser, XMLValidator } from "fast-xml-parser";
import { Decimal } from "../../src/core/decimal.ts";
import { inCents } from "../../src/core/text.ts";
import { errorTable, TRIED_AGAIN } from "../../src/ledger/errors.ts";
import { LedgerError } from "../../src/ledger/port.ts";
import { Element } from "../quickbooks/element.ts";

/** Characters of the largest document that is read. */
const CHARACTERS_MAX = 64_000_000;

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: "",
  removeNSPrefix: true,
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  // Without it characters by their numbers stay as they are.
  htmlEntities: true,
  processEntities: { enabled: true, maxExpandedLength: CHARACTERS_MAX },
});

/** As the parser has an element: one key with what is below, and `:@` with attributes. */
type Node = Readonly<Record<string, unknown>>;

const TEXT = "#text";

function nodeElement({ ":@": attributes = {}, ...named }: Node): Element {
  const [[name, nodes] = ["", []]] = Object.entries(named) as [string, readonly Node[]][];
  const content = nodes.map((node) => (node[TEXT] as string | undefined) ?? "").join("");
  return new Element(name, content, elementsIn(nodes), attributes as Record<string, string>);
}

const elementsIn = (nodes: readonly Node[]): Element[] =>
  nodes.filter((node) => !(TEXT in node)).map(nodeElement);

/** The root element. No document type is taken, and no entity of a document's own. @throws LedgerError */
export function elementIn(given: string): Element {
  if (given.length > CHARACTERS_MAX) throw unread("it is too large");
  // Blanks and a byte order mark stand before many a declaration.
  const text = given.trimStart();
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text)) throw unread("it declares a document type");
  const checked = XMLValidator.validate(text);
  if (checked !== true) throw unread(`it is not whole XML: ${checked.err.msg}`);
  let roots: readonly Element[];
  try {
    roots = elementsIn(parser.parse(text) as readonly Node[]);
  } catch (error) {
    throw unread((error as Error).message);
  }
  const [root, another] = roots;
  if (root === undefined || another !== undefined) throw unread("it has not one root");
  return root;
}

/** XML that came from QuickBooks or its Web Connector, and cannot be read. */
export const unread = (says: string): LedgerError =>
  new LedgerError("torn", `QuickBooks or its Web Connector sent what cannot be read: ${says}`);

/** Text for an element or an attribute in double quotes. ASCII stays, everything else goes by its number. */
export const escaped = (text: string): string =>
  text.replace(/[&<>"]|[^\x20-\x7e]/gu, (one) => MARKS[one] ?? `&#${one.codePointAt(0)};`);

const MARKS: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

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

/** In the order of the requests; fewer when QuickBooks stopped at an error. @throws LedgerError */
export function repliesIn(xml: string): Reply[] {
  const root = elementIn(xml);
  const all = root.child("QBXMLMsgsRs");
  if (root.name !== "QBXML" || all === null) throw unread("it is no qbXML answer");
  return all.below.map(({ attributes, below }) => {
    const { requestID = null, statusCode = "", statusMessage = "" } = attributes;
    const { iteratorID = "", iteratorRemainingCount: left = "" } = attributes;
    if (!/^\d{1,5}$/.test(statusCode)) throw unread("it has no status code");
    return {
      request: requestID,
      code: Number(statusCode),
      message: statusMessage,
      rets: below.filter(({ name }) => name.endsWith("Ret")),
      iterator:
        iteratorID === "" || !/^\d+$/.test(left) ? null : { id: iteratorID, left: Number(left) },
    };
  });
}

/**
 * The requests that this connector writes: their elements in the order that QuickBooks enforces, with lengths and shapes.
 * Elements that are never written are left out; QuickBooks refuses a whole document for one element at a wrong place.
 *
 * `Name! text41, AppliedToTxnAdd* (TxnID! id, PaymentAmount amount)`: `!` must be there, `*` may be there several times.
 * `text41` has at most 41 characters; `ref41` is a reference whose full name has so many; `number`, of prices and
 * quantities, has up to ten digits before the point and five after. An Add or a Mod has its content in one element of its name.
 */
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
    "EntityFilter (FullNameWithChildren text209)",
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
const SHIPPED = "ShipAddress (Addr1 text41), FOB text13, ShipDate day";
const EXPECTED = "ExpectedDate day, FOB text13";
const ORDERED = `${ITEM}, Rate number, Amount amount`;

const TABLES = {
  CustomerAdd:
    "Name! text41, CompanyName text41, TermsRef ref31, Notes text4095, ExternalGUID guid",
  VendorAdd: "Name! text41, CompanyName text41, Notes text4095, TermsRef ref31, ExternalGUID guid",
  InvoiceAdd: `
    CustomerRef! ref209, ClassRef ref159, ARAccountRef ref159, TxnDate day, RefNumber text11,
    ShipAddress (Addr1 text41), PONumber text25, DueDate day, Memo text4095, ${UNSENT}, ExternalGUID guid, InvoiceLineAdd* (${SOLD})`,
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
    CustomerRef! ref209, TxnDate day, RefNumber text11, ${SHIPPED}, Memo text4095, ${UNSENT}, Other text29,
    ExternalGUID guid, SalesOrderLineAdd* (${SOLD})`,
  SalesOrderMod: `
    ${HELD}, RefNumber text11, ${SHIPPED}, IsManuallyClosed yes, Memo text4095, Other text29, SalesOrderLineMod* (TxnLineID! id, ${SOLD})`,
  PurchaseOrderAdd: `
    VendorRef! ref41, TxnDate day, RefNumber text11, ${EXPECTED}, Memo text4095, ${UNSENT}, Other1 text25,
    ExternalGUID guid, PurchaseOrderLineAdd* (${ORDERED})`,
  PurchaseOrderMod: `
    ${HELD}, RefNumber text11, ${EXPECTED}, IsManuallyClosed yes, Memo text4095, Other1 text25,
    PurchaseOrderLineMod* (TxnLineID! id, ${ORDERED})`,
  ItemReceiptAdd: `
    VendorRef! ref41, TxnDate day, RefNumber text20, ${MEMO}, ItemLineAdd* (${BOUGHT}, LinkToTxn (TxnID! id,
    TxnLineID! id))`,
  ItemReceiptMod: `${HELD}, TxnDate day, RefNumber text20, Memo text4095, ItemLineMod* (TxnLineID! id, ${BOUGHT})`,
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
};

interface Field {
  readonly name: string;
  /** It must be there. */
  readonly isNeeded: boolean;
  /** It may be there several times. */
  readonly isMany: boolean;
  /** As the tables write it, `text41`; or what is in it. */
  readonly shape: string | readonly Field[];
}

const FIELD = /(\w+)([!*]*)\s+(?:\(((?:[^()]|\([^()]*\))*)\)|(\w+))/g;

const fieldsIn = (text: string): Field[] =>
  [...text.matchAll(FIELD)].map(([, name = "", marks = "", group, shape = ""]) => ({
    name,
    isNeeded: marks.includes("!"),
    isMany: marks.includes("*"),
    shape:
      group === undefined && !shape.startsWith("ref")
        ? shape
        : fieldsIn(group ?? shape.replace("ref", "ListID id, FullName text")),
  }));

/** By the name of the request without `Rq`. */
export const requests: Readonly<Record<string, readonly Field[]>> = Object.fromEntries(
  Object.entries(TABLES).map(([name, text]) => {
    const shape = fieldsIn(text);
    const isContent = /(?:Add|Mod)$/.test(name);
    return [name, isContent ? [{ name, isNeeded: true, isMany: false, shape }] : shape];
  }),
);

/** Characters of the numbers of documents of a table (`Invoice`). */
export const numberMost = (table: string): number => {
  const field = requests[`${table}Query`]?.find(({ name }) => name === "RefNumberCaseSensitive");
  return Number(/^text(\d+)$/.exec(field?.shape as string)?.[1]);
};

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
 * One document; the `requestID` of each request is `id` and its place, which QuickBooks echoes. 50 characters at most.
 * @throws LedgerError for values that the table does not have, or that are too long
 */
export function document(all: readonly Request[], id: string): string {
  const inner = all
    .map(({ name, values, iterator }, at) => {
      const fields = requests[name];
      if (fields === undefined) throw unwritable(`there is no table for ${name}`);
      const pages =
        iterator === undefined
          ? ""
          : iterator === "Start"
            ? ' iterator="Start"'
            : ` iterator="Continue" iteratorID="${escaped(iterator.id)}"`;
      return `<${name}Rq requestID="${id}.${at + 1}"${pages}>${written(name, fields, values)}</${name}Rq>`;
    })
    .join("");
  return `<?xml version="1.0" encoding="utf-8"?><?qbxml version="13.0"?><QBXML><QBXMLMsgsRq onError="stopOnError">${inner}</QBXMLMsgsRq></QBXML>`;
}

/** The place of the request of this `requestID` among those of its document, from 0. */
export const placeOf = (requestID: string): number =>
  Number(requestID.slice(requestID.lastIndexOf(".") + 1)) - 1;

/** Does this `requestID` belong to the document of that id? */
export const isOf = (requestID: string, id: string): boolean => requestID.startsWith(`${id}.`);

function written(path: string, fields: readonly Field[], values: Values): string {
  for (const name of Object.keys(values))
    if (fields.every((field) => field.name !== name))
      throw unwritable(`${path} has no element ${name}`);
  return fields
    .map(({ name, shape, isNeeded, isMany }) => {
      const value = values[name];
      const all = Array.isArray(value) ? (value as readonly Value[]) : [value];
      const there = all.filter((one) => one !== null && one !== undefined);
      if (isNeeded && there.length === 0) throw unwritable(`${path} lacks ${name}`);
      if (!isMany && there.length > 1) throw unwritable(`${path} has one ${name} only`);
      return there
        .map((one) => `<${name}>${shaped(`${path}.${name}`, shape, one)}</${name}>`)
        .join("");
    })
    .join("");
}

function shaped(path: string, shape: Field["shape"], value: Value): string {
  if (typeof shape !== "string") return written(path, shape, value as Values);
  if (shape === "amount" || shape === "number") {
    if (!(value instanceof Decimal)) throw unwritable(`${path} is no decimal`);
    const digits = shape === "amount" ? inCents(value) : value.plain();
    if (SHAPES[shape].test(digits) && Decimal.of(digits).equals(value)) return digits;
    throw unwritable(`${path}: ${value.text} has digits that QuickBooks does not keep`);
  }
  const said = typeof value === "string" ? value : JSON.stringify(value);
  const [, most] = /^text(\d+)$/.exec(shape) ?? [];
  const isRight =
    most === undefined
      ? SHAPES[shape as keyof typeof SHAPES].test(said)
      : // An empty one takes away what a record has.
        (said !== "" || /^\w+Mod\./.test(path)) && said.length <= Number(most);
  if (!isRight) throw unwritable(`${path} cannot be ${JSON.stringify(said)}`);
  return escaped(said);
}

/** As QuickBooks answers what it cannot read: for a person, and nothing was sent. */
const unwritable = (says: string): LedgerError =>
  new LedgerError("answered", says, { code: NOT_READ });

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

/*
 * What QuickBooks' status codes mean (Intuit, "Status codes in response messages"), each with what a person does. The first
 * row that matches counts. By their ranges: from 2000 on QuickBooks returns no data, and did nothing; so a code that has no
 * row of its own is a person's at once, with QuickBooks' own words. 1000 (internal error), and what lies beyond all ranges,
 * leave unknown what happened: the document is looked for before anything goes again.
 */

/** The code of a request that nobody is there to answer. */
export const NOT_HERE = "no-session";
/** The same, because the Web Connector was turned away. */
export const WRONG_PASSWORD = "wrong-password";
/** QuickBooks could not read the request, and did nothing. */
const NOT_READ = "0x80040400";

const OURS = "This is a fault in fuelbridge: report it with the line of the log.";

/** 3170 and 3180 are whatever QuickBooks could not change or save: its message says why. */
const TEXTS = {
  closed: /closing date|closed period/i,
  inUse:
    /in use|being used|another user|someone else|is (?:currently )?open|locked|single[- ]user/i,
};
const REOPEN =
  "The books are closed for that date: an accountant opens them in QuickBooks (Edit, Preferences, Accounting, Company Preferences), or books it by hand; then retry.";
const CLOSE_IT = `Close the document or the list in QuickBooks where somebody has it open. ${TRIED_AGAIN}`;

export const errors = errorTable(
  {
    [`#${WRONG_PASSWORD} configuration:credentials wrong-password`]:
      "In the Web Connector, click the password of this application and type the configured one.",
    [`#${NOT_HERE} busy:60000 no-session`]:
      "Open the Web Connector on the machine with QuickBooks, and press Update Selected.",
    [`#${NOT_READ} data not-read`]: OURS,
    "#3161|3171 data closed-period": REOPEN,
    "#3170|3180|3185~closed data closed-period": REOPEN,
    "#1010|3175|3176 busy:60000 in-use": CLOSE_IT,
    "#3170|3180|3185~inUse busy:60000 in-use": CLOSE_IT,
    "#3162 busy:60000 single-user": `QuickBooks does this in single-user mode only: File, Switch to Single-user Mode. ${TRIED_AGAIN}`,
    "#1030|2\\d{3}|3250 configuration:scope not-enabled":
      "This edition of QuickBooks does not have what the message names, or it is switched off: switch it on under Edit, Preferences, or take the flow out of the configuration.",
    "#3260|3261 configuration:scope no-permission":
      "In QuickBooks as Admin: Edit, Preferences, Integrated Applications, Company Preferences; give fuelbridge access, and its user the rights that the message names.",
    "#3100 data name-taken":
      "QuickBooks has another name of this spelling: of a customer, a vendor, an employee or another name. Rename it there, or give the company another code in the cross-reference; then retry.",
    "#3000|3120|3140 data not-in-quickbooks":
      "Create in QuickBooks what the message names, or make it active there, or correct the cross-reference that names it; then retry.",
    "#3170|3185 data not-changed":
      "An accountant reads the message and does in QuickBooks what it asks for, or changes or voids the document there by hand; then retry.",
    "#3180 data not-saved":
      "An accountant reads the message (a credit limit, a field that QuickBooks requires) and does in QuickBooks what it asks for, or corrects the document where it comes from; then retry.",
    "#3200 raced raced": TRIED_AGAIN,
    "#3391 raced raced": TRIED_AGAIN,
    // The formats of fields, what a request consists of, and names within a request (macros).
    "#1060|30\\d{2}|315[012]|91\\d{2} data not-read": OURS,
    "#3[1-9]\\d{2}|[4-8]\\d{3}|90\\d{2} data refused-by-quickbooks":
      "An accountant corrects in QuickBooks what the message names, or the document where it comes from; then retry.",
  },
  TEXTS,
);

/** Info (1: nothing matches) and warnings (500: not all that was asked for is there): it was done. */
export const isDone = (code: number): boolean => code < 1_000;

/**
 * What the Web Connector and QuickBooks say in `hresult` instead of an answer. `parse`: nothing of the document was carried
 * out; every other one leaves unknown what happened, where a document was under way.
 */
const HRESULTS: Readonly<Record<string, readonly [means: string, next: string, sort?: "parse"]>> = {
  [NOT_READ]: ["QuickBooks could not read the request", OURS, "parse"],
  "0x80040401": [
    "QuickBooks could not be reached",
    "Start QuickBooks on that machine as the user who authorised fuelbridge, then press Update Selected in the Web Connector.",
  ],
  "0x80040402": [
    "QuickBooks failed unexpectedly",
    "Read qbsdklog.txt on that machine, restart QuickBooks, then press Update Selected.",
  ],
  "0x80040408": [
    "QuickBooks could not be started",
    "Start QuickBooks by hand once, close its dialogs, then press Update Selected.",
  ],
  "0x8004040a": [
    "another company file is open",
    "Close it in QuickBooks, or open the right one; then press Update Selected.",
  ],
  "0x8004040d": [
    "QuickBooks ended its session with the Web Connector",
    "Press Update Selected; if it stays so, restart the Web Connector.",
  ],
  "0x80040416": [
    "QuickBooks is not running, and no company file was named",
    "Set companyFile in the configuration to the full path of the .qbw file on that machine, or open it in QuickBooks.",
  ],
  "0x80040420": [
    "the company file does not let fuelbridge in",
    "In QuickBooks as Admin, in single-user mode: Edit, Preferences, Integrated Applications, Company Preferences; allow fuelbridge, also when QuickBooks is not running.",
  ],
};

/**
 * What it means, in words for people, and what a person at that machine should do.
 * @param code as it came: hexadecimal digits in any case @param message what came with it
 */
export function hresultOf(code: string, message = "") {
  const [means, next, sort = "unknown"] = HRESULTS[code.trim().toLowerCase()] ?? [
    "QuickBooks or the Web Connector failed",
    "Read the Web Connector's log (View Log) and qbsdklog.txt on that machine.",
  ];
  return { means, next, sort, says: `${means} (${code}${message === "" ? "" : `: ${message}`})` };
}
