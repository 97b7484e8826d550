import type { Database } from "better-sqlite3";

export interface Row {
  readonly seq: number;
  readonly owner: string;
  readonly shown: string;
  readonly hidden: string | null;
}

/** The statements behind the records, prepared once. */
export function recordStatements(database: Database) {
  const columns = "seq, owner, shown, hidden";
  return {
    get: database.prepare<[string, string], Row>(
      `select ${columns} from record where kind = ? and id = ?`,
    ),
    isParent: database
      .prepare<[string, string], number>("select 1 from record where kind = ? and parent = ?")
      .pluck(),
    children: database.prepare<[string, string], Row>(
      `select ${columns} from record where kind = ? and parent = ? order by seq`,
    ),
    natural: database.prepare<[string, string, string], Row>(
      `select ${columns} from record where kind = ? and owner = ? and natural = ? order by seq limit 1`,
    ),
    portion: database.prepare<[{ kind: string; owner: string | null; seq: number }], Row>(
      `select ${columns} from record where kind = :kind and seq > :seq and (:owner is null or owner = :owner)
       order by seq limit 1000`,
    ),
    insert: database.prepare<
      [string, string, string, string | null, string | null, string, string | null]
    >(
      "insert into record (kind, id, owner, parent, natural, shown, hidden) values (?, ?, ?, ?, ?, ?, ?)",
    ),
    update: database.prepare<[string, string | null, string | null, string, string | null, number]>(
      "update record set owner = ?, parent = ?, natural = ?, shown = ?, hidden = ? where seq = ?",
    ),
    remove: database.prepare<[number]>("delete from record where seq = ?"),
    addShelf: database.prepare<[string, string, string]>(
      "insert or ignore into shelf (kind, company, role) values (?, ?, ?)",
    ),
    shelf: database
      .prepare<[string, string, string], number>(
        "select number from shelf where kind = ? and company = ? and role = ?",
      )
      .pluck(),
    stand: database.prepare(
      `insert into sight (shelf, updated, id, created, seq, status, parent, products, requested, search)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    unstand: database.prepare<[number, number, string]>(
      "delete from sight where shelf = ? and updated = ? and id = ?",
    ),
    index: database.prepare<[number, string]>("insert into words (rowid, text) values (?, ?)"),
    unindex: database.prepare<[number]>("delete from words where rowid = ?"),
    count: database.prepare<[number, string, number, string, number]>(
      `insert into tally values (?, ?, ?, ?, ?)
       on conflict (shelf, axis, day, status) do update set count = count + excluded.count`,
    ),
    stock: database.prepare<[string, number]>(
      "insert into stock values (?, ?) on conflict (kind) do update set count = count + excluded.count",
    ),
    stocks: database.prepare<[], { kind: string; count: number }>("select * from stock"),
  };
}
