/** The records and their shelves. One write keeps record, sights and counts together; callers bring the transaction. */
import { parseExact, stringifyExact } from "../core/json.ts";
import type { Sql } from "./database.ts";
import { type Fields, type Kind, kinds, type RawRecord, type Role } from "./kinds.ts";
import { type Card, cardOf, dayOf, naturalKey, type Others } from "./shelves.ts";

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

export class Records implements Others {
  readonly #sql: Sql;
  /** Made once: to make one takes longer than most of what runs in it. */
  readonly #transact: (work: () => unknown) => unknown;
  readonly #shelves = new Map<string, number>();
  /** Called before a record changes, with what it was. Reads that lag need it. */
  onChange: ((kind: Kind, id: string, before: Stored | null) => void) | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#transact = sql.database.transaction((work: () => unknown) => work());
  }

  get(kind: Kind, id: string): Stored | null {
    const row = this.#sql.get<Row>(BY_ID, kind, id);
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
    return this.#sql.all<Row>(CHILDREN, kind, parent).map(stored);
  }

  /** The company's records under a natural key: an invoice number, a priced product. */
  natural(kind: Kind, owner: string, ...key: readonly string[]): Stored | null {
    const row = this.#sql.get<Row>(NATURAL, kind, owner, naturalKey(key));
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
    let seq = before?.seq ?? 0;
    if (before === null) {
      this.#stock(kind, 1);
      const added = this.#sql.run(
        "insert into record (kind, id, owner, parent, natural, shown, hidden) values (?, ?, ?, ?, ?, ?, ?)",
        [kind, record.id, owner, parent, natural, shown, hidden],
      );
      seq = Number(added.lastInsertRowid);
    } else {
      this.#clear(kind, before);
      this.#sql.run(
        "update record set owner = ?, parent = ?, natural = ?, shown = ?, hidden = ? where seq = ?",
        [owner, parent, natural, shown, hidden, seq],
      );
    }
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
    this.#sql.run("delete from record where seq = ?", before.seq);
    this.#stock(kind, -1);
  }

  /** Every record as JSON text, in the order of creation, in portions: there may be a million. */
  *texts(kind: Kind, owner: string | null): Generator<string[]> {
    for (let seq: number | undefined = 0; seq !== undefined;) {
      const rows: Row[] = this.#sql.all<Row>(PORTION, { kind, owner, seq });
      if (rows.length > 0) yield rows.map(whole);
      seq = rows.at(-1)?.seq;
    }
  }

  /** How many there are of every kind that there are any of. */
  counts(): Readonly<Record<string, number>> {
    const stocks = this.#sql.all<{ kind: string; count: number }>("select * from stock");
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
    this.#sql.run("insert or ignore into shelf (kind, company, role) values (?, ?, ?)", [
      kind,
      company,
      role,
    ]);
    const number = this.#sql.value<number>(
      "select number from shelf where kind = ? and company = ? and role = ?",
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
      this.#sql.run(`delete from ${table}`);
    this.#sql.run("insert into words (words) values ('delete-all')");
    this.#shelves.clear();
  }

  #stand(kind: Kind, id: string, seq: number, card: Card): void {
    const { updated, created, status, parent, products, requested } = card;
    for (const { company, role, search } of card.sights) {
      const shelf = this.shelf(kind, company, role);
      this.#sql.run(
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
      const { changes } = this.#sql.run(
        "delete from sight where shelf = ? and updated = ? and id = ?",
        [shelf, card.updated, before.record.id],
      );
      if (changes > 0) this.#count(shelf, card, -1);
    }
  }

  #count(shelf: number, { created, updated, status }: Card, more: 1 | -1): void {
    for (const [axis, time] of Object.entries({ created, updated }))
      this.#sql.run(
        `insert into tally values (?, ?, ?, ?, ?)
         on conflict (shelf, axis, day, status) do update set count = count + excluded.count`,
        [shelf, axis, dayOf(time), status ?? "", more],
      );
  }

  #stock(kind: Kind, more: 1 | -1): void {
    this.#sql.run(
      "insert into stock values (?, ?) on conflict (kind) do update set count = count + excluded.count",
      [kind, more],
    );
  }

  #reindex(seq: number, before: string | null, after: string | null): void {
    if (before === after) return;
    if (before !== null) this.#sql.run("delete from words where rowid = ?", seq);
    if (after !== null) this.#sql.run("insert into words (rowid, text) values (?, ?)", seq, after);
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
