/**
 * QuickBooks Online over REST v3: one call is one exchange, and whatever fails is a {@link LedgerError} that says what it
 * proves. Numbers are exact decimals in both directions.
 */
import type { Notebook, Surroundings } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { stringifyExact } from "../../src/core/json.ts";
import { sha256Hex } from "../../src/core/keys.ts";
import { errorTable, TRIED_AGAIN } from "../../src/ledger/errors.ts";
import { type Call, LedgerError, type LedgerSide } from "../../src/ledger/port.ts";
import { openLine, parsedExact, waitMsOf } from "../../src/ledger/rest.ts";
import { partyCode } from "../quickbooks/documents.ts";
import { type Element, elementOf } from "../quickbooks/element.ts";
import type { Listed } from "../quickbooks/walk.ts";
import { addressesOf, type QuickbooksOnlineConfig } from "./config.ts";
import { openTokens } from "./tokens.ts";

export type Wire = ReturnType<typeof openWire>;

/** A record as it is now, or what is left of a deleted one: its id, and as a rule when it was deleted. */
export interface ChangedRow extends Listed {
  readonly entity: Entity;
  /** QuickBooks' own id of it. */
  readonly key: string;
  readonly deleted: boolean;
  readonly row: Element;
}

export function changedIn(entity: Entity, row: Element): ChangedRow {
  const [key, at, deleted] = [row.needed("Id"), stampOf(row), row.text("status") === "Deleted"];
  const state = `${deleted ? "deleted" : row.text("SyncToken")} ${at}`;
  return { id: `${entity} ${key}`, at, state, entity, key, deleted, row };
}

/** Objects of one answer of change data capture: with as many, the answer may be cut off. */
export const CHANGES_MOST = 1000;

/** Since August 2025 the oldest that Intuit serves, and what every answer is in. */
const MINOR_VERSION = "75";

/** Every method @throws LedgerError */
export function openWire(config: QuickbooksOnlineConfig, surroundings: Surroundings) {
  const { exchange, close } = openExchange(config, surroundings);
  const ask = (entity: string, rest: string, signal: AbortSignal): Promise<Element> => {
    const path = `/query?minorversion=${MINOR_VERSION}`;
    const text = `SELECT * FROM ${entity}${rest === "" ? "" : ` ${rest}`}`;
    return exchange(path, `query of ${entity}`, signal, { type: "application/text", text });
  };
  return {
    /** `SELECT * FROM entity …`: what stands behind the entity. */
    async query(
      entity: Entity | "Preferences" | "CompanyInfo",
      rest: string,
      signal: AbortSignal,
    ): Promise<readonly Element[]> {
      // Without a row the entity's key is absent.
      return inside(await ask(entity, rest, signal), "QueryResponse").all(entity);
    },
    /**
     * What of these was changed or deleted since an instant (ISO 8601, an offset), at most {@link CHANGES_MOST} rows in all,
     * and QuickBooks' clock when it answered, ISO 8601 UTC.
     */
    async changes(entities: readonly Entity[], since: string, signal: AbortSignal) {
      const parameters = new URLSearchParams({
        entities: entities.join(","),
        changedSince: since,
        minorversion: MINOR_VERSION,
      });
      const what = `changes of ${entities.join(", ")}`;
      const answer = await exchange(`/cdc?${parameters.toString()}`, what, signal);
      inside(answer, "CDCResponse");
      // One answer lists its entities one by one; beside the rows stand their counts.
      const answers = answer.all("CDCResponse").flatMap((one) => one.all("QueryResponse"));
      const rows = answers.flatMap((one) =>
        entities.flatMap((entity) => one.all(entity).map((row) => changedIn(entity, row))),
      );
      return { time: timeOf(answer), rows };
    },
    /** QuickBooks' own clock, ISO 8601 UTC. */
    time: async (signal: AbortSignal) => timeOf(await ask("CompanyInfo", "", signal)),
    /** Writes one record, under a request id that is the same for the same content; what is null is not sent. Its id. */
    write: openWrites(exchange, surroundings.notebook),
    close,
  };
}

/** @throws LedgerError: an answer in another form proves nothing */
function inside(answer: Element, name: string): Element {
  const found = answer.child(name);
  if (found !== null) return found;
  throw new LedgerError("torn", `the answer does not have QuickBooks' form: no ${name}`);
}

/** QuickBooks' clock when it answered. @throws LedgerError */
const timeOf = (answer: Element): string => answer.instant("time") ?? answer.needed("time");

interface Body {
  readonly type: string;
  readonly text: string;
}

/** The answer; without a body it is a GET. @param what for people @throws LedgerError */
type Exchange = (path: string, what: string, signal: AbortSignal, body?: Body) => Promise<Element>;

function openExchange(config: QuickbooksOnlineConfig, surroundings: Surroundings) {
  const tokens = openTokens(config, surroundings);
  const line = openLine({
    url: `${addressesOf(config).url}/v3/company/${config.company}`,
    deadlineMs: config.deadlineMs,
    connections: 4,
    credentials: async (_signal, refused) => {
      const rejected = refused?.["authorization"]?.replace("Bearer ", "");
      return { authorization: `Bearer ${await tokens.access(rejected)}` };
    },
  });
  const exchange: Exchange = async (path, what, signal, body) => {
    const { status, headers, text } = await line.ask(path, what, {
      headers: { accept: "application/json", "content-type": body?.type ?? "text/plain" },
      body: body?.text ?? null,
      signal,
    });
    const json = parsedExact(text) ?? faultOfXml(text);
    const fault = faultIn(what, status, waitMsOf(headers["retry-after"]), json);
    if (fault === null) {
      // Every answer tells QuickBooks' clock; where the body leaves it out, the head has it.
      const time = Date.parse(headers["date"] ?? "");
      const told = Number.isNaN(time) ? {} : { time: new Date(time).toISOString() };
      return elementOf(what, { ...told, ...(json as object) });
    }
    const intuitTid = headers["intuit_tid"] ?? null;
    surroundings.note("QuickBooks refused a call", { what, status, code: fault.code, intuitTid });
    throw fault;
  };
  return {
    exchange,
    close: async () => void (await Promise.all([line.close(), tokens.close()])),
  };
}

/** Null: it is none. A fault may come with HTTP 200, and never counts as rows that are not there. */
function faultIn(
  what: string,
  status: number,
  waitMs: number | undefined,
  json: unknown,
): LedgerError | null {
  const refusal = refusalIn(json);
  if (refusal !== null) {
    const { code, words } = refusal;
    const message = `${what}: ${words} (${code ?? "no code"})`;
    return new LedgerError("answered", message, { status, waitMs, code });
  }
  if (status !== 200)
    return new LedgerError("answered", `${what}: HTTP ${status}`, { status, waitMs });
  return json === null ? new LedgerError("torn", `${what}: the answer is not JSON`) : null;
}

/** A gateway that refuses may answer in XML, whatever was asked for. Null: it is no fault of Intuit's. */
function faultOfXml(text: string): object | null {
  const code = /<Error code="(\w+)"/.exec(text)?.[1];
  const inside = (name: string) => new RegExp(`<${name}>([^<]*)`).exec(text)?.[1] ?? null;
  const error = { code, message: inside("Message"), detail: inside("Detail") };
  return code === undefined ? null : { fault: { error } };
}

const TEXT_MOST = 300;

/**
 * What QuickBooks refuses, wherever it stands in an answer: of the whole, of a query, of change data capture, and of one of its
 * entities. A service writes `Fault` and `Error`, a gateway writes small letters, one error or several, and leading zeros
 * before a code (`003001`). Null: there is none.
 */
function refusalIn(json: unknown): { readonly code: string | null; readonly words: string } | null {
  const answer = elementOf("answer", json, (name) => name.toLowerCase());
  const parts = ["queryresponse", "cdcresponse"].flatMap((name) => answer.all(name));
  const entities = parts.flatMap((one) => one.all("queryresponse"));
  const [fault] = [answer, ...parts, ...entities].flatMap((one) => one.all("fault"));
  if (fault === undefined) return null;
  const error = fault.child("error");
  if (error === null) return { code: null, words: "a fault that says nothing" };
  const message = error.text("message") ?? "";
  const code = error.text("code") ?? /errorCode=(\w+)/.exec(message)?.[1] ?? null;
  const words = (error.text("detail") ?? message).replaceAll(/\s+/g, " ").trim();
  return { code: code?.replace(/^0+(?=\d)/, "") ?? null, words: words.slice(0, TEXT_MOST) };
}

/*
 * Writes to QuickBooks: one record each, under a request id that is the same for the same content, so that a repeat is
 * answered with the first answer. How long Intuit keeps these is not published: an answer may be of a record that is gone.
 */

interface WriteOptions {
  readonly operation?: "void";
  /** A number that another document has is taken. */
  readonly twice?: boolean;
}

/** Writes one record; its id. @throws LedgerError */
type Write = (entity: Entity, body: object, call: Call, more?: WriteOptions) => Promise<string>;

/** Request ids that are remembered. */
const REMEMBERED = 10_000;

/** `notebook`: keeps refusals. A process that forgot one would write under an id that may make what a later one made. */
function openWrites(exchange: Exchange, notebook: Notebook | undefined): Write {
  /** What made records, with the id of each. */
  const made = new Map<string, string>();

  async function post(
    entity: Entity,
    body: string,
    request: string,
    { operation, twice }: WriteOptions,
    signal: AbortSignal,
  ): Promise<Element> {
    const parameters = new URLSearchParams({
      minorversion: MINOR_VERSION,
      requestid: request,
      ...(operation === undefined ? {} : { operation }),
      ...(twice === true ? { include: "allowduplicatedocnum" } : {}),
    });
    const path = `/${entity.toLowerCase()}?${parameters.toString()}`;
    const asked = { type: "application/json", text: body };
    const answer = await exchange(path, `${operation ?? "write"} of ${entity}`, signal, asked);
    return inside(answer, entity);
  }

  /** Deleted since, or another record has its id now: one may be given again in a company that was restored. @throws LedgerError */
  async function isGone(entity: Entity, before: Element, signal: AbortSignal): Promise<boolean> {
    const id = before.needed("Id");
    const path = `/${entity.toLowerCase()}/${id}?minorversion=${MINOR_VERSION}`;
    try {
      const now = inside(await exchange(path, `read of ${entity} ${id}`, signal), entity);
      return now.text("status") === "Deleted" || madeAt(now) !== madeAt(before);
    } catch (error) {
      if (error instanceof LedgerError && error.code === "610") return true;
      throw error;
    }
  }

  return async (entity, body, call, more = {}) => {
    const text = bodyText(body);
    const { signal } = call;
    const what = `${entity.toLowerCase()} ${more.operation ?? ""}${more.twice === true ? "twice" : ""}`;
    const first = requestId(call.key, what, text);
    // How often QuickBooks refused it, and so did not do it: its next write is another request.
    const refused = `refused ${first}`;
    const count = Number(notebook?.get(refused) ?? 0);
    const request = count === 0 ? first : requestId(call.key, what, `${text}\nrefused ${count}`);
    const written = await post(entity, text, request, more, signal).catch((error: unknown) => {
      if (isRefusal(error)) notebook?.set(refused, String(count + 1));
      throw error;
    });
    const id = written.needed("Id");
    if ("Id" in body) return id;
    const isRepeated = made.get(request) === id;
    made.set(request, id);
    const [oldest = ""] = made.keys();
    if (made.size > REMEMBERED) made.delete(oldest);
    // It was answered with this record before, and whoever writes it again has looked for it and not found it.
    if (!isRepeated || !(await isGone(entity, written, signal))) return id;
    const again = requestId(call.key, what, `${text}\n${id} ${madeAt(written)}`);
    return (await post(entity, text, again, more, signal)).needed("Id");
  };
}

/** ms. */
const madeAt = (row: Element): number =>
  Date.parse(row.child("MetaData")?.text("CreateTime") ?? "1970-01-01");

/** QuickBooks says that it did nothing; 600 says that it is doing it, or has done it. */
const isRefusal = (error: unknown): boolean =>
  error instanceof LedgerError &&
  error.phase === "answered" &&
  error.code !== null &&
  error.code !== "600" &&
  (error.status ?? 500) < 500;

/** The bytes of a record that is written. */
export const bodyText = (body: object): string => stringifyExact(withoutNulls(body));

/** What is null or undefined is left out, however deep. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (value === null || typeof value !== "object" || value instanceof Decimal) return value;
  const members = Object.entries(value).filter(([, one]) => one !== null && one !== undefined);
  return Object.fromEntries(members.map(([name, one]) => [name, withoutNulls(one)]));
}

/**
 * At most 50 characters; 32 fit a batch as well. The same request with the same content has the same one, so that a
 * repeat is answered with the first answer; other content is another request.
 */
export const requestId = (key: string, what: string, body: string): string =>
  sha256Hex(`${key}\n${what}\n${body}`).slice(0, 32);

/* What QuickBooks' faults mean. The first row that matches counts; a write that no row knows is unknown. */

export const AUTHORISE =
  "Run `fuelbridge quickbooks authorise` and sign in as an administrator of the company.";
const LOOKED_FOR = "It is looked for and tried again by itself.";

/** Codes of `Fault.Error[].code` without leading zeros; with `invalid_grant` and `no-tokens`, of the tokens (tokens.ts). */
const errors = errorTable({
  "#invalid_grant|no-tokens configuration:credentials not-authorised": AUTHORISE,
  "#invalid_client|unauthorized_client configuration:credentials wrong-client":
    "Correct clientId and clientSecret in the configuration: they are those of the app at developer.intuit.com.",
  "429 busy:60000 throttled": TRIED_AGAIN,
  "#3001 busy:60000 throttled": TRIED_AGAIN,
  "401 configuration:credentials unauthorised": AUTHORISE,
  "#120|3200 configuration:credentials unauthorised": AUTHORISE,
  "403 configuration:scope forbidden":
    "Give the app the scope com.intuit.quickbooks.accounting, sign in as an administrator, and look whether the subscription is paid.",
  "#6190 configuration:scope subscription":
    "The company's administrator renews the subscription of QuickBooks, or takes the company out of read-only.",
  "#wrong-currency configuration:scope wrong-currency":
    "Correct currency or company in the configuration. Nothing is converted.",
  "#multicurrency configuration:scope multicurrency":
    "Set multicurrency: home, where all that comes from the platform is in the company's own currency.",
  "#own-numbers configuration:scope own-numbers":
    "Switch on custom transaction numbers in QuickBooks: Settings, Account and settings, Sales, Sales form content.",
  "#5010 raced raced": TRIED_AGAIN,
  "#600 raced sent-before": TRIED_AGAIN,
  "#6140 raced number-taken": LOOKED_FOR,
  "#6240 raced name-taken": LOOKED_FOR,
  "#6210 data closed-period":
    "An accountant opens the books for that date in QuickBooks (Settings, Advanced, Accounting), or enters the document by hand; it is never booked on another date. Then retry.",
  "#610 data not-in-quickbooks":
    "Somebody deleted or deactivated what the document needs, which QuickBooks does not name: what it pays, its customer or vendor, an item or an account. An accountant makes it active in QuickBooks, or corrects the cross-reference; then retry.",
  "#2020|2170|2500 data wrong-reference":
    "Create in QuickBooks what the message names, or correct the cross-reference or the setting that names it; then retry.",
  "#6070 data does-not-add-up":
    "QuickBooks multiplies otherwise than the platform: an accountant enters the document by hand and closes it here, and whoever looks after fuelbridge is told.",
  "#6540 data deposited":
    "The payment is part of a bank deposit: an accountant takes it out of the deposit in QuickBooks, or corrects it there by hand; then retry.",
  "#6000 data business-rule":
    "An accountant does in QuickBooks what the message asks for, or corrects the document where it comes from; then retry.",
  "400#500|5020|5030 data unsupported":
    "This company's plan of QuickBooks does not have this kind of document: an accountant enters it by hand and closes it here.",
  "400#\\d+ data refused-by-quickbooks":
    "Correct in QuickBooks what it says, or the document where it comes from; then retry.",
});

/** For the parts of src/ledger that tell people about these books and sort their errors. */
export const QUICKBOOKS = {
  name: "QuickBooks",
  errors,
  service: "status.developer.intuit.com",
} as const;

/* What QuickBooks Online calls its records and what is in them. What is empty is left out there. */

export type Entity =
  | (typeof SIDES)[LedgerSide]["document" | "order" | "payment" | "party"]
  | "Account"
  | "Class"
  | "Department"
  | "Item";

/** What we sell and who pays it (`sale`), what we buy and whom we pay: QuickBooks' tables, and what it calls things there. */
export const SIDES = {
  sale: {
    document: "Invoice",
    order: "Estimate",
    payment: "Payment",
    party: "Customer",
    partyRef: "CustomerRef",
    /** The account that it is owed on. */
    accountRef: "ARAccountRef",
    role: "customer",
    detail: "SalesItemLineDetail",
    /** Payments where documents link them. */
    pays: /^Payment$/,
  },
  purchase: {
    document: "Bill",
    order: "PurchaseOrder",
    payment: "BillPayment",
    party: "Vendor",
    partyRef: "VendorRef",
    accountRef: "APAccountRef",
    role: "vendor",
    detail: "ItemBasedExpenseLineDetail",
    /** `BillPaymentCheck`, `BillPaymentCreditCard` */
    pays: /^BillPayment/,
  },
} as const;

/** The party of a document: QuickBooks' own id of it, and as documents and links call it. */
export function partyIn(side: LedgerSide, row: Element) {
  const { role, partyRef } = SIDES[side];
  const { id } = row.ref(partyRef);
  return { partyId: id, party: id === null ? null : partyCode(role, id) };
}

/** What QuickBooks writes before the note of what is void; what stands between both is not documented. */
const VOIDED = /^voided\b\W*/i;

/** QuickBooks keeps what was voided, with nothing left of its amounts and this word before its note. */
export const isVoided = (row: Element): boolean =>
  row.amount("TotalAmt").sign === 0 && VOIDED.test(row.text("PrivateNote") ?? "");

/** What somebody wrote as its note; null: nothing. */
export const noteIn = (row: Element): string | null =>
  row.text("PrivateNote")?.replace(VOIDED, "") || null;

/** Its version changes with every change: an update with another one is refused (5010). @throws LedgerError */
export const identityOf = (row: Element): { readonly id: string; readonly version: string } => ({
  id: row.needed("Id"),
  version: row.needed("SyncToken"),
});

/** When it was made, or changed: UTC without a zone, as stamps are compared. Empty: it is not told. @throws LedgerError */
export const stampOf = (
  row: Element,
  stamp: "CreateTime" | "LastUpdatedTime" = "LastUpdatedTime",
): string => row.child("MetaData")?.instant(stamp)?.slice(0, 19) ?? "";

/** Ids of QuickBooks are counted. */
export const isId = (id: string | null): id is string => id !== null && /^\d{1,15}$/.test(id);
