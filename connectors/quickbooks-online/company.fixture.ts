/**
 * A little company of the tests' own behind REST v3, second best to Intuit's sandbox: it holds what is added, gives ids
 * and SyncTokens, and enforces what the published schemas and pages say is enforced. Its answers get lost, it is slow, its
 * clock is wrong, its tokens rotate.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Decimal } from "../../src/core/decimal.ts";
import { parseExact, stringifyExact } from "../../src/core/json.ts";
import { changesTo, little, type Tombstone } from "./changes.fixture.ts";
import { checkDocument, checkName, Fault, totalOf } from "./rules.fixture.ts";
import {
  answerTo,
  type Body,
  faultText,
  parsedBody,
  plain,
  type Record_,
  word,
} from "./query.fixture.ts";

export type { Record_ } from "./query.fixture.ts";

export const COMPANY = "9130357";
export const CLIENT = { clientId: "client-of-tests", clientSecret: "secret-of-tests" };

interface State {
  next: number;
  tables: Record<string, Record_[]>;
  /** First answers by request id. */
  answers: Record<string, string>;
  deleted: Tombstone[];
}

const NAMES: Readonly<Record<string, string>> = {
  invoice: "Invoice",
  bill: "Bill",
  payment: "Payment",
  billpayment: "BillPayment",
  estimate: "Estimate",
  purchaseorder: "PurchaseOrder",
  customer: "Customer",
  vendor: "Vendor",
};

export class Company {
  readonly url: string;
  /** `YYYY-MM-DD`: nothing is dated so early or earlier. */
  closedUntil = "2000-01-01";
  preferences = {
    AccountingInfoPrefs: {},
    SalesFormsPrefs: { CustomTxnNumbers: true },
    TaxPrefs: { UsingSalesTax: true },
    CurrencyPrefs: { MultiCurrencyEnabled: false, HomeCurrency: { value: "USD" } },
  };
  /** Intuit's automated sales tax adds this to each invoice, whatever its lines say. */
  addsTax = Decimal.zero;
  /** Numbers that documents of other kinds have. */
  readonly numbersOfOthers = new Set<string>();
  /** How far its clock is ahead of ours. */
  clockMs = 0;
  /** It forgets request ids: how long Intuit keeps them is not published. */
  forgets = false;
  /** It answers a repeat with the first answer also where that was a refusal: whether Intuit does is not published. */
  keepsRefusals = false;
  /** Members that the schema lets it leave out of its answers. */
  leavesOut: readonly string[] = [];
  /** Change data capture tells of a record which it is, and not what. */
  tellsLittle = false;
  /** The answer to the nth write from now is lost. 0: none is. */
  loses = 0;
  /** Called at every write; what it says happens to the connection, and `before` to the write as well. */
  cuts: ((request: string, path: string) => "before" | "after" | null) | null = null;
  /** What a clerk does just before a request: its path, and what is asked or written. */
  clerk: ((path: string, text: string) => void) | null = null;
  /** The next read of each of these paths is cut off. */
  cutReads: RegExp[] = [];
  /** What it answers instead, `times` times; nothing happens then. */
  says: {
    readonly path: RegExp;
    readonly status: number;
    readonly code?: string;
    /** Instead of a fault with the code. */
    readonly body?: string;
    readonly headers?: Readonly<Record<string, string>>;
    times?: number;
  } | null = null;
  /** What it waits for before it carries out a call of this path. */
  slow: { readonly path: RegExp; readonly until: Promise<void> } | null = null;
  /** Rows of one answer, whatever is asked. */
  pageMost = 1000;
  /** A document gets another stamp when something is paid on it, or not any more. */
  stampsPaid = true;
  /** Paths that it was asked for, queries with their text. */
  readonly asked: string[] = [];
  /** Tokens that are good now. */
  readonly access = new Set(["access-0"]);
  readonly refresh = new Set(["refresh-0"]);
  refreshed = 0;
  tokensAsked = 0;
  /** What else stands in answers with tokens; undefined: it is left out. */
  tokenMembers: Readonly<Record<string, unknown>> = {};
  /** The answer with the next tokens is lost. */
  losesTokens = false;
  /** A refresh token that was replaced is refused at once. */
  strict = false;
  #state: State = { next: 1, tables: {}, answers: {}, deleted: [] };

  constructor(url: string) {
    this.url = url;
  }

  rows(table: string): Record_[] {
    return (this.#state.tables[table] ??= []);
  }

  /** A person enters something, or changes it. */
  enter(table: string, values: object): Record_ {
    const list = /^(?:Customer|Vendor|Employee|Item|Account|Class|Department)$/.test(table)
      ? { Active: true }
      : {};
    const row: Record_ = { Id: String(this.#state.next++), SyncToken: "0", ...list, ...values };
    if (row["Active"] === false) ended(row);
    this.rows(table).push(row);
    this.#stamp(row);
    this.#addUp(table, row);
    return row;
  }

  /** A person enters a payment of all that is open. */
  settle(document: Record_, TxnDate: string): Record_ {
    const TotalAmt = document["Balance"];
    const row = this.enter("Payment", {
      TxnDate,
      TotalAmt,
      CustomerRef: document["CustomerRef"],
      Line: [{ Amount: TotalAmt, LinkedTxn: [{ TxnId: document.Id, TxnType: "Invoice" }] }],
    });
    this.#pay("Payment", row);
    return row;
  }

  edit(table: string, id: string, values: object): void {
    const row = this.#row(table, id);
    if ("Active" in values && values.Active !== row["Active"]) ended(row, values.Active === true);
    Object.assign(row, values, { SyncToken: String(Number(row.SyncToken) + 1) });
    this.#stamp(row);
  }

  /** A person takes a payment off what it had paid. */
  takeOff(table: string, id: string): void {
    const row = this.#row(table, id);
    for (const { document, amount } of this.#paidIn(row)) {
      const left = (document["LinkedTxn"] as Body[]).filter(({ TxnId }) => TxnId !== id);
      const Balance = (document["Balance"] as Decimal).plus(amount);
      Object.assign(document, { LinkedTxn: left, Balance });
      if (this.stampsPaid) this.#stamp(document);
    }
    this.edit(table, id, { Line: [] });
  }

  /** A person deletes it; what a payment had paid is open again. */
  delete(table: string, id: string): void {
    const row = this.#row(table, id);
    this.takeOff(table, id);
    const { LastUpdatedTime } = row["MetaData"] as { LastUpdatedTime: string };
    this.#state.deleted.push({ table, Id: id, at: LastUpdatedTime });
    this.#state.tables[table] = this.rows(table).filter((row) => row.Id !== id);
  }

  backup(): string {
    return stringifyExact(this.#state);
  }

  restore(backup: string): void {
    this.#state = plain(parseExact(backup)) as State;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = Buffer.concat(await request.toArray()).toString();
    const { pathname, searchParams } = new URL(request.url ?? "", this.url);
    if (pathname === "/tokens") return this.#token(text, request, response);
    const [, , , , name = "", id] = pathname.split("/");
    const isRead = name === "query" || name === "cdc" || id !== undefined;
    const path =
      name === "query"
        ? `query ${text}`
        : `${name} ${searchParams.get(name === "cdc" ? "entities" : "operation") ?? ""}`;
    this.asked.push(path);
    this.clerk?.(path, text);
    if (this.slow?.path.test(path) === true) await this.slow.until;
    const before = isRead ? null : this.backup();
    try {
      const token = (request.headers.authorization ?? "").replace("Bearer ", "");
      if (!this.access.has(token)) throw new Fault("3200", "AuthenticationFailed", 401);
      if (pathname.split("/")[3] !== COMPANY) throw new Fault("120", "AuthorizationFailed", 403);
      if (searchParams.get("minorversion") !== "75") throw new Fault("2050", "minor version");
      this.#says(path, response);
      if (response.writableEnded) return;
      const cut = isRead ? null : (this.cuts?.(searchParams.get("requestid") ?? "", path) ?? null);
      const read = isRead ? this.cutReads.findIndex((one) => one.test(path)) : -1;
      if (read >= 0) {
        this.cutReads.splice(read, 1);
        return void request.socket.destroy();
      }
      if (cut === "before") return void request.socket.destroy();
      const answer =
        name === "query"
          ? answerTo(text, (table) => this.#readable(table), this.pageMost)
          : name === "cdc"
            ? this.#changes(searchParams)
            : id === undefined
              ? this.#write(NAMES[name] ?? "", parsedBody(text), searchParams)
              : { [NAMES[name] ?? ""]: this.#row(NAMES[name] ?? "", id) };
      const isLost = !isRead && this.loses > 0 && --this.loses === 0;
      if (isLost || cut === "after") request.socket.destroy();
      else
        response
          .writeHead(200, { "content-type": "application/json", intuit_tid: "1-tests" })
          .end(this.#told({ ...answer, time: this.#now().replace("-08:00", ".000-08:00") }));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (before !== null) this.restore(before);
      const fault = faultText(error.code, error.message);
      const request = searchParams.get("requestid") ?? "";
      if (this.keepsRefusals && !isRead) this.#state.answers[request] ??= fault;
      response.writeHead(error.status).end(fault);
    }
  }

  #told(answer: object): string {
    const without = (_: string, value: unknown): unknown =>
      value === null || typeof value !== "object" || Array.isArray(value)
        ? value
        : Object.fromEntries(
            Object.entries(value).filter(([name]) => !this.leavesOut.includes(name)),
          );
    return this.leavesOut.length === 0
      ? stringifyExact(answer)
      : JSON.stringify(JSON.parse(stringifyExact(answer)), without);
  }

  #says(path: string, response: ServerResponse): void {
    const { says } = this;
    if (says === null || !says.path.test(path)) return;
    says.times = (says.times ?? 1) - 1;
    if (says.times <= 0) this.says = null;
    const fault =
      says.code === undefined ? "" : faultText(says.code, `QuickBooks says ${says.code}`);
    const body = says.body ?? fault;
    response.writeHead(says.status, says.headers).end(body);
  }

  #token(text: string, request: IncomingMessage, response: ServerResponse): void {
    const form = new URLSearchParams(text);
    const basic = Buffer.from(`${CLIENT.clientId}:${CLIENT.clientSecret}`).toString("base64");
    const say = (status: number, body: object) =>
      void response.writeHead(status).end(JSON.stringify(body));
    if (request.headers.authorization !== `Basic ${basic}`)
      return say(401, { error: "invalid_client" });
    this.tokensAsked++;
    const given = form.get("refresh_token") ?? form.get("code") ?? "";
    if (!this.refresh.has(given)) return say(400, { error: "invalid_grant" });
    this.refreshed++;
    const [access, refresh] = [`access-${this.refreshed}`, `refresh-${this.refreshed}`];
    if (this.strict || form.has("code")) this.refresh.delete(given);
    this.access.clear();
    this.access.add(access);
    this.refresh.add(refresh);
    if (this.losesTokens) {
      this.losesTokens = false;
      return void request.socket.destroy();
    }
    const seconds = { expires_in: 3600, x_refresh_token_expires_in: 8_726_400 };
    const tokens = { token_type: "bearer", access_token: access, refresh_token: refresh };
    say(200, { ...tokens, ...seconds, ...this.tokenMembers });
  }

  #readable(table: string): readonly Record_[] {
    if (table === "Preferences") return [{ Id: "1", SyncToken: "0", ...this.preferences }];
    if (table === "CompanyInfo") return [{ Id: "1", SyncToken: "0", CompanyName: "Prairie Fuel" }];
    return this.rows(table);
  }

  #changes(parameters: URLSearchParams): object {
    const answer = changesTo(parameters, this.#now(), (table) => ({
      rows: this.tellsLittle ? this.rows(table).map(little) : this.rows(table),
      deleted: this.#state.deleted.filter((one) => one.table === table),
    }));
    if (answer === null) throw new Fault("4001", "changedSince is more than 30 days ago");
    return answer;
  }

  #write(table: string, body: Body, parameters: URLSearchParams): object {
    const id = parameters.get("requestid") ?? "";
    if (id === "" || id.length > 50)
      throw new Fault("2050", "requestid must have 1 to 50 characters");
    const before = this.#state.answers[id];
    if (before !== undefined && !this.forgets) return parseExact(before) as object;
    const operation = parameters.get("operation");
    const row =
      operation === "void"
        ? this.#void(table, body)
        : body["Id"] === undefined
          ? this.#add(table, body, parameters.get("include") === "allowduplicatedocnum")
          : this.#update(table, body);
    const answer = { [table]: row };
    this.#state.answers[id] = stringifyExact(answer);
    return answer;
  }

  #add(table: string, body: Body, isTwice: boolean): Record_ {
    this.#check(table, body);
    if (table === "Customer" || table === "Vendor") checkName(body, (name) => this.rows(name));
    const number = body["DocNumber"];
    const isTaken =
      this.numbersOfOthers.has(word(number)) ||
      this.rows(table).some((row) => row["DocNumber"] === number);
    if (number !== undefined && isTaken && !isTwice)
      throw new Fault("6140", `Duplicate Document Number: ${word(number)}`);
    if (table === "Payment" || table === "BillPayment") this.#checkPaid(body);
    // Of a vendor Intuit keeps none (QuickBooks-V3-DotNET-SDK, issue 365).
    if (table === "Vendor") delete body["Notes"];
    const row = this.enter(table, body);
    if (table === "Payment" || table === "BillPayment") this.#pay(table, row);
    return row;
  }

  /** Sparse only: what is left out of a full update would be cleared. */
  #update(table: string, { sparse, ...body }: Body): Record_ {
    if (sparse !== true) throw new Fault("2020", "Required parameter sparse is missing");
    const row = this.#current(table, body);
    this.#check(table, { ...row, ...body });
    this.edit(table, row.Id, { ...body, SyncToken: row.SyncToken });
    return row;
  }

  #void(table: string, body: Body): Record_ {
    if (table !== "Invoice" && table !== "Payment") throw new Fault("500", "Unsupported Operation");
    const row = this.#current(table, body);
    this.#checkOpen(row);
    const PrivateNote = `Voided - ${word(row["PrivateNote"])}`;
    for (const line of (row["Line"] ?? []) as Body[]) line["Amount"] = Decimal.zero;
    this.edit(table, row.Id, { PrivateNote, TotalAmt: Decimal.zero, Balance: Decimal.zero });
    return row;
  }

  #current(table: string, body: Body): Record_ {
    const row = this.#row(table, String(body["Id"]));
    if (row.SyncToken !== body["SyncToken"]) throw new Fault("5010", "Stale Object Error");
    return row;
  }

  #checkOpen(row: Body): void {
    if (String(row["TxnDate"]) <= this.closedUntil)
      throw new Fault(
        "6210",
        `Account Period Closed: the books are closed until ${this.closedUntil}`,
      );
  }

  #check(table: string, row: Body): void {
    if (row["TxnDate"] === undefined) return;
    this.#checkOpen(row);
    checkDocument(table, row, (name) => this.rows(name));
  }

  #checkPaid(body: Body): void {
    for (const { document, amount } of this.#paidIn(body))
      if (amount.compare(document["Balance"] as Decimal) > 0)
        throw new Fault("6000", `A business validation error: ${document.Id} has less to pay`);
  }

  #paidIn(body: Body): { document: Record_; amount: Decimal }[] {
    return ((body["Line"] ?? []) as Body[]).flatMap((line) =>
      ((line["LinkedTxn"] ?? []) as Body[]).map((one) => ({
        document: this.#row(String(one["TxnType"]), String(one["TxnId"])),
        amount: line["Amount"] as Decimal,
      })),
    );
  }

  #pay(table: string, payment: Record_): void {
    const type = table === "Payment" ? "Payment" : `BillPayment${String(payment["PayType"])}`;
    for (const { document, amount } of this.#paidIn(payment)) {
      const LinkedTxn = [
        ...((document["LinkedTxn"] ?? []) as Body[]),
        { TxnId: payment.Id, TxnType: type },
      ];
      const Balance = (document["Balance"] as Decimal).minus(amount);
      Object.assign(document, { LinkedTxn, Balance });
      if (this.stampsPaid) this.#stamp(document);
    }
  }

  #row(table: string, id: string): Record_ {
    const row = this.rows(table).find((one) => one.Id === id);
    if (row === undefined) throw new Fault("610", `Object Not Found: ${table} ${id}`);
    return row;
  }

  /** By its own clock, as it writes instants. */
  #now(): string {
    const there = new Date(Date.now() + this.clockMs - 8 * 3_600_000);
    return `${there.toISOString().slice(0, 19)}-08:00`;
  }

  #stamp(row: Record_): void {
    const LastUpdatedTime = this.#now();
    const { CreateTime = LastUpdatedTime } = (row["MetaData"] ?? {}) as { CreateTime?: string };
    row["MetaData"] = { CreateTime, LastUpdatedTime };
  }

  #addUp(table: string, row: Record_): void {
    if (!/^(?:Invoice|Bill|Estimate|PurchaseOrder)$/.test(table)) return;
    const tax = table === "Invoice" ? this.addsTax : Decimal.zero;
    const TotalAmt = totalOf((row["Line"] ?? []) as Body[]).plus(tax);
    if (tax.sign > 0) row["TxnTaxDetail"] = { TotalTax: tax };
    const isPosted = table === "Invoice" || table === "Bill";
    Object.assign(row, { TotalAmt, ...(isPosted ? { Balance: TotalAmt } : {}) });
  }
}

/** Its name is free from then on. @param isBack it is active again */
function ended(row: Record_, isBack = false): void {
  for (const name of ["DisplayName", "Name"])
    if (row[name] !== undefined)
      row[name] = isBack
        ? word(row[name]).replace(/ \(deleted\)$/, "")
        : `${word(row[name])} (deleted)`;
}
