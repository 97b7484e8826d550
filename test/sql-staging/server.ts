/** Real PostgreSQL and MariaDB servers of a suite, each as its service user on a port of its own, and a database per test. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "../support/port.ts";
import { madeOnce } from "../support/tryton-books.ts";
import { SqlStagingConfig } from "../../connectors/sql-staging/config.ts";
import { schemaOf } from "../../connectors/sql-staging/schema.ts";
import { type Dialect, openSql, type Query } from "../../src/ledger/sql.ts";

const PASSWORD = "staging-password";
const signal = new AbortController().signal;

const POSTGRES = [
  ...globSync("/usr/lib/postgresql/*/bin/postgres"),
  "/usr/local/bin/postgres",
].find((path) => existsSync(path));
const MARIADB = ["/usr/sbin/mariadbd", "/usr/local/bin/mariadbd"].find((path) => existsSync(path));

/** For `describe.skipIf`. */
export const isThere: Readonly<Record<Dialect, boolean>> = {
  postgresql: POSTGRES !== undefined,
  mariadb: MARIADB !== undefined,
};

export type Settings = Record<string, unknown> & { readonly port: number };

export interface Database {
  readonly settings: Settings;
  /** As the ERP's own job and people, one transaction. */
  readonly run: Query;
}

export interface Server {
  /** A database with the tables. */
  database(): Promise<Database>;
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

/** Neither server runs as root. */
function serviceUser(name: string): Owner {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync("id", [flag, name], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

const wireTo = (settings: Settings) => openSql(SqlStagingConfig.parse(settings));
const runIn = (settings: Settings): Database["run"] => {
  const wire = wireTo(settings);
  return (sql, values) => wire.transaction(signal, (query) => query(sql, values));
};

/** The files of a server that has not run: made once per machine for each program, and copied for each server. */
function preparedData(dialect: Dialect, program: string, owner: Owner): Promise<string> {
  const { mtimeMs, size } = statSync(program);
  const cache = process.env["FUELBRIDGE_TEST_CACHE"] ?? tmpdir();
  const name = ["fuelbridge", dialect, mtimeMs, size, owner.uid ?? process.getuid?.() ?? 0];
  const ready = join(cache, name.join("-"));
  return madeOnce(ready, () => {
    const folder = ownFolder(`${ready}-making-`, owner);
    const data = join(folder, "data");
    const options = { ...owner, stdio: "ignore" as const, cwd: folder };
    if (dialect === "postgresql") {
      const secret = join(folder, "password");
      writeFileSync(secret, PASSWORD);
      own(secret, owner);
      const users = ["-U", "staging", "--pwfile", secret, "-A", "scram-sha-256"];
      const args = ["-D", data, ...users, "-E", "UTF8", "--locale=C", "-N"];
      execFileSync(join(dirname(program), "initdb"), args, options);
    } else {
      const users = ["--auth-root-authentication-method=normal", "--skip-test-db"];
      const args = ["--no-defaults", `--datadir=${data}`, ...users];
      execFileSync(join(dirname(program), "../bin/mariadb-install-db"), args, options);
    }
    renameSync(data, ready);
    rmSync(folder, { recursive: true, force: true });
    return Promise.resolve();
  });
}

function own(path: string, { uid, gid }: Owner): void {
  if (uid !== undefined) chownSync(path, uid, gid ?? uid);
}

function ownFolder(prefix: string, owner: Owner): string {
  const folder = mkdtempSync(prefix);
  own(folder, owner);
  return folder;
}

export async function startServer(dialect: Dialect): Promise<Server> {
  const owner = serviceUser(dialect === "postgresql" ? "postgres" : "mysql");
  const program = (dialect === "postgresql" ? POSTGRES : MARIADB) ?? "";
  const folder = ownFolder(join(tmpdir(), `fuelbridge-${dialect}-`), owner);
  const data = join(folder, "data");
  execFileSync("cp", ["-a", await preparedData(dialect, program, owner), data]);
  const port = await freePort();
  // A clock that is preloaded (libfaketime) tells the real time in a signal's handler: PostgreSQL would never see a deadlock.
  const env = { ...process.env, LD_PRELOAD: "" };
  const options = { ...owner, stdio: "ignore" as const, cwd: folder, env };
  const listening = ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"];
  const args =
    dialect === "postgresql"
      ? ["-D", data, "-p", `${port}`, "-k", folder, ...listening]
      : [
          "--no-defaults",
          `--datadir=${data}`,
          `--port=${port}`,
          "--bind-address=127.0.0.1",
          `--socket=${join(folder, "s")}`,
          `--pid-file=${join(folder, "pid")}`,
        ];
  if (dialect === "mariadb") {
    const first = join(folder, "first.sql");
    writeFileSync(
      first,
      `create user if not exists staging@'127.0.0.1' identified by '${PASSWORD}';\ngrant all on *.* to staging@'127.0.0.1';\n`,
    );
    own(first, owner);
    args.push(`--init-file=${first}`, "--skip-name-resolve");
  }
  let child: ChildProcess;
  const admin: Settings = {
    dialect,
    host: "127.0.0.1",
    port,
    user: "staging",
    password: PASSWORD,
    database: dialect === "postgresql" ? "postgres" : "mysql",
    settleMs: 0,
  };
  const start = async (): Promise<void> => {
    child = spawn(program, args, options);
    for (let tries = 0; tries < 600; tries++)
      try {
        await runIn(admin)("select 1");
        return;
      } catch {
        await pause(100);
      }
    throw new Error(`${dialect} does not start`);
  };
  await start();
  const kill = async (by: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    const children = childrenOf(child.pid ?? 0);
    child.kill(by);
    await ended;
    // PostgreSQL does not start again while a child of the killed one still has its memory.
    while (children.some(isRunning)) await pause(20);
  };
  let count = 0;
  return {
    async database() {
      const settings = await created(admin, `staging${++count}`);
      await wireTo(settings).transaction(signal, async (query) => {
        for (const statement of schemaOf(dialect).split(";\n"))
          if (statement.trim() !== "") await query(statement);
      });
      return { settings, run: runIn(settings) };
    },
    kill: () => kill("SIGKILL"),
    restart: start,
    async stop() {
      await kill("SIGQUIT");
      await kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function childrenOf(pid: number): readonly string[] {
  const path = `/proc/${pid}/task/${pid}/children`;
  return existsSync(path) ? (readFileSync(path, "utf8").match(/\d+/g) ?? []) : [];
}

/** One that nobody has waited for yet is a zombie. */
function isRunning(pid: string): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** A database of MariaDB; of PostgreSQL, where a database takes a second, a user with a schema of its own. */
async function created(admin: Settings, name: string): Promise<Settings> {
  const run = runIn(admin);
  if (admin["dialect"] === "mariadb") {
    await run(`create database ${name} character set utf8mb4`);
    return { ...admin, database: name };
  }
  await run(`create role ${name} login password '${PASSWORD}'`);
  await run(`create schema authorization ${name}`);
  return { ...admin, user: name };
}

const VIEWS = {
  parties:
    "code varchar(80), name varchar(80), is_customer boolean, is_supplier boolean, company_id varchar(80), email varchar(80), phone varchar(80), street varchar(80), city varchar(80), state varchar(80), zip varchar(80), country varchar(80), active boolean",
  invoices:
    "id varchar(80), number varchar(80), state varchar(80), party_code varchar(80), company_id varchar(80), document_date date, due_date date, paid_date date, currency varchar(3), untaxed decimal(20, 4), tax decimal(20, 4), total varchar(60), open decimal(20, 4), cleared_by varchar(80), platform_id varchar(80)",
  invoice_lines:
    "invoice_id varchar(80), product varchar(80), description varchar(1000), quantity decimal(20, 4), unit varchar(10), unit_price decimal(20, 6), amount varchar(60)",
  invoice_taxes:
    "invoice_id varchar(80), description varchar(500), base decimal(20, 4), amount decimal(20, 4)",
  prices: "list varchar(80), product varchar(80), price decimal(20, 6), unit varchar(10)",
};

/** Tables in the place of the ERP's views; the total of an invoice and the amount of a line may be any text. */
export async function createViews(run: Query): Promise<void> {
  for (const [view, columns] of Object.entries(VIEWS))
    await run(`create table fuelbridge_${view} (${columns})`);
}

/** Messages in which a client and a server get to know each other. */
const GREETING = 3;

/** Between us and a server: after the nth message of ours behind a greeting the answer is lost, and the line with it. */
export async function lossy(port: number, nth: number) {
  let seen = 0;
  let isCut = false;
  const sockets = new Set<Socket>();
  const relay = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    let isLast = false;
    let greeted = 0;
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        near.destroy();
        far.destroy();
      });
    }
    near.on("data", (bytes) => {
      isLast ||= ++greeted > GREETING && ++seen === nth;
      far.write(bytes);
    });
    far.on("data", (bytes) => {
      if (!isLast) return void near.write(bytes);
      isCut = true;
      near.destroy();
    });
  });
  relay.listen(0, "127.0.0.1");
  await once(relay, "listening");
  const address = relay.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    isOver: () => !isCut,
    close() {
      for (const socket of sockets) socket.destroy();
      relay.close();
    },
  };
}
