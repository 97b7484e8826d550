/** Statements that are prepared when they are first used: a store has 200 of them, and most commands use a few. */
import type Database from "better-sqlite3";

/** The same database; what is wrong with a statement is told by its first use. */
export function preparedLate(database: Database.Database): Database.Database {
  const prepare = (sql: string): Asked => late(() => database.prepare(sql));
  return Object.create(database, { prepare: { value: prepare } }) as Database.Database;
}

type Statement = Database.Statement;
type Call = "run" | "get" | "all" | "iterate";

/** What the store asks of a statement. */
type Asked = Pick<Statement, Call> & Readonly<Record<"pluck" | "raw", () => Asked>>;

/** From its first use on its calls are those of the statement itself: the store makes a dozen of them for a document. */
function late(prepare: () => Statement): Asked {
  const first =
    (call: Call) =>
    (...values: unknown[]): never => {
      const statement = prepare();
      for (const name of ["run", "get", "all", "iterate"] as const)
        asked[name] = statement[name].bind(statement) as never;
      return asked[call](...values) as never;
    };
  const asked: Record<Call, (...values: unknown[]) => unknown> & Pick<Asked, "pluck" | "raw"> = {
    run: first("run"),
    get: first("get"),
    all: first("all"),
    iterate: first("iterate"),
    pluck: () => late(() => prepare().pluck()),
    raw: () => late(() => prepare().raw()),
  };
  return asked as Asked;
}
