/** What an ERP's newest export says, in the words of holdings: as of that file, not as it is now. */
import { archiveFolders, openSet, tableReader } from "./source.ts";
import { posix } from "node:path";
import type { z } from "zod";
import type { FilesConfig, SourceConfig, TableSink, TableSource } from "./config.ts";
import { Blocked, type Drop, orUnavailable } from "./folder/port.ts";
import {
  ageOf,
  ARCHIVED,
  type FileSet,
  findSets,
  type Found,
  isNamed,
  type KeptSet,
  list,
  listEach,
  type Place,
  placeOf,
  type Site,
} from "./pickup.ts";
import type { Change, Item } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused, SourceUnavailable } from "../../src/core/errors.ts";
import {
  type Expected,
  type Facts,
  type Holding,
  type HoldingKind,
  holdingKinds,
  type Holdings,
  type HoldingState,
  identityOf,
  INVOICE_STATES,
  type Lacking,
  ORDER_STATES,
  type Strength,
  TICKET_STATES,
} from "../../src/core/holdings.ts";
import { parseExact } from "../../src/core/json.ts";
import { sortableInstant } from "../../src/core/keys.ts";
import { type DocumentName, documents } from "../../src/formats/documents.ts";
import { type Encoding, PartFault } from "../../src/formats/format.ts";
import { deliveryTickets } from "../../src/formats/table/layouts.ts";
import { changesOf } from "../../src/formats/table/records.ts";
import {
  documentsIn,
  documentsWriter,
  tellsWhich,
  type Writing,
  writingOf,
} from "../../src/formats/table/write.ts";
import { PriceRecord, recordFacts } from "../../src/ledger/documents.ts";
import { orRefused } from "../../src/ledger/entries.ts";

/** Layouts whose records both sides hold, and as what. */
const KINDS: Readonly<Record<string, HoldingKind>> = {
  "books.parties": "party",
  "books.prices": "price",
  "books.invoices": "invoice",
  "books.paidInvoices": "invoice",
  "plain/delivery-tickets": "ticket",
};

/** A source of whole lists that both sides hold. A list of what changed does not say what there is. */
const exportedKind = (source: SourceConfig): HoldingKind | null =>
  source.format === "table" && source.holds === "all" ? (KINDS[source.layout] ?? null) : null;

type Export = Awaited<ReturnType<typeof newestExport>>;

/**
 * The newest export that was read; where none was, or the archive was emptied, the newest that lies there unread.
 * @throws SourceUnavailable when there is none
 */
async function newestExport(config: TableSource, site: Site) {
  const place = placeOf(config, site);
  const { kept } = site;
  const tellsPaidOnly = config.layout === "books.paidInvoices";
  /** `at`: when the ERP wrote it, ISO 8601 UTC; `tells`: of how many of the files that make up a document. */
  const told = async (one: KeptSet) => {
    const changes = await changesIn(one, config, site);
    if (changes === null) return null;
    const holdings = changes.map((change) => holdingOf(config.layout, change));
    const tells = tellsPaidOnly ? 0 : one.set.parts.size;
    return { holdings, at: new Date(ageOf(one.set)).toISOString(), tells };
  };
  const known = kept?.newest(place) ?? null;
  const remembered = known === null ? null : await told(known);
  if (remembered !== null) return remembered;
  kept?.forget(place);
  for await (const one of setsOf(place, NEWEST)) {
    const newest = await told(one);
    if (newest === null) continue;
    if (one.folder !== place.folder) kept?.keep(place, one.folder, one.set.parts);
    return newest;
  }
  throw new SourceUnavailable(
    `There is no export of ${config.profile ?? config.layout} in ${place.folder}, read or unread (${[...place.patterns.values()].join(", ")}).`,
    { next: "Export it in the ERP, and leave the newest file in the archive folder." },
  );
}

/** Every export of a source that still lies there, read and unread, the oldest first. @throws SourceUnavailable as `changesIn` */
export async function everyExport(
  config: TableSource,
  site: Site,
): Promise<readonly (readonly Change[])[]> {
  const sets: KeptSet[] = [];
  for await (const one of setsOf(placeOf(config, site), Infinity)) sets.push(one);
  const exports: (readonly Change[])[] = [];
  for (const one of sets.toSorted((a, b) => ageOf(a.set) - ageOf(b.set)))
    exports.push((await changesIn(one, config, site)) ?? []);
  return exports;
}

/**
 * The changes of an export, read as its source reads them. Null: it is gone, cut short, or not what the profile says; the
 * source tells a person of it.
 * @throws SourceUnavailable when it may not be read, or there is no room for it
 */
async function changesIn(
  { folder, set }: KeptSet,
  config: TableSource,
  site: Site,
): Promise<readonly Change[] | null> {
  const reader = tableReader(config, site);
  try {
    const opened = await openSet(site.drop, folder, set, reader.encoding);
    if (opened === null) return null;
    try {
      const read = await reader.read(opened, new AbortController());
      if (read === null) return null;
      const { scratch, cut } = read;
      const changes = cut === null ? changesOf(scratch, 0, scratch.count()) : null;
      scratch.close();
      return changes;
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (error instanceof PartFault) return null;
    if (error instanceof Blocked)
      throw new SourceUnavailable(error.message, { next: error.next, cause: error });
    throw error;
  }
}

/** Files of a folder that are kept in mind while it is listed; an export that is whole is among the newest. */
const NEWEST = 1_000;

/**
 * Whole sets of a source, the newest first in each folder: those of the archive, then those that are not read yet. `most`:
 * of so many of a folder's newest files. In the archive names have a hash before their ending, the same in all of a set.
 */
async function* setsOf(place: Place, most: number): AsyncGenerator<KeptSet> {
  const { drop, patterns, manifest } = place;
  const isWanted = (name: string): boolean =>
    !(manifest !== null && name.endsWith(manifest)) &&
    [...patterns.values()].some((pattern) => isNamed(pattern, name.replace(ARCHIVED, "$2")));
  for (const folder of [...(await archiveFolders(place)), place.folder]) {
    let files: Found[] = [];
    const trim = (): void => {
      files = files.toSorted((one, other) => other.mtimeMs - one.mtimeMs).slice(0, most);
    };
    const see = (file: Found): void => {
      if (file.kind === "file") files.push(file);
      if (files.length >= most * 2) trim();
    };
    await listEach(drop, folder, see, isWanted);
    trim();
    const sets = [...Map.groupBy(files, ({ name }) => ARCHIVED.exec(name)?.[1] ?? "").values()]
      .flatMap((alike) => wholeSets(patterns, alike))
      .toSorted((one, other) => ageOf(other) - ageOf(one));
    for (const set of sets) yield { folder, set };
  }
}

/** Of files with one hash in their names, by the names that they came under. */
function wholeSets(patterns: Place["patterns"], files: readonly Found[]): FileSet[] {
  const plain = new Map(
    files.map((file) => [{ ...file, name: file.name.replace(ARCHIVED, "$2") }, file]),
  );
  return findSets(patterns, [...plain.keys()])
    .filter(({ missing }) => missing.length === 0)
    .map(({ parts }) => ({
      parts: new Map([...parts].map(([part, file]) => [part, plain.get(file) ?? file])),
      missing: [],
    }));
}

function holdingOf(layout: string, change: Change): Holding {
  const kind = KINDS[layout] as HoldingKind;
  const told = change.fault === undefined ? factsOf(kind, change) : { facts: {} };
  return { kind, id: change.id, version: null, ...told, mark: null, change };
}

function factsOf(kind: HoldingKind, { id, text }: Change): Pick<Holding, "facts" | "role"> {
  if (kind === "invoice" || kind === "party") return recordFacts(kind, text);
  const record = parseExact(text);
  return kind === "ticket"
    ? { facts: ticketFacts(deliveryTickets.record.parse(record)) }
    : { facts: { number: id, money: { price: PriceRecord.parse(record).price } } };
}

/** One that is issued may be signed on the platform meanwhile: its state is not told. A party that is left out is we. */
function ticketFacts(ticket: z.infer<typeof deliveryTickets.record>): Facts {
  const { number, status, receiver, supplier, bolNumber, delivered, lines } = ticket;
  const { ISSUED: _, ...state } = TICKET_STATES;
  return {
    number,
    party: receiver ?? supplier,
    ...(status in state ? { state: state[status as keyof typeof state] } : {}),
    ...(delivered === null ? {} : { days: { date: delivered } }),
    words: {
      side: receiver === null ? "purchase" : "sale",
      reference: bolNumber?.trim() || number,
    },
    lines: lines.flatMap(({ product, netGallons }) =>
      product === null
        ? []
        : [{ product, quantity: netGallons, unit: "gal", unitPrice: null, amount: Decimal.zero }],
    ),
  };
}

/*
 * What this side is known to hold, without asking an ERP: what it exported, and what was written for it to import.
 * Weaker than a question: what the ERP did with an import file nobody sees here, unless an export shows it.
 */

const WRITTEN: Readonly<Partial<Record<HoldingKind, DocumentName>>> = {
  invoice: "customer-invoices",
  bill: "supplier-invoices",
  order: "orders",
  ticket: "delivery-tickets",
};

export function filesHoldings(files: FilesConfig, site: Site): Holdings {
  const sinkOf = (kind: HoldingKind): TableSink | undefined =>
    Object.values(files.sinks).find(
      (sink): sink is TableSink =>
        sink.format === "table" &&
        sink.document === WRITTEN[kind] &&
        tellsWhich(writingOf(sink, site).profile),
    );
  const sourcesOf = (kind: HoldingKind) =>
    Object.entries(files.sources).filter(
      (named): named is [string, TableSource] =>
        named[1].format === "table" && exportedKind(named[1]) === kind,
    );

  async function all(kind: HoldingKind): Promise<{ holdings: Holding[]; lacking: Lacking[] }> {
    const sink = sinkOf(kind);
    const written = sink === undefined ? [] : await writtenOf(kind, sink, site);
    const sources = sourcesOf(kind);
    const told = await Promise.all(
      sources.map(async ([, source]) =>
        newestExport(source, site).catch((error: unknown) => {
          if (error instanceof SourceUnavailable) return error;
          throw error;
        }),
      ),
    );
    const exports = told.filter((one): one is Export => !(one instanceof SourceUnavailable));
    const lacking = sources.flatMap(([name], at): Lacking[] => {
      const error = told[at];
      if (!(error instanceof SourceUnavailable)) return [];
      const { message: why, next } = error;
      // Heads of invoices may be exported again for what is paid since; each role has parties of its own.
      const isTold = kind === "invoice" && exports.length > 0;
      return [{ what: `source "${name}"`, why, next, isTold }];
    });
    const [missing] = lacking;
    if (missing !== undefined && exports.length === 0 && sink === undefined)
      throw new SourceUnavailable(
        lacking.map(({ what, why }) => `${what}: ${why}`).join(" "),
        missing,
      );
    return { holdings: joined(written, exports), lacking };
  }

  return {
    strength: strengthOf(files, (kind) => sinkOf(kind) !== undefined),
    // Everything at once: a file has no part that could be asked for.
    async *list(kind) {
      const { holdings, lacking } = await all(kind);
      yield { holdings, position: null, total: holdings.length, serverTime: null, lacking };
    },
    get: async (kind, ids) => {
      const wanted = new Set(ids);
      return (await all(kind)).holdings.filter(({ id }) => wanted.has(id));
    },
    expect: async (kind, items) => {
      const sink = sinkOf(kind);
      return sink === undefined
        ? items.map(() => nobody(kind))
        : expected(items, writingOf(sink, site));
    },
  };
}

/** The weaker one, where a kind is both written and exported. */
function strengthOf(
  { sources }: FilesConfig,
  isWritten: (kind: HoldingKind) => boolean,
): Holdings["strength"] {
  const exported = new Set(Object.values(sources).map(exportedKind));
  return Object.fromEntries(
    holdingKinds.flatMap((kind): [HoldingKind, Strength][] => {
      if (isWritten(kind)) return [[kind, "remembered"]];
      return exported.has(kind) ? [[kind, "exported"]] : [];
    }),
  );
}

/** A document of ours, and since when it lies there. */
interface Ours {
  readonly holding: Holding;
  readonly deliveredAt: string;
}

/**
 * The newest version of each document: from the import folder where its file still is, else as it was frozen. Files
 * that the store does not know of count too: it may have been lost.
 */
async function writtenOf(kind: HoldingKind, sink: TableSink, site: Site): Promise<Ours[]> {
  const { drop } = site;
  const { document } = sink;
  const writing = writingOf(sink, site);
  const { encoding, ending } = writing.profile;
  const latest = new Map<string, Ours>();
  const take = async (target: string, body: string, deliveredAt: string): Promise<void> => {
    const text = (await textAt(drop, drop.at(target), encoding)) ?? body;
    const documents = await documentsIn(writing, text).catch((error: unknown) => {
      throw new SourceUnavailable(
        `The file ${target} is not as it was written: ${String(error)}.`,
        {
          next: "Look at the file; move it out of the import folder, or put back what was there.",
        },
      );
    });
    for (const one of documents) {
      const mark = textIn(one, "id") ?? "";
      const version = versionOf(one);
      if (version < (latest.get(mark)?.holding.version ?? "")) continue;
      const id = documents.length === 1 ? target : `${target}#${mark}`;
      const facts = writtenFacts(writing, one);
      const holding: Holding = { kind, id, version, mark, change: null, facts };
      latest.set(mark, { holding, deliveredAt });
    }
  };
  const known = new Set<string>();
  for (const { target, body, deliveredAt } of site.remembered?.(documents[document].operation) ??
    []) {
    known.add(target);
    await take(target, body, deliveredAt);
  }
  const there = (await list(drop, drop.at(sink.folder))).map(({ name }) => name);
  for (const name of there.toSorted()) {
    const target = posix.join(sink.folder.replaceAll("\\", "/"), name);
    if (name.startsWith(`${document}_`) && name.endsWith(`.${ending}`) && !known.has(target))
      await take(target, "", "");
  }
  return [...latest.values()];
}

/* What one of our own files shows of a document. */

type Row = Readonly<Record<string, unknown>>;

/** Null: there is none, or no column. */
function textIn(row: Row, field: string): string | null {
  const value = row[field];
  // One value may be spelt in several ways: the platform's 7311 of today is its 7311.0 of tomorrow.
  if (value instanceof Decimal) return value.plain();
  return typeof value === "string" && value !== "" ? value : null;
}

const decimalIn = (row: Row, field: string): Decimal | null => {
  const value = row[field];
  return value instanceof Decimal ? value : null;
};

const rowsIn = (row: Row, field: string): readonly Row[] => (row[field] ?? []) as readonly Row[];

/** What there is of these, with the word before it that says what it is. */
const joinedIn = (row: Row, words: Readonly<Record<string, string>>): string | null =>
  Object.entries(words)
    .flatMap(([field, word]) => {
      const text = textIn(row, field);
      return text === null ? [] : [word === "" ? text : `${word} ${text}`];
    })
    .join(", ") || null;

/** Sorts by age. */
const versionOf = (row: Row): string => sortableInstant(textIn(row, "version") ?? "") ?? "";

/** What a file says that these do not know is posted. */
const GOODS_STATES: Readonly<Record<string, HoldingState>> = { ...ORDER_STATES, ...TICKET_STATES };

/** Fields of a line that have no field of their own among facts. */
const LINE_WORDS = {
  description: "",
  product: "product",
  spec: "spec",
  grossGallons: "gross gal",
  netGallons: "net gal",
  bolNumber: "BOL",
  deliveryTicket: "ticket",
  location: "location",
  carrier: "carrier",
  deliveredDate: "delivered",
};

/** What is open no import file says; a currency neither. */
function writtenFacts({ document, dayOf }: Writing, head: Row): Facts {
  const number = textIn(head, "number") ?? "";
  const status = textIn(head, "status") ?? "";
  const lines = rowsIn(head, "lines");
  if (document === "orders" || document === "delivery-tickets") {
    const isOrder = document === "orders";
    // An order has no day of its own in a file: it is dated by its last change, as the platform's list is asked.
    const version = versionOf(head);
    const changed = version === "" ? "" : dayOf(version);
    return {
      number,
      state: GOODS_STATES[status] ?? "posted",
      days: { date: (isOrder ? null : textIn(head, "deliveryDate")) ?? changed },
      words: isOrder ? {} : { reference: textIn(head, "bolNumber") },
      lines: lines.map((row) => ({
        product: textIn(row, "item"),
        quantity: decimalIn(row, isOrder ? "quantity" : "netGallons"),
        unit: isOrder ? textIn(row, "unit") : "gal",
        unitPrice: isOrder ? decimalIn(row, "rate") : null,
        amount: Decimal.zero,
      })),
    };
  }
  const isSale = document === "customer-invoices";
  const states: Readonly<Record<string, HoldingState>> = INVOICE_STATES;
  const state = states[status];
  return {
    number,
    party: textIn(head, isSale ? "customer" : "vendor"),
    ...(state === undefined ? {} : { state }),
    days: {
      date: textIn(head, "invoiceDate"),
      due: textIn(head, "dueDate"),
      paid: textIn(head, "paidDate"),
    },
    money: {
      untaxed: decimalIn(head, "subtotal"),
      tax: decimalIn(head, "taxTotal"),
      total: decimalIn(head, "total"),
    },
    words: {
      side: isSale ? "sale" : "purchase",
      order: joinedIn(head, { poNumber: "PO", contractNumber: "contract" }),
      notes: textIn(head, "notes"),
    },
    lines: lines.map((row) => ({
      product: textIn(row, "item"),
      quantity: decimalIn(row, "gallons"),
      unit: decimalIn(row, "gallons") === null ? null : "gal",
      unitPrice: decimalIn(row, "rate"),
      amount: decimalIn(row, "amount") ?? Decimal.zero,
      text: joinedIn(row, LINE_WORDS),
    })),
    taxes: rowsIn(head, "taxes").map((row) => ({
      code: joinedIn(row, { taxCode: "", authority: "", product: "" }) ?? "",
      amount: decimalIn(row, "amount") ?? Decimal.zero,
    })),
  };
}

/** Null: the ERP has taken it. @throws SourceUnavailable */
async function textAt(drop: Drop, path: string, encoding: Encoding): Promise<string | null> {
  const read = await orUnavailable(drop.read(path), `the file ${path} cannot be read`);
  if (!read?.bytes) return null;
  return new TextDecoder(encoding === "auto" ? "utf-8" : encoding).decode(read.bytes);
}

/**
 * An export that shows a document which we wrote (the same number and party) tells of that document: what it says
 * counts if it is the newer one of the two. Of two exports of one list the newer counts; what a mapping takes is of the
 * one that tells more, for invoices may be exported with their lines, and again without them for what is paid.
 */
function joined(written: readonly Ours[], exports: readonly Export[]): Holding[] {
  const ours = new Map(written.map((one) => [keyOf(one.holding), one]));
  const holdings = new Map(written.map(({ holding }) => [identityOf(holding), holding]));
  const mapped = new Map(
    exports
      .toSorted((one, other) => one.tells - other.tells)
      .flatMap((one) => one.holdings.map((holding) => [identityOf(holding), holding.change])),
  );
  for (const { holdings: exported, at } of exports.toSorted((a, b) => (a.at < b.at ? -1 : 1)))
    for (const holding of exported) {
      const own = ours.get(keyOf(holding));
      const change = mapped.get(identityOf(holding)) ?? holding.change;
      if (own === undefined) holdings.set(identityOf(holding), { ...holding, change });
      else if (own.deliveredAt < at)
        holdings.set(identityOf(own.holding), shownBy(own.holding, holding));
    }
  return [...holdings.values()];
}

const keyOf = ({ facts: { number, party } }: Holding): string => `${party} ${number}`;

/** Ours, with what the export shows of it. */
function shownBy(own: Holding, { facts }: Holding): Holding {
  const { days, money, words } = own.facts;
  return {
    ...own,
    facts: {
      ...own.facts,
      ...facts,
      days: { ...days, ...facts.days },
      money: { ...money, ...facts.money },
      words: { ...words, ...facts.words },
    },
  };
}

/** As they are written, and read again. */
async function expected(items: readonly Item[], writing: Writing): Promise<Expected[]> {
  const write = documentsWriter(writing);
  const shown = await orRefused(items, async ({ document }) =>
    documentsIn(writing, write([document])),
  );
  return shown.map((one) =>
    one instanceof Refused ? { fault: one.fault } : { facts: writtenFacts(writing, one[0] ?? {}) },
  );
}

const nobody = (kind: HoldingKind): Expected => ({
  fault: {
    code: "cannot-be-told",
    message: `no ${kind} is written into files here`,
    next: "Look at it in the ERP.",
  },
});
