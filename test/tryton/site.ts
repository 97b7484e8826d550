/**
 * A site whose ERP is a real Tryton: the shipped configuration, a platform, and books of its own. Everything but the
 * books lies in one folder; fuelbridge works on it as the program that people start.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../src/demo/world.ts";
import { type Json, parseExact } from "../../src/core/json.ts";
import type { Quarantined, QuarantineGroup } from "../../src/office/answers.ts";
import { startSandbox } from "../../src/sandbox/server.ts";
import { controlOf } from "../conformance/support.ts";
import { today } from "../support/site.ts";
import { commandHere } from "../support/site-command.ts";
import { askHere } from "../support/site-office.ts";
import { fuelbridge, type Running, type Said } from "../support/site-program.ts";
import type { Books } from "../support/tryton.ts";
import { logIn, type Rpc } from "./rpc.ts";

export type Members = Readonly<Record<string, Json>>;

/** Why a document is not in step: its group, and the document. */
export type Parked = Pick<QuarantineGroup, "flow" | "code" | "cause"> &
  Pick<Quarantined, "number" | "recordId">;

export interface Site {
  readonly folder: string;
  readonly books: Books;
  /** The books, asked beside fuelbridge by the first user. */
  readonly tryton: Rpc;
  readonly control: ReturnType<typeof controlOf>;
  readonly companyId: string;
  /** Raw records of the platform, whoever owns them, numbers exact. */
  records(resource: string): Promise<readonly Members[]>;
  start(...args: string[]): Running;
  command(...args: string[]): Promise<Said>;
  /** The same within this process ({@link commandHere}). */
  here(...args: string[]): Promise<Said>;
  /** What it tells with `--json`, from this process where that can be. @throws Error when it was refused */
  ask<Data>(...args: string[]): Promise<Data>;
  parked(): Promise<Parked[]>;
  close(): Promise<void>;
}

/** Before anything has run. */
export function layOut(folder: string, change: (yaml: string) => string = (yaml) => yaml): void {
  cpSync(join(root, "config"), join(folder, "config"), { recursive: true });
  const config = configOf(folder);
  writeFileSync(
    config,
    `${change(readFileSync(config, "utf8").replace(/^firstStart: .*\n/m, ""))}\nfirstStart: ${today()}\n`,
  );
}

/** @param scenario what the platform holds when it is new. */
export async function openSite(folder: string, books: Books, scenario = "demo"): Promise<Site> {
  const sandbox = await startSandbox({ db: join(folder, "platform.sqlite"), scenario });
  const control = controlOf(() => sandbox.controlUrl);
  const supplier = (await control.keys()).find(({ name }) => name === "supplier");
  if (supplier === undefined) throw new Error("the sandbox has no supplier");
  mkdirSync(join(folder, "var", "tryton"), { recursive: true });
  const secret = (name: string, value: string): void =>
    writeFileSync(join(folder, "var", "tryton", name), `${value}\n`, { mode: 0o600 });
  secret("api-key", supplier.key);
  secret("password", books.password);

  const env = {
    FUELBRIDGE_PLATFORM_URL: sandbox.baseUrl,
    FUELBRIDGE_TRYTON_URL: books.url,
    FUELBRIDGE_TRYTON_DATABASE: books.database,
  };
  const start = (...args: string[]): Running =>
    fuelbridge([...args, "--config", configOf(folder)], env);
  const command = (...args: string[]): Promise<Said> => start(...args).ended;
  async function ask<Data>(...args: string[]): Promise<Data> {
    const here = await askHere(configOf(folder), env, args);
    if (here !== null) return here.data as Data;
    const { out, err } = await command(...args, "--json");
    const answer = JSON.parse(out) as { ok: boolean; data: Data };
    if (!answer.ok) throw new Error(`${args.join(" ")}: ${out}${err}`);
    return answer.data;
  }
  return {
    folder,
    books,
    tryton: await logIn(books, books.admin),
    control,
    companyId: supplier.companyId,
    async records(resource) {
      const { text } = await control.ask("GET", `/records/${resource}`);
      return (parseExact(text) as unknown as { records: readonly Members[] }).records;
    },
    start,
    command,
    here: (...args) => commandHere([...args, "--config", configOf(folder)], env),
    ask,
    async parked() {
      const { groups } = await ask<{ groups: QuarantineGroup[] }>("quarantine", "list");
      const parked: Parked[] = [];
      // One after the other: each opens the store.
      for (const { id, flow, code, cause } of groups) {
        const { deliveries } = await ask<{ deliveries: Quarantined[] }>("quarantine", "show", id);
        for (const { number, recordId } of deliveries)
          parked.push({ flow, code, cause, number, recordId });
      }
      return parked;
    },
    close: () => sandbox.close(),
  };
}

const configOf = (folder: string): string => join(folder, "config", "tryton.yaml");
