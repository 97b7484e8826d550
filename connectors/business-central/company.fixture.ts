/**
 * A company of Business Central as a server of the tests' own: API v2.0 as Microsoft publishes it (the resources' pages, the
 * names, types and lengths of $metadata, the rules of OData, of limits and of errors). It is strict: what the API does not
 * have is refused as the API refuses it. No Business Central was there to compare it with.
 *
 * Where the documentation says less than a server must know: a deep insert is one transaction; posting keeps a document's id
 * and lines, and gives it a number of another series; a posting of a journal writes two general ledger entries for each
 * line, with its document number and description, and a posting of a document entries with its number; a sales invoice or a
 * credit memo that a person released is Open before it is posted (Sales Invoice Aggregator, InsertOrModifyFromSalesHeader; Graph
 * Mgt - Sal. Cr. Memo Buf., SetStatusOptionFromSalesHeader); an invoice with items posts the shipment or receipt of its goods (settings
 * Shipment on Invoice and Receipt on Invoice), and comment lines are copied to it; a credit memo that names an invoice settles
 * it; the second posting is refused; payment terms are at once; a line of a journal has the next number of its batch (GenJournalLine, GetNewLineNo), and of a
 * customer's payments those alone are shown that are applied to an invoice (Graph Mgt - Customer Payments; `isHidden` are not); the right to make a record is looked at before its key and its parts, as the source of
 * Microsoft's API pages has it (a customer under the number of another one is inserted all the same, and fails there).
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Decimal } from "../../src/core/decimal.ts";
import { parseExact, stringifyExact } from "../../src/core/json.ts";
import { serving } from "../../test/support/http.ts";
import { type Documents, DOCUMENTS, FIELDS, isDocuments, isSale } from "./metadata.fixture.ts";
import { type Query, queryOf, shown } from "./odata.fixture.ts";
import { answered, faultOf, Refusal, refuse, type Told } from "./refusal.fixture.ts";

export const COMPANY = "0f6d9a7e-0b5c-4e11-8df1-6045bde9ca19";
export const NAME = "Prairie Fuel";
export const SECRET = "entra-secret";
export const CLIENT = "11111111-2222-4333-8444-555555555555";
export const KEY = "key-of-44-characters";

type Values = Record<string, unknown>;
export type Row = Values & { id: string };

interface State {
  version: number;
  series: number;
  ids: number;
  sets: Record<string, Row[]>;
  /** What was paid: what customers pay and what we pay. */
  paid: { type: "out" | "in"; party: string; amount: Decimal }[];
}
type Meeting =
  | "before"
  | "after"
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** It is carried out all the same. */
      readonly isDone?: boolean;
      /** Left out: bad weather. */
      readonly answer?: object | null;
    };

export class Company {
  readonly url: string;
  /** Percent by tax code: what it adds by itself. */
  readonly taxes = new Map<string, string>();
  /** Documents of earlier days are not posted. */
  closedBefore = "2000-01-01";
  /** Prices of these customers and vendors include the tax that it adds by itself. */
  readonly taxIncluded = new Set<string>();
  /** Sets that its permissions do not read. */
  readonly forbidden = new Set<string>();
  /** Sets that its permissions do not write: told when a row would be made, after its fields were looked at and before its lines. */
  readonly readOnly = new Set<string>();
  /** What was asked of a copy that may be behind, by its method and path. */
  readonly ofReplica: string[] = [];
  /** What the posting of a payment books besides, by account (negative: in credit): VAT that is realised with it, a discount. */
  besides: Readonly<Record<string, string>> = {};
  /** Posting wants a value of the first global dimension. */
  needsDimension = false;
  /** An action is carried out whatever version it is for: Microsoft does not say whether it looks. */
  ignoresMatch = false;
  /** How far its clock is ahead of ours. */
  clockMs = 0;
  now: () => number = () => Date.now();
  /** The answer to the nth change from now is lost. 0: none is. */
  loses = 0;
  /** What it answers instead, once; nothing happens then. */
  says: {
    readonly path: RegExp;
    readonly status: number;
    readonly code: string;
    readonly message?: string;
    readonly headers?: Readonly<Record<string, string>>;
  } | null = null;
  /**
   * What a request meets, by its method, path and (of a change) body: the line is cut before it is carried out or after, or
   * it is answered so. Null: nothing.
   */
  meets: (request: string) => Meeting | null = () => null;
  /** What a clerk does before the next request of this path is carried out, once. */
  before: { readonly path: RegExp; readonly act: () => void } | null = null;
  /** Rows of a page at most, whatever is asked for. */
  pageMost = 20_000;
  /** Tokens that are good. */
  readonly tokens = new Set<string>();
  /** `GET /api/v2.0/…`, decoded. */
  readonly asked: string[] = [];
  #state: State = { version: 0, series: 1000, ids: 0, sets: {}, paid: [] };

  constructor(url: string) {
    this.url = url;
    this.#insert("companyInformation", { displayName: NAME, currencyCode: "USD" });
    for (const number of ["40100", "50100", "22350", "11000", "21000", "10100"])
      this.enter("accounts", { number });
    this.enter("items", {
      number: "ULSD-CLR",
      unitPrice: Decimal.of("2.4137"),
      baseUnitOfMeasureCode: "GAL",
    });
    this.enter("unitsOfMeasure", { code: "GAL" });
    this.enter("taxGroups", { code: "NONTAXABLE" });
    this.enter("generalLedgerSetup", {});
    for (const set of ["customerPaymentJournals", "vendorPaymentJournals"])
      this.enter(set, { code: set.startsWith("c") ? "FBIN" : "FBOUT" });
  }

  rows(set: string): Row[] {
    return (this.#state.sets[set] ??= []);
  }

  /** A person enters a record; a document is posted unless it says otherwise. */
  enter(set: string, values: Values): Row {
    const row = this.#insert(set, values);
    if (!isDocuments(set)) return row;
    this.#addUp(set, row);
    return Object.assign(row, {
      status: values["status"] ?? "Open",
      remainingAmount: row["totalAmountIncludingTax"],
    });
  }

  /** A person changes one. */
  edit(set: string, id: string, values: object): void {
    const row = this.#row(set, id);
    Object.assign(row, values);
    this.#stamp(row);
  }

  /** A person posts an order with Ship (or Receive), or with its invoice as well: then it is deleted, as Business Central does. */
  ship(set: "salesOrders" | "purchaseOrders", id: string, isInvoiced = false): void {
    const row = this.#row(set, id);
    const [lines] = DOCUMENTS[set];
    const moved = isSale(set) ? "shippedQuantity" : "receivedQuantity";
    this.#move(set, row, String(row["number"]));
    for (const line of row[lines] as Values[]) line[moved] = line["quantity"];
    this.#stamp(row);
    if (!isInvoiced) return;
    const invoices = isSale(set) ? "salesInvoices" : "purchaseInvoices";
    const [own] = DOCUMENTS[invoices];
    const { number: orderNumber, id: orderId } = row;
    const values = Object.fromEntries(
      Object.entries(row).filter(([name]) => FIELDS[invoices]?.has(name) === true),
    );
    this.enter(invoices, {
      ...values,
      number: this.#next(`P${DOCUMENTS[invoices][1]}`),
      orderNumber,
      orderId,
      invoiceDate: row["orderDate"],
      status: "Open",
      [own]: row[lines],
    });
    this.delete(set, id);
  }

  /** Goods as Business Central's stock has them moved by now, by item. */
  moved(set: "salesShipments" | "purchaseReceipts"): Readonly<Record<string, string>> {
    const lines = this.rows(set).flatMap((row) => row[MOVED[set]] as Values[]);
    const items = Map.groupBy(
      lines.filter(({ lineType }) => lineType === "Item"),
      ({ lineObjectNumber }) => String(lineObjectNumber),
    );
    return Object.fromEntries(
      [...items].map(([item, its]) => [
        item,
        Decimal.sum(its.map(({ quantity }) => quantity as Decimal)).plain(),
      ]),
    );
  }

  delete(set: string, id: string): void {
    this.#state.sets[set] = this.rows(set).filter((row) => row.id !== id);
  }

  /** A person merges a customer (Merge Duplicates Buffer, MergeRecords): its number and id are gone, its documents name the other. */
  merge(from: string, customerNumber: string): void {
    this.#state.sets["customers"] = this.rows("customers").filter((row) => row["number"] !== from);
    for (const [set, rows] of Object.entries(this.#state.sets))
      for (const row of rows)
        if (row["customerNumber"] === from) this.edit(set, row.id, { customerNumber });
  }

  get paid(): State["paid"] {
    return this.#state.paid;
  }

  /** A person pays an invoice or bill in full. */
  settle(set: "salesInvoices" | "purchaseInvoices", id: string): void {
    const row = this.#row(set, id);
    this.#pay(set, row, row["remainingAmount"] as Decimal);
  }

  backup(): string {
    return stringifyExact(this.#state);
  }

  restore(backup: string): void {
    const state = parseExact(backup) as unknown as State;
    const [version, series, ids] = [state.version, state.series, state.ids].map(Number) as [
      number,
      number,
      number,
    ];
    this.#state = { ...state, version, series, ids };
  }

  /** One request, all of it or nothing. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = Buffer.concat(await request.toArray()).toString();
    const { method = "" } = request;
    const { pathname, search } = new URL(request.url ?? "", this.url);
    const path = `${method} ${pathname}`;
    this.asked.push(decodeURIComponent(path + search));
    if (request.headers["data-access-intent"] === "ReadOnly") this.ofReplica.push(path);
    const { before: clerk } = this;
    if (clerk?.path.test(path) === true) {
      this.before = null;
      clerk.act();
    }
    const isLogin = pathname.startsWith("/login");
    const isChange = method !== "GET" && !isLogin;
    const meets = isLogin ? null : (this.meets(isChange ? `${path} ${text}` : path) ?? null);
    if (meets === "before") return void request.socket.destroy();
    if (meets !== null && meets !== "after" && meets.isDone !== true)
      return answered(response, { answer: faultOf(meets), ...meets });
    const undo = isChange ? this.#kept() : () => {};
    let told: Told;
    try {
      told = this.#answer(path, pathname, search, request, text);
    } catch (error) {
      undo();
      if (!(error instanceof Refusal)) throw error;
      const { status, code, message } = error;
      const correlated = `${message}  CorrelationId:  ${randomUUID()}.`;
      told = { status, answer: { error: { code, message: correlated } } };
    }
    if (meets === "after") return void request.socket.destroy();
    if (meets !== null) return answered(response, { ...meets, answer: faultOf(meets) });
    const isCarriedOut = isChange && told.status < 300;
    if (isCarriedOut && this.loses > 0 && --this.loses === 0) return void request.socket.destroy();
    answered(response, told);
  }

  /** Puts it back: rows are copied, what stands in them is not changed. */
  #kept(): () => void {
    const { sets, paid, ...rest } = this.#state;
    const before = Object.fromEntries(
      Object.entries(sets).map(([set, rows]) => [set, rows.map((row) => kept(row))]),
    );
    const were = [...paid];
    return () => void (this.#state = { ...rest, sets: before, paid: were });
  }

  #answer(
    path: string,
    pathname: string,
    search: string,
    { headers }: IncomingMessage,
    text: string,
  ): Told {
    const { says } = this;
    if (says?.path.test(path) === true) {
      this.says = null;
      const { code, message = "as it was told to" } = says;
      return { ...says, answer: { error: { code, message } } };
    }
    if (pathname === "/login/oauth2/v2.0/token") return this.#login(text);
    const [kind, token = ""] = headers.authorization?.split(" ") ?? [];
    const isKnown =
      kind === "Bearer"
        ? this.tokens.has(token)
        : Buffer.from(token, "base64").toString() === `fuelbridge:${KEY}`;
    if (!isKnown)
      return refuse("Authentication_InvalidCredentials", "The credentials are not valid.", 401);
    if (pathname === "/api/v2.0/companies") {
      const isNamed = decodeURIComponent(search) === `?$filter=name eq '${NAME}'`;
      return { status: 200, answer: { value: isNamed ? [{ id: COMPANY, name: NAME }] : [] } };
    }
    const under = `/api/v2.0/companies(${COMPANY})/`;
    if (!pathname.startsWith(under))
      return refuse("Internal_CompanyNotFound", "The company is not there.", 404);
    return this.#resource(path, pathname, pathname.slice(under.length), search, headers, text);
  }

  #login(text: string): Told {
    const form = Object.fromEntries(new URLSearchParams(text));
    const isRight =
      form["grant_type"] === "client_credentials" &&
      form["scope"] === "https://api.businesscentral.dynamics.com/.default" &&
      form["client_id"] === CLIENT &&
      form["client_secret"] === SECRET;
    if (!isRight)
      return {
        status: 401,
        answer: { error: "invalid_client", error_description: "AADSTS7000215: Invalid secret" },
      };
    const token = randomUUID();
    this.tokens.add(token);
    return {
      status: 200,
      answer: { token_type: "Bearer", expires_in: 3599, access_token: token },
    };
  }

  #resource(
    path: string,
    pathname: string,
    rest: string,
    search: string,
    headers: IncomingMessage["headers"],
    text: string,
  ): Told {
    const [, file] = /^documentAttachments\(([^)]*)\)\/attachmentContent$/.exec(rest) ?? [];
    if (file !== undefined && path.startsWith("PATCH")) return this.#upload(file, headers, text);
    const [, outer = "", outerId, , inner, innerId, , action] =
      /^(\w+)(?:\(([^)]*)\))?(\/(?!Microsoft)(\w+)(?:\(([^)]*)\))?)?(\/Microsoft\.NAV\.(\w+))?$/.exec(
        rest,
      ) ?? [];
    if (outer === "journals" && action === "post") return this.postJournal(outerId ?? "");
    const [set, id] = inner === undefined ? [outer, outerId] : [inner, innerId];
    const isLine = set.endsWith("Lines") || (inner === undefined && set.endsWith("Payments"));
    if (this.forbidden.has(set))
      return refuse("Authorization_RequestDenied", `You do not have read permission: ${set}.`, 403);
    if (FIELDS[set] === undefined || isLine)
      return refuse("BadRequest_ResourceNotFound", `Resource not found for '${set}'.`, 404);
    const owns = set === "documentAttachments" ? "parentId" : "journalId";
    const owner = inner === undefined ? {} : { [owns]: this.#row(outer, outerId ?? "").id };
    // A condition of the parent alone reaches the page, not the table: the bytes of every file of the company are read.
    if (set === "documentAttachments" && search.includes("parentId"))
      return refuse("Internal_ServerError", "The operation has timed out.", 408);
    const query = queryOf(set, search);
    if (path.startsWith("GET") && id === undefined)
      return { status: 200, answer: this.#page(set, query, pathname, headers, owner) };
    if (path.startsWith("GET"))
      return { status: 200, answer: this.#shown(set, this.#row(set, id ?? ""), query) };
    if (action !== undefined && path.startsWith("POST")) {
      if (text !== "" && text !== "{}") return refuse("BadRequest", "An action takes no body.");
      const row = this.#row(set, id ?? "");
      const { "if-match": match = "*" } = this.ignoresMatch ? {} : headers;
      if (match !== "*" && match !== etagOf(row))
        return refuse("Request_EntityChanged", "Another user has already changed the record.", 409);
      this.#act(set, row, action);
      return { status: 204, answer: null };
    }
    if (path.startsWith("POST") && id === undefined) {
      if (headers["content-type"] !== "application/json")
        return refuse("BadRequest", "Unsupported media type.", 415);
      const values = this.#taken(set, parseExact(text) as Values);
      const row = this.#create(set, { ...values, ...owner });
      return { status: 201, answer: this.#shown(set, row, query) };
    }
    return this.#change(path, set, this.#row(set, id ?? ""), headers["if-match"], text, query);
  }

  #upload(id: string, headers: IncomingMessage["headers"], text: string): Told {
    const row = this.#row("documentAttachments", id);
    if (headers["if-match"] !== etagOf(row))
      return refuse("Request_EntityChanged", "Another user has already changed the record.", 409);
    if (headers["content-type"] !== "application/octet-stream")
      return refuse("BadRequest", "Unsupported media type.", 415);
    Object.assign(row, { byteSize: text.length, content: text });
    this.#stamp(row);
    return { status: 204, answer: null };
  }

  #change(
    path: string,
    set: string,
    row: Row,
    match: string | undefined,
    text: string,
    query: Query,
  ): Told {
    if (match === undefined)
      return refuse("BadRequest_InvalidToken", "The If-Match header is missing.");
    if (match !== "*" && match !== etagOf(row))
      return refuse("Request_EntityChanged", "Another user has already changed the record.", 409);
    if (isDocuments(set) && isPosted(row))
      return refuse("Application_DialogException", "A posted document cannot be changed.");
    if (path.startsWith("DELETE")) {
      this.delete(set, row.id);
      return { status: 204, answer: null };
    }
    if (!path.startsWith("PATCH"))
      return refuse("BadRequest_MethodNotAllowed", "Method not allowed.", 405);
    const values = this.#taken(set, parseExact(text) as Values);
    if (Object.values(values).some((value) => Array.isArray(value)))
      return refuse("BadRequest", "Deep updates are not supported.");
    Object.assign(row, values);
    this.#stamp(row);
    return { status: 200, answer: this.#shown(set, row, query) };
  }

  #page(
    set: string,
    query: Query,
    pathname: string,
    headers: IncomingMessage["headers"],
    owner: Values,
  ): object {
    const asked = /odata\.maxpagesize=(\d+)/.exec(String(headers["prefer"] ?? ""))?.[1];
    const most = Math.min(this.pageMost, Number(asked ?? Infinity));
    const rows = [...this.rows(set), ...(set === "generalLedgerEntries" ? this.#booked() : [])]
      .filter((row) => Object.entries(owner).every(([field, value]) => row[field] === value))
      .filter((row) => row["isHidden"] !== true);
    const all = query.select(rows) as Row[];
    // Of a file that is alone the API tells no size (GraphMgtAttachmentBuffer, TransferDocAttachmentToBuffer).
    const untold = set === "documentAttachments" && all.length === 1 ? { byteSize: 0 } : {};
    const next = query.skip + most;
    return {
      "@odata.context": `${this.url}/api/v2.0/$metadata#${set}`,
      value: all
        .slice(query.skip, next)
        .map((row) => this.#shown(set, { ...row, ...untold }, query)),
      ...(next < all.length
        ? { "@odata.nextLink": `https://other.example${pathname}${query.linkAt(next)}` }
        : {}),
    };
  }

  #shown = (set: string, row: Row, query: Query): object => ({
    "@odata.etag": etagOf(row),
    ...shown(set, row, query),
  });

  #row(set: string, id: string): Row {
    const row = this.rows(set).find((one) => one.id === id);
    return row ?? refuse("Internal_RecordNotFound", `The ${set} ${id} does not exist.`, 404);
  }

  /** What is sent, checked field by field and as it is kept. */
  #taken(set: string, body: Values): Values {
    const kept: Values = {};
    for (const [name, value] of Object.entries(body)) {
      const field = FIELDS[set]?.get(name);
      if (field === undefined)
        return refuse(
          "BadRequest",
          `The property '${name}' does not exist on type 'Microsoft.NAV.${set}'.`,
        );
      if (field.isFixed)
        return refuse("BadRequest_InvalidOperation", `Control '${name}' is read-only.`);
      if (value === null)
        return refuse("BadRequest", `Null is no value of '${name}' (${field.type}).`);
      if (field.type === "lines") {
        kept[name] = (value as Values[]).map((one) => this.#taken(name, one));
        continue;
      }
      const isText = ["text", "code", "date", "guid"].includes(field.type);
      const isNumber = field.type === "decimal" || field.type === "int";
      if ((isText && typeof value !== "string") || (isNumber && !(value instanceof Decimal)))
        return refuse("BadRequest", `Cannot convert a value of '${name}' to ${field.type}.`);
      const text = typeof value === "string" ? value : "";
      if (field.type === "date" && !/^\d{4}-\d{2}-\d{2}$/.test(text))
        return refuse("BadRequest", `'${text}' is no date.`);
      if (isText && text.length > field.most)
        return refuse(
          "Application_StringExceededLength",
          `The length of the string is ${text.length}, but it must be less than or equal to ${field.most} characters.`,
        );
      kept[name] = field.type === "code" ? text.trim().toUpperCase() : value;
    }
    return kept;
  }

  #create(set: string, values: Values): Row {
    const number = values["number"] as string | undefined;
    if (isDocuments(set)) this.#party(set, values[DOCUMENTS[set][2]]);
    if (this.readOnly.has(set))
      refuse(
        "Internal_ServerError",
        `Sorry, the current permissions prevented the action. (TableData ${set} Insert: Base Application)`,
        403,
      );
    if (number !== undefined && this.rows(set).some((row) => row["number"] === number))
      return refuse("Internal_EntityWithSameKeyExists", `The record ${number} is there.`);
    if (isDocuments(set)) {
      const [lines, , name] = DOCUMENTS[set];
      const { currencyCode } = this.#party(set, values[name]);
      for (const line of (values[lines] ?? []) as Values[]) this.#line(line);
      const dueDate = values["postingDate"] ?? values["orderDate"];
      return this.#created(set, { currencyCode, dueDate, ...values });
    }
    if (values["appliesToInvoiceId"] !== undefined) this.#invoiceOf(set, values);
    this.#dimensions(values);
    return this.#insert(set, values);
  }

  #nextLine(set: string, journalId: unknown): Decimal {
    const own = this.rows(set).filter((row) => row["journalId"] === journalId);
    return ((own.at(-1)?.["lineNumber"] ?? Decimal.zero) as Decimal).plus(Decimal.of("10000"));
  }

  #created(set: Documents, values: Values): Row {
    const row = this.#insert(set, values);
    this.#addUp(set, row);
    return row;
  }

  #party(set: string, number: unknown): Row {
    const list = isSale(set) ? "customers" : "vendors";
    const party = this.rows(list).find((one) => one["number"] === number);
    if (party === undefined)
      return refuse("Application_DialogException", `There is no ${String(number)}.`);
    return party["blocked"] === "_x0020_" || party["blocked"] === ""
      ? party
      : refuse("Application_DialogException", `Customer ${String(number)} is blocked.`);
  }

  /** The posted one that a payment is applied to. */
  #invoiceOf(set: string, { appliesToInvoiceId: id }: Values): Row {
    const invoices = set === "customerPayments" ? "salesInvoices" : "purchaseInvoices";
    const row = this.rows(invoices).find((one) => one.id === id && isPosted(one));
    return row ?? refuse("Application_DialogException", "appliesToInvoiceId: no invoice.");
  }

  #has = (set: string, field: string, value: unknown): boolean =>
    this.rows(set).some((row) => row[field] === value && row["blocked"] !== true);

  #line({
    lineType,
    lineObjectNumber,
    unitOfMeasureCode = "GAL",
    dimensionSetLines = [],
  }: Values): void {
    if (lineType === "Comment") return;
    const [what, set] = lineType === "Item" ? ["Item", "items"] : ["G/L Account", "accounts"];
    if (!this.#has(set, "number", lineObjectNumber)) missing(what, lineObjectNumber);
    if (!this.#has("unitsOfMeasure", "code", unitOfMeasureCode)) missing("Unit", unitOfMeasureCode);
    this.#dimensions({ dimensionSetLines });
  }

  #dimensions({ dimensionSetLines = [] }: Values): void {
    for (const { code, valueCode } of dimensionSetLines as Values[]) {
      if (!this.#has("dimensions", "code", code)) missing("Dimension", code);
      if (!this.#has("dimensionValues", "code", valueCode)) missing("Dimension Value", valueCode);
    }
  }

  #insert(set: string, values: Values): Row {
    const row = {
      ...emptyOf(set),
      ...(isDocuments(set) ? { number: this.#next(DOCUMENTS[set][1]), status: "Draft" } : {}),
      ...(set.endsWith("Payments") ? { lineNumber: this.#nextLine(set, values["journalId"]) } : {}),
      ...values,
      id: this.#id(),
    } as Row;
    if (isDocuments(set)) {
      const [lines] = DOCUMENTS[set];
      row[lines] = ((row[lines] ?? []) as Values[]).map((line, at) => ({
        ...emptyOf(lines),
        sequence: (at + 1) * 10_000,
        ...line,
        id: this.#id(),
        documentId: row.id,
      }));
    }
    this.#stamp(row);
    this.rows(set).push(row);
    return row;
  }

  /** The same from run to run. */
  #id = (): string => `0c000000-0000-4000-8000-${String(++this.#state.ids).padStart(12, "0")}`;

  /** A series skips: what is refused has used its number up. */
  #next = (prefix: string): string => `${prefix}${(this.#state.series += 3)}`;

  /** It adds up by itself, and adds its own tax. */
  #addUp(set: Documents, row: Row): void {
    const [name, , party, price] = DOCUMENTS[set];
    row["pricesIncludeTax"] = this.taxIncluded.has(String(row[party]));
    for (const line of row[name] as Row[]) {
      // Unit-Amount Rounding Precision and quantities: five decimals.
      for (const field of ["quantity", price])
        line[field] = ((line[field] ?? Decimal.zero) as Decimal).round(5);
      const of = (field: string) => (line[field] ?? Decimal.zero) as Decimal;
      const comes = of("quantity").times(of(price)).round(2, "away").minus(of("discountAmount"));
      const percent = Decimal.of(this.taxes.get(String(line["taxCode"])) ?? "0");
      const part = percent.times(Decimal.of("0.01"));
      const isGross = row["pricesIncludeTax"] === true;
      const net = isGross ? comes.over(Decimal.of("1").plus(part), 2) : comes;
      const totalTaxAmount = isGross ? comes.minus(net) : net.times(part).round(2, "away");
      Object.assign(line, { amountExcludingTax: net, netAmount: net, totalTaxAmount });
    }
    const sum = (field: string) =>
      Decimal.sum((row[name] as Row[]).map((line) => line[field] as Decimal));
    const [untaxed, tax] = [sum("netAmount"), sum("totalTaxAmount")];
    Object.assign(row, {
      totalAmountExcludingTax: untaxed,
      totalTaxAmount: tax,
      totalAmountIncludingTax: untaxed.plus(tax),
    });
  }

  #act(set: string, row: Row, action: string): void {
    const can: Readonly<Record<string, readonly string[]>> = {
      salesInvoices: ["post", "cancel"],
      purchaseInvoices: ["post"],
      purchaseCreditMemos: ["post", "cancel"],
    };
    if (can[set]?.includes(action) !== true)
      return refuse("BadRequest_NotFound", `There is no action ${action} on ${set}.`, 404);
    if (action === "post") this.#post(set as Documents, row);
    else {
      if (row["status"] !== "Open")
        return refuse("Application_DialogException", "The invoice cannot be cancelled.");
      Object.assign(row, { status: "Canceled", remainingAmount: Decimal.zero });
      this.#stamp(row);
    }
  }

  /** An entry of each posted document: what its posting has made in the general ledger. */
  #booked = (): Row[] =>
    ["salesInvoices", "salesCreditMemos", "purchaseCreditMemos"].flatMap((set) =>
      this.rows(set)
        .filter((row) => isPosted(row))
        .map(({ id, version, number: documentNumber }) => {
          const documentType = set.endsWith("Memos") ? "Credit_x0020_Memo" : "Invoice";
          const told = { id, version, documentNumber, documentType };
          return Object.assign(emptyOf("generalLedgerEntries"), told);
        }),
    );

  #post(set: Documents, row: Row): void {
    if (isPosted(row)) no("The action can be applied to a draft invoice only.");
    this.#open(row["postingDate"]);
    const has = ({ lineType, dimensionSetLines = [] }: Values): boolean =>
      lineType === "Comment" || (dimensionSetLines as Values[]).length > 0;
    const isWithout = !(row[DOCUMENTS[set][0]] as Values[]).every(has);
    if (this.needsDimension && row["shortcutDimension1Code"] === "" && isWithout)
      no("Select a Dimension Value Code for the Dimension Code DEPARTMENT.");
    this.#party(set, row[DOCUMENTS[set][2]]);
    const number = row["vendorInvoiceNumber"];
    const isTwice = this.rows(set).some(
      (one) =>
        one.id !== row.id &&
        isPosted(one) &&
        one["vendorInvoiceNumber"] === number &&
        one["vendorNumber"] === row["vendorNumber"],
    );
    if (set === "purchaseInvoices" && (isTwice || number === ""))
      no(`Purchase Invoice ${String(number)} already exists for this vendor.`);
    Object.assign(row, {
      status: "Open",
      isReleased: false,
      number: this.#next(`P${DOCUMENTS[set][1]}`),
      remainingAmount: row["totalAmountIncludingTax"],
    });
    this.#stamp(row);
    if (set === "salesInvoices" || set === "purchaseInvoices") this.#move(set, row, "");
    if (set !== "purchaseCreditMemos") return;
    const invoice = this.#row("purchaseInvoices", String(row["invoiceId"]));
    this.#settle(invoice, row["totalAmountIncludingTax"] as Decimal);
    Object.assign(row, { status: "Paid", invoiceNumber: invoice["number"] });
  }

  /** The shipment or receipt of a document: posted with an order, and with an invoice of its own (Shipment on Invoice). */
  #move(set: Documents, row: Row, orderNumber: string): void {
    const moved = isSale(set) ? "salesShipments" : "purchaseReceipts";
    const fields = FIELDS[MOVED[moved]];
    const head = ["externalDocumentNumber", "customerNumber", "vendorNumber", "postingDate"];
    const shipment = this.#insert(moved, {
      ...Object.fromEntries(head.flatMap((name) => (name in row ? [[name, row[name]]] : []))),
      number: this.#next(isSale(set) ? "S-SHPT" : "P-RCPT"),
      orderNumber,
    });
    // Here a comment line is blank, and an account is called otherwise than on its document.
    const types: Values = { Comment: "_x0020_", Account: "G_x002F_L_x0020_Account", Item: "Item" };
    shipment[MOVED[moved]] = (row[DOCUMENTS[set][0]] as Values[]).map((line) => ({
      ...emptyOf(MOVED[moved]),
      ...Object.fromEntries(Object.entries(line).filter(([name]) => fields?.has(name) === true)),
      lineType: types[String(line["lineType"])],
      id: this.#id(),
      documentId: shipment.id,
    }));
  }

  #open(date: unknown): void {
    if (String(date) < this.closedBefore)
      no("Posting Date is not within your range of allowed posting dates.");
  }

  #pay(set: "salesInvoices" | "purchaseInvoices", invoice: Row, amount: Decimal): void {
    const party = String(invoice[DOCUMENTS[set][2]]);
    this.#state.paid.push({ type: isSale(set) ? "out" : "in", party, amount });
    this.#settle(invoice, amount);
  }

  /** More than is to pay stays on the party's account. */
  #settle(invoice: Row, amount: Decimal): void {
    const open = (invoice["remainingAmount"] as Decimal).minus(amount);
    // What is paid in part leaves the invoice's stamp as it was.
    invoice["remainingAmount"] = open.sign > 0 ? open : Decimal.zero;
    if (open.sign > 0) return;
    invoice["status"] = "Paid";
    this.#stamp(invoice);
  }

  /** All lines of a batch; a person may post it too. */
  postJournal(id: string): Told {
    const set = this.rows("customerPaymentJournals").some((row) => row.id === id)
      ? "customerPayments"
      : "vendorPayments";
    const lines = this.rows(set).filter((row) => row["journalId"] === id);
    if (lines.length === 0)
      return refuse("Application_DialogException", "There is nothing to post.");
    const isReceipt = set === "customerPayments";
    // All of a batch is posted, or none.
    for (const line of lines) {
      if ((line["amount"] as Decimal).sign !== (isReceipt ? -1 : 1))
        no("The amount's sign is wrong.");
      this.#open(line["postingDate"]);
      if ((this.#invoiceOf(set, line)["remainingAmount"] as Decimal).sign === 0)
        refuse("Internal_DataNotFoundFilter", "There is no Ledger Entry within the filter.");
    }
    for (const line of lines) {
      const amount = line["amount"] as Decimal;
      this.#pay(
        isReceipt ? "salesInvoices" : "purchaseInvoices",
        this.#invoiceOf(set, line),
        amount.abs(),
      );
      const [debit, credit] = isReceipt ? ["10100", "11000"] : ["21000", "10100"];
      const sides = { [debit]: amount.abs(), [credit]: amount.abs().negated() };
      for (const [accountNumber, more] of Object.entries(this.besides))
        sides[accountNumber] = Decimal.of(more).plus(sides[accountNumber] ?? Decimal.zero);
      for (const [accountNumber, moved] of Object.entries(sides))
        this.#insert("generalLedgerEntries", {
          postingDate: line["postingDate"],
          documentNumber: line["documentNumber"],
          documentType: "Payment",
          invoiceId: line["appliesToInvoiceId"],
          description: line["description"],
          accountNumber,
          [moved.sign > 0 ? "debitAmount" : "creditAmount"]: moved.abs(),
        });
      this.delete(set, line.id);
    }
    return { status: 204, answer: null };
  }

  #stamp(row: Row): void {
    Object.assign(row, {
      lastModifiedDateTime: new Date(this.now() + this.clockMs).toISOString(),
      version: ++this.#state.version,
    });
  }
}

const MOVED = {
  salesShipments: "salesShipmentLines",
  purchaseReceipts: "purchaseReceiptLines",
} as const;

/** `isReleased`: of one that is Open and not posted. */
const isPosted = (row: Row): boolean => row["status"] !== "Draft" && row["isReleased"] !== true;

const no = (message: string) => refuse("Application_DialogException", message);

const missing = (what: string, of: unknown) =>
  refuse(
    "Internal_InvalidTableRelation",
    `The field No. of table Sales Line contains a value (${String(of)}) that cannot be found in the related table (${what}).`,
  );

const emptyOf = (set: string): Values =>
  Object.fromEntries([...(FIELDS[set]?.values() ?? [])].map((one) => [one.name, one.empty]));

const etagOf = (row: Row): string =>
  `W/"${Buffer.from(`44;${String(row["version"])};`).toString("base64")}"`;

const kept = (row: Row): Row => ({
  ...row,
  ...Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) =>
      Array.isArray(value) ? [[name, value.map((line: object) => ({ ...line }))]] : [],
    ),
  ),
});

/** Until it is closed. */
export async function startCompany() {
  const { url, close } = await serving((request, response) => company.handle(request, response));
  const company = new Company(url);
  return { company, close };
}
