/**
 * QuickBooks calls us: what is to be asked waits here until its Web Connector comes for it. One session at a time; a new
 * one ends the one before. A question that was handed over and has no answer is `torn`: nobody knows what became of it.
 * One that was not handed over is `not-sent`. A session goes on over a restart ({@link Visits}); what was asked before it
 * has nobody who waits for the answer, and is looked for again.
 */
import { createHash, randomUUID } from "node:crypto";
import { z } from "zod";
import type { Notebook } from "../../src/core/contract.ts";
import type { Presence } from "../../src/core/presence.ts";
import { LedgerError } from "../../src/ledger/port.ts";
import { type Asked, isOf, repliesIn } from "./qbxml.ts";

/**
 * What the Web Connector and QuickBooks say in `hresult` instead of an answer. `parse`: nothing of the document was carried
 * out; every other one leaves unknown what happened, where a document was under way.
 */
interface Hresult {
  readonly sort: "parse" | "unknown";
  /** What it means. */
  readonly means: string;
  /** What a person at that machine should do. */
  readonly next: string;
}

const TABLE: Readonly<Record<string, readonly [means: string, next: string, sort?: "parse"]>> = {
  "0x80040400": [
    "QuickBooks could not read the request",
    "This is a fault in fuelbridge: report it with the line of the log.",
    "parse",
  ],
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

/** @param code as it came: hexadecimal digits in any case */
export function hresultOf(code: string): Hresult {
  const [means, next, sort = "unknown"] = TABLE[code.trim().toLowerCase()] ?? [
    "QuickBooks or the Web Connector failed",
    "Read the Web Connector's log (View Log) and qbsdklog.txt on that machine.",
  ];
  return { means, next, sort };
}

interface Question extends Asked {
  readonly answered: (xml: string) => void;
  readonly failed: (error: LedgerError) => void;
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

interface Timing {
  /** How long a call of the Web Connector is held while nothing is there to hand over, ms. */
  readonly holdMs: number;
  /** How long a session is kept open after the last question, ms. */
  readonly lingerMs: number;
  /** How long the answer to one question may take, and the Web Connector stay silent, ms. */
  readonly deadlineMs: number;
}

/** What `authenticate` and the calls after it answer, as the Web Connector expects it. */
export class Mailbox {
  readonly #timing: Timing;
  readonly #now: () => number;
  readonly #arrived: () => void;
  readonly #visits: Visits;
  /** The ticket of the live session; null: nobody is there. */
  #ticket: string | null = null;
  #lastError = "";
  #sessions = 0;
  readonly #waiting: Question[] = [];
  #handed: Question | null = null;
  #answered = 0;
  #lastAskedAt = 0;
  #watch: NodeJS.Timeout | null = null;
  /** Wakes calls that are held, and those who wait for a session. */
  readonly #stirred = new Set<() => void>();
  #absence: Absence;

  /** @param arrived a session began: what waited for it may go */
  constructor(timing: Timing, visits: Visits, now: () => number, arrived: () => void) {
    this.#timing = timing;
    this.#visits = visits;
    this.#now = now;
    this.#arrived = arrived;
    const { lastAt } = visits;
    this.#absence = {
      message: lastAt === null ? "the Web Connector has never called" : lastSession(lastAt),
      next: NEXT,
      isCredentials: false,
      isUsual: true,
    };
  }

  get isOpen(): boolean {
    return this.#ticket !== null;
  }

  /** How many there were, the open one included. */
  get sessions(): number {
    return this.#sessions;
  }

  /** Why nobody is there. */
  get absence(): Absence {
    return this.#absence;
  }

  /** A session begins. Its ticket. @throws StorageError */
  begin(): string {
    this.#end("a new session of the Web Connector has begun", null);
    const ticket = randomUUID();
    this.#visits.begun(ticket, this.#now());
    this.#open(ticket);
    return ticket;
  }

  refuse(absence: Absence): void {
    if (this.isOpen) return;
    this.#absence = absence;
    this.#stir();
  }

  /** Hands it to the next call of the Web Connector. @throws LedgerError */
  ask(asked: Asked, signal: AbortSignal): Promise<string> {
    if (signal.aborted) return Promise.reject(new LedgerError("not-sent", "it was told to stop"));
    if (!this.isOpen) return Promise.reject(this.#notHere());
    return new Promise((resolve, reject) => {
      const over = (): void => signal.removeEventListener("abort", stop);
      const question: Question = {
        ...asked,
        answered: (answer) => {
          over();
          resolve(answer);
        },
        failed: (error) => {
          over();
          reject(error);
        },
      };
      const stop = (): void => {
        const at = this.#waiting.indexOf(question);
        if (at < 0) return;
        this.#waiting.splice(at, 1);
        question.failed(new LedgerError("not-sent", "it was told to stop"));
      };
      signal.addEventListener("abort", stop, { once: true });
      this.#waiting.push(question);
      this.#lastAskedAt = this.#now();
      this.#stir();
    });
  }

  /** Resolves when somebody is there, or was refused, or after `ms`. */
  async expect(ms: number, signal: AbortSignal): Promise<void> {
    const until = this.#now() + ms;
    while (!this.isOpen && !this.#absence.isCredentials && this.#now() < until && !signal.aborted)
      await this.#pause(until - this.#now());
  }

  /** `sendRequestXML`: the next question; empty: none is there. @throws StorageError */
  async next(ticket: string): Promise<string> {
    if (this.#isOfBefore(ticket)) this.#open(ticket);
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
    this.#visits.hand(question.id, this.#now());
    this.#waiting.shift();
    this.#handed = question;
    return question.xml;
  }

  /** `receiveResponseXML`: percent done; negative: an error, which {@link lastError} tells. @throws StorageError */
  async take(ticket: string, response: string, hresult: string, message: string): Promise<number> {
    if (this.#isOfBefore(ticket)) return await this.#takeOfBefore(ticket, response);
    if (!this.#is(ticket)) return -1;
    const handed = this.#handed;
    this.#visits.hand(null, this.#now());
    this.#handed = null;
    if (handed === null) {
      this.#lastError = "Nothing was asked.";
      return -1;
    }
    if (!DONE.test(hresult.trim())) {
      const { sort, means } = hresultOf(hresult);
      const says = `${means} (${hresult}${message === "" ? "" : `: ${message}`})`;
      handed.failed(
        sort === "parse"
          ? new LedgerError("answered", says, { code: hresult.trim().toLowerCase() })
          : new LedgerError("torn", says),
      );
      if (sort !== "parse") return this.#fail(hresult, message);
    } else {
      this.#answered++;
      handed.answered(response);
    }
    return await this.#percent(ticket);
  }

  /** `connectionError`: QuickBooks cannot be opened. */
  broken(ticket: string, hresult: string, message: string): string {
    if (this.#isOfBefore(ticket)) this.#open(ticket);
    if (this.#is(ticket)) this.#fail(hresult, message);
    return "done";
  }

  lastError(ticket: string): string {
    if (this.#ticket !== null && !this.#is(ticket)) return EXPIRED;
    if (this.#ticket === null && this.#lastError === "") return EXPIRED;
    return this.#lastError;
  }

  /** `closeConnection`. */
  close(ticket: string): string {
    if (this.#isOfBefore(ticket)) this.#visits.over(this.#now());
    if (this.#is(ticket)) this.#end("the session is over", null);
    return "OK";
  }

  /** fuelbridge stops: the session may go on with the process after it. */
  stop(): void {
    this.#left("fuelbridge stops");
  }

  /** A process before this one began the session of this ticket, and nobody is here now. */
  #isOfBefore(ticket: string): boolean {
    return (
      this.#ticket === null && this.#visits.isOpen(ticket, this.#now(), this.#timing.deadlineMs)
    );
  }

  /**
   * The answer to what a process before this one asked: who asked is no more, and looks for it again. Provably that
   * answer, the session goes on; anything else ends it.
   */
  async #takeOfBefore(ticket: string, response: string): Promise<number> {
    const { handed } = this.#visits;
    if (handed === null || !answers(response, handed)) {
      this.#visits.over(this.#now());
      this.#lastError = EXPIRED;
      return -1;
    }
    this.#visits.hand(null, this.#now());
    this.#open(ticket);
    return await this.#percent(ticket);
  }

  #open(ticket: string): void {
    this.#ticket = ticket;
    this.#sessions++;
    this.#lastError = "";
    this.#answered = 0;
    this.#lastAskedAt = this.#now();
    this.#heard();
    this.#arrived();
    this.#stir();
  }

  async #percent(ticket: string): Promise<number> {
    await this.#held(ticket);
    if (!this.#is(ticket)) return -1;
    return this.#waiting.length > 0 || this.#lingers() ? Math.min(99, this.#answered) : 100;
  }

  /** Somebody with this ticket called: the session lives. */
  #is(ticket: string): boolean {
    if (this.#ticket === null || ticket !== this.#ticket) return false;
    this.#heard();
    return true;
  }

  #fail(hresult: string, message: string): number {
    const { means, next } = hresultOf(hresult);
    const says = `${means} (${hresult}${message === "" ? "" : `: ${message}`})`;
    this.#end(says, { message: says, next, isCredentials: false, isUsual: false });
    this.#lastError = `${says}. ${next}`;
    return -1;
  }

  /** @param absence null: the session was closed as it should be. @throws StorageError */
  #end(why: string, absence: Absence | null): void {
    if (this.#ticket === null) return;
    this.#left(why, absence);
    this.#visits.over(this.#now());
  }

  #left(why: string, absence: Absence | null = null): void {
    if (this.#watch !== null) clearTimeout(this.#watch);
    this.#watch = null;
    if (this.#ticket === null) return;
    this.#ticket = null;
    // Who waits with this ticket (NoOp) is told that it is over.
    this.#lastError = "";
    this.#absence = absence ?? {
      message: lastSession(new Date(this.#now()).toISOString()),
      next: NEXT,
      isCredentials: false,
      isUsual: true,
    };
    this.#tear(`${why}, and the answer did not come`);
    for (const question of this.#waiting.splice(0)) question.failed(this.#notHere());
    this.#stir();
  }

  #tear(why: string): void {
    const handed = this.#handed;
    this.#handed = null;
    handed?.failed(new LedgerError("torn", why));
  }

  #notHere(): LedgerError {
    const { message, isCredentials } = this.#absence;
    return new LedgerError("answered", message, {
      code: isCredentials ? WRONG_PASSWORD : NOT_HERE,
    });
  }

  #heard(): void {
    if (this.#watch !== null) clearTimeout(this.#watch);
    const silent = "the Web Connector has fallen silent";
    this.#watch = setTimeout(() => this.#end(silent, SILENT), this.#timing.deadlineMs);
    this.#watch.unref();
  }

  #lingers(): boolean {
    return this.#now() - this.#lastAskedAt < this.#timing.lingerMs;
  }

  async #held(ticket: string): Promise<void> {
    const until = this.#now() + this.#timing.holdMs;
    while (this.#ticket === ticket && this.#waiting.length === 0 && this.#now() < until)
      await this.#pause(until - this.#now());
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const over = (): void => {
        clearTimeout(timer);
        this.#stirred.delete(over);
        resolve();
      };
      const timer = setTimeout(over, Math.max(ms, 1));
      this.#stirred.add(over);
    });
  }

  #stir(): void {
    for (const over of this.#stirred) over();
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

const lastSession = (at: string): string => `the last session of the Web Connector ended at ${at}`;
const NEXT =
  "It goes on with the next session: by itself with Auto-Run on, at once with Update Selected in the Web Connector on the machine with QuickBooks.";

/** The code of a question that nobody is there to answer. */
export const NOT_HERE = "no-session";
/** The same, because the Web Connector was turned away. */
export const WRONG_PASSWORD = "wrong-password";
/** `getLastError` for "come again in a few seconds". */
const NO_OP = "NoOp";
const EXPIRED = "This session is over. The next one goes on where it was.";
const SILENT: Absence = {
  message: "the Web Connector fell silent in the middle of a session",
  next: "On the machine with QuickBooks, look whether QuickBooks shows a dialog; close it, then press Update Selected in the Web Connector.",
  isCredentials: false,
  isUsual: false,
};

/*
 * What is known of the Web Connector's sessions beyond this process. A ticket is kept as its hash: who reads the store
 * cannot go on with a session. What was handed over is known by the id of its requests, which QuickBooks echoes.
 */

const Visit = z.object({
  /** SHA-256 of its ticket. */
  ticket: z.string(),
  /** What was handed over and not answered: the id of its requests. Null: nothing. */
  handed: z.string().nullable(),
  /** When it began, and when something was last handed over or answered; ISO 8601 UTC. */
  begunAt: z.string(),
  heardAt: z.string(),
  /** Null: it is going on, or whoever served it is no more. */
  endedAt: z.string().nullable(),
});
type Visit = z.infer<typeof Visit>;

const NAME = "session";
/** Since when it is expected: what its silence is measured from while it has never called. */
const EXPECTED = "expected";

export class Visits {
  readonly #notebook: Notebook | undefined;
  #visit: Visit | null;

  /** @param notebook left out: what is known ends with this process */
  constructor(notebook: Notebook | undefined) {
    this.#notebook = notebook;
    this.#visit = visitIn(notebook);
  }

  /** When somebody was last here, ISO 8601 UTC; null: never. */
  get lastAt(): string | null {
    return this.#visit?.endedAt ?? this.#visit?.heardAt ?? null;
  }

  /** From now on, unless it was before. @throws StorageError */
  expected(nowMs: number): void {
    if (this.#notebook?.get(EXPECTED) === null) this.#notebook.set(EXPECTED, iso(nowMs));
  }

  /** Null: it was here within `limitMs`, or nobody ever expected it. */
  silence(nowMs: number, limitMs: number): Presence["silence"] {
    const { lastAt } = this;
    const since = lastAt ?? this.#notebook?.get(EXPECTED) ?? null;
    if (since === null || nowMs - Date.parse(since) <= limitMs) return null;
    const hours = Math.round(limitMs / HOUR_MS);
    return {
      since,
      limitMs,
      message: `${lastAt === null ? "The Web Connector has never called, and was expected since" : "The Web Connector was last here at"} ${since}; it is expected at least every ${hours} ${hours === 1 ? "hour" : "hours"} (expectEvery).`,
      next: "On the machine with QuickBooks, look whether the Web Connector runs, shows no error and has Auto-Run ticked; press Update Selected. If that machine is meant to be off for so long, raise expectEvery.",
    };
  }

  /** What was handed over in the session of this process or of one before, and has no answer. */
  get handed(): string | null {
    return this.#visit?.handed ?? null;
  }

  /** It was begun, here or by a process before this one, is not over, and was heard of within `withinMs`. */
  isOpen(ticket: string, nowMs: number, withinMs: number): boolean {
    const visit = this.#visit;
    return (
      visit !== null &&
      visit.endedAt === null &&
      visit.ticket === hashOf(ticket) &&
      Math.abs(nowMs - Date.parse(visit.heardAt)) <= withinMs
    );
  }

  /** Durable when it returns, as what follows. @throws StorageError */
  begun(ticket: string, nowMs: number): void {
    const at = iso(nowMs);
    this.#keep({ ticket: hashOf(ticket), handed: null, begunAt: at, heardAt: at, endedAt: null });
  }

  /** @param id of what is handed over; null: it was answered. @throws StorageError */
  hand(id: string | null, nowMs: number): void {
    if (this.#visit !== null) this.#keep({ ...this.#visit, handed: id, heardAt: iso(nowMs) });
  }

  /** @throws StorageError */
  over(nowMs: number): void {
    if (this.#visit?.endedAt !== null) return;
    this.#keep({ ...this.#visit, handed: null, endedAt: iso(nowMs) });
  }

  #keep(visit: Visit): void {
    this.#notebook?.set(NAME, JSON.stringify(visit));
    this.#visit = visit;
  }
}

function visitIn(notebook: Notebook | undefined): Visit | null {
  const text = notebook?.get(NAME) ?? null;
  return text === null ? null : (Visit.safeParse(JSON.parse(text)).data ?? null);
}

const hashOf = (ticket: string): string => createHash("sha256").update(ticket).digest("hex");
const HOUR_MS = 3_600_000;
const iso = (ms: number): string => new Date(ms).toISOString();
