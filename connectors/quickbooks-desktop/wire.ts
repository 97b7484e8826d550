/** QuickBooks as the adapters ask it: one document of requests, one answer, whenever its Web Connector is here. */
import { randomBytes } from "node:crypto";
import { z } from "zod";
import type {
  Examination,
  Needs,
  Notebook,
  Presence,
  Surroundings,
} from "../../src/core/contract.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import type { Scope } from "../../src/core/holdings.ts";
import { sameNumber, spellingsOf } from "../../src/core/keys.ts";
import type { Fault } from "../../src/core/record.ts";
import type { CodesNamed } from "../../src/ledger/codes.ts";
import {
  closingExamination,
  type Check,
  codeChecks,
  namedChecks,
} from "../../src/ledger/examine.ts";
import { LedgerError } from "../../src/ledger/port.ts";
import { conditionsIn, rowsIn, unitedPages } from "../../src/ledger/stamps.ts";
import { BOOKS, type DocumentRow } from "../quickbooks/documents.ts";
import type { Element } from "../quickbooks/element.ts";
import {
  ascii,
  cut,
  documentNumber,
  markedBy,
  MEMO_MOST,
  type Memoed,
  memoOf,
  numberHeld,
  sameName,
  type MemoParts,
} from "../quickbooks/text.ts";
import type { DesktopConfig } from "./config.ts";
import {
  type Asked,
  document,
  errors,
  isDone,
  isOf,
  NOT_HERE,
  numberMost,
  placeOf,
  repliesIn,
  type Reply,
  type Request,
  type Values,
  WRONG_PASSWORD,
} from "./qbxml.ts";
import { keptIn, Mailbox, openService, type Service } from "./service.ts";
import { DAY_MS } from "../../src/core/time.ts";

export type Wire = ReturnType<typeof openWire>;

/** How long work is put off when nobody is here, unless a session begins before, ms. */
const PUT_OFF_MS = 60 * 60_000;

/** Requests over one exchange of documents, each with an id of its own. @throws LedgerError */
export const asking = (
  exchange: (asked: Asked, signal: AbortSignal) => Promise<string>,
  newId: () => string = () => randomBytes(12).toString("hex"),
) => {
  /** One reply each. Of queries, nothing found is no error. */
  const read = async (requests: readonly Request[], signal: AbortSignal) => {
    const replies = await exchanged(exchange, newId(), requests, signal);
    for (const { code, message } of replies) if (!isDone(code)) throw said(code, message);
    if (replies.length !== requests.length)
      throw new LedgerError("torn", "QuickBooks did not answer to each request, and to no other");
    return replies;
  };
  return {
    read,
    /** Changes, in one document: QuickBooks stops at the first that it refuses. The last one's reply. */
    write: async (requests: readonly Request[], signal: AbortSignal) =>
      (await read(requests, signal)).at(-1) as Reply,
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
  /** Nobody can call: the port is in use. */
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
        surroundings.note("QuickBooks is here", { ...found });
        arrived?.();
        void remember(found);
      },
      (error: unknown) => {
        if (error instanceof SourceUnavailable) mailbox.turnAway(error.message, error.next);
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

/* What must hold in QuickBooks before the next document goes, by what its last session of a new day told. */

/**
 * Lists whose names are compared, as people call what is in them. QuickBooks tells them in the first session of a day, for
 * `doctor` cannot ask.
 */
const LISTS = {
  account: "AccountQuery",
  item: "ItemQuery",
  "sales tax code": "SalesTaxCodeQuery",
  "payment method": "PaymentMethodQuery",
  terms: "StandardTermsQuery",
  class: "ClassQuery",
} as const;
type List = keyof typeof LISTS;

/** Of the company, as QuickBooks says it; null: it did not say. */
const Company = z.object({
  company: z.string(),
  /** `QuickBooks Enterprise Solutions 24.0`. */
  product: z.string().nullable(),
  country: z.string().nullable(),
  /** It told its preferences: without them nothing is known of sales tax, currencies and the closing date. */
  preferences: z.boolean(),
  salesTax: z.boolean().nullable(),
  multiCurrency: z.boolean().nullable(),
  /** The name of its own currency, where it keeps several: `US Dollar`. */
  homeCurrency: z.string().nullable().default(null),
  /** Documents up to this day (`YYYY-MM-DD`) are not changed without a password. */
  closingDate: z.string().nullable(),
});
type Company = z.infer<typeof Company>;

const Told = z.object({
  /** ISO 8601 UTC. */
  at: z.string(),
  company: Company,
  /** Full names of what is active there, by {@link LISTS}; null: QuickBooks did not tell them. */
  lists: z.record(z.string(), z.array(z.string()).nullable()),
});
type Told = z.infer<typeof Told>;

/** @param told null: nothing, and nothing is looked at */
export function checksOf(
  config: DesktopConfig,
  told: Told | null,
  needs: Needs,
): (Check | Examination)[] {
  if (told === null) return [];
  const { company } = told;
  const note = [
    company.product ?? "product unknown",
    company.country,
    company.salesTax === true ? "sales tax on" : null,
    company.multiCurrency === true ? "multicurrency on" : null,
    `told at ${told.at}`,
  ];
  const { bankAccount, depositAccount, receivableAccount, payableAccount } = config;
  const named = (list: List, ...names: readonly (string | undefined)[]) =>
    namedChecks(namesOf(told, list), ...names);
  const items = namesOf(told, "item");
  const columns = { product: items, sold: items, bought: items };
  return [
    {
      what: `company ${company.company}`,
      fault: null,
      note: note.filter((one) => one !== null).join(", "),
    },
    ...(company.preferences
      ? [{ what: "sales tax", fault: salesTaxFault(company.salesTax, config.taxCode) }]
      : [untold(told, "preferences", "sales tax, currencies and the closing date")]),
    ...named("item", config.chargeItem, ...config.taxItems),
    ...named("sales tax code", config.taxCode),
    ...named("account", bankAccount, depositAccount, receivableAccount, payableAccount),
    ...named("class", config.class),
    ...named("payment method", config.paymentMethod),
    ...named("terms", config.terms.customer, config.terms.vendor),
    ...(company.preferences ? [closingExamination(company.closingDate, needs, CLOSED_IN)] : []),
    ...(isTold(told, "item")
      ? codeChecks(BOOKS, columns, needs)
      : [untold(told, "items", "the items that the cross-reference names")]),
  ];
}

const CLOSED_IN = "QuickBooks (Edit, Preferences, Accounting, Company Preferences)";

const isTold = ({ lists }: Told, list: List): boolean => (lists[list] ?? null) !== null;

/** What was not told is not looked at, and is never said to be well. @param unseen what nobody knows of then */
function untold({ at }: Told, what: string, unseen: string): Examination {
  return {
    what,
    fault: {
      code: "not-told",
      message: `QuickBooks did not tell its ${what} at ${at}: nobody has looked at ${unseen}`,
      next: "In QuickBooks as Admin: switch on what the list belongs to, and give fuelbridge's user the right to read it (Edit, Preferences, Integrated Applications). It is asked for again in the first session of each day, and after `fuelbridge release`; without it, look there by hand.",
    },
  };
}

function missing(told: Told, list: List, name: string): Fault<string> | null {
  if (!isTold(told, list)) return untold(told, `${list} list`, `${list} ${name}`).fault;
  if (told.lists[list]?.some((one) => sameName(one, name)) === true) return null;
  return {
    code: "not-in-quickbooks",
    message: `QuickBooks had no active ${list} ${JSON.stringify(name)} when it told its lists at ${told.at}`,
    next: `Create the ${list} in QuickBooks, make it active there, or correct the configuration or the table that names it (full names: Fuel:ULSD2). QuickBooks tells its lists again in the first session of the next day.`,
  };
}

function salesTaxFault(isOn: boolean | null, taxCode: string | undefined): Fault | null {
  if (isOn !== true || taxCode !== undefined) return null;
  return {
    code: "sales-tax-on",
    message: "sales tax is switched on, and no taxCode is set: QuickBooks may tax invoice lines",
    next: "Set taxCode to a sales tax code that is not taxed (Non).",
  };
}

/** Products, taxes and accounts of the tables are items of QuickBooks. */
const namesOf = (told: Told, list: List): CodesNamed => ({
  what: list,
  find: async (codes) => ({
    faults: new Map(codes.map((code) => [code, missing(told, list, code)])),
  }),
});

/* What QuickBooks told of its company file in the first session of a day. */

/** Who asks QuickBooks and changes nothing. */
interface Reading {
  read(requests: readonly Request[], signal: AbortSignal): Promise<readonly Reply[]>;
}

const NAME = "company";

/** Null: there was no session yet. */
export const toldIn = (notebook: Notebook | undefined): Told | null => keptIn(notebook, NAME, Told);

/** Asks for the lists and stores them. @throws LedgerError when the session ended meanwhile, StorageError */
export async function tell(
  wire: Reading,
  notebook: Notebook,
  company: Company,
  at: string,
  signal: AbortSignal,
): Promise<void> {
  const told: Told = { at, company, lists: {} };
  for (const [list, query] of Object.entries(LISTS))
    told.lists[list] = await listOf(wire, query, signal);
  notebook.set(NAME, JSON.stringify(told));
}

/** Null where this edition does not have the list, or it is switched off. */
async function listOf(wire: Reading, name: string, signal: AbortSignal): Promise<string[] | null> {
  try {
    const IncludeRetElement = ["Name", "FullName"];
    const [reply] = await wire.read([{ name, values: { IncludeRetElement } }], signal);
    return (reply?.rets ?? []).flatMap((row) => row.text("FullName") ?? row.text("Name") ?? []);
  } catch (error) {
    if (error instanceof LedgerError && error.phase === "answered") return null;
    throw error;
  }
}

/* What each session asks first: whose company file this is, and what it has. */

export const HELLO: readonly Request[] = ["HostQuery", "CompanyQuery", "PreferencesQuery"].map(
  (name) => ({ name, values: {} }),
);

/** @throws SourceUnavailable when it is another company's file */
export function companyIn(
  [host, company, preferences]: readonly (Reply | null)[],
  named: string,
): Company {
  const [hostRet, companyRet, preferencesRet] = [host, company, preferences].map(
    (reply) => reply?.rets[0],
  );
  const name = companyRet?.text("CompanyName") ?? null;
  if (name !== named)
    throw new SourceUnavailable(
      `QuickBooks has the company ${JSON.stringify(name)} open, not ${JSON.stringify(named)}`,
      {
        next: "Open the right company file in QuickBooks, or set companyFile; or correct company in the configuration.",
        waitMs: 60_000,
      },
    );
  const currencies = preferencesRet?.child("MultiCurrencyPreferences");
  return {
    company: name,
    product: hostRet?.text("ProductName") ?? null,
    country: hostRet?.text("Country") ?? null,
    preferences: preferencesRet !== undefined,
    salesTax: preferencesRet?.child("SalesTaxPreferences") ? true : null,
    multiCurrency: currencies?.yes("IsMultiCurrencyOn") ?? null,
    homeCurrency: currencies?.ref("HomeCurrencyRef").name ?? null,
    closingDate: preferencesRet?.child("AccountingPreferences")?.text("ClosingDate") ?? null,
  };
}

/* What every record of QuickBooks has in common: how lists are read, our marks, numbers, texts and references. */

/** Who asks QuickBooks and changes it, and which session this is. */
export type Asker = Pick<Wire, "read" | "write"> &
  Partial<Pick<Wire, "company" | "session" | "expect">>;

/** What documents are looked for by: everything that one of these names. */
export interface DocumentNames {
  /** What links call them. */
  readonly ids?: readonly string[];
  /** As people may have typed them. */
  readonly numbers?: readonly string[];
  readonly days?: readonly string[];
  /** Those of one party, from a day on. */
  readonly since?: readonly { readonly party: string | null; readonly date: string }[];
}

export type Records = ReturnType<typeof openRecords>;

/** QuickBooks' records as the tables ask for them. Every method @throws LedgerError */
export function openRecords(wire: Asker) {
  /** All records of these queries, which go in one document. */
  async function of(queries: readonly Request[], signal: AbortSignal): Promise<Element[]> {
    if (queries.length === 0) return [];
    return (await wire.read(queries, signal)).flatMap(({ rets }) => [...rets]);
  }
  /** @param from how many of the lists are read already; records may come twice, none is left out */
  const pages = (lists: readonly Request[], from: string | null, signal: AbortSignal) =>
    unitedPages(
      lists.map((list) => () => pagesIn(wire, list, signal, PAGE)),
      from,
    );
  return {
    wire,
    of,
    /** The name of a record's currency, where that is not the company's own. Null: it is, or the company keeps one only. */
    foreign(row: Element): string | null {
      const { id, name } = row.ref("CurrencyRef");
      const [currency, own = null] = [name ?? id, wire.company?.homeCurrency];
      if (currency === null || sameName(currency, own ?? "")) return null;
      return own === null ? `${currency} (QuickBooks did not tell its own)` : currency;
    },
    /** Records of a list by their ids, as they are now: those that are gone are left out. */
    async byListId(name: string, ids: readonly string[], signal: AbortSignal, more: Values = {}) {
      const queries = ids.length === 0 ? [] : [{ name, values: { ListID: ids, ...more } }];
      const rows = await of(queries, signal);
      return rows.filter((row) => ids.includes(row.needed("ListID")));
    },
    pages,
    /** All of a long list, ids and stamps: five hundred records an answer. */
    all: (list: Request, signal: AbortSignal) => rowsIn(pagesIn(wire, list, signal, 500)),
    /** @param more what is told of each */
    documents(
      tables: readonly string[],
      more: Values = { IncludeLineItems: true, IncludeLinkedTxns: true },
    ) {
      const most = Math.min(...tables.map(numberMost));
      const queries = (all: readonly Values[]): Request[] =>
        all.flatMap((values) =>
          tables.map((table) => ({ name: `${table}Query`, values: { ...values, ...more } })),
        );
      return {
        /** Each once. */
        find: async (names: DocumentNames, signal: AbortSignal) =>
          once(await of(queries(namedBy(names, most)), signal)),
        /** Everything in the scope. */
        list: (scope: Scope, from: string | null, signal: AbortSignal) =>
          pages(queries(branches(scope)), from, signal),
      };
    },
    /** The record that a change made, or left. */
    async write(name: string, content: Values, signal: AbortSignal) {
      const { rets, code, message } = await wire.write(
        [{ name, values: { [name]: content } }],
        signal,
      );
      const [ret] = rets;
      if (ret !== undefined) return ret;
      // A warning that comes without the record (570: an order that was closed meanwhile) says why there is none.
      if (code !== 0) throw said(code, message);
      throw new LedgerError("torn", "QuickBooks' answer does not have the record");
    },
    /** A void names no version: a change of nothing before it does, and QuickBooks stops at the first that it refuses. */
    cancel: (type: string, row: Pick<DocumentRow, "id" | "version">, signal: AbortSignal) =>
      wire.write(
        [
          { name: `${type}Mod`, values: { [`${type}Mod`]: heldOf(row) } },
          { name: "TxnVoid", values: { TxnVoidType: type, TxnID: row.id } },
        ],
        signal,
      ),
  };
}

/** Of records that several queries may find each once: the last one counts. */
const once = (rows: readonly Element[]): Element[] => [
  ...new Map(rows.map((row) => [row.needed("TxnID"), row])).values(),
];

function namedBy(
  { ids = [], numbers = [], days = [], since = [] }: DocumentNames,
  most: number,
): Values[] {
  // A blank is never written by us, and people type it.
  const typed = numbers.filter((number) => /^[\x20-\x7e]+$/.test(number) && number.length <= most);
  const made = numbers.flatMap(spellingsOf).map((number) => documentNumber(number, number, most));
  const kept = [...made, ...typed];
  return [
    ...(kept.length === 0 ? [] : [{ RefNumberCaseSensitive: [...new Set(kept)] }]),
    ...(ids.length === 0 ? [] : [{ TxnID: [...new Set(ids)] }]),
    ...[...new Set(days)].map((day) => ({
      TxnDateRangeFilter: { FromTxnDate: day, ToTxnDate: day },
    })),
    ...since.map(({ party, date }) => ({
      TxnDateRangeFilter: { FromTxnDate: date },
      ...(party === null ? {} : { EntityFilter: { FullNameWithChildren: party } }),
    })),
  ];
}

/* Long lists, page by page. An iterator lives in one session: one that is lost (3391) begins its list anew. */

const PAGE = 100;
/** How often one list begins anew before that counts as an error. */
const STARTS_MAX = 3;

async function* pagesIn(
  wire: Asker,
  { name, values }: Request,
  signal: AbortSignal,
  most: number,
): AsyncGenerator<{ readonly rows: readonly Element[]; readonly position: string | null }> {
  let iterator: Request["iterator"] = "Start";
  let starts = 1;
  for (let goesOn = true; goesOn;) {
    try {
      const asked = { name, values: { ...values, MaxReturned: most }, iterator };
      const [reply] = await wire.read([asked], signal);
      const rows = reply?.rets ?? [];
      goesOn = leftAfter(reply?.iterator ?? null, rows.length, iterator !== "Start", most) > 0;
      if (reply?.iterator) iterator = { id: reply.iterator.id };
      yield { rows, position: goesOn ? "" : null };
    } catch (error) {
      const isLost = error instanceof LedgerError && error.code === LOST;
      if (!isLost || starts++ >= STARTS_MAX) throw error;
      iterator = "Start";
    }
  }
}

/** The status of an iterator that is not known any more. */
const LOST = "3391";

/**
 * How many records are left after an answer of `count`. A list that ends before its end would be records that nobody reads.
 * @throws LedgerError
 */
function leftAfter(
  said: Reply["iterator"],
  count: number,
  isContinued: boolean,
  most: number,
): number {
  // More were announced, or are, and none came.
  if (count === 0 && (isContinued || (said?.left ?? 0) > 0))
    throw new LedgerError("answered", "QuickBooks ended a list before its end", { code: LOST });
  if (said !== null) return said.left;
  // One that tells no iterators tells all at once.
  if (!isContinued && count !== most) return 0;
  throw new LedgerError("torn", "QuickBooks does not say how many are left of a list");
}

/** Lists in this scope, one after the other. Stamps of QuickBooks are local: a day more is read. */
const branches = (scope: Scope): Values[] =>
  conditionsIn<Values>(scope, {
    dated: (FromTxnDate, ToTxnDate) => ({ TxnDateRangeFilter: { FromTxnDate, ToTxnDate } }),
    changed(since) {
      const FromModifiedDate = new Date(Date.parse(since) - DAY_MS).toISOString().slice(0, 19);
      return { ModifiedDateRangeFilter: { FromModifiedDate } };
    },
    open: { PaidStatus: "NotPaidOnly" },
  });

/* Marks, numbers and texts. */

/** The memo of a transaction of ours. */
export const desktopMemo = (one: MemoParts): string => memoOf(one, MEMO_MOST.desktop, ascii);

/** What the memo says, without what QuickBooks writes before that of a void document. */
export const memoText = (row: Element): string | null =>
  row.text("Memo")?.replace(/^VOID:\s*/i, "") ?? null;

export const memoed = (row: Element): Memoed => ({
  number: row.text("RefNumber"),
  memo: memoText(row),
  guid: row.text("ExternalGUID"),
});

const tableOf = ({ name }: Element): string => name.replace(/Ret$/, "");

/** What a table holds of the platform's number: see {@link documentNumber}. */
export const numberIn = (table: string, number: string): string =>
  documentNumber(number, number, numberMost(table));

/** The number of a document: see {@link numberHeld}. */
export function heldNumber(row: Element): string | null {
  const own = row.text("RefNumber");
  const { number } = markedBy(memoed(row));
  return number === null ? own : numberHeld(own, number, numberIn(tableOf(row), number));
}

/** What is written of a number that QuickBooks does not hold yet. */
export const renumbered = (row: Element, number: string): Values =>
  sameNumber(heldNumber(row) ?? "", ascii(number))
    ? {}
    : { RefNumber: numberIn(tableOf(row), number) };

/** Text that QuickBooks would keep of it; null: nothing. */
export function heldText(text: string | null, most: number): string | null {
  const held = cut(ascii(text ?? ""), most);
  return held === "" ? null : held;
}

/**
 * A stamp, `2026-11-21T12:00:00`, by the clock of QuickBooks' machine. Empty: it told none. Its zone is left out: QuickBooks
 * tells a wrong one in summer (https://github.com/jsgoupil/quickbooks-sync/pull/28).
 */
export const stampOf = (row: Element, name: string): string =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.exec(row.text(name) ?? "")?.[0] ?? "";

/** Whose version is another by now, it is refused (3200). @throws LedgerError */
export function heldOf({ id, version }: Pick<DocumentRow, "id" | "version">): Values {
  if (version !== null) return { TxnID: id, EditSequence: version };
  throw new LedgerError("torn", `QuickBooks does not tell the version of ${id}`);
}

/** Which record it is. @throws LedgerError */
export const identityOf = (row: Element): Pick<DocumentRow, "id" | "version"> => ({
  id: row.needed("TxnID"),
  version: row.text("EditSequence"),
});

/** A reference by a full name; null: there is none. */
export const named = (name: string | undefined): Values | null =>
  name === undefined ? null : { FullName: name };
