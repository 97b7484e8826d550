/** The records and their shelves. One write keeps record, sights and counts together; callers bring the transaction. */
import type { Database } from "better-sqlite3";
import { parseExact, stringifyExact } from "../core/json.ts";
import { type Fields, type Kind, type RawRecord, unshown } from "./kinds.ts";
import { recordStatements, type Row } from "./records-sql.ts";
import { type Card, cardOf, dayOf, type Others, type Role, type Sight } from "./shelves.ts";

export interface Stored {
  readonly seq: number;
  readonly owner: string;
  /** The record as answers show it, JSON text. */
  readonly shown: string;
  /** All of it. */
  readonly record: RawRecord;
}

export class Records implements Others {
  readonly #database: Database;
  /** Made once: to make one takes longer than most of what runs in it. */
  readonly #transact: (work: () => unknown) => unknown;
  readonly #sql: ReturnType<typeof recordStatements>;
  readonly #shelves = new Map<string, number>();
  /** Called before a record changes, with what it was. Reads that lag need it. */
  onChange: ((kind: Kind, id: string, before: Stored | null) => void) | null = null;

  constructor(database: Database) {
    this.#database = database;
    this.#transact = database.transaction((work: () => unknown) => work());
    this.#sql = recordStatements(database);
  }

  get(kind: Kind, id: string): Stored | null {
    const row = this.#sql.get.get(kind, id);
    return row === undefined ? null : stored(row);
  }

  /** The record if that company can see it in one of the roles (rule V1). */
  visible(kind: Kind, id: string, company: string, roles: readonly Role[]): Stored | null {
    const found = this.get(kind, id);
    if (found === null) return null;
    const { sights } = this.#card(kind, found);
    const seen = sights.some((sight) => sight.company === company && roles.includes(sight.role));
    return seen ? found : null;
  }

  children(kind: Kind, parent: string): Stored[] {
    return this.#sql.children.all(kind, parent).map(stored);
  }

  /** The company's records under a natural key: an invoice number, a priced product. */
  natural(kind: Kind, owner: string, key: string): Stored | null {
    const row = this.#sql.natural.get(kind, owner, key);
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
    const { insert, update } = this.#sql;
    let seq = before?.seq ?? 0;
    if (before === null) {
      this.#sql.stock.run(kind, 1);
      const added = insert.run(kind, record.id, owner, parent, natural, shown, hidden);
      seq = Number(added.lastInsertRowid);
    } else {
      this.#clear(kind, before);
      update.run(owner, parent, natural, shown, hidden, seq);
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
    this.#sql.remove.run(before.seq);
    this.#sql.stock.run(kind, -1);
  }

  /** Every record as JSON text, in the order of creation, in portions: there may be a million. */
  *texts(kind: Kind, owner: string | null): Generator<string[]> {
    for (let seq: number | undefined = 0; seq !== undefined;) {
      const rows: Row[] = this.#sql.portion.all({ kind, owner, seq });
      if (rows.length > 0) yield rows.map(whole);
      seq = rows.at(-1)?.seq;
    }
  }

  /** How many there are of every kind that there are any of. */
  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#sql.stocks.all().map(({ kind, count }) => [kind, count]));
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
    this.#sql.addShelf.run(kind, company, role);
    const number = this.#sql.shelf.get(kind, company, role) as number;
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
      this.#database.exec(`delete from ${table}`);
    this.#database.exec("insert into words (words) values ('delete-all')");
    this.#shelves.clear();
  }

  #stand(kind: Kind, id: string, seq: number, card: Card): void {
    const { updated, created, status, parent, products, requested } = card;
    for (const sight of card.sights) {
      const shelf = this.#shelfOf(kind, sight);
      const { search } = sight;
      this.#sql.stand.run(
        shelf,
        updated,
        id,
        created,
        seq,
        status,
        parent,
        products,
        requested,
        search,
      );
      this.#count(shelf, card, 1);
    }
  }

  #clear(kind: Kind, before: Stored): void {
    const card = this.#card(kind, before);
    for (const sight of card.sights) {
      const shelf = this.#shelfOf(kind, sight);
      if (this.#sql.unstand.run(shelf, card.updated, before.record.id).changes > 0)
        this.#count(shelf, card, -1);
    }
  }

  #count(shelf: number, { created, updated, status }: Card, more: 1 | -1): void {
    this.#sql.count.run(shelf, "created", dayOf(created), status ?? "", more);
    this.#sql.count.run(shelf, "updated", dayOf(updated), status ?? "", more);
  }

  #reindex(seq: number, before: string | null, after: string | null): void {
    if (before === after) return;
    if (before !== null) this.#sql.unindex.run(seq);
    if (after !== null) this.#sql.index.run(seq, after);
  }

  #card(kind: Kind, { record, owner }: Stored): Card {
    return cardOf(kind, record, owner, this);
  }

  #shelfOf(kind: Kind, sight: Sight): number {
    return this.shelf(kind, sight.company, sight.role);
  }

  /** The payments whose parties change with their invoice. */
  #followers(before: RawRecord | null, after: RawRecord): Stored[] {
    const same =
      before !== null &&
      before.companyId === after.companyId &&
      before.payerCompanyId === after.payerCompanyId &&
      (before.status === "DRAFT") === (after.status === "DRAFT");
    if (same || this.#sql.isParent.get("payments", after.id) === undefined) return [];
    return this.children("payments", after.id);
  }
}

function texts(kind: Kind, record: RawRecord): { shown: string; hidden: string | null } {
  const fields = unshown[kind].filter((field) => field in record);
  if (fields.length === 0) return { shown: stringifyExact(record), hidden: null };
  const shown: Record<string, unknown> = { ...record };
  const hidden: Record<string, unknown> = {};
  for (const field of fields) {
    hidden[field] = record[field];
    delete shown[field];
  }
  return { shown: stringifyExact(shown), hidden: stringifyExact(hidden) };
}

/** Both parts are JSON objects that are not empty. */
const whole = ({ shown, hidden }: Row): string =>
  hidden === null ? shown : `${shown.slice(0, -1)},${hidden.slice(1)}`;

function stored(row: Row): Stored {
  const { seq, owner, shown } = row;
  return { seq, owner, shown, record: parseExact(whole(row)) as RawRecord };
}
