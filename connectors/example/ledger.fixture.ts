/**
 * A little ledger as a server of the tests' own: it adds up by itself, keeps one transaction per call, and does what real
 * ones do: its answers get lost, it is slow, its clock is wrong, and its backup is put back.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Decimal } from "../../src/core/decimal.ts";
import type { Scope } from "../../src/core/holdings.ts";
import { parseExact, stringifyExact } from "../../src/core/json.ts";
import { serving } from "../../test/support/http.ts";

export const TOKEN = "ledger-token";

/** A record; which fields it has depends on its table (rows.ts). */
export type Row = Record<string, unknown> & {
  id: string;
  seq: number;
  version: string;
  stamp: string;
};

const NUMBERS: Readonly<Record<string, string>> = {
  invoices: "S-",
  bills: "B-",
  payments: "M-",
  parties: "P-",
  prices: "L-",
  notes: "N-",
};

interface State {
  seq: number;
  tables: Record<string, Row[]>;
}

/** What the ledger says no to; `status` as in HTTP. */
class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export class Ledger {
  readonly url: string;
  /** What people set up. */
  products = new Set(["ULSD-CLR"]);
  readonly accounts = new Set(["4000", "5000", "2300"]);
  /** Documents of earlier days are not posted. */
  closedBefore = "2000-01-01";
  /** How far its clock is ahead of ours. */
  clockMs = 0;
  /** Our clock, ms since 1970. */
  now: () => number = () => Date.now();
  /** What it waits for before it carries out a call of this path. */
  slow: { readonly path: RegExp; readonly until: Promise<void> } | null = null;
  /** The answer to the nth change from now is lost. 0: none is. */
  loses = 0;
  /** What it answers instead, once: HTTP status and code. Nothing happens then. */
  says: { readonly path: RegExp; readonly status: number; readonly code: string } | null = null;
  /** The next call of this path is cut off, before it is carried out or after. */
  cuts: { readonly path: RegExp; readonly when: "before" | "after" } | null = null;
  /** The paths it was asked for. */
  readonly asked: string[] = [];
  #state: State = { seq: 0, tables: {} };
  /** What searches show; null: everything. */
  #shown: State | null = null;

  constructor(url: string) {
    this.url = url;
  }

  rows(table: string): Row[] {
    return (this.#state.tables[table] ??= []);
  }

  /** A person makes a record in it. */
  enter(table: string, values: object): Row {
    return this.#insert(table, { touched: true, mark: null, ...values });
  }

  /** A person changes a record. */
  edit(table: string, id: string, values: object): void {
    const row = this.#row(table, id);
    Object.assign(row, { touched: true, ...values });
    this.#stamp(row);
    this.#addUp(table, row);
  }

  delete(table: string, id: string): void {
    this.#state.tables[table] = this.rows(table).filter((row) => row.id !== id);
  }

  /** From now on searches show what there is now: its index is behind. */
  lag(): void {
    this.#shown = plain(parseExact(this.backup())) as State;
  }

  backup(): string {
    return stringifyExact(this.#state);
  }

  restore(backup: string): void {
    this.#state = plain(parseExact(backup)) as State;
  }

  /** One call: all of it happens, or nothing. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = plain(parseExact(Buffer.concat(await request.toArray()).toString()));
    const path = request.url ?? "";
    this.asked.push(path);
    if (this.slow?.path.test(path) === true) await this.slow.until;
    const cut = this.cuts?.path.test(path) === true ? this.cuts.when : null;
    if (cut !== null) this.cuts = null;
    if (cut === "before") return void request.socket.destroy();
    const isKnown = request.headers.authorization === `Bearer ${TOKEN}`;
    const { status, answer } = isKnown ? this.call(path, body as Body) : NOT_KNOWN;
    const isLost = status === 200 && isChange(path) && this.loses > 0 && --this.loses === 0;
    if (isLost || (cut === "after" && status === 200)) request.socket.destroy();
    else response.writeHead(status).end(stringifyExact(answer));
  }

  /** What it answers to a call, and what it does. `status` as in HTTP. */
  call(path: string, body: object): { readonly status: number; readonly answer: object } {
    const before = isChange(path) ? this.backup() : null;
    try {
      if (this.says?.path.test(path) === true) {
        const { status, code } = this.says;
        this.says = null;
        throw new Refusal(status, code, `the ledger says ${code}`);
      }
      return { status: 200, answer: this.#answer(path, body) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (before !== null) this.restore(before);
      const { status, code, message } = error;
      return { status, answer: { error: { code, message } } };
    }
  }

  #answer(path: string, body: Body): object {
    const [, table = "", action = ""] = path.split("/");
    if (table === "company") return { currency: "USD" };
    const { records = [] } = body;
    switch (action) {
      case "search":
        return this.#search(table, body);
      case "create":
        return { ids: records.map((one) => this.#create(table, one).id) };
      default:
        for (const one of records) this.#step(table, action, one);
        return {};
    }
  }

  /** In the order of their making, or of their last change where those since a stamp are asked for. */
  #search(table: string, { ids, marks, numbers, scope, since, after, most }: Body): object {
    const isAsked = (row: Row): boolean =>
      [row.id].some((id) => ids?.includes(id)) ||
      marks?.includes(row["mark"] as string) === true ||
      [row.id, row["reference"], row["document"], row["product"]].some((one) =>
        numbers?.includes(one as string),
      ) ||
      (since !== undefined && !(Date.parse(`${row.stamp}Z`) < Date.parse(since))) ||
      (scope !== undefined && inScope(row, scope));
    const placeOf = ({ stamp, seq }: Row): string =>
      `${since === undefined ? "" : stamp} ${String(seq).padStart(9, "0")}`;
    const all = ((this.#shown ?? this.#state).tables[table] ?? [])
      .filter((row) => isAsked(row) && placeOf(row) > (after ?? ""))
      .toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1));
    const rows = all.slice(0, most);
    const last = rows.at(-1);
    return { rows, next: last !== undefined && rows.length < all.length ? placeOf(last) : null };
  }

  #create(table: string, values: Record<string, unknown>): Row {
    const { mark } = values;
    if (this.rows(table).some((row) => mark !== null && row["mark"] === mark))
      throw new Refusal(409, "mark-taken", `${String(mark)} is there already`);
    for (const { product, account } of (values["lines"] ?? []) as Line[]) {
      if (product !== null && !this.products.has(product))
        throw new Refusal(422, "unknown-product", `there is no product ${product}`);
      if (!this.accounts.has(account))
        throw new Refusal(422, "unknown-account", `there is no account ${account}`);
    }
    const row = this.#insert(table, { touched: false, ...values });
    if (table === "payments") this.#pay(row);
    return row;
  }

  #insert(table: string, values: Record<string, unknown>): Row {
    const seq = ++this.#state.seq;
    const isDocument = table === "invoices" || table === "bills";
    const row = {
      id: `${NUMBERS[table]}${seq}`,
      seq,
      version: "0",
      stamp: "",
      ...(isDocument
        ? {
            state: "draft",
            reference: null,
            due: null,
            order: null,
            disputed: false,
            paid: null,
            payments: [],
          }
        : {}),
      ...(table === "payments" ? { state: "posted" } : {}),
      ...(table === "parties"
        ? { isCustomer: false, isSupplier: false, email: null, active: true }
        : {}),
      ...values,
    } as Row;
    this.#stamp(row);
    this.#addUp(table, row);
    this.rows(table).push(row);
    return row;
  }

  #step(table: string, action: string, { id, version, ...values }: Record<string, unknown>): void {
    const row = this.#row(table, String(id));
    if (row.version !== version) throw new Refusal(409, "stale", `${String(id)} was changed`);
    if (action === "delete" && row["state"] === "draft") return this.delete(table, String(id));
    if (action === "post" && String(row["date"]) < this.closedBefore)
      throw new Refusal(422, "closed-period", `the period of ${String(row["date"])} is closed`);
    if (action === "cancel" && (row["payments"] as unknown[]).length > 0)
      throw new Refusal(422, "has-payments", `${String(id)} has payments`);
    if (action === "change") Object.assign(row, values);
    else row["state"] = action === "post" ? "posted" : "cancelled";
    this.#stamp(row);
    this.#addUp(table, row);
  }

  #pay(payment: Row): void {
    const table = payment["side"] === "sale" ? "invoices" : "bills";
    const document = this.#row(table, String(payment["document"]));
    const { id, mark, amount } = payment as unknown as Paid;
    const open = document["open"] as Decimal;
    const isMore = amount.compare(open) > 0;
    if (isMore && payment["onAccount"] !== true)
      throw new Refusal(422, "more-than-open", `${document.id} has less to pay`);
    payment["party"] = document["party"];
    (document["payments"] as Paid[]).push({ id, mark, amount: isMore ? open : amount });
    this.#stamp(document);
    this.#addUp(table, document);
    if ((document["open"] as Decimal).sign === 0)
      Object.assign(document, { state: "paid", paid: payment["date"] });
  }

  #row(table: string, id: string): Row {
    const row = this.rows(table).find((one) => one.id === id);
    if (row === undefined) throw new Refusal(404, "not-there", `there is no ${id}`);
    return row;
  }

  #stamp(row: Row): void {
    const now = new Date(this.now() + this.clockMs).toISOString();
    Object.assign(row, {
      version: String(Number(row.version) + 1),
      stamp: `${now.slice(0, -1)}000`,
    });
  }

  #addUp(table: string, row: Row): void {
    if (table !== "invoices" && table !== "bills") return;
    const sum = (name: string) =>
      Decimal.sum((row[name] as { amount: Decimal }[]).map(({ amount }) => amount));
    const [untaxed, tax] = [sum("lines"), sum("taxes")];
    const total = untaxed.plus(tax);
    const open = row["state"] === "cancelled" ? Decimal.zero : total.minus(sum("payments"));
    Object.assign(row, { untaxed, tax, total, open });
  }
}

const isChange = (path: string): boolean => !/(?:search|company)$/.test(path);

const NOT_KNOWN = {
  status: 401,
  answer: { error: { code: "bad-token", message: "the token is not known" } },
} as const;

interface Paid {
  readonly id: string;
  readonly mark: string | null;
  readonly amount: Decimal;
}

interface Line {
  readonly product: string | null;
  readonly account: string;
}

interface Body {
  readonly records?: Record<string, unknown>[];
  readonly ids?: readonly string[];
  readonly marks?: readonly string[];
  readonly numbers?: readonly string[];
  readonly scope?: Scope;
  readonly since?: string;
  readonly after?: string | null;
  readonly most?: number;
}

function inScope(row: Row, { dated, changedSince, open }: Scope): boolean {
  const date = String(row["date"]);
  const isOpen =
    row["state"] === "draft" || (row["open"] instanceof Decimal && row["open"].sign > 0);
  return (
    row["date"] === undefined ||
    (dated !== null && date >= dated.from && date <= dated.to) ||
    (changedSince !== null && `${row.stamp}Z` >= changedSince) ||
    (open && isOpen)
  );
}

/** Counters are numbers, as they would be in a database; amounts stay decimals. */
const COUNTERS = new Set(["seq", "id", "most"]);

function plain(value: unknown, name = ""): unknown {
  if (value instanceof Decimal) return COUNTERS.has(name) ? Number(value.text) : value;
  if (Array.isArray(value)) return value.map((one) => plain(one, name));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one, key)]));
}

/** Until it is closed. */
export async function startLedger() {
  const { url, close } = await serving((request, response) => ledger.handle(request, response));
  const ledger = new Ledger(url);
  return { ledger, close };
}
