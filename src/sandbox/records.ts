/**
 * The records and their shelves: who sees a record, in which role, and by what lists find it (rule V1; part 4, query
 * parameters). One write keeps record, sights and counts together; callers bring the transaction.
 */
import { type Json, parseExact, stringifyExact } from "../core/json.ts";
import { Part, type Sql } from "./database.ts";
import { type Fields, type Kind, kinds, type RawRecord, type Role, rowsIn } from "./kinds.ts";
import { type Clock, micros, type Readings } from "./settings.ts";

export interface Stored {
  readonly seq: number;
  readonly owner: string;
  /** The record as answers show it, JSON text. */
  readonly shown: string;
  /** All of it. */
  readonly record: RawRecord;
}

interface Row extends Omit<Stored, "record"> {
  readonly hidden: string | null;
}

const ROWS = "select seq, owner, shown, hidden from record where";
const BY_ID = `${ROWS} kind = ? and id = ?`;
const CHILDREN = `${ROWS} kind = ? and parent = ? order by seq`;
const NATURAL = `${ROWS} kind = ? and owner = ? and natural = ? order by seq limit 1`;
const PORTION = `${ROWS} kind = :kind and seq > :seq and (:owner is null or owner = :owner)
  order by seq limit 1000`;

export class Records extends Part {
  /** Made once: to make one takes longer than most of what runs in it. */
  readonly #transact = this.sql.database.transaction((work: () => unknown) => work());
  readonly #shelves = new Map<string, number>();
  /** Called before a record changes, with what it was. Reads that lag need it. */
  onChange: ((kind: Kind, id: string, before: Stored | null) => void) | null = null;

  get(kind: Kind, id: string): Stored | null {
    const row = this.sql.get<Row>(BY_ID, kind, id);
    return row === undefined ? null : stored(row);
  }

  /** The record if that company can see it in one of the roles of its kind (rule V1). */
  visible(kind: Kind, id: string, company: string): Stored | null {
    const found = this.get(kind, id);
    if (found === null) return null;
    const { roles = ["own"] } = kinds[kind];
    const { sights } = this.#card(kind, found);
    const seen = sights.some((sight) => sight.company === company && roles.includes(sight.role));
    return seen ? found : null;
  }

  children(kind: Kind, parent: string): Stored[] {
    return this.sql.all<Row>(CHILDREN, kind, parent).map(stored);
  }

  /** The company's records under a natural key: an invoice number, a priced product. */
  natural(kind: Kind, owner: string, ...key: readonly string[]): Stored | null {
    const row = this.sql.get<Row>(NATURAL, kind, owner, naturalKey(key));
    return row === undefined ? null : stored(row);
  }

  put(kind: Kind, record: RawRecord, owner: string): Stored {
    const before = this.get(kind, record.id);
    this.onChange?.(kind, record.id, before);
    const followers = kind === "invoices" ? this.#followers(before?.record ?? null, record) : [];
    for (const payment of followers) this.#clear("payments", payment);
    const card = cardOf(kind, record, owner, this);
    const { shown, hidden } = texts(kind, record);
    const { parent, natural } = card.lookup;
    if (before === null) this.#stock(kind, 1);
    else this.#clear(kind, before);
    const seq = this.sql.value<number>(
      `insert into record (kind, id, owner, parent, natural, shown, hidden) values (?, ?, ?, ?, ?, ?, ?)
       on conflict (kind, id) do update set owner = excluded.owner, parent = excluded.parent,
         natural = excluded.natural, shown = excluded.shown, hidden = excluded.hidden
       returning seq`,
      [kind, record.id, owner, parent, natural, shown, hidden],
    ) as number;
    this.#stand(kind, record.id, seq, card);
    this.#reindex(seq, before === null ? null : this.#card(kind, before).words, card.words);
    for (const payment of followers)
      this.#stand("payments", payment.record.id, payment.seq, this.#card("payments", payment));
    return { seq, owner, shown, record };
  }

  remove(kind: Kind, id: string): void {
    const before = this.get(kind, id);
    if (before === null) return;
    this.onChange?.(kind, id, before);
    this.#reindex(before.seq, this.#card(kind, before).words, null);
    this.#clear(kind, before);
    this.sql.run("delete from record where seq = ?", before.seq);
    this.#stock(kind, -1);
  }

  /** Every record as JSON text, in the order of creation, in portions: there may be a million. */
  *texts(kind: Kind, owner: string | null): Generator<string[]> {
    for (let seq: number | undefined = 0; seq !== undefined;) {
      const rows: Row[] = this.sql.all<Row>(PORTION, { kind, owner, seq });
      if (rows.length > 0) yield rows.map(whole);
      seq = rows.at(-1)?.seq;
    }
  }

  /** How many there are of every kind that there are any of. */
  counts(): Readonly<Record<string, number>> {
    const stocks = this.sql.all<{ kind: string; count: number }>("select * from stock");
    return Object.fromEntries(stocks.map(({ kind, count }) => [kind, count]));
  }

  find(kind: Kind, id: string): Fields | null {
    return this.get(kind, id)?.record ?? null;
  }

  readonly companyName = (id: string): string | null => {
    const name = this.find("companies", id)?.name;
    return typeof name === "string" ? name : null;
  };

  shelf(kind: Kind, company: string, role: Role): number {
    const name = `${kind} ${company} ${role}`;
    const known = this.#shelves.get(name);
    if (known !== undefined) return known;
    const number = this.sql.value<number>(
      `insert into shelf (kind, company, role) values (?, ?, ?)
       on conflict do update set role = excluded.role returning number`,
      [kind, company, role],
    ) as number;
    this.#shelves.set(name, number);
    return number;
  }

  /** Runs `work` and undoes all it wrote when it throws. */
  attempt<T>(work: () => T): T {
    try {
      return this.#transact(work) as T;
    } catch (error) {
      this.#shelves.clear();
      throw error;
    }
  }

  clear(): void {
    for (const table of ["record", "sight", "tally", "shelf", "stock"])
      this.sql.run(`delete from ${table}`);
    this.sql.run("insert into words (words) values ('delete-all')");
    this.#shelves.clear();
  }

  #stand(kind: Kind, id: string, seq: number, card: Card): void {
    const { updated, created, status, parent, products, requested } = card;
    for (const { company, role, search } of card.sights) {
      const shelf = this.shelf(kind, company, role);
      this.sql.run(
        `insert into sight (shelf, updated, id, created, seq, status, parent, products, requested, search)
         values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [shelf, updated, id, created, seq, status, parent, products, requested, search],
      );
      this.#count(shelf, card, 1);
    }
  }

  #clear(kind: Kind, before: Stored): void {
    const card = this.#card(kind, before);
    for (const { company, role } of card.sights) {
      const shelf = this.shelf(kind, company, role);
      const sight = "delete from sight where shelf = ? and updated = ? and id = ?";
      const { changes } = this.sql.run(sight, shelf, card.updated, before.record.id);
      if (changes > 0) this.#count(shelf, card, -1);
    }
  }

  #count(shelf: number, { created, updated, status }: Card, more: 1 | -1): void {
    for (const [axis, time] of Object.entries({ created, updated }))
      this.sql.run(
        `insert into tally values (?, ?, ?, ?, ?)
         on conflict (shelf, axis, day, status) do update set count = count + excluded.count`,
        [shelf, axis, dayOf(time), status ?? "", more],
      );
  }

  #stock(kind: Kind, more: 1 | -1): void {
    const counted = "on conflict (kind) do update set count = count + excluded.count";
    this.sql.run(`insert into stock values (?, ?) ${counted}`, kind, more);
  }

  #reindex(seq: number, before: string | null, after: string | null): void {
    if (before === after) return;
    if (before !== null) this.sql.run("delete from words where rowid = ?", seq);
    if (after !== null) this.sql.run("insert into words (rowid, text) values (?, ?)", seq, after);
  }

  #card(kind: Kind, { record, owner }: Stored): Card {
    return cardOf(kind, record, owner, this);
  }

  /** The payments whose parties change with their invoice. */
  #followers(before: RawRecord | null, after: RawRecord): Stored[] {
    const same =
      before !== null &&
      before.companyId === after.companyId &&
      before.payerCompanyId === after.payerCompanyId &&
      (before.status === "DRAFT") === (after.status === "DRAFT");
    return same ? [] : this.children("payments", after.id);
  }
}

function texts(kind: Kind, record: RawRecord): { shown: string; hidden: string | null } {
  const fields = (kinds[kind].unshown ?? []).filter((field) => field in record);
  if (fields.length === 0) return { shown: stringifyExact(record), hidden: null };
  const hidden = Object.fromEntries(fields.map((field) => [field, record[field]]));
  const shown = Object.entries(record).filter(([field]) => !(field in hidden));
  return { shown: stringifyExact(Object.fromEntries(shown)), hidden: stringifyExact(hidden) };
}

/** Both parts are JSON objects that are not empty. */
const whole = ({ shown, hidden }: Row): string =>
  hidden === null ? shown : `${shown.slice(0, -1)},${hidden.slice(1)}`;

function stored(row: Row): Stored {
  const { seq, owner, shown } = row;
  return { seq, owner, shown, record: parseExact(whole(row)) as RawRecord };
}

interface Sight {
  readonly company: string;
  readonly role: Role;
  readonly search: string | null;
}

/** What a card needs to know of other records. */
type Others = Pick<Records, "companyName" | "find">;

type Card = ReturnType<typeof cardOf>;

/** All that lists filter and sort by. */
function cardOf(kind: Kind, record: Fields, owner: string, others: Others) {
  const { status = "status", natural, products, isChild, hasWords, ...facts } = kinds[kind];
  const created = micros(record.createdAt) ?? micros(record.paidAt) ?? 0;
  const sights = sightsOf(kind, record, owner, others);
  const parent = facts.parent === undefined ? null : text(record[facts.parent]);
  return {
    sights,
    /** What an index finds the record by; null where a list is short enough to look through. */
    words: hasWords ? (sights[0]?.search ?? null) : null,
    created,
    updated: micros(record.updatedAt) ?? created,
    status: status === "isActive" ? String(record.isActive === true) : text(record[status]),
    parent,
    /** The records that are looked up by their parent, or by a natural key, without being listed. */
    lookup: {
      parent: isChild ? parent : null,
      natural: natural === undefined ? null : naturalKey(natural.map((field) => record[field])),
    },
    products: products === undefined ? null : `\n${joined(valuesAt(record, [products])) ?? ""}\n`,
    requested: kind === "orders" ? micros(record.requestedDate) : null,
  };
}

/** The day, since 1970 and in UTC, by which shelves are counted. */
export const dayOf = (micros: number): number => Math.floor(micros / DAY_MICROS);
export const DAY_MICROS = 24 * 3600 * 1_000_000;

/** What `search` and the `product` filter compare: letters without their case. */
export const fold = (text: string): string => text.toLowerCase();

/** The key under which a company has a record of this kind once, or looks for it. */
const naturalKey = (values: readonly (Json | undefined)[]): string =>
  values.map((value) => text(value) ?? "").join("\n");

function sightsOf(kind: Kind, record: Fields, owner: string, others: Others): Sight[] {
  const search = joined(valuesAt(record, kinds[kind].search ?? []));
  if (kind === "invoices") return invoiceParties(record, owner, search);
  if (kind === "payments") {
    const invoice = others.find("invoices", text(record.invoiceId) ?? "");
    return invoice === null
      ? [{ company: owner, role: "issuer", search: null }]
      : invoiceParties(invoice, text(invoice.companyId) ?? owner, null);
  }
  if (kind === "connections") return connectionEnds(record, owner, others);
  const parties =
    kind === "delivery-tickets" ? [record.supplierCompanyId, record.receiverCompanyId] : [];
  return [...new Set([owner, ...parties.map(text)])]
    .filter((company) => company !== null)
    .map((company) => ({ company, role: "own", search }));
}

/** Each end finds the connection by the name of the other. */
function connectionEnds(record: Fields, owner: string, others: Others): Sight[] {
  const from = text(record.fromCompanyId) ?? owner;
  const to = text(record.toCompanyId) ?? owner;
  const outbound = { company: from, search: joined([others.companyName(to)]) };
  const inbound = { company: to, search: joined([others.companyName(from)]) };
  return [
    { ...outbound, role: "outbound" },
    { ...outbound, role: "all" },
    { ...inbound, role: "inbound" },
    ...(from === to ? [] : [{ ...inbound, role: "all" as const }]),
  ];
}

/** The payer sees an invoice once it is issued. */
function invoiceParties(invoice: Fields, owner: string, search: string | null): Sight[] {
  const payer = text(invoice.payerCompanyId);
  const issued = invoice.status !== "DRAFT";
  return [
    { company: owner, role: "issuer", search },
    ...(payer !== null && issued ? [{ company: payer, role: "payer" as const, search }] : []),
  ];
}

/** The values of a record's fields; `lines.product` is that of every line. */
export function valuesAt(record: Fields, paths: readonly string[]): (Json | undefined)[] {
  return paths.flatMap((path) => {
    const [field = "", inner] = path.split(".");
    return inner === undefined ? [record[field]] : rowsIn(record, field).map((row) => row[inner]);
  });
}

function joined(values: readonly (Json | undefined)[]): string | null {
  const texts = values.map((value) => text(value) ?? "").filter((value) => value !== "");
  return texts.length === 0 ? null : fold(texts.join("\n"));
}

const text = (value: Json | undefined): string | null => (typeof value === "string" ? value : null);

interface Lag {
  readonly kind: Kind;
  readonly record: string;
  readonly before: string | null;
}

/**
 * Reads that lag behind writes: behind all of them (reading `readLagSeconds`), or behind those that others made
 * (`lateCommitSeconds`; others write through the control interface). Every change notes what was there before; a read
 * takes the changes that are too young back, looks, and puts them on again.
 */
export class Lagging extends Part {
  readonly #records: Records;
  readonly #readings: () => Readings;
  #isOthers = false;

  constructor(sql: Sql, records: Records, clock: Clock, readings: () => Readings) {
    super(sql);
    this.#records = records;
    this.#readings = readings;
    records.onChange = (kind, id, before) => {
      const { lag, late } = this.#delays();
      if (lag === 0 && !(this.#isOthers && late > 0)) return;
      const { owner, record } = before ?? {};
      const state = before === null ? null : stringifyExact({ owner, record });
      const others = this.#isOthers ? 1 : 0;
      const noted = "insert into lagging (at, others, kind, record, before) values (?, ?, ?, ?, ?)";
      sql.run(noted, clock.now(), others, kind, id, state);
    };
  }

  /** Runs writes of others. */
  others<T>(work: () => T): T {
    this.#isOthers = true;
    try {
      return work();
    } finally {
      this.#isOthers = false;
    }
  }

  /** Runs a read as of `readLagSeconds` ago, and of `lateCommitSeconds` ago where others wrote. */
  read<T>(now: number, work: () => T): T {
    const { lag, late } = this.#delays();
    if (lag === 0 && late === 0) return work();
    this.sql.run("delete from lagging where at <= ?", now - Math.max(lag, late));
    const young = this.sql.all<Lag>(
      `select kind, record, before from lagging
       where at > ? or (others = 1 and at > ?) order by id desc`,
      [now - lag, now - late],
    );
    if (young.length === 0) return work();
    const seen: T[] = [];
    try {
      this.#records.attempt(() => {
        for (const row of young) this.#takeBack(row);
        seen.push(work());
        throw new Undo();
      });
    } catch (error) {
      if (!(error instanceof Undo)) throw error;
    }
    return seen[0] as T;
  }

  clear(): void {
    this.sql.run("delete from lagging");
  }

  #takeBack({ kind, record: id, before }: Lag): void {
    if (before === null) return this.#records.remove(kind, id);
    const { owner, record } = parseExact(before) as { owner: string; record: RawRecord };
    this.#records.put(kind, record, owner);
  }

  /** Milliseconds. */
  #delays(): { lag: number; late: number } {
    const { readLagSeconds, lateCommitSeconds } = this.#readings();
    return { lag: readLagSeconds * 1000, late: lateCommitSeconds * 1000 };
  }
}

class Undo extends Error {}
