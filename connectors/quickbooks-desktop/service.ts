/**
 * The SOAP service that the Web Connector calls: one POST address, and a page for people. SOAP 1.1 as the QuickBooks Web
 * Connector speaks it (it knows Intuit's WSDL by heart): document/literal, one namespace, elements by their local names. The
 * `Style` of a .qwc file changes how it encodes a request (types as attributes, a prefix); the local names stay.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { z } from "zod";
import type { Notebook, Presence } from "../../src/core/contract.ts";
import { isSameSecret, sha256Hex } from "../../src/core/keys.ts";
import { LedgerError } from "../../src/ledger/port.ts";
import type { DesktopConfig } from "./config.ts";
import {
  type Asked,
  elementIn,
  escaped,
  hresultOf,
  isOf,
  NOT_HERE,
  repliesIn,
  unread,
  WRONG_PASSWORD,
} from "./qbxml.ts";
import { HOUR_MS } from "../../src/core/time.ts";

type Result = string | readonly string[];

interface Site {
  readonly config: DesktopConfig;
  readonly mailbox: Mailbox;
}

interface OperationRow {
  /** The names of its arguments in Intuit's order. */
  readonly takes: string;
  /** @param given its arguments by their names, empty text where one is not there */
  run(site: Site, given: Readonly<Record<string, string>>): Result | Promise<Result>;
}

export const operations = {
  serverVersion: { takes: "", run: () => "fuelbridge" },
  clientVersion: { takes: "strVersion", run: () => "" },
  authenticate: { takes: "strUserName strPassword", run: authenticated },
  sendRequestXML: {
    takes: "ticket strHCPResponse strCompanyFileName qbXMLCountry qbXMLMajorVers qbXMLMinorVers",
    run: ({ mailbox }, { ticket = "" }) => mailbox.next(ticket),
  },
  receiveResponseXML: {
    takes: "ticket response hresult message",
    run: async ({ mailbox }, { ticket = "", response = "", hresult = "", message = "" }) =>
      String(await mailbox.take(ticket, response, hresult, message)),
  },
  connectionError: {
    takes: "ticket hresult message",
    run: ({ mailbox }, { ticket = "", hresult = "", message = "" }) =>
      mailbox.broken(ticket, hresult, message),
  },
  getLastError: {
    takes: "ticket",
    run: ({ mailbox }, { ticket = "" }) => mailbox.lastError(ticket),
  },
  closeConnection: {
    takes: "ticket",
    run: ({ mailbox }, { ticket = "" }) => mailbox.close(ticket),
  },
} as const satisfies Record<string, OperationRow>;

export type Operation = keyof typeof operations;

/** @throws LedgerError when it is no call of an operation */
export function callIn(text: string) {
  const envelope = elementIn(text);
  const [call] = envelope.child("Body")?.below ?? [];
  if (envelope.name !== "Envelope" || call === undefined)
    throw unread("it is no SOAP envelope with a body");
  if (!Object.hasOwn(operations, call.name)) throw unread(`there is no operation ${call.name}`);
  const given = Object.fromEntries(call.below.map(({ name, content }) => [name, content]));
  return { operation: call.name as Operation, given };
}

function authenticated(
  { config, mailbox }: Site,
  { strUserName: user = "", strPassword: password = "" }: Readonly<Record<string, string>>,
): Result {
  const isRight = [isSameSecret(user, config.user), isSameSecret(password, config.password)].every(
    Boolean,
  );
  if (isRight) return [mailbox.begin(), config.companyFile];
  mailbox.refuse(
    "the Web Connector came with another user name or password",
    "In the Web Connector, click the password of this application and type the configured one; or add the .qwc file of `fuelbridge quickbooks qwc` again.",
  );
  return ["", "nvu"];
}

const NAMESPACE = "http://developer.intuit.com/";
const DECLARATION = '<?xml version="1.0" encoding="utf-8"?>';

const enveloped = (body: string): string =>
  `${DECLARATION}<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>${body}</soap:Body></soap:Envelope>`;

/** The envelope of an answer. A list becomes `<string>` elements of the same namespace (never of an array type). */
function envelopeOf(operation: Operation, result: Result): string {
  const inner =
    typeof result === "string"
      ? escaped(result)
      : result.map((one) => `<string>${escaped(one)}</string>`).join("");
  return enveloped(
    `<${operation}Response xmlns="${NAMESPACE}"><${operation}Result>${inner}</${operation}Result></${operation}Response>`,
  );
}

/** Bytes of the largest call: a page of records, escaped. */
const BODY_MAX = 48_000_000;

export type Service = Awaited<ReturnType<typeof openService>>;

/** Listens. @throws the system's error where it cannot */
export async function openService(config: DesktopConfig, folder: string, mailbox: Mailbox) {
  const { url, listen, certificate, key } = config;
  const { protocol, port } = new URL(url);
  const { fetch } = serving(config, mailbox);
  const listener = getRequestListener(fetch, { overrideGlobalObjects: false });
  const handle = (request: IncomingMessage, response: ServerResponse): void =>
    void listener(request, response);
  const read = (path: string | undefined): Buffer => readFileSync(resolve(folder, path ?? ""));
  const limits = { requestTimeout: 120_000, headersTimeout: 20_000, maxHeaderSize: 16_384 };
  const server: Server =
    protocol === "http:"
      ? createServer(limits, handle)
      : createTlsServer({ ...limits, cert: read(certificate), key: read(key) }, handle);
  await once(server.listen(Number(port), listen), "listening");
  return {
    close: () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

const xml = (body: string, status = 200): Response =>
  new Response(body, { status, headers: { "content-type": "text/xml; charset=utf-8" } });

const fault = (status: number, message: string): Response =>
  xml(
    enveloped(
      `<soap:Fault><faultcode>soap:Client</faultcode><faultstring>${escaped(message)}</faultstring></soap:Fault>`,
    ),
    status,
  );

const tooLarge = (): Response => fault(413, "The call is too large.");

/** As the Web Connector writes. Anything else is refused, and no letter of it is guessed. */
const UTF_8 = new TextDecoder("utf-8", { fatal: true });

function serving(config: DesktopConfig, mailbox: Mailbox): Hono {
  const path = new URL(config.url).pathname;
  return new Hono()
    .get("*", ({ text }) => text("fuelbridge serves the QuickBooks Web Connector here.\n"))
    .post(path, bodyLimit({ maxSize: BODY_MAX, onError: tooLarge }), async ({ req }) => {
      const { operation, given } = callIn(UTF_8.decode(await req.arrayBuffer()));
      const row: OperationRow = operations[operation];
      return xml(envelopeOf(operation, await row.run({ config, mailbox }, given)));
    })
    .notFound(() => fault(404, "There is no such service."))
    .onError((error) =>
      fault(
        500,
        error instanceof LedgerError
          ? `${error.message}.`
          : "fuelbridge cannot serve the call now.",
      ),
    );
}

/** Of this program, at every site. */
const OWNER = "{3f0b2d8e-5c1a-4c8a-9a61-7f0f1f6f2a11}";

/** The `.qwc` file that an administrator opens in the Web Connector: who calls which address. It has no password. */
export const qwcOf = (config: DesktopConfig): string => `<?xml version="1.0"?>
<QBWCXML>
  <AppName>${escaped(`fuelbridge - ${config.company}`)}</AppName>
  <AppID></AppID>
  <AppURL>${escaped(config.url)}</AppURL>
  <AppDescription>Keeps QuickBooks and the fuel-logistics platform in step</AppDescription>
  <AppSupport>${escaped(new URL("/support", config.url).href)}</AppSupport>
  <UserName>${escaped(config.user)}</UserName>
  <OwnerID>${OWNER}</OwnerID>
  <FileID>{${config.fileId}}</FileID>
  <QBType>QBFS</QBType>
  <Style>Document</Style>
  <Scheduler><RunEveryNMinutes>10</RunEveryNMinutes></Scheduler>
  <IsReadOnly>false</IsReadOnly>
</QBWCXML>
`;

/*
 * QuickBooks calls us: what is to be asked waits here until its Web Connector comes for it. One session at a time; a new
 * one ends the one before. A question that was handed over and has no answer is `torn`: nobody knows what became of it.
 * One that was not handed over is `not-sent`. A session goes on over a restart ({@link Visit}); what was asked before it
 * has nobody who waits for the answer, and is looked for again.
 */

interface Question extends Asked {
  readonly resolve: (answer: string) => void;
  readonly reject: (error: LedgerError) => void;
}

/** Why QuickBooks is not here, in words for people. */
interface Absence {
  readonly message: string;
  readonly next: string;
  /** The Web Connector came with a wrong user or password. */
  readonly isCredentials: boolean;
  /** Nothing is known to be wrong: it comes again by itself. */
  readonly isUsual: boolean;
}

/** `deadlineMs`: how long the answer to one question may take, and the Web Connector stay silent. */
interface Given extends Pick<DesktopConfig, "holdMs" | "lingerMs" | "deadlineMs"> {
  /** The time now, ms since 1970 in UTC. */
  readonly now: () => number;
  /** A session began: what waited for it may go. */
  readonly arrived: () => void;
  /** What outlives this process. Left out: what is known of sessions ends with it. */
  readonly notebook?: Notebook | undefined;
}

/**
 * What is known of the last session beyond this process. A ticket is kept as its hash: who reads the store cannot go on with
 * a session. What was handed over is known by the id of its requests, which QuickBooks echoes.
 */
const Visit = z.object({
  /** SHA-256 of its ticket. */
  ticket: z.string(),
  /** What was handed over and not answered: the id of its requests. Null: nothing. */
  handed: z.string().nullable(),
  /** When it began, or something was last handed over or answered; ISO 8601 UTC. */
  heardAt: z.string(),
  /** Null: it is going on, or whoever served it is no more. */
  endedAt: z.string().nullable(),
});
type Visit = z.infer<typeof Visit>;

/** What a notebook has under a name; null: nothing, or something in another form. */
export function keptIn<T>(notebook: Notebook | undefined, name: string, schema: z.ZodType<T>) {
  const text = notebook?.get(name) ?? null;
  return text === null ? null : (schema.safeParse(JSON.parse(text)).data ?? null);
}

const SESSION = "session";
/** Since when it is expected: what its silence is measured from while it has never called. */
const EXPECTED = "expected";

/** What `authenticate` and the calls after it answer, as the Web Connector expects it. */
export class Mailbox {
  readonly #given: Given;
  #visit: Visit | null;
  /** The ticket of the live session; null: nobody is there. */
  #ticket: string | null = null;
  /** Why nobody is there. */
  absence: Absence;
  #lastError = "";
  /** Sessions that there were, the open one included. */
  sessions = 0;
  readonly #waiting: Question[] = [];
  #handed: Question | null = null;
  #answered = 0;
  #lastAskedAt = 0;
  #watch: NodeJS.Timeout | undefined;
  /** From then on nothing is stored and nothing is waited for: the store may be closed. */
  #isStopped = false;
  /** Wakes calls that are held, and those who wait for a session. */
  #stirred = Promise.withResolvers<false>();

  constructor(given: Given) {
    this.#given = given;
    this.#visit = keptIn(given.notebook, SESSION, Visit);
    this.absence = absent(
      this.lastAt === null ? "the Web Connector has never called" : lastSession(this.lastAt),
    );
  }

  get isOpen(): boolean {
    return this.#ticket !== null;
  }

  /** When somebody was last here, ISO 8601 UTC; null: never. */
  get lastAt(): string | null {
    return this.#visit?.endedAt ?? this.#visit?.heardAt ?? null;
  }

  /** It is expected from now on, unless it was before. @throws StorageError */
  expected(): void {
    const { notebook } = this.#given;
    if (notebook?.get(EXPECTED) === null) notebook.set(EXPECTED, this.#iso());
  }

  /** Null: it was here within `limitMs`, or nobody ever expected it. */
  silence(limitMs: number): Presence["silence"] {
    const { lastAt } = this;
    const since = lastAt ?? this.#given.notebook?.get(EXPECTED) ?? null;
    if (since === null || this.#given.now() - Date.parse(since) <= limitMs) return null;
    const hours = Math.round(limitMs / HOUR_MS);
    return {
      since,
      limitMs,
      message: `${lastAt === null ? "The Web Connector has never called, and was expected since" : "The Web Connector was last here at"} ${since}; it is expected at least every ${hours} ${hours === 1 ? "hour" : "hours"} (expectEvery).`,
      next: "On the machine with QuickBooks, look whether the Web Connector runs, shows no error and has Auto-Run ticked; press Update Selected. If that machine is meant to be off for so long, raise expectEvery.",
    };
  }

  /** A session begins. Its ticket. @throws StorageError, Error when fuelbridge stops */
  begin(): string {
    if (this.#isStopped) throw new Error("fuelbridge stops");
    this.#end("a new session of the Web Connector has begun");
    const ticket = randomUUID();
    this.#keep({ ticket: sha256Hex(ticket), handed: null, heardAt: this.#iso(), endedAt: null });
    this.#open(ticket);
    return ticket;
  }

  refuse(message: string, next: string): void {
    if (this.isOpen) return;
    this.absence = { message, next, isCredentials: true, isUsual: false };
    this.#stir();
  }

  /** Hands it to the next call of the Web Connector. @throws LedgerError */
  async ask(asked: Asked, signal: AbortSignal): Promise<string> {
    if (signal.aborted) throw stopped();
    if (!this.isOpen) throw this.#notHere();
    const { promise, ...settle } = Promise.withResolvers<string>();
    const question: Question = { ...asked, ...settle };
    const stop = (): void => {
      const at = this.#waiting.indexOf(question);
      if (at < 0) return;
      this.#waiting.splice(at, 1);
      question.reject(stopped());
    };
    signal.addEventListener("abort", stop, { once: true });
    this.#waiting.push(question);
    this.#lastAskedAt = this.#given.now();
    this.#stir();
    return await promise.finally(() => signal.removeEventListener("abort", stop));
  }

  /** Resolves when somebody is there, or was refused, or after `ms`. */
  expect(ms: number, signal: AbortSignal): Promise<void> {
    return this.#until(() => this.isOpen || this.absence.isCredentials || signal.aborted, ms);
  }

  /** `sendRequestXML`: the next question; empty: none is there. @throws StorageError */
  async next(ticket: string): Promise<string> {
    if (!this.#is(ticket)) return "";
    // A question that was handed over and never answered: the Web Connector lost it.
    this.#tear("the Web Connector asks for the next request and never answered the last one");
    await this.#held(ticket);
    if (!this.#is(ticket)) return "";
    const [question] = this.#waiting;
    if (question === undefined) {
      this.#lastError = this.#lingers() ? NO_OP : "Nothing is waiting.";
      return "";
    }
    this.#hand(question.id);
    this.#waiting.shift();
    this.#handed = question;
    return question.xml;
  }

  /** `receiveResponseXML`: percent done; negative: an error, which {@link lastError} tells. @throws StorageError */
  async take(ticket: string, response: string, hresult: string, message: string): Promise<number> {
    if (this.#isOfBefore(ticket)) {
      // Who asked is no more, and looks for it again. Provably that answer, the session goes on; anything else ends it.
      const { handed = null } = this.#visit ?? {};
      if (handed === null || !answers(response, handed)) {
        this.#over();
        this.#lastError = EXPIRED;
        return -1;
      }
      this.#hand(null);
      this.#open(ticket);
      return await this.#percent(ticket);
    }
    if (!this.#is(ticket)) return -1;
    const handed = this.#handed;
    this.#hand(null);
    this.#handed = null;
    if (handed === null) {
      this.#lastError = "Nothing was asked.";
      return -1;
    }
    if (DONE.test(hresult.trim())) {
      this.#answered++;
      handed.resolve(response);
    } else {
      const { sort, says } = hresultOf(hresult, message);
      const isUnread = sort === "parse";
      const code = isUnread ? hresult.trim().toLowerCase() : null;
      handed.reject(new LedgerError(isUnread ? "answered" : "torn", says, { code }));
      if (!isUnread) return this.#fail(hresult, message);
    }
    return await this.#percent(ticket);
  }

  /** `connectionError`: QuickBooks cannot be opened. */
  broken(ticket: string, hresult: string, message: string): string {
    if (this.#is(ticket)) this.#fail(hresult, message);
    return "done";
  }

  lastError(ticket: string): string {
    const isKnown = this.isOpen ? this.#is(ticket) : this.#lastError !== "";
    return isKnown ? this.#lastError : EXPIRED;
  }

  /** `closeConnection`. */
  close(ticket: string): string {
    if (this.#isOfBefore(ticket)) this.#over();
    else if (this.#is(ticket)) this.#end("the session is over");
    return "OK";
  }

  /** fuelbridge stops: the session may go on with the process after it. */
  stop(): void {
    this.#isStopped = true;
    this.#left("fuelbridge stops", absent(lastSession(this.#iso())));
  }

  /** A process before this one began the session of this ticket, and nobody is here now. */
  #isOfBefore(ticket: string): boolean {
    const visit = this.#visit;
    return (
      !this.#isStopped &&
      this.#ticket === null &&
      visit !== null &&
      visit.endedAt === null &&
      visit.ticket === sha256Hex(ticket) &&
      Math.abs(this.#given.now() - Date.parse(visit.heardAt)) <= this.#given.deadlineMs
    );
  }

  /** Somebody with the ticket of the session called: it lives, or it goes on over a restart. */
  #is(ticket: string): boolean {
    if (this.#isOfBefore(ticket)) this.#open(ticket);
    if (ticket !== this.#ticket) return false;
    this.#heard();
    return true;
  }

  #open(ticket: string): void {
    this.#ticket = ticket;
    this.sessions++;
    this.#lastError = "";
    this.#answered = 0;
    this.#lastAskedAt = this.#given.now();
    this.#heard();
    this.#given.arrived();
    this.#stir();
  }

  async #percent(ticket: string): Promise<number> {
    await this.#held(ticket);
    if (!this.#is(ticket)) return -1;
    return this.#waiting.length > 0 || this.#lingers() ? Math.min(99, this.#answered) : 100;
  }

  /** Ends the session, and says so in the Web Connector and until another session is well. @throws StorageError */
  turnAway(message: string, next: string): void {
    this.#end(message, { message, next, isCredentials: false, isUsual: false });
    this.#lastError = `${message}. ${next}`;
  }

  #fail(hresult: string, message: string): number {
    const { says, next } = hresultOf(hresult, message);
    this.turnAway(says, next);
    return -1;
  }

  /** @param absence left out: the session was closed as it should be. @throws StorageError */
  #end(why: string, absence = absent(lastSession(this.#iso()))): void {
    if (!this.isOpen) return;
    this.#left(why, absence);
    this.#over();
  }

  #left(why: string, absence: Absence): void {
    clearTimeout(this.#watch);
    if (!this.isOpen) return;
    this.#ticket = null;
    // Who waits with this ticket (NoOp) is told that it is over.
    this.#lastError = "";
    this.absence = absence;
    this.#tear(`${why}, and the answer did not come`);
    for (const question of this.#waiting.splice(0)) question.reject(this.#notHere());
    this.#stir();
  }

  #tear(why: string): void {
    const handed = this.#handed;
    this.#handed = null;
    handed?.reject(new LedgerError("torn", why));
  }

  #notHere(): LedgerError {
    const { message, isCredentials } = this.absence;
    const code = isCredentials ? WRONG_PASSWORD : NOT_HERE;
    return new LedgerError("answered", message, { code });
  }

  #heard(): void {
    clearTimeout(this.#watch);
    const silent = "the Web Connector has fallen silent";
    this.#watch = setTimeout(() => this.#end(silent, SILENT), this.#given.deadlineMs).unref();
  }

  #lingers(): boolean {
    return this.#given.now() - this.#lastAskedAt < this.#given.lingerMs;
  }

  #held(ticket: string): Promise<void> {
    const isOver = (): boolean => this.#ticket !== ticket || this.#waiting.length > 0;
    return this.#until(isOver, this.#given.holdMs);
  }

  async #until(isOver: () => boolean, ms: number): Promise<void> {
    const timer = new AbortController();
    const late = pause(ms, true, timer).catch(() => true);
    for (let isLate = false; !isLate && !isOver();)
      isLate = await Promise.race([this.#stirred.promise, late]);
    timer.abort();
  }

  #stir(): void {
    this.#stirred.resolve(false);
    this.#stirred = Promise.withResolvers();
  }

  /** @param id of what is handed over; null: it was answered. Durable when it returns, as what follows. @throws StorageError */
  #hand(id: string | null): void {
    if (this.#visit !== null) this.#keep({ ...this.#visit, handed: id, heardAt: this.#iso() });
  }

  #over(): void {
    if (this.#visit?.endedAt === null)
      this.#keep({ ...this.#visit, handed: null, endedAt: this.#iso() });
  }

  #keep(visit: Visit): void {
    this.#given.notebook?.set(SESSION, JSON.stringify(visit));
    this.#visit = visit;
  }

  #iso(): string {
    return new Date(this.#given.now()).toISOString();
  }
}

/** Every reply says that it answers this question, and there is one. */
function answers(response: string, id: string): boolean {
  try {
    const replies = repliesIn(response);
    return replies.length > 0 && replies.every(({ request }) => isOf(request ?? "", id));
  } catch (error) {
    if (error instanceof LedgerError) return false;
    throw error;
  }
}

/** No `hresult`, or that of success. */
const DONE = /^(?:(?:0x)?0+)?$/i;

const stopped = (): LedgerError => new LedgerError("not-sent", "it was told to stop");

const lastSession = (at: string): string => `the last session of the Web Connector ended at ${at}`;
const absent = (message: string): Absence => ({
  message,
  next: "It goes on with the next session: by itself with Auto-Run on, at once with Update Selected in the Web Connector on the machine with QuickBooks.",
  isCredentials: false,
  isUsual: true,
});
const SILENT: Absence = {
  message: "the Web Connector fell silent in the middle of a session",
  next: "On the machine with QuickBooks, look whether QuickBooks shows a dialog; close it, then press Update Selected in the Web Connector.",
  isCredentials: false,
  isUsual: false,
};
/** `getLastError` for "come again in a few seconds". */
const NO_OP = "NoOp";
const EXPIRED = "This session is over. The next one goes on where it was.";
