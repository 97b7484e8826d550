/**
 * What an endpoint, a mapping and the engine promise each other. The platform is an endpoint like any ERP. The engine
 * knows these types and nothing of HTTP, files or any ERP.
 */
import type { z } from "zod";
import type { Decimal } from "./decimal.ts";
import { NotMapped, WaitsFor } from "./errors.ts";
import type { Difference, HoldingKind, Holdings } from "./holdings.ts";
import type { Json } from "./json.ts";
import type { Kind } from "./kinds.ts";
import type { Notebook, Sender } from "./notebook.ts";
import type { Answer, Finding, Policy } from "./outcome.ts";
import type { Change, Fault, Item } from "./record.ts";
import type { Scratch } from "./scratch.ts";
import type { Drift } from "./shape.ts";
import type { Quiet } from "./silence.ts";

export type { Notebook } from "./notebook.ts";
export type { Change, Item } from "./record.ts";

/** A thing that records arrive in and that can arrive twice: a file, an interchange. */
export interface Arrival {
  /** Hash of its bytes: the same bytes are the same arrival whatever the name. */
  readonly id: string;
  readonly name: string;
  /** By what else it would be known again, such as its writer's number for it. Left out: by its bytes alone. */
  readonly numbers?: readonly string[];
}

/** Changes, and where to resume once they are stored. One page is one transaction. */
export interface Page {
  readonly changes: readonly Change[];
  readonly position: Json;
  /**
   * `atMs`: nothing of this page is older, ms UTC by our clock: the list that it is of was begun then, and may be a snapshot of
   * it; `answeredAt`: what the source's own clock said, as versions are written, null where it says nothing. Left out: nobody
   * knows, and an older version is an old one.
   */
  readonly asked?: { readonly atMs: number; readonly answeredAt: string | null };
  readonly arrival?: Arrival;
  /**
   * When something came that this page is about, known or refused as it may be: ISO 8601 UTC by the clock of the place it
   * came to. Left out: nothing did.
   */
  readonly cameAt?: string;
  /** What a person should be told about this page (a file recognised, a file cut short). */
  readonly notices?: readonly string[];
  /** What came and was refused, whole or in part. */
  readonly refused?: readonly Refusal[];
  /** What came whole: it settles what was refused under its names. */
  readonly whole?: Whole;
  /** The page is a part of a whole list: what is missing in the list is there no more. Left out: it tells changes alone. */
  readonly list?: {
    /** As a person finds it: a file's name, a path. */
    readonly name: string;
    /** How many records all of it has. */
    readonly total: number;
    /** The list ends with this page. */
    readonly isLast: boolean;
    /** All of it came, each record by its own id: what is missing may be concluded. */
    readonly isComplete: boolean;
  };
  /** How far the reading is with this page, 0 to 1; left out where it cannot know. */
  readonly share?: number;
  /** What the receiver of earlier documents tells of them. */
  readonly acknowledgements?: readonly Acknowledgement[];
  /** What its records have that their contract does not know. */
  readonly drift?: readonly Drift[];
  /** What is to be written back to whoever wrote this ({@link Source.replies}): each goes once, as every document does. */
  readonly replies?: readonly Reply[];
}

export interface Reading {
  readonly signal: AbortSignal;
  /** When and under which name these bytes came before; `since`: how many others came from this source since. */
  known(batchId: string): { name: string; at: string; since: number } | null;
  /** Is this version of this record stored? Saves reading its details again. */
  stored(id: string, version: string): boolean;
  /** Takes what is not read, each time anew: what a whole reading does not tell again is no longer in the way. */
  readonly hindered?: (obstacle: Obstacle) => void;
  readonly advanced?: (advance: Advance) => void;
  /** A past period is read anew ({@link Rereading}): its requests are counted for that. */
  readonly backfill?: true;
}

/** What a source offers that can be read anew from a moment of the past on, beside its live position. */
export interface Rereading {
  /** The position from which {@link read} yields every record that changed at or after this instant (ISO 8601 UTC). */
  from(instant: string): Json;
  /** How many records that is, as the source counts them now; null: it does not say. It takes one request. @throws SourceUnavailable */
  count(instant: string, reading: Reading): Promise<number | null>;
  /** Records on a page; a page is a request, and so is each record that a page shows only in part. */
  readonly pageSize: number;
  /**
   * The pages from there on, with versions that sort by age, and nothing that was told besides.
   * @throws SourceUnavailable
   */
  read(position: Json, reading: Reading): AsyncIterable<Page>;
}

/** Reads what changed since a position. It may repeat a change; it must not skip one. */
export interface Source {
  /** Every read begins at the beginning and reads all of it: what the last one cost, the next one costs. */
  readonly whole?: boolean;
  /** What is asked in the place of its endpoint: a stop of that does not concern it. Left out: the endpoint is. */
  readonly via?: string;
  /** Where {@link Page.replies} go. Left out: there are none. */
  readonly replies?: Sink;
  /**
   * Things come into it by themselves (see {@link Page.cameAt}), and a person is told when none does for so many ms; null:
   * for longer than ever before; infinite: never. Left out: it is a list, and what is new in it is what comes.
   */
  readonly silenceMs?: number | null;
  /** Nobody can give an id of its records to another record: a party of another name is the same firm. */
  readonly keepsIds?: boolean;
  /** Left out: a past period cannot be read anew. */
  readonly again?: Rereading;
  /**
   * Yields pages. When the engine asks for the next page, the last one is durable: only then may a source do what
   * cannot be taken back (archive a file). A null position means from the beginning.
   * @throws SourceUnavailable when it cannot be read now.
   */
  read(position: Json | null, reading: Reading): AsyncIterable<Page>;
}

/** The bytes of a request. They are stored before the first one leaves and never rebuilt. */
export interface Frozen {
  /** Where the bytes go, in the sink's own words: `POST /invoices`, `invoices/INV-1.csv`. */
  readonly target: string;
  readonly body: string;
}

/** A frozen request as the sink gets it, to prepare, send or look for. */
export interface Outgoing extends Frozen {
  readonly key: string;
  readonly items: readonly Pick<Item, "number" | "id" | "revision">[];
  /** When its bytes were made, ISO 8601 UTC. Left out: now. */
  readonly frozenAt?: string;
  /** When its first byte may have left, ISO 8601 UTC; null before the first send. */
  readonly firstSentAt: string | null;
  /**
   * Every site under the API key has this document, and makes it under this key: the receiver carries out one of them. `taken`:
   * it said that another site's is in other words. Left out: the key is of this site alone.
   */
  readonly ofEverySite?: "first" | "taken";
  /**
   * The file that it attaches, fetched when it is asked for. Left out: it attaches none. It rejects with what the engine
   * alone interprets: a sink that calls it must have written nothing before, and must let the error pass.
   */
  readonly file?: () => Promise<Uint8Array>;
}

/** A document of ours that the receiver has already. */
export interface Linked {
  readonly kind: Kind;
  readonly number: string;
  /** Is it of the kind that is looked for? */
  readonly isOwnKind: boolean;
  /** Both come from the very same record of the same source: a party that one list has as customer and supplier. */
  readonly isOwnRecord: boolean;
  /** The bytes that it last went in; null: a person linked it, or they are not kept any more. */
  readonly body: string | null;
}

/** What is known here of a document that is looked for. */
export interface Memory {
  /**
   * Documents of ours that are linked with this id of the receiver's: of the kind that is looked for, and of every other
   * kind that names the same things there ({@link Sink.names}).
   */
  linked(counterpart: string): readonly Linked[];
  /** The same of those with this number. */
  numbered(number: string): readonly Linked[];
  /** Has a person said that this record of the receiver ({@link Fault.candidates}) is another one, or that a code rightly means it? */
  readonly isDismissed: (counterpart: string) => boolean;
  /** Has a source here told a record of this id, of any kind that names the same things there? */
  isTold(id: string): boolean;
  /** Ids of the receiver's that a table of the site gives this name ({@link Mapping.namedIn}). Left out: there is no table. */
  named?(name: string): readonly string[];
}

/** Delivers requests. It throws only for programming errors: whatever a receiver does is an {@link Answer}. */
export interface Sink {
  /** `invoice.create`, `rack-price.upsert`: enters the idempotency key, never changes. */
  readonly operation: string;
  /** `create`: one effect per number, ever. `upsert`: the newest content wins. */
  readonly writes: "create" | "upsert";
  /** Documents that one request may carry, at least 1. */
  readonly itemsMax: number;
  /**
   * What its documents are at the receiver, where several sinks write them or their numbers change, and what one is called. What
   * is called alike, or has one number, goes one after the other: the second finds what the first made. Left out: numbers tell.
   */
  readonly names?: { readonly what: string; called(document: unknown): string };
  /**
   * A document without a counterpart makes something that must be there once: sites that share an API key, and each have the
   * document, make it under one key. Left out: it makes nothing, or what may be there of each.
   */
  readonly makesOne?: true;
  /** What was taken from it cannot be looked for any more (a folder that an ERP empties). */
  readonly forgets?: boolean;
  /** How long a document waits for what settles it ({@link Item.settledSince}), ms. Left out: none ever does. */
  readonly settleAfterMs?: number;
  /** Requests it may have under way at once; 4 when left out. */
  readonly atOnce?: number;
  readonly policy: Policy;
  /** What of a document reaches the receiver: a version that changes nothing else is no news to it. Pure. Left out: all of it. */
  concerns?(document: unknown): unknown;
  /**
   * Why a document that was never delivered is rightly not: what ended before its receiver had it, where that receiver cannot
   * be asked. Null: it is delivered. Pure. Left out: all are.
   */
  skips?(document: unknown): string | null;
  /**
   * The sequence that its requests are numbered by, where the receiver wants that: every request takes the next number
   * of it in the transaction that stores its bytes. Several sinks may share one. Left out: no numbers.
   */
  readonly sequence?: string;
  /** Its receiver tells later what it made of each document. Left out: it never does. */
  readonly acknowledged?: Acknowledged;
  /**
   * Pure: the same items and number give the same bytes. `number`: of {@link Sink.sequence}; left out, the bytes are made
   * to see whether they can be, and are not sent. @throws Refused when the receiver would refuse it anyway.
   */
  freeze(items: readonly Item[], number?: number): Frozen;
  /** Is its receiver there? Until it is, nothing is sent, looked for or counted. Left out: asking tells. @throws SourceUnavailable */
  expect?(signal: AbortSignal): Promise<void>;
  /**
   * Where it writes, under the name that this had at first: what only moved is the same place. Left out: its endpoint and its
   * own name say all. @throws SourceUnavailable while that cannot be known; nothing is sent, looked for or counted then
   */
  place?(): Promise<string>;
  /** Idempotent work that must be done before the request counts as sent (a staging file). */
  prepare?(request: Outgoing, signal: AbortSignal): Promise<void>;
  send(request: Outgoing, signal: AbortSignal, memory?: Memory): Promise<Answer>;
  /** Read-back: did this request arrive? Nothing is written. */
  find(request: Outgoing, signal: AbortSignal, memory?: Memory): Promise<Finding>;
  /**
   * A read-back for nothing: the receiver's ids of the items when this record, which came by in a poll, is exactly what
   * the request wrote; else null. Pure.
   */
  recognise?(request: Outgoing, record: unknown): readonly (string | null)[] | null;
  /** Where documents may arrive without counting yet, as drafts. */
  readonly unfinished?: Unfinished;
  /** How documents that were delivered stand there now, in their order. Left out where nothing can be asked.
   *  @throws SourceUnavailable when it cannot be read now */
  inspect?(delivered: readonly Delivered[], signal: AbortSignal): Promise<readonly Inspection[]>;
}

export interface Acknowledged {
  /** What the receiver will name each item of a request by, in their order. Pure. */
  readonly references: (request: Frozen, items: number) => readonly Reference[];
  /** A document of which nothing was told so long after it was delivered is work for a person. Null: it may take for ever. */
  readonly withinMs: number | null;
  /** What is refused is there all the same: {@link Sink.inspect} judges by {@link Delivered.told}. Left out: it is not. */
  readonly inspected?: true;
  /** Where they come, unless other sources of the endpoint bring them: pages with nothing but acknowledgements. */
  readonly source?: Source;
}

interface Unfinished {
  /** As in an answer or a finding. */
  readonly fault: Fault;
  /** Which of these (the receiver's ids) still are, in their order. @throws SourceUnavailable */
  still(counterparts: readonly string[], signal: AbortSignal): Promise<readonly boolean[]>;
}

/** A configured connector, or the platform. */
export interface Endpoint {
  readonly sources: Readonly<Record<string, Source>>;
  readonly sinks: Readonly<Record<string, Sink>>;
  /** Reachable, and the credentials are good. @throws SourceUnavailable with the next action. */
  check(signal: AbortSignal): Promise<void>;
  /** Everything that should hold before the next document goes (rights, codes, open periods), one by one. */
  examine?(signal: AbortSignal, needs: Needs): Promise<readonly Examination[]>;
  /**
   * What it has of this company, in words (`connections and invoices`); null: nothing. Left out where it cannot tell.
   * @throws SourceUnavailable
   */
  readonly knowsUs?: (signal: AbortSignal) => Promise<string | null>;
  /**
   * What will stop it unless a person acts before: told in `status` and as alerts. From what this machine has: nobody is
   * asked, and it costs next to nothing. Left out: nothing is known ahead.
   */
  readonly warnings?: () => readonly Fault<string>[];
  /** Of one that calls us: when it was here. Left out: it is called. */
  readonly presence?: () => Presence;
  /**
   * A person has released a stop, and may have changed something there before: settings that are kept (closing date,
   * classes, sales tax, names) are read again before they count. Left out: nothing is kept.
   */
  readonly readAgain?: () => void;
  /** What it holds now, for reconciliation. Left out where it cannot tell. */
  readonly holdings?: Holdings;
  close(): Promise<void>;
}

/** Code that speaks to one kind of ERP. A folder in `connectors/` and a line in its list. */
export interface Connector<Config = unknown> {
  readonly name: string;
  readonly config: z.ZodType<Config>;
  /**
   * What endpoints with these settings offer, told without opening any: nobody is asked. `folder`: where paths start.
   */
  offers(config: Config, folder: string): Offers;
  open(config: Config, surroundings: Surroundings): Endpoint;
}

/** A request that was delivered. */
export interface Remembered extends Frozen {
  readonly items: readonly Pick<Item, "number" | "id">[];
  /** ISO 8601 UTC. */
  readonly deliveredAt: string;
}

/** What a connector may use of the world around it; tests hand in their own. */
export interface Surroundings {
  /** The folder that relative paths of the configuration start from. */
  readonly folder: string;
  now(): Date;
  /** Resolves after `ms`, or at once when the signal aborts. */
  pause(ms: number, signal?: AbortSignal): Promise<void>;
  /** The company's currency, ISO 4217. */
  readonly currency: string;
  /** The calendar day (`YYYY-MM-DD`) of an instant (ISO 8601) where the company is. */
  readonly dayOf: (instant: string) => string;
  /** Fields of a kind that do not matter to this site: left out of every comparison. */
  readonly ignore: Readonly<Partial<Record<HoldingKind, readonly string[]>>>;
  /**
   * What requests of a sink's operation delivered, each document in the newest request that carried it, oldest first:
   * for receivers that cannot be asked. Left out where nothing is stored.
   */
  readonly remembered?: (operation: string) => Iterable<Remembered>;
  /**
   * Room for the reading of something of this many bytes, to be closed after. Left out: memory has to do.
   * @throws SourceUnavailable when there is none
   */
  readonly scratch?: (bytes: number) => Scratch;
  /** Left out: nothing is stored, and what is kept ends with this process. */
  readonly notebook?: Notebook;
  /** True: somebody only looks (`doctor`); nothing is made that was not there. Left out: false. */
  readonly looking?: boolean;
  /** Who sends from here, written where a receiver's folder is. Left out: nothing is stored, and nobody sends. */
  readonly sender?: Sender;
  /** For one that calls us: it is there now, and what waits for it goes at once. Left out: nobody waits (no daemon). */
  readonly arrived?: () => void;
  /** A line for the log; never a payload. */
  note(message: string, details?: Readonly<Record<string, unknown>>): void;
}

/** Sums that must agree on both sides of a flow. Null: this kind of document has none. */
export interface Figures {
  /** In the company's currency; sign as in the document. */
  readonly amount: Decimal | null;
  /** US gallons. */
  readonly gallons: Decimal | null;
  /** Whose it is: the account in the ERP, where its receiver only takes files; the payer on the platform; of a party its name. Left out: the receiver is asked itself. */
  readonly party?: string;
}

/** What a mapping can look up. Everything is synchronous: a mapping does no I/O. */
export interface References {
  /** The company's currency, ISO 4217. */
  readonly currency: string;
  /** The calendar day (`YYYY-MM-DD`) of an instant where the company is. */
  readonly dayOf: (instant: string) => string;
  /** The row of a cross-reference table (`products.csv`), by its first column. @throws NotMapped */
  row(table: string, key: string): Readonly<Record<string, string>>;
  /** The other side's id of `kind` `id`. @throws WaitsFor when there is none yet. */
  counterpart(kind: Kind, id: string): string;
  /** The same, or null. `amountOf`: the amount last delivered of it; null, and left out: none is known. */
  find(kind: Kind, id: string): string | null;
  amountOf?(kind: Kind, id: string): Decimal | null;
  /** This side's id of the document of this number that was delivered from here; null: none was. Left out: nobody knows. */
  numbered?(kind: Kind, number: string): string | null;
  /** May the receiver have the record, or have lost it, though `find` does not know it: books or store were set back? Left out: no. */
  wasLost?(id: string): boolean;
  /** The other side has what this record became: a site's choice of records (`only`) is no longer asked. Left out: it has not. */
  readonly isThere?: boolean;
}

/** This record is rightly not delivered: a draft, a cancelled document. Counted; once it was delivered it is a person's. */
export interface Skip {
  readonly skip: string;
  /** The other side's id of what the record says it was made of, or is there: no second one of that, and nothing new to that side. */
  readonly madeOf?: string;
}

/** What a person knows a record by, so far as the record says it; null or left out: it does not. */
export interface About {
  /** What people call it, where its number is an id. */
  readonly name?: string | null;
  /** The other party: its code in the ERP, or its id on the platform. */
  readonly party?: string | null;
  readonly partyName?: string | null;
  /** The platform's id of the location that it is for. Where it is given, the party is who ordered: as a rule ourselves. */
  readonly location?: string | null;
  readonly amount?: Decimal | null;
  /** Its own day, `YYYY-MM-DD`, or an instant of it, ISO 8601 UTC. Left out: it has none. */
  readonly day?: string | null;
  /** ISO 4217; null: the company's. */
  readonly currency?: string | null;
  /** It is void: it counts for nothing. */
  readonly ended?: boolean;
}

/** What a copy of a document keeps, and what one that is entered twice does. Texts are compared as numbers are. */
export interface Likeness {
  /** Its code or id. */
  readonly party: string;
  /** What the platform calls the party: what both sides know it by. Null: nothing here says it. */
  readonly company: string | null;
  /** In the currency; of goods, gallons. */
  readonly amount: Decimal;
  /** `YYYY-MM-DD` */
  readonly day: string;
  /** What tells two documents of one party, amount and day apart: orders, contracts, checks. Empty: nothing does but their lines. */
  readonly names: readonly string[];
  /** Bills of lading and tickets: two loads of one day and one order have their own. */
  readonly loads: readonly string[];
  /**
   * What it says, line by line: of two documents of which one has no reference these tell whether they are alike, for not
   * every ERP copies the reference. Null: they do not.
   */
  readonly lines: readonly string[] | null;
  /** Where a party gives each number once; null: numbers repeat. */
  readonly number: string | null;
}

/** Documents, and the schema that made them: who has that schema need not check them again. */
export const checkedBy = new WeakMap<object, unknown>();

/** One kind of change in, one kind of document out. Pure. */
export interface Mapping<In = unknown, Out = unknown> {
  /** `books/customers`: how the configuration names it. */
  readonly name: string;
  /** What both ids name: links are kept per kind. */
  readonly kind: Kind;
  /** Parsed before; its issues are the fault of a record that does not fit. */
  readonly input: z.ZodType<In>;
  /** Checked after. */
  readonly output: z.ZodType<Out>;
  /** The number people search for: invoice number, party code. */
  number(record: In): string;
  /** @throws Refused, NotMapped, WaitsFor */
  map(record: In, references: References): Out | Skip;
  figures(document: Out): Figures;
  /** The day (`YYYY-MM-DD`) that a record's document is booked on; null: it has none. Left out: nothing is booked. */
  bookedOn?(record: In, references: Pick<References, "dayOf">): string | null;
  /**
   * By what a second document of the same kind would be taken for the same one: such a one waits for a person. Null:
   * nothing is like it (it is void, or a draft). Left out: nobody looks.
   */
  likeness?(record: In, references: Pick<References, "dayOf" | "find">): Likeness | null;
  /** For the quarantine: it is asked of records that cannot be mapped. Left out: the number says all. */
  about?(record: In): About;
  /** True for documents that are posted in books: an amount that changes after delivery is work for a person. */
  readonly posts?: boolean;
  /** Records of this mapping settle a document of another kind: a payment settles an invoice. */
  readonly settles?: {
    readonly kind: Kind;
    /** The source's id of the document that it settles. */
    of(record: In): string;
  };
  /** The form of the records that it takes ({@link Offer.form}): a flow's source must offer it. Left out: any. */
  readonly reads?: string;
  /** The form of the documents that it makes: a flow's sink must offer it. Left out: any. */
  readonly writes?: string;
  /** The cross-reference tables that it looks things up in, each with its columns: the key, then those read. Left out: none. */
  readonly tables?: Readonly<Record<string, readonly [key: string, ...read: string[]]>>;
  /**
   * A table that documents of the other way are mapped with. Its keys are ids of the receiver's, and the column has what they
   * are called here: a document of such a name is there already. It need not exist. Left out: there is none.
   */
  readonly namedIn?: { readonly table: string; readonly column: string };
  /**
   * What a flow that uses it may set under `options`: what differs from site to site and is no logic. It parses an object;
   * left out: there is nothing to set.
   */
  readonly options?: z.ZodType;
  /** The same mapping with these options, as {@link Mapping.options} parsed them. Left out: it has none. */
  using?(options: unknown): Mapping<In, Out>;
  /**
   * Fields that it leaves out on purpose, by path (`notes`, `lines.spec`; a list's elements share one path): of the
   * record, which it does not read, and of the document, which it does not fill.
   */
  readonly leaves?: {
    readonly record?: readonly string[];
    readonly document?: readonly string[];
  };
}

/** A mapping as it is written: what reads the options of the flow gets them as its last argument. */
export interface WrittenMapping<In, Out, Options, Name extends string = string> extends Omit<
  Mapping<In, Out>,
  "name" | "number" | "map" | "figures" | "tables" | "options" | "using"
> {
  readonly name: Name;
  readonly options?: z.ZodType<Options>;
  readonly tables?: Mapping["tables"] | ((options: Options) => Mapping["tables"]);
  number(record: In, options: Options): string;
  /** @throws Refused, NotMapped, WaitsFor */
  map(record: In, references: References, options: Options): Out | Skip;
  /** Left out: its documents have no amount and no gallons. */
  figures?(document: Out): Figures;
}

/** Until a flow sets options, those hold that its schema makes of none. */
export function defineMapping<In, Out, Options = unknown, const Name extends string = string>(
  written: WrittenMapping<In, Out, Options, Name>,
): Mapping<In, Out> & { readonly name: Name } {
  const { options: schema, tables, ...rest } = written;
  const using = (options: Options) => {
    const needed = typeof tables === "function" ? tables(options) : tables;
    return {
      ...rest,
      number: (record: In) => written.number(record, options),
      figures: (document: Out) => written.figures?.(document) ?? { amount: null, gallons: null },
      map: (record: In, references: References) => written.map(record, references, options),
      ...(needed === undefined ? {} : { tables: needed }),
      ...(schema === undefined ? {} : { options: schema, using }),
    };
  };
  return using((schema?.safeParse({}).data ?? {}) as Options);
}

export const skip = (reason: string, madeOf?: string): Skip =>
  madeOf === undefined ? { skip: reason } : { skip: reason, madeOf };
export const defineConnector = <C>(connector: Connector<C>): Connector<C> => connector;

/* What an endpoint can be read from and written to, told without opening it. */

/** Sources and sinks by the name that a flow gives them. */
export interface Offers {
  readonly sources: Readonly<Record<string, Offer>>;
  readonly sinks: Readonly<Record<string, Offer>>;
  /** What is wrong with files that the settings name; left out: nothing. */
  readonly complaints?: readonly OfferComplaint[];
}

/** A setting that names something which cannot be used. */
export interface OfferComplaint {
  /** From the endpoint's own: `["sources", "tickets", "profile"]`. */
  readonly setting: readonly string[];
  /** The end of a sentence that begins with the setting. */
  readonly message: string;
  readonly remedy: string;
}

/** A source or a sink. */
export interface Offer {
  /** What its records or documents are (`Mapping.reads`, `Mapping.writes`): `books.parties`, `files.orders`. Left out: of any form. */
  readonly form?: string;
  /** What the service's user must be allowed to do on this machine; left out: nothing. */
  readonly folders?: readonly FolderNeed[];
  /** Of a sink: its receiver gives what is written no id, so a source of this name takes it for new: one of the two is used. */
  readonly anonymous?: true;
  /** Of a source: what one flow has read is moved away, so another one would not see it. */
  readonly once?: true;
  /**
   * Of a source: its records have a PDF, and this names how it is fetched (`getInvoicePdf`). Of a sink: a PDF can be
   * attached to what it books, by the endpoint's sink of this name (`invoiceFiles`), which no flow names. Left out: no.
   */
  readonly pdf?: string;
}

export type FolderRight = "r" | "w" | "x";

export interface FolderNeed {
  /** Absolute. */
  readonly path: string;
  /** The rights that the user needs on it: `r` to list it, `w` to create and rename in it, `x` to enter it. */
  readonly rights: readonly FolderRight[];
  /** True: it is created where it is missing, so the nearest folder above it must allow that. */
  readonly created: boolean;
  /** The setting that names it, from the endpoint's own: `["sinks", "orders", "folder"]`. */
  readonly setting: readonly string[];
}

/* What a source tells while it reads, beside its pages. */

/** Something that lies there and is not read, and what it holds back. */
export interface Obstacle {
  /** As a person finds it: a file's name. */
  readonly what: string;
  /** Why it is not read, and what to do. */
  readonly fault: Fault<string>;
  /** Whoever writes it is not done yet, and nobody need do anything. */
  readonly awaited: boolean;
  /** What came later and is not read before it, oldest first: how many, and the names of the first ones. */
  readonly behind: { readonly count: number; readonly names: readonly string[] };
  /** In so many ms it is worth another look; left out: at the next one that is due. */
  readonly againMs?: number;
}

/** Something that came and was not taken, or not all of it: it stands until a person settles it or it comes whole. */
export interface Refusal {
  /** As a person finds it: a file's name, as it came. */
  readonly what: string;
  /** Of its bytes: the same ones again are no news. */
  readonly id: string;
  readonly fault: Fault<string>;
}

/** Something that came whole, by every name under which it may have been refused before. */
export interface Whole {
  readonly names: readonly string[];
  readonly id: string;
  /** These bytes came before: they settle what other bytes left, and not what they left themselves. */
  readonly again?: true;
}

/** How far a source is with something large that becomes pages only when all of it was read. */
export interface Advance {
  readonly records: number;
  /** Of the whole, 0 to 1. */
  readonly share: number;
}

/** Codes of whole lists that are not believed until a person says that they are right. */
export const heldLists = { grew: "list-grew", shrank: "list-shrunk" } as const;
export const isHeldList = (code: string): boolean =>
  code === heldLists.grew || code === heldLists.shrank;

/** After the name of what is not read, in a sentence: `was refused`. */
export const fateOf = ({
  code,
  lasts,
}: {
  readonly code: string;
  readonly lasts: boolean;
}): string => (isHeldList(code) ? "is not believed" : lasts ? "was refused" : "is not read");

/* What a receiver tells later of what was delivered to it, and what is written back for what was read. */

/** What a receiver calls something that was sent to it, for the time when it tells what came of it. */
export interface Reference {
  /** The whole that went: an interchange by its number, an IDoc by its own. */
  readonly exchange: string;
  /** The document in it; empty: there is one only. */
  readonly item: string;
  /** What it went as, where receivers say that again: `IN 004010`. Left out: they do not. */
  readonly sentAs?: string;
}

/** What a receiver tells later of documents that were delivered to it. */
export interface Acknowledgement {
  readonly exchange: string;
  /** As in {@link Reference}; null: every document of the exchange of which it does not speak by itself. */
  readonly item: string | null;
  /** What it says that the exchange went as, or how that begins: one that went as something else is not meant. */
  readonly sentAs?: string;
  /** `awaited`: it is on its way there, and nothing is decided. */
  readonly verdict: "accepted" | "refused" | "awaited";
  /** In words for people, with its codes. */
  readonly detail: string;
  /** The same without any value of the document: those that were refused for one reason are one group. Left out: nobody knows. */
  readonly reason?: string;
  /** When, by the receiver's clock, as text that sorts by age: the latest counts. Left out: the one that came last. */
  readonly at?: string;
}

/** Something that is written back for what was read. */
export interface Reply {
  /** Stable: the same reading gives the same reply again. 1 to 200 characters. */
  readonly id: string;
  /** For the sink: as JSON. */
  readonly content: Json;
}

/* How documents that were delivered stand at their receiver now. */

/** A document that was delivered. */
export interface Delivered {
  /** What its source calls it. */
  readonly id: string;
  /** The receiver's id of it. */
  readonly counterpart: string;
  /** The bytes that it last went in: what it was brought to. Null when a person linked it. */
  readonly body: string | null;
  /** When it was last delivered, or linked, ISO 8601 UTC; left out: nobody knows. */
  readonly deliveredAt?: string;
  /** What the receiver told last of it; left out: nothing. */
  readonly told?: Pick<Acknowledgement, "verdict" | "detail" | "reason">;
  /** It still waits for what settles it, until this instant (ISO 8601 UTC); left out: it was brought all the way. */
  readonly waitsUntil?: string;
}

/**
 * `there`: with what now differs from what it was brought to (edited, cancelled, credited or partly paid there), each
 * field in both words. `gone`: no longer there, or not as far as it was brought: books were restored from a backup.
 */
export type Inspection =
  { readonly is: "there"; readonly differences: readonly Difference[] } | { readonly is: "gone" };

export const gone = { is: "gone" } as const satisfies Inspection;
export const thereAsBrought = { is: "there", differences: [] } as const satisfies Inspection;

/* What an endpoint is asked before the next document goes, and what it answers, line by line. */

/** One thing that was looked at; `fault` says what is wrong with it and what to do. */
export interface Examination {
  /** In a few words: `company "Prairie Fuel"`, `account 4000`, `crossref/items.csv line 7`. */
  readonly what: string;
  readonly fault: Fault<string> | null;
  /** What a person should know though documents go; left out: nothing. */
  readonly note?: string;
  /** It was not looked at: nothing is known of it. */
  readonly isUnseen?: true;
}

/** What this site is about to need of an endpoint. */
export interface Needs {
  /** Cells that say which company of the platform we are; none where no flow needs to know. */
  readonly ourselves: readonly Cell[];
  /** Its sources and sinks that a flow names, paused flows too, and the sinks that attach PDFs to what these flows book. */
  readonly parts: ReadonlySet<string>;
  /**
   * The cells of a column of a cross-reference table that are not empty, in their order; none where there is no such
   * table or column.
   */
  column(table: string, column: string): readonly Cell[];
  /** Days that documents which are stored and not delivered yet will be booked on. */
  readonly days: readonly DayToBook[];
}

export interface Cell {
  /** Of the same row: its first cell. */
  readonly key: string;
  readonly value: string;
  /** `crossref/items.csv` */
  readonly file: string;
  readonly line: number;
}

export interface DayToBook {
  /** `YYYY-MM-DD` */
  readonly day: string;
  readonly flow: string;
  /** How many documents. */
  readonly count: number;
}

/* One that calls us (an ERP that cannot be called): when it was here, and when its silence is to be told. */

/** How long a comparison waits for one that calls us, ms, unless a configuration says so. */
export const WAIT_MS = 20 * 3_600_000;

export interface Presence {
  /** When it was last here, ISO 8601 UTC; null: never. */
  readonly lastAt: string | null;
  readonly isHere: boolean;
  /** It is not here, and nothing is known to be wrong with that: work waits for its next call. */
  readonly isAwaited: boolean;
  /** It should have called before; null: not yet. */
  readonly silence: Omit<Quiet, "longestMs"> | null;
}

/** The tables that any of these mappings looks things up in, each with all columns that they read of it, the key first. */
export function columnsRead(mappings: Iterable<Pick<Mapping, "tables">>): Map<string, string[]> {
  const columns = new Map<string, string[]>();
  for (const { tables = {} } of mappings)
    for (const [table, names] of Object.entries(tables))
      columns.set(table, [...new Set([...(columns.get(table) ?? []), ...names])]);
  return columns;
}

// What a mapping can look up: tables of the configuration, and ids as whoever maps knows them.

/** What of it lies outside the store. */
interface Around extends Pick<References, "currency" | "dayOf"> {
  readonly tables: {
    /** Null: the table has no such row. */
    row(table: string, key: string): Readonly<Record<string, string>> | null;
  };
}

/** @param find the other side's id of a record, null where there is none yet */
export function referencesBy(
  { tables, currency, dayOf }: Around,
  find: References["find"],
): References {
  return {
    currency,
    dayOf,
    find,
    counterpart(kind, id) {
      const other = find(kind, id);
      if (other === null) throw new WaitsFor(kind, id);
      return other;
    },
    row(table, key) {
      const row = tables.row(table, key);
      if (row === null) throw new NotMapped(table, key);
      return row;
    },
  };
}
