/**
 * The platform as a model in this process: lists by page and by walk, creation under idempotency keys (specification part 4,
 * rules W1 to W6), and every answer that `src/platform/answers.ts` knows, after, before or without the effect.
 */
import { sha256 } from "../../../src/core/keys.ts";
import { parseExact, stringifyExact } from "../../../src/core/json.ts";
import { answerOf, answerRules } from "../../../src/platform/answers.ts";
import type { Exchange, Exchanger, PlatformRequest } from "../../../src/platform/client.ts";
import { MINUTE, type Process, type World } from "./world.ts";

const DAY = 24 * 60 * MINUTE;
const PAGE_MOST = 5;
const READ_LAG_MS = 20_000;
export const US = "00000000-0000-4000-8000-000000000001";

export interface Stored {
  readonly id: string;
  /** Lists show it from then on, ms of the world. */
  readonly landsAt: number;
  /** ms of the world. */
  updatedAt: number;
  fields: Record<string, unknown>;
}

interface Kept {
  readonly bytes: string;
  readonly runsUntil: number;
  /** Null: it succeeded, and its answer is repeated. */
  readonly heldUntil: number | null;
  readonly answer: Exchange;
}

type Fate =
  /** It takes place, and the answer says so. */
  | "done"
  /** It does not, and the platform says that it failed. */
  | "before"
  /** It does, and the platform says that it failed. */
  | "after"
  /** The same, and it lands after the answer. */
  | "late";

export class Platform {
  readonly invoices = new Map<string, Stored>();
  readonly connections = new Map<string, Stored>();
  readonly prices = new Map<string, Stored>();
  readonly rates = new Map<string, Stored>();
  readonly payments = new Map<string, Stored>();
  readonly tickets = new Map<string, Stored>();
  /** Companies by id: what they are to us, and the caller's id of them. */
  readonly companies = new Map<string, { name: string; role: string; externalId: string }>();
  readonly #world: World;
  readonly #keys = new Map<string, Kept>();
  #ids = 1;
  /** How much longer than usual the request in hand takes: its answer comes when it is carried out. */
  #slowMs = 0;

  constructor(world: World) {
    this.#world = world;
  }

  newId(): string {
    return `00000000-0000-4000-8000-${(++this.#ids).toString(16).padStart(12, "0")}`;
  }

  /** Somebody enters or changes a record there. */
  put(table: Map<string, Stored>, id: string, fields: Record<string, unknown>, lateMs = 0): void {
    const now = this.#world.time;
    const known = table.get(id);
    if (known === undefined) table.set(id, { id, landsAt: now + lateMs, updatedAt: now, fields });
    else Object.assign(known, { updatedAt: now, fields: { ...known.fields, ...fields } });
  }

  /** What a record shows. */
  shown({ id, updatedAt, fields }: Stored): Record<string, unknown> {
    const offset = updatedAt - this.#world.time;
    return {
      createdAt: this.#world.iso(offset),
      ...fields,
      id,
      updatedAt: this.#world.iso(offset),
    };
  }

  /** A client of one process: it dies with it, what it asked for does not. */
  client(process: Process): Exchanger {
    const world = this.#world;
    return {
      exchange: async (request) => {
        const purpose = request.purpose === "write" ? "write" : "read";
        await process.at(`before a platform ${purpose}`);
        const { exchange, tookMs } = this.#handle(request);
        await process.sleep(tookMs);
        await process.at(`after a platform ${purpose}`);
        if (purpose === "write") world.hit(`answer ${nameOf(exchange, request, world)}`);
        return exchange;
      },
      download: async () => ({ kind: "not-sent", detail: "the model has no files" }),
      close: async () => {},
    };
  }

  #handle(request: PlatformRequest): { exchange: Exchange; tookMs: number } {
    const isRead = request.method === "GET";
    const [low, high] = isRead ? [20, 200] : [50, 1_500];
    const tookMs = low + this.#world.below("latency", high);
    this.#slowMs = 0;
    const exchange = isRead ? this.#read(request) : this.#write(request, tookMs);
    const moreMs = isTorn(exchange) ? this.#world.below("torn after", 40_000) : this.#slowMs;
    return { exchange, tookMs: tookMs + moreMs };
  }

  #read({ path }: PlatformRequest): Exchange {
    if (this.#world.happens("read not sent")) return { kind: "not-sent", detail: "ECONNREFUSED" };
    if (this.#world.happens("read torn")) return TORN;
    if (this.#world.happens("read failed")) return this.#failure(503, "UNAVAILABLE");
    const [place = "", search = ""] = path.split("?");
    const query = new URLSearchParams(search);
    const ratesOf = /^\/connections\/(.+)\/freight-rates$/.exec(place)?.[1];
    if (ratesOf !== undefined)
      return this.#answer(200, {
        success: true,
        data: this.#visible(this.rates)
          .filter(({ fields }) => fields["connectionId"] === ratesOf)
          .map((one) => this.shown(one)),
      });
    if (place === `/companies/${US}/profile`)
      return this.#answer(200, { success: true, data: PROFILE });
    const table = {
      "/invoices": this.invoices,
      "/connections": this.connections,
      "/pricing/rack": this.prices,
      "/payments": this.payments,
      "/delivery-tickets": this.tickets,
    }[place];
    if (table === undefined) {
      const [, list, id] = /^\/(invoices|delivery-tickets)\/([^/]+)$/.exec(place) ?? [];
      const all = list === "invoices" ? this.invoices : this.tickets;
      const one = this.#visible(all).find((row) => row.id === id);
      return one === undefined
        ? this.#failure(404, "NOT_FOUND")
        : this.#answer(200, { success: true, data: this.shown(one) });
    }
    const wanted = query.get("search")?.toLowerCase() ?? "";
    const rows = this.#visible(table).filter((row) => searched(this, row).includes(wanted));
    return query.has("updatedSince") ? this.#walk(rows, query) : this.#page(rows, query);
  }

  /** What had landed a while ago: a list is behind. */
  #visible(table: ReadonlyMap<string, Stored>): Stored[] {
    const shown = this.#world.time - this.#world.below("read lag", READ_LAG_MS);
    return [...table.values()].filter(({ landsAt }) => landsAt <= shown);
  }

  #walk(rows: readonly Stored[], query: URLSearchParams): Exchange {
    const since =
      Date.parse(query.get("updatedSince") ?? "") -
      Date.parse(this.#world.iso()) +
      this.#world.time;
    const [atText, idAfter = ""] = (query.get("cursor") ?? "|").split("|");
    const after = atText === "" ? -Infinity : Number(atText);
    const sorted = rows
      .filter(({ updatedAt }) => updatedAt >= since)
      .toSorted((one, other) => one.updatedAt - other.updatedAt || (one.id < other.id ? -1 : 1));
    const rest = sorted.filter(
      ({ updatedAt, id }) => updatedAt > after || (updatedAt === after && id > idAfter),
    );
    const data = rest.slice(0, PAGE_MOST);
    const last = data.at(-1);
    const hasMore = rest.length > data.length;
    const nextCursor = hasMore && last !== undefined ? `${last.updatedAt}|${last.id}` : null;
    return this.#list(data, { total: sorted.length, page: 1, hasMore, nextCursor });
  }

  #page(rows: readonly Stored[], query: URLSearchParams): Exchange {
    const page = Number(query.get("page") ?? "1");
    const data = rows.slice((page - 1) * PAGE_MOST, page * PAGE_MOST);
    const hasMore = rows.length > page * PAGE_MOST;
    return this.#list(data, { total: rows.length, page, hasMore, nextCursor: null });
  }

  #list(
    rows: readonly Stored[],
    meta: { total: number; page: number; hasMore: boolean; nextCursor: string | null },
  ): Exchange {
    const totalPages = Math.ceil(meta.total / PAGE_MOST);
    const data = rows.map((row) => this.shown(row));
    return this.#answer(200, {
      success: true,
      data,
      meta: { ...meta, totalPages, pageSize: PAGE_MOST },
    });
  }

  #write(request: PlatformRequest, tookMs: number): Exchange {
    const world = this.#world;
    if (world.happens("not sent")) return { kind: "not-sent", detail: "ECONNREFUSED" };
    if (world.happens("request lost")) return TORN;
    const refusal = this.#refusal(request);
    if (refusal !== null) return refusal;
    const { idempotencyKey: key = "" } = request;
    if (key === "") return this.#failure(400, "IDEMPOTENCY_KEY_REQUIRED");
    const bytes = sha256(`${request.method} ${request.path} ${request.body ?? ""}`);
    const now = world.time;
    let kept = this.#keys.get(key);
    if (kept !== undefined && now < kept.runsUntil + DAY) {
      if (kept.bytes !== bytes) return this.#failure(409, "IDEMPOTENCY_KEY_CONFLICT");
      if (now < kept.runsUntil)
        return this.#lossy(this.#failure(409, "IDEMPOTENCY_IN_FLIGHT", { retryAfterSec: 1 }));
      if (kept.heldUntil === null) return this.#lossy(replayed(kept.answer));
      if (now < kept.heldUntil)
        return this.#lossy(
          this.#failure(409, "IDEMPOTENCY_OUTCOME_UNKNOWN", {
            retryAfterSec: Math.ceil((kept.heldUntil - now) / 1_000),
          }),
        );
    }
    kept = this.#run(request, bytes, tookMs);
    // What the platform refuses for its content is not kept: nothing was carried out.
    if (kept.answer.kind === "answer" && [400, 404].includes(kept.answer.status))
      return this.#lossy(kept.answer);
    this.#keys.set(key, kept);
    if (world.happens("delivered twice")) return replayed(kept.answer);
    return this.#lossy(kept.answer);
  }

  #run(request: PlatformRequest, bytes: string, tookMs: number): Kept {
    const world = this.#world;
    const slowMs = world.happens("slow") ? 20_000 + world.below("slow for", 60_000) : 0;
    const ends = world.time + tookMs + slowMs;
    this.#slowMs = slowMs;
    const timesOut = world.happens("timed out");
    const fails = timesOut || world.happens("failed");
    const fate: Fate = fails
      ? ((["before", "after", "late"] as const)[world.below("fate", 3)] ?? "before")
      : "done";
    const lateMs = slowMs + tookMs + (fate === "late" ? world.below("late by", 120_000) : 0);
    const done = fate === "before" ? null : this.#carriedOut(request, lateMs);
    const refused = done !== null && done.kind === "answer" && done.status >= 400;
    if (done !== null && (!fails || refused)) {
      const answer = slowMs > 40_000 ? TORN : done;
      return { bytes, runsUntil: ends, heldUntil: null, answer: this.#odd(answer) };
    }
    const answer = timesOut
      ? this.#failure(504, "REQUEST_TIMEOUT")
      : this.#failure(500, "INTERNAL");
    return { bytes, runsUntil: ends, heldUntil: ends + (timesOut ? DAY : MINUTE), answer };
  }

  /** A success that is told in a way that proves nothing. */
  #odd(answer: Exchange): Exchange {
    const world = this.#world;
    if (answer.kind !== "answer" || answer.status >= 300) return answer;
    if (world.happens("unreadable")) return { ...answer, status: 200, text: "<html>" };
    if (world.happens("undecided")) return this.#failure(408, "TIMEOUT");
    if (world.happens("moved, maybe done")) return this.#failure(302, "FOUND");
    if (world.happens("unknown conflict")) return this.#failure(409, "SOMETHING_ELSE");
    return answer;
  }

  /** What is said before anything is carried out. */
  #refusal({ method }: PlatformRequest): Exchange | null {
    const world = this.#world;
    if (world.happens("slow down"))
      return this.#failure(429, "RATE_LIMIT_EXCEEDED", { retryAfterSec: 5, kind: "burst" });
    if (world.happens("month spent"))
      return this.#failure(429, "MONTHLY_CAP_EXCEEDED", { retryAfterSec: 900, kind: "quota" });
    for (const [fault, status, code] of REFUSALS) {
      // Of what is to be deleted this says that it is gone.
      if (status === 404 && method === "DELETE") continue;
      if (world.happens(fault)) return this.#failure(status, code);
    }
    return null;
  }

  #carriedOut({ method, path, body = "{}" }: PlatformRequest, lateMs: number): Exchange {
    const fields = parseExact(body) as Record<string, unknown>;
    if (method === "DELETE") {
      const isThere = this.rates.delete(path.split("/").at(-1) ?? "");
      return isThere
        ? { kind: "answer", status: 204, headers: this.#headers(), text: "" }
        : this.#failure(404, "NOT_FOUND");
    }
    const [, list, id = ""] = /^\/(invoices|delivery-tickets)\/([^/]+)/.exec(path) ?? [];
    const table = list === "invoices" ? this.invoices : this.tickets;
    const isPaid = path.endsWith("/mark-paid");
    if (method === "PUT")
      return this.#changed(
        table.get(id),
        isPaid ? { paidAt: this.#world.iso(), ...fields, status: "PAID" } : fields,
        lateMs,
      );
    switch (path) {
      case "/delivery-tickets":
        return this.#created(this.tickets, { ...emptyTicket, ...fields }, lateMs);
      case "/invoices":
        return this.#created(this.invoices, { ...fields, ...issued(fields), byUs: true }, lateMs);
      case "/customers":
      case "/suppliers": {
        const company = this.newId();
        const externalId = String(fields["externalId"]);
        this.companies.set(company, {
          name: String(fields["name"]),
          role: path.slice(1),
          externalId,
        });
        const connection = this.newId();
        this.put(this.connections, connection, connectionOf(company, externalId), lateMs);
        return this.#answer(201, {
          success: true,
          data: {
            id: company,
            name: fields["name"],
            type: path.slice(1, -1).toUpperCase(),
            connectionId: connection,
            connectionStatus: "ACCEPTED",
          },
        });
      }
      case "/pricing/bulk/rack": {
        const prices = fields["prices"] as Record<string, unknown>[];
        const write = (): void => {
          for (const price of prices) this.#price(price);
        };
        if (lateMs > 2_000) this.#world.after(lateMs, write);
        else write();
        return this.#answer(200, { success: true, data: { updated: prices.length, created: 0 } });
      }
      default:
        return this.#failure(404, "NOT_FOUND");
    }
  }

  /** A change that lands late is stamped with the time at which it was asked for. */
  #changed(row: Stored | undefined, fields: Record<string, unknown>, lateMs: number): Exchange {
    if (row === undefined) return this.#failure(404, "NOT_FOUND");
    const updatedAt = this.#world.time;
    const changed = { ...row, updatedAt, fields: { ...row.fields, ...fields } };
    const write = (): void =>
      void Object.assign(row, { updatedAt, fields: { ...row.fields, ...fields } });
    if (lateMs > 2_000) this.#world.after(lateMs, write);
    else write();
    return this.#answer(200, { success: true, data: this.shown(changed) });
  }

  #price({ terminalId, product, price, unit }: Record<string, unknown>): void {
    const effectiveAt = this.#world.iso();
    const fields = {
      companyId: US,
      terminalId,
      product,
      price,
      unit,
      spread: 0,
      indexSource: null,
      expiresAt: null,
      effectiveAt,
    };
    const name = `${String(terminalId)}|${String(product)}`;
    const id =
      [...this.prices.values()].find((one) => one.fields["name"] === name)?.id ?? this.newId();
    this.put(this.prices, id, { ...fields, name });
  }

  #created(table: Map<string, Stored>, fields: Record<string, unknown>, lateMs: number): Exchange {
    const id = this.newId();
    this.put(table, id, fields, lateMs);
    return this.#answer(201, { success: true, data: this.shown(table.get(id) as Stored) });
  }

  #lossy(answer: Exchange): Exchange {
    return this.#world.happens("answer lost") ? TORN : answer;
  }

  #headers(): Record<string, string> {
    return { date: new Date(this.#world.wallMs).toUTCString() };
  }

  #answer(status: number, body: object): Exchange {
    return { kind: "answer", status, headers: this.#headers(), text: stringifyExact(body) };
  }

  #failure(status: number, code: string, more: object = {}): Exchange {
    return this.#answer(status, {
      success: false,
      error: { code, message: `the model says ${code}`, ...more },
    });
  }
}

const TORN: Exchange = { kind: "torn", detail: "ECONNRESET" };
const isTorn = ({ kind }: Exchange): boolean => kind === "torn";

/** Faults that are answered before anything is carried out. */
const REFUSALS = [
  ["unauthorised", 401, "INVALID_API_KEY"],
  ["forbidden", 403, "INSUFFICIENT_SCOPE"],
  ["retired", 410, "GONE"],
  ["unsupported", 405, "METHOD_NOT_ALLOWED"],
  ["moved", 307, "MOVED"],
  ["invalid", 400, "VALIDATION_ERROR"],
  ["not found", 404, "NOT_FOUND"],
  ["key missing", 400, "IDEMPOTENCY_KEY_REQUIRED"],
  ["key conflict", 409, "IDEMPOTENCY_KEY_CONFLICT"],
] as const;

/** One site is simulated: no other takes its keys (src/platform/sinks/every-site.test.ts). */
export const answerNames = Object.keys(answerRules).filter((name) => name !== "taken");

const nameOf = (exchange: Exchange, { method }: PlatformRequest, world: World): string =>
  answerOf(exchange, idsOf, new Date(world.wallMs), method).name;

/** Whatever has an id, or counts what it did. */
const idsOf = (data: unknown): string[] | null => {
  const { id, updated } = (data ?? {}) as { id?: unknown; updated?: unknown };
  return typeof id === "string" ? [id] : updated === undefined ? null : [];
};

const replayed = (answer: Exchange): Exchange =>
  answer.kind === "answer" && answer.status < 300
    ? { ...answer, headers: { ...answer.headers, "idempotency-replayed": "true" } }
    : answer;

export const connectionOf = (company: string, externalId: string) => ({
  fromCompanyId: US,
  toCompanyId: company,
  status: "ACCEPTED",
  message: null,
  erpId: externalId,
  paymentTerms: null,
  creditLimit: null,
});

const searched = (platform: Platform, { fields }: Stored): string =>
  [fields["invoiceNumber"], platform.companies.get(String(fields["toCompanyId"]))?.name]
    .join(" ")
    .toLowerCase();

/** Of our own company; of no other one is it told. */
const PROFILE = {
  id: US,
  name: "We",
  type: "SUPPLIER",
  dba: null,
  phone: null,
  website: null,
  logoUrl: null,
  billingStreet: null,
  billingCity: null,
  billingState: null,
  billingZip: null,
  createdAt: "2026-01-01T00:00:00.000Z",
};

const emptyTicket = {
  orderId: null,
  supplierCompanyId: US,
  receiverCompanyId: null,
  status: "DRAFT",
  bolNumber: null,
  driverName: null,
  carrierCompanyName: null,
  loadingTerminalName: null,
  destinationName: null,
  deliveryDate: null,
  productLines: null,
};

/** What the platform adds to an invoice that is created. */
const issued = (fields: Record<string, unknown>): Record<string, unknown> => ({
  companyId: US,
  orderId: null,
  status: "OUTSTANDING",
  paidAt: null,
  contractNumber: null,
  lineItems: (fields["lineItems"] as object[]).map((line, at) => ({
    ...line,
    id: idLike(at),
    invoiceId: idLike(0),
  })),
  taxLines: ((fields["taxLines"] ?? []) as object[]).map((line, at) => ({
    ...line,
    id: idLike(at),
    invoiceId: idLike(0),
  })),
});

const idLike = (at: number): string => `00000000-0000-4000-9000-${String(at).padStart(12, "0")}`;
