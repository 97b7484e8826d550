/**
 * Tryton's JSON-RPC: one call is one transaction of its database. A session is opened with the first call and again
 * when Tryton has ended it; what a failed call proves is its {@link LedgerError}.
 */
import { createHash } from "node:crypto";
import type { Surroundings } from "../../src/core/contract.ts";
import { isWithin } from "../../src/core/time.ts";
import { errorTable } from "../../src/ledger/errors.ts";
import { LedgerError } from "../../src/ledger/port.ts";
import { openLine } from "../../src/ledger/rest.ts";
import type { TrytonConfig } from "./config.ts";
import * as rpc from "./rows.ts";

/*
 * What differs between the releases of Tryton that this connector works with. Nothing else here asks which one it is.
 * A release that no test runs against is taken for the newest tested one that is not newer, and `doctor` says so.
 */

/** A button's name in a release. */
export const buttonIn = ({ buttons }: Pick<Release, "buttons">, name: string): string =>
  (buttons as Readonly<Record<string, string>>)[name] ?? name;

/** Series that all tests of this connector run against: test/support/tryton-releases.ts. */
export const TESTED: readonly string[] = ["6.0", "8.0"];

type Names = Readonly<Record<string, readonly string[]>>;
type Places = Readonly<Record<"sale" | "purchase", Names>>;
type Calls = readonly (readonly [method: string, params: readonly unknown[]])[];

/** Of what 7.0 has as 6.0 has it, and of what it has as 8.0 does. */
const since8 = <Old, New>(old: Old, now: New) => [old, old, now] as const;
const since7 = <Old, New>(old: Old, now: New) => [old, now, now] as const;

/** What is called, or done, in 6.0, in 7.0 and in 8.0. */
const NAMES = {
  /** The path, below the server's address, of the calls of a database. */
  pathOf: since8(
    (database: string) => `/${encodeURIComponent(database)}/`,
    (database: string) => `/${encodeURIComponent(database)}/rpc/`,
  ),
  /** `stock.move`: its unit of measure. */
  moveUnit: since7("uom", "unit"),
  /** Buttons of shipments that releases call otherwise; the others have one name. 6.0 picks what nobody has assigned. */
  buttons: [
    { assign: "pick", end: "done" },
    { assign: "assign_force", end: "done" },
    { assign: "assign_force", end: "do" },
  ],
  /**
   * Fields of a new shipment that clients fill in, each with the fields of the warehouse (`stock.location`) of which the
   * first that is not empty is its value.
   */
  places: since7<Places, Places>(
    { sale: {}, purchase: {} },
    {
      sale: {
        warehouse_storage: ["picking_location", "storage_location"],
        warehouse_output: ["output_location"],
      },
      purchase: {
        warehouse_input: ["input_location"],
        warehouse_storage: ["storage_location"],
      },
    },
  ),
  /**
   * When may an order ignore a move that will not come: `before` it is cancelled, written on the order's line, or
   * `after`, by the wizard of the order's exception?
   */
  ignores: since8("before", "after"),
  /** `party.address`: the building, or whoever it is sent to. */
  addressName: since8("name", "building_name"),
  /** `ir.model`: a model's name. */
  modelName: since8("model", "name"),
  /** `ir.model.button`, `ir.model.field`: the name of the model that they belong to, in domains and reads. */
  ofModel: since8("model.model", "model"),
  /** Fields of the pay wizard's first form beyond those that all releases have. `party`: the invoice's, a database id. */
  payForm: since7(
    () => ({ currency_digits: 2 }),
    (party: number) => ({ payee: party }),
  ),
  /** The name by which a warning of this kind about one invoice (a database id) is accepted. */
  warningOf: since7(
    (kind: string, invoice: number) => `${kind}_${invoice}`,
    (kind: string, invoice: number) =>
      `${createHash("md5").update(`account.invoice,${invoice}`).digest("hex")}.${kind}`,
  ),
  /** Calls by which a user (a database id) accepts warnings of these names, once each. */
  accepting: since7(
    (user: number, names: readonly string[]): Calls => [
      ["model.res.user.warning.create", [names.map((name) => ({ user, name, always: false }))]],
    ],
    (_user: number, names: readonly string[]): Calls =>
      names.map((name) => ["model.res.user.warning.skip", [name, false]]),
  ),
  /** Models that need no right: the server checks by itself that a user changes only what is his. */
  ownModels: since7([] as readonly string[], ["res.user.warning"] as readonly string[]),
} as const;

type Release = { readonly [Name in keyof typeof NAMES]: (typeof NAMES)[Name][0 | 1 | 2] } & {
  /** What the server says of itself: `6.0.29`; newer servers say their series only. */
  readonly version: string;
  /** Major and minor: `8.0`. */
  readonly series: string;
  /** Since 8.2 it refuses what clients show as read only, and a number is: of an invoice and of a shipment. */
  readonly takesNumbers: boolean;
};

/** Where a server may be asked for its version (`common.server.version`): newer releases first. */
const VERSION_PATHS = ["/rpc/", "/"] as const;

export function releaseOf(version: string): Release {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const at = major >= 8 ? 2 : major === 7 ? 1 : 0;
  const names = Object.entries(NAMES).map(([name, its]) => [name, its[at]] as const);
  const takesNumbers = major < 8 || (major === 8 && minor < 2);
  const series = `${major}.${minor}`;
  return { ...Object.fromEntries(names), version, series, takesNumbers } as Release;
}

/** The kind of a warning, by its name: `invoice_payment_term_12`, `<md5>.invoice_payment_term`. */
export const isWarningOf = (kind: string, name: string): boolean =>
  name.startsWith(`${kind}_`) || name.endsWith(`.${kind}`);

/** Tryton numbers in the order of dates, and a later one has its number. The sentence: Tryton sends no code. */
export const DATE_ORDER = /must set an (?:accounting|invoice) date after/;

/*
 * What a call of Tryton fails with: a {@link LedgerError} whose code says what Tryton, or its HTTP status, said. Nothing has
 * happened then, but after `server` (any other exception: rolled back, unless it came up while the answer was written).
 */

const failed = (code: string, message: string, waitMs?: number): LedgerError =>
  new LedgerError("answered", message, { code, waitMs });

const notSent = (message: string): LedgerError => new LedgerError("not-sent", message);

/** Tryton wants a yes, which is given by the warning's name. */
export class TrytonWarning extends LedgerError {
  readonly warning: string;

  constructor(message: string, warning: string) {
    super("answered", message, { code: "warning" });
    this.warning = warning;
  }
}

/** Somebody else is at it: nothing of ours has happened, and it goes on after `waitMs`. */
export const busy = (message: string, waitMs?: number): LedgerError =>
  failed("busy", message, waitMs);

/** The record has changed since it was read. */
export const changed = (message: string): LedgerError => failed("concurrency", message);

/** Did Tryton say one of these? */
export const isOf = (error: unknown, ...codes: readonly string[]): error is LedgerError =>
  error instanceof LedgerError && codes.includes(error.code ?? "");

/** Did Tryton say it so? It sends no codes for its rules. */
export const says = (error: unknown, words: RegExp): error is LedgerError =>
  error instanceof LedgerError && words.test(error.message);

const NO_RIGHT = "Give the synchronisation's user the groups that the connector's README names.";
const WRITTEN = "Somebody else is writing; it goes on by itself.";

/** Tryton's sentences that people act on differently, in its English. */
const TEXTS = {
  closed:
    /create a period for the date|closed (?:journal-)?period|period of move .* is closed|reopen the (?:period|fiscal year) "/,
  // A right that the user lacks: every document would fail, so the endpoint stops instead.
  barred:
    /not allowed to (?:access|execute wizard) "|Calling button .* is not allowed|allowed to create records of/,
  dateOrder: DATE_ORDER,
  ended: /The value for field "Account" in "[^"]+" is not valid according to its domain/,
};

/** By kind, and by those sentences. */
const errors = errorTable(
  {
    // A reader that may not read one model goes on with the others.
    "#refused@read data no-right": NO_RIGHT,
    "#refused~barred configuration:scope no-right": NO_RIGHT,
    "#refused~closed data closed-period":
      "An accountant opens the period in Tryton, and its journals (Entries > Journals - Periods), or books the document by hand: it is never booked on another date. Then retry.",
    "#refused~dateOrder data date-order":
      "Tryton numbers in the order of dates and a later one has its number: let the platform number (numbering: platform), or book this one by hand, then retry.",
    "#refused~ended data refused-by-tryton":
      "An account of the document is closed, has ended or is a heading in Tryton: fuelbridge doctor names it. An accountant opens it, or the cross-reference names another one; then retry.",
    "#refused data refused-by-tryton":
      "Correct in Tryton what it says, or the document where it comes from, then retry.",
    "#warning data needs-accountant":
      "Tryton asks for a person's yes: an accountant enters the document there by hand or removes the cause, then it is retried.",
    // Another writer had the lock, or the record.
    "#concurrency raced busy": WRITTEN,
    "#busy busy busy": WRITTEN,
    "#absent not-sent absent":
      "Correct url and database in the configuration, or start that database in Tryton.",
    "#throttled busy:credentials throttled":
      "Somebody tried wrong passwords; Tryton lets this user in again after a while.",
    "#unauthorised configuration:credentials unauthorised":
      "Correct user and password in the configuration, or the user in Tryton.",
    "#forbidden configuration:scope forbidden": NO_RIGHT,
    "#no-company not-sent no-company":
      "Correct company in the configuration, or add it to the companies of that user in Tryton and make it the current one (or set the user's Company Filter to All).",
  },
  TEXTS,
);

/** For the parts of src/ledger that tell people about these books and sort their errors. */
export const TRYTON = { name: "Tryton", errors } as const;

/** A throttled login counts as another failed one: trying within Tryton's own window (300 s) would keep it closed. */
const THROTTLED_MS = 330_000;

/**
 * Each flow asks for a session; one answer is enough for all that ask together. Five logins that fail within Tryton's window
 * keep the user out, then with the right password too.
 */
const REFUSED_MS = 30_000;

const STATUSES: Readonly<Record<number, string>> = {
  401: "unauthorised",
  403: "forbidden",
  404: "absent",
  405: "absent",
  429: "throttled",
};

/** Of an HTTP status that is not a success. Since 8.0 what the database says stands in the page of a 503. */
function faultOfStatus(method: string, status: number, page: string): LedgerError {
  const message = `${method}: HTTP ${status}`;
  const [, said = ""] = (status === 503 && /<p>([^<]*)/.exec(page)) || [];
  const known = faultOfDatabase(said, `${message} ${said.trim().replaceAll("&#34;", '"')}`);
  if (known !== null) return known;
  if (status >= 500) return new LedgerError("torn", message);
  return failed(STATUSES[status] ?? "server", message, status === 429 ? THROTTLED_MS : undefined);
}

/** Of the `error` member of an answer: `[name, [message, description, …]]`, or `[text, ""]` for what has no name. */
function faultOfError(method: string, error: unknown): LedgerError {
  const [name, parts] = [error].flat();
  const words = [parts].flat();
  const told = (from: number, to: number): string => sentence(method, words.slice(from, to));
  switch (name) {
    case "UserError":
      return RACED.test(String(words[0])) ? changed(told(0, 2)) : failed("refused", told(0, 2));
    case "UserWarning":
      return new TrytonWarning(told(1, 3), String(words[0]));
    case "ConcurrencyException":
      return changed(told(0, 1));
    default: {
      const text = sentence(method, [name === "LoginException" ? "the login asks for more" : name]);
      return faultOfDatabase(String(name), text) ?? failed("server", text);
    }
  }
}

/** What its database said; null: that does not tell that nothing was kept. */
function faultOfDatabase(said: string, message: string): LedgerError | null {
  if (BUSY.test(said)) return busy(message);
  return UNCONNECTED.test(said) ? notSent(message) : null;
}

const BUSY = /database is locked|could not serialize|could not obtain lock|deadlock detected/;
/** PostgreSQL took no connection, so there was no transaction; one that it closed may have been committed. */
const UNCONNECTED = /^(?:connection to server at|could not connect to server)/;
/** Two that post the first of a period and a journal at once: PostgreSQL lets one make what both need. */
const RACED = /only one journal per period/;
/** Of a domain that failed Tryton sends the whole, 25 kB and more. */
const SENTENCE_MAX = 400;

function sentence(method: string, words: readonly unknown[]): string {
  const text = words
    .filter((word) => typeof word === "string" && word.trim() !== "")
    .join(" ")
    .replaceAll(/\s+/g, " ");
  return `${method}: ${text.length > SENTENCE_MAX ? `${text.slice(0, SENTENCE_MAX)}…` : text}`;
}

/** Without `company` the user's own, without `deadlineMs` 120 s (a post of many computes for long). */
export type TrytonOptions = Pick<TrytonConfig, "url" | "database" | "user" | "password"> &
  Partial<Pick<TrytonConfig, "company" | "deadlineMs">>;

export interface Tryton extends rpc.Caller {
  /** @throws LedgerError */
  session(): Promise<rpc.Identity>;
  /** Which Tryton it is: asked with each login. @throws LedgerError */
  release(): Promise<Release>;
  /** Logs out. */
  close(): Promise<void>;
}

interface Session {
  readonly ask: Ask;
  readonly release: Release;
  readonly user: number;
  readonly authorization: string;
  readonly context: rpc.Context;
}

/** The call has not run, and a new login may help. */
const NO_SESSION = ["unauthorised", "absent"];
const DEADLINE_MS = 120_000;
/** A session that is left open ends by itself. */
const LOGOUT_MS = 5_000;

export function openTryton(
  options: TrytonOptions,
  surroundings: Pick<Surroundings, "note" | "now">,
): Tryton {
  const { askAt, close: hangUp } = openExchange(options);
  let session: Promise<Session> | null = null;
  /** The last login that failed, and how long none should be tried after it. */
  let last = { code: "", message: "", waitMs: 0, sinceMs: 0 };
  let closed: Promise<void> | null = null;

  /** Whoever comes while a login is under way waits for that one. */
  function current(): Promise<Session> {
    const nowMs = surroundings.now().getTime();
    if (isWithin(last.sinceMs, last.waitMs, nowMs)) {
      const { code, message, waitMs, sinceMs } = last;
      const restMs = code === "throttled" ? sinceMs + waitMs - nowMs : undefined;
      return Promise.reject(failed(code, message, restMs));
    }
    session ??= logIn(askAt, options).catch((error: unknown) => {
      session = null;
      const { code, message, waitMs } = error as LedgerError;
      const sinceMs = surroundings.now().getTime();
      if (code === "throttled" || code === "unauthorised")
        last = { code, message, waitMs: waitMs ?? REFUSED_MS, sinceMs };
      throw error;
    });
    return session;
  }

  /** A call that meets an ended session has not run, and is made once more in a new one. */
  async function within<T>(call: (session: Session) => Promise<T>): Promise<T> {
    const opened = current();
    const first = await opened;
    try {
      return await call(first);
    } catch (error) {
      if (!isOf(error, ...NO_SESSION)) throw error;
      surroundings.note("Tryton ended our session", { database: options.database });
      if (session === opened) session = null;
      return await call(await current());
    }
  }

  async function close(): Promise<void> {
    const open = (await session?.catch(() => null)) ?? null;
    session = null;
    const signal = AbortSignal.timeout(LOGOUT_MS);
    if (open) await open.ask("common.db.logout", [], { ...open, signal }).catch(() => {});
    await hangUp();
  }

  return {
    call: <T>(
      method: string,
      params: readonly unknown[],
      { context = {}, signal }: { context?: rpc.Context; signal?: AbortSignal } = {},
    ) =>
      within(({ ask, authorization, context: own }) =>
        ask(method, [...params, { ...own, ...context }], { authorization, signal }),
      ) as Promise<T>,
    async session() {
      const { user, context } = await current();
      return { user, company: (context["company"] as number | undefined) ?? null };
    },
    release: async () => (await current()).release,
    close: () => (closed ??= close()),
  };
}

/** The `result` of a call. @throws LedgerError */
type Ask = (
  method: string,
  params: readonly unknown[],
  how: { readonly authorization: string | null; readonly signal?: AbortSignal | undefined },
) => Promise<unknown>;

/**
 * Calls below the server's address, one at a time: Tryton computes in one process, and two that post at once only lock each
 * other out of the number sequence. No connection is used twice (trytond closes each).
 */
function openExchange({ url, deadlineMs = DEADLINE_MS }: TrytonOptions) {
  const line = openLine({ url, deadlineMs, connections: 1 });
  let turn: Promise<unknown> = Promise.resolve();
  let requests = 0;
  const askAt =
    (path: string): Ask =>
    async (method, params, { authorization, signal }) => {
      const body = rpc.encode({ id: ++requests, method, params });
      const headers = { ...JSON_PLAIN, ...(authorization === null ? {} : { authorization }) };
      const post = () => line.ask(path, method, { reset: true, headers, body, signal });
      const answered = turn.then(post);
      turn = answered.catch(() => {});
      const { status, text } = await answered;
      if (status !== 200) throw faultOfStatus(method, status, text);
      const { result, error } = answerIn(text);
      if (error !== undefined) throw faultOfError(method, error);
      if (result !== undefined) return result;
      throw new LedgerError("torn", `${method}: the answer is no answer of Tryton's`);
    };
  return { askAt, close: line.close };
}

const JSON_PLAIN = {
  accept: "application/json",
  "accept-encoding": "identity",
  "content-type": "application/json",
};

/** Empty for what is no JSON-RPC. */
function answerIn(text: string): { readonly result?: unknown; readonly error?: unknown } {
  try {
    return rpc.decode(text) ?? {};
  } catch {
    return {};
  }
}

/** @throws LedgerError; never `torn` or `server`, for the call that wanted a session has not been made */
async function logIn(askAt: (path: string) => Ask, options: TrytonOptions): Promise<Session> {
  try {
    const { database, user, password, company } = options;
    const release = await releaseAt(askAt);
    const ask = askAt(release.pathOf(database));
    const answer = await ask("common.db.login", [user, { password }, LANGUAGE], {
      authorization: null,
    }).catch((error: unknown) => {
      if (!isOf(error, "absent")) throw error;
      throw notSent(`${error.message}: Tryton has no database "${database}"`);
    });
    const [id, key] = answer as [number, string];
    const authorization = `Session ${Buffer.from(`${user}:${id}:${key}`).toString("base64")}`;
    const preferences = await ask("model.res.user.get_preferences", [true, {}], { authorization });
    const context = contextOf(preferences as rpc.Context);
    const session = { ask, release, user: id, authorization, context };
    if (company === undefined) return session;
    const its = await companyOf(session, company, user);
    // Tryton's rules go by the user, never by what a call says of its company.
    const { company_filter: shown, company: chosen } = preferences as rpc.Context;
    if (shown !== "all" && chosen !== its)
      throw failed(
        "no-company",
        `Tryton shows the user ${user} the records of its current company only, and that is not "${company}"`,
      );
    return { ...session, context: { ...context, company: its } };
  } catch (error) {
    const isUnasked =
      isOf(error, "server", "absent") || (error instanceof LedgerError && error.phase === "torn");
    throw isUnasked ? notSent(error.message) : error;
  }
}

/** A path that a release does not have answers 4xx: older ones take the first for a database that wants a login. */
async function releaseAt(askAt: (path: string) => Ask): Promise<Release> {
  let fault: unknown;
  for (const path of VERSION_PATHS) {
    try {
      const version = await askAt(path)("common.server.version", [], { authorization: null });
      return releaseOf(String(version));
    } catch (error) {
      if (!isOf(error, "unauthorised", "forbidden", "absent")) throw error;
      fault = error;
    }
  }
  throw fault;
}

/** Only a company that the user is in: Tryton would take any, and then refuse every record. */
async function companyOf(
  { ask, user, authorization, context }: Session,
  name: string,
  login: string,
): Promise<number> {
  const tryton = {
    call: async <T>(method: string, params: readonly unknown[]): Promise<T> =>
      (await ask(method, [...params, context], { authorization })) as T,
  };
  const { companies } = await rpc.rowOf({ tryton }, "res.user", user, rpc.idLists("companies"));
  const domain = rpc.where({ "id in": companies, "party.name =": name });
  const [id, another] = await rpc.idsOf({ tryton }, "company.company", domain, { most: 2 });
  if (id !== undefined && another === undefined) return id;
  const many = id === undefined ? "no" : "more than one";
  throw failed("no-company", `Tryton has ${many} company "${name}" for the user ${login}`);
}

/** Its sentences are compared and shown: they stay in one language. */
const LANGUAGE = "en";

/** Of the preferences those that calls depend on; the rest is for clients that show them. */
function contextOf({ company, employee }: rpc.Context): rpc.Context {
  return {
    ...(company === undefined ? {} : { company }),
    ...(employee === undefined ? {} : { employee }),
    language: LANGUAGE,
  };
}
