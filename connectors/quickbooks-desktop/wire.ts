/** QuickBooks as the adapters ask it: one document of requests, one answer, whenever its Web Connector is here. */
import { randomBytes } from "node:crypto";
import { LedgerError } from "../../src/ledger/port.ts";
import type { Presence, Surroundings } from "../../src/core/contract.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import { type Company, companyIn, HELLO, type Reading, tell, toldIn } from "./examine.ts";
import type { DesktopConfig } from "./config.ts";
import { Mailbox } from "./mailbox.ts";
import {
  type Asked,
  document,
  isOf,
  placeOf,
  repliesIn,
  type Reply,
  type Request,
} from "./qbxml.ts";
import { openService, type Service } from "./service.ts";
import { errors, isDone, NOT_HERE, WRONG_PASSWORD } from "./status.ts";

export type Wire = ReturnType<typeof openWire>;

/** How long work is put off when nobody is here, unless a session begins before, ms. */
const PUT_OFF_MS = 60 * 60_000;

/** Requests over one exchange of documents, each with an id of its own. @throws LedgerError */
export const asking = (
  exchange: (asked: Asked, signal: AbortSignal) => Promise<string>,
  newId: () => string = () => randomBytes(12).toString("hex"),
) => {
  /** Queries: one reply each. Nothing found is no error. */
  const read = async (requests: readonly Request[], signal: AbortSignal) => {
    const replies = await exchanged(exchange, newId(), requests, signal);
    for (const { code, message } of replies) if (!isDone(code)) throw said(code, message);
    if (replies.length !== requests.length)
      throw new LedgerError("torn", "QuickBooks did not answer to each request, and to no other");
    return replies;
  };
  return {
    read,
    /** One change. */
    write: async (request: Request, signal: AbortSignal) =>
      (await read([request], signal))[0] as Reply,
  };
};

async function exchanged(
  exchange: (asked: Asked, signal: AbortSignal) => Promise<string>,
  id: string,
  requests: readonly Request[],
  signal: AbortSignal,
): Promise<readonly Reply[]> {
  const replies = repliesIn(await exchange({ id, xml: document(requests, id) }, signal));
  if (replies.some(({ request }) => request !== null && !isOf(request, id)))
    throw new LedgerError("torn", "QuickBooks' answer belongs to another request");
  // Each says which request it answers; where it does not, its place does.
  const placed = replies.map((reply, at) => ({
    reply,
    place: reply.request === null ? at : placeOf(reply.request),
  }));
  if (new Set(placed.map(({ place }) => place)).size < placed.length)
    throw new LedgerError("torn", "QuickBooks answered twice to one request");
  return placed.toSorted((one, other) => one.place - other.place).map(({ reply }) => reply);
}

const said = (code: number, message: string): LedgerError =>
  new LedgerError("answered", `QuickBooks: ${message} (status ${code})`, { code: String(code) });

export function openWire(config: DesktopConfig, surroundings: Surroundings) {
  const { folder, looking, arrived, notebook } = surroundings;
  const now = (): number => surroundings.now().getTime();
  const mailbox = new Mailbox({ ...config, now, notebook, arrived: greet });
  const asked = asking((one, signal) => mailbox.ask(one, signal));
  /** Why nobody is expected though nobody is here: a wrong company, a port in use. */
  let isAmiss = false;
  /** What the session said of its company; null: there is none. Rejects when it is another one. */
  let greeted: Promise<Company> | null = null;
  let company: Company | null = null;
  /** What was told today does not count any more. */
  let isStale = false;
  let service: Promise<Service | Error> | null = null;
  const open = (): Promise<Service | Error> =>
    (service ??= openService(config, folder, mailbox).catch((error: unknown) => {
      isAmiss = true;
      return error as Error;
    }));
  // A daemon is there for the Web Connector from its start; a command listens when it needs an answer.
  if (arrived !== undefined) {
    mailbox.expected();
    void open();
  }

  function greet(): void {
    greeted = hello(asked, never).then((replies) => companyIn(replies, config.company));
    greeted.then(
      (found) => {
        company = found;
        isAmiss = false;
        surroundings.note("QuickBooks is here", { ...found });
        arrived?.();
        void remember(found);
      },
      (error: unknown) => {
        isAmiss ||= error instanceof SourceUnavailable;
        surroundings.note("QuickBooks is not here", { error });
      },
    );
  }

  /** Once a day, and after a release: what `doctor` is asked for cannot be asked then. */
  async function remember(found: Company): Promise<void> {
    const at = surroundings.now().toISOString();
    const before = toldIn(notebook)?.at ?? null;
    const isToday = before !== null && surroundings.dayOf(before) === surroundings.dayOf(at);
    if (notebook === undefined || (isToday && !isStale)) return;
    isStale = false;
    await tell(asked, notebook, found, at, never).catch((error: unknown) =>
      surroundings.note("QuickBooks did not tell its lists", { error }),
    );
  }

  /** A command that looks cannot be called: what the last session left in the store has to do. @throws SourceUnavailable */
  function expectTold(): void {
    if (toldIn(notebook) === null) throw notHere(UNKNOWN);
    const silence = mailbox.silence(config.expectEvery);
    if (silence !== null) throw notHere({ ...UNKNOWN, ...silence });
  }

  let closed: Promise<void> | null = null;
  return {
    ...asking(async (one, signal) => {
      await open();
      await mailbox.expect(config.patienceMs, signal);
      if (mailbox.isOpen && greeted !== null) await greeted.catch(notRight);
      return await mailbox.ask(one, signal);
    }),
    /** What the session told of the company file; null: there was no session. */
    get company(): Company | null {
      return company;
    },
    /** Which session this is, of those that this process has seen. */
    get session(): number {
      return mailbox.sessions;
    },
    /** A session is open, and it is the right company's. @throws SourceUnavailable */
    async expect(signal: AbortSignal): Promise<void> {
      if (looking === true) return expectTold();
      const opened = await open();
      if (opened instanceof Error) throw unopened(config.url, opened);
      await mailbox.expect(config.patienceMs, signal);
      if (!mailbox.isOpen || greeted === null) throw notHere(mailbox.absence);
      await greeted.catch((error: unknown) => {
        throw notGreeted(error, mailbox.absence);
      });
    },
    /** What QuickBooks told of its company file is asked for again: now where it is here, else in the next session. */
    tellAgain(): void {
      isStale = true;
      if (mailbox.isOpen) greet();
    },
    /** When it was here, from the store. */
    presence: (): Presence => ({
      lastAt: mailbox.lastAt,
      isHere: mailbox.isOpen,
      isAwaited: !isAmiss && mailbox.absence.isUsual,
      silence: mailbox.isOpen ? null : mailbox.silence(config.expectEvery),
    }),
    close: (): Promise<void> =>
      (closed ??= (async () => {
        mailbox.stop();
        const opened = await service;
        if (opened !== null && !(opened instanceof Error)) await opened.close();
      })()),
  };
}

const never = new AbortController().signal;

/** Who may not ask for the host or the preferences asks for the company alone. @throws LedgerError */
async function hello(asked: Reading, signal: AbortSignal): Promise<readonly (Reply | null)[]> {
  try {
    return await asked.read(HELLO, signal);
  } catch (error) {
    if (!(error instanceof LedgerError) || !isSaid(error)) throw error;
    const [company = null] = await asked.read([{ name: "CompanyQuery", values: {} }], signal);
    return [null, company];
  }
}

/** QuickBooks said so, and not the mailbox. */
const isSaid = ({ phase, code }: LedgerError): boolean =>
  phase === "answered" && code !== NOT_HERE && code !== WRONG_PASSWORD;

/** Why a session that is open, or was, is none. */
function notGreeted(error: unknown, absence: Mailbox["absence"]): SourceUnavailable {
  if (error instanceof SourceUnavailable) return error;
  if (!(error instanceof LedgerError) || !isSaid(error)) return notHere(absence);
  const row = errors.find(({ when }) => when.code?.test(error.code ?? ""));
  return new SourceUnavailable(`QuickBooks does not tell its company: ${error.message}`, {
    next:
      row?.next ??
      "Read the message in QuickBooks, then press Update Selected in the Web Connector.",
    waitMs: PUT_OFF_MS,
    cause: error,
  });
}

/** Nothing is asked of another company's file. */
function notRight(error: unknown): never {
  if (error instanceof LedgerError) throw error;
  throw new LedgerError("answered", (error as Error).message, { code: NOT_HERE });
}

/** Before the first session nobody can know anything. */
const UNKNOWN: Mailbox["absence"] = {
  message: "it has told nothing yet, and cannot be asked from here: it calls the daemon",
  next: "Start the daemon, press Update Selected in the Web Connector on the machine with QuickBooks, and run doctor again.",
  isCredentials: false,
  isUsual: true,
};

const notHere = ({ message, next, isCredentials }: Mailbox["absence"]): SourceUnavailable =>
  new SourceUnavailable(`QuickBooks is not here: ${message}`, {
    next,
    waitMs: PUT_OFF_MS,
    ...(isCredentials ? { stop: "credentials" } : {}),
  });

const unopened = (url: string, error: Error): SourceUnavailable =>
  new SourceUnavailable(`QuickBooks cannot call ${url}: ${error.message}`, {
    next: "Stop what uses this port, or change url; correct certificate and key where it is https. Then start fuelbridge again.",
    waitMs: PUT_OFF_MS,
    cause: error,
  });
