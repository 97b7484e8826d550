/**
 * One transaction on PostgreSQL or MariaDB, for connectors to an ERP's database. Every value is read as text, so money never
 * passes through a double and a day never through a time zone.
 */
import { LedgerError } from "./port.ts";

export const dialects = ["postgresql", "mariadb"] as const;
export type Dialect = (typeof dialects)[number];

/** Where a database is. Off this machine it is reached over TLS only. */
interface SqlServer {
  readonly dialect: Dialect;
  readonly host: string;
  readonly port?: number | undefined;
  readonly database: string;
  readonly user: string;
  readonly password: string;
  readonly tls?: boolean | undefined;
  readonly deadlineMs: number;
}

/** This machine by its loopback address, or PostgreSQL's socket. */
export const isHere = (host: string): boolean => /^(?:127\.|::1$|localhost$|\/)/.test(host);

type Cell = string | null;
export type SqlRow = Readonly<Record<string, Cell>>;

/** Rows of what an ERP offers: columns of a fixed width fill up with blanks what they keep, and codes are found without them. */
export const unpadded = (rows: readonly SqlRow[]): SqlRow[] =>
  rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, text]) => [name, text?.trimEnd() ?? null])),
  );

/** Rows of a statement; `?` stands for each value, in its order. @throws what the driver throws */
export type Query = (sql: string, values?: readonly Cell[]) => Promise<readonly SqlRow[]>;

interface Connection {
  readonly query: Query;
  end(): Promise<void>;
  cut(): void;
}

export interface Sql {
  readonly dialect: Dialect;
  /** All of it or nothing. An answer of the commit that is lost is `torn`; before it nothing was done. @throws LedgerError */
  transaction<T>(signal: AbortSignal, run: (query: Query) => Promise<T>): Promise<T>;
}

export const openSql = (config: SqlServer): Sql => ({
  dialect: config.dialect,
  async transaction(signal, run) {
    if (signal.aborted) throw new LedgerError("not-sent", "told to stop before it was sent");
    let connection: Connection | null = null;
    let isCommitting = false;
    const cut = (): void => connection?.cut();
    const timer = setTimeout(cut, config.deadlineMs);
    signal.addEventListener("abort", cut);
    try {
      connection = await DRIVERS[config.dialect](config);
      const { query } = connection;
      await query("start transaction");
      const result = await run(query);
      isCommitting = true;
      await query("commit");
      return result;
    } catch (error) {
      throw meant(error, isCommitting);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", cut);
      // A connection that ends rolls back what it has not committed.
      await connection?.end().catch(cut);
    }
  },
});

const addressOf = ({ host, database, user, password, tls }: Omit<SqlServer, "deadlineMs">) => ({
  host,
  database,
  user,
  password,
  ssl: tls ?? !isHere(host),
});

/** Each is loaded when it is used: a site has one of them or none. */
const DRIVERS: Readonly<Record<Dialect, (config: SqlServer) => Promise<Connection>>> = {
  async postgresql({ deadlineMs, port = 5432, ...server }) {
    const { default: pg } = await import("pg");
    const client = new pg.Client({
      ...addressOf(server),
      port,
      connectionTimeoutMillis: deadlineMs,
      lock_timeout: deadlineMs,
      statement_timeout: deadlineMs,
      options: "-c timezone=UTC -c client_encoding=UTF8 -c datestyle=ISO",
      types: { getTypeParser: () => (text: unknown) => text },
    });
    // A server that goes is told by the query that waits for it.
    client.on("error", () => {});
    await client.connect();
    return {
      async query(sql, values = []) {
        let at = 0;
        const numbered = sql.replaceAll("?", () => `$${++at}`);
        return (await client.query<SqlRow>(numbered, [...values])).rows;
      },
      end: () => client.end(),
      cut: () => client.connection.stream.destroy(),
    };
  },
  async mariadb({ deadlineMs, port = 3306, ...server }) {
    const { createConnection } = await import("mariadb");
    const connection = await createConnection({
      ...addressOf(server),
      port,
      connectTimeout: deadlineMs,
      charset: "utf8mb4",
      timezone: "Z",
      typeCast: (column) => column.string(),
      sessionVariables: {
        sql_mode: "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
        innodb_lock_wait_timeout: Math.max(1, Math.floor(deadlineMs / 2_000)),
      },
    });
    connection.on("error", () => {});
    return {
      async query(sql, values = []) {
        const rows: unknown = await connection.query(sql, [...values]);
        return Array.isArray(rows) ? (rows as SqlRow[]) : [];
      },
      end: () => connection.end(),
      cut: () => connection.destroy(),
    };
  },
};

/** MariaDB shuts down, or somebody ended the connection: nobody has said whether a commit was carried out. */
const ENDED = [1_053, 1_927];

/** PostgreSQL says five letters and digits; MariaDB a number, of which some are its driver's. */
function meant(thrown: unknown, isCommitting: boolean): unknown {
  if (!(thrown instanceof Error) || thrown instanceof LedgerError || thrown.name === "Refused")
    return thrown;
  const { errno = 0, code: its = null } = thrown as Error & { code?: string; errno?: number };
  const isServers =
    errno > 0
      ? /^(?:1\d{3}|4[01]\d\d)$/.test(String(errno)) && !ENDED.includes(errno)
      : /^(?!57P|08)[0-9A-Z]{5}$/.test(its ?? "");
  const code = errno > 0 ? String(errno) : its;
  const message = thrown.message.replace(/^\(conn:.*?\) /, "").replace(/\nsql: [^]*$/, "");
  const phase = isServers ? "answered" : isCommitting ? "torn" : "not-sent";
  return new LedgerError(phase, message || "the connection was cut", { code, cause: thrown });
}
