/**
 * A site whose ERP is a set of books of the tests' own: a shipped configuration, a platform, and whatever a connector's
 * site puts behind both. fuelbridge works on it in this process.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { root } from "../../src/demo/world.ts";
import { type Json, parseExact } from "../../src/core/json.ts";
import type { QuarantineGroup } from "../../src/office/answers.ts";
import { controlOf } from "../conformance/support.ts";
import { tempFolder } from "./folder.ts";
import { dataOf, platformIn, settleIn, today } from "./site.ts";
import { commandHere } from "./site-command.ts";
import { askHere } from "./site-office.ts";
import { fuelbridge, type Running, type Said } from "./site-program.ts";

export type Members = Readonly<Record<string, Json>>;

export interface BooksSite {
  readonly folder: string;
  readonly control: ReturnType<typeof controlOf>;
  readonly companyId: string;
  /** Where the platform listens. */
  readonly platformPort: number;
  /** Raw records of the platform, whoever owns them, numbers exact. */
  records(resource: string): Promise<readonly Members[]>;
  here(...args: string[]): Promise<Said>;
  /** The same as a program of its own, which can be killed. */
  start(...args: string[]): Running;
  /** @throws Error when it was refused */
  ask<Data>(...args: string[]): Promise<Data>;
  /** `code: cause` of what waits for a person. */
  causes(): Promise<string[]>;
  close(): Promise<void>;
}

export interface Laying {
  /** Of the configuration and of its folder below `var`. */
  readonly name: string;
  /** A site that was copied is laid out already. */
  readonly isCopy: boolean;
  /** What the tests change in the shipped configuration. */
  readonly change: (yaml: string) => string;
  /** Files of mode 0600 in its folder. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  /** What the platform holds when it is new; left out: the demo's month. */
  readonly scenario?: string;
  close(): Promise<void>;
}

export async function openBooksSite(folder: string, laying: Laying): Promise<BooksSite> {
  const { name, isCopy } = laying;
  const sandbox = await platformIn(folder, laying.scenario);
  const control = controlOf(() => sandbox.controlUrl);
  const supplier = (await control.keys()).find((one) => one.name === "supplier");
  if (supplier === undefined) throw new Error("the sandbox has no supplier");
  const config = join(folder, "config", `${name}.yaml`);
  const own = join(folder, "var", name);
  if (isCopy) settleIn(join(own, "state"));
  else layOut(folder, config, own, { ...laying.secrets, "api-key": supplier.key }, laying.change);
  const env = { ...laying.env, FUELBRIDGE_PLATFORM_URL: sandbox.baseUrl };
  const here = (...args: string[]): Promise<Said> =>
    commandHere([...args, "--config", config], env);
  async function ask<Data>(...args: string[]): Promise<Data> {
    const known = await askHere(config, env, args);
    return (known === null ? dataOf(await here(...args, "--json")) : known.data) as Data;
  }
  return {
    folder,
    control,
    companyId: supplier.companyId,
    platformPort: Number(new URL(sandbox.baseUrl).port),
    async records(resource) {
      const { text } = await control.ask("GET", `/records/${resource}`);
      return (parseExact(text) as unknown as { records: readonly Members[] }).records;
    },
    here,
    start: (...args) => fuelbridge([...args, "--config", config], env),
    ask,
    async causes() {
      const { groups } = await ask<{ groups: QuarantineGroup[] }>("quarantine", "list");
      return groups.map(({ code, cause }) => `${code}: ${cause}`).sort();
    },
    async close() {
      await laying.close();
      await sandbox.close();
    },
  };
}

function layOut(
  folder: string,
  config: string,
  own: string,
  secrets: Readonly<Record<string, string>>,
  change: Laying["change"],
): void {
  cpSync(join(root, "config"), join(folder, "config"), { recursive: true });
  writeFileSync(
    config,
    `${change(readFileSync(config, "utf8").replace(/^firstStart: .*\n/m, ""))}\nfirstStart: ${today()}\n`,
  );
  mkdirSync(join(own, "state"), { recursive: true, mode: 0o700 });
  for (const [name, value] of Object.entries(secrets))
    writeFileSync(join(own, name), `${value}\n`, { mode: 0o600 });
}

/** Books of a test's own, which can be kept. */
export type SiteOf<Books extends { backup(): string }> = BooksSite & { readonly books: Books };

export interface Story<Site> {
  /** What the run that brought it in step said. */
  readonly firstRun: () => Said;
  /** A copy of the site as it was after that run, until the test ends. */
  readonly inStep: () => Promise<Site>;
}

const SLOW = 600_000;

/**
 * A site that one run brings in step, before the tests of a `describe`; each of them starts from a copy of it.
 * @param open a site in a folder, new or with the books of a backup
 * @param enter what people enter on both sides before
 */
export function storyOf<Books extends { backup(): string }>(
  open: (folder: string, backup?: string) => Promise<SiteOf<Books>>,
  enter: (site: SiteOf<Books>) => Promise<void>,
): Story<SiteOf<Books>> {
  const folder = mkdtempSync(join(tmpdir(), "fuelbridge-story-"));
  let said: Said | null = null;
  let backup = "";
  beforeAll(async () => {
    const site = await open(folder);
    await enter(site);
    said = await site.here("once");
    backup = site.books.backup();
    await site.close();
  }, SLOW);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return {
    firstRun() {
      if (said === null) throw new Error("the site is not in step yet");
      return said;
    },
    async inStep() {
      const copy = join(tempFolder(), "site");
      cpSync(folder, copy, { recursive: true, preserveTimestamps: true });
      const site = await open(copy, backup);
      onTestFinished(() => site.close());
      return site;
    },
  };
}

type Kept = SiteOf<{ backup(): string }>;

/** Expects of so many further runs that each says this, and that none writes anything to either side. */
export async function expectNoWrites(
  site: Pick<Kept, "books" | "control" | "here">,
  said: object,
  runs = 1,
): Promise<void> {
  const before = await footprint(site);
  for (let run = 0; run < runs; run++) expect(await site.here("once")).toMatchObject(said);
  expect(await footprint(site)).toEqual(before);
}

/** What either side was told, and every record of the books with its version. */
async function footprint({ books, control }: Pick<Kept, "books" | "control">): Promise<object> {
  const requests = await control.requests();
  return {
    writes: requests.filter(({ method }) => method !== "GET").length,
    books: books.backup(),
  };
}

/** Taxes and charges that the shipped tables name on a side. */
export const chargesOf = (folder: string, side: "sales" | "purchases"): string[] =>
  ["tax-accounts", "charge-accounts"].flatMap((table) => cells(folder, table, side));

/** The cells of a column of a shipped cross-reference table that are not empty. */
export function cells(folder: string, table: string, column: string): string[] {
  const file = readFileSync(join(folder, "config", "crossref", `${table}.csv`), "utf8");
  const rows = parse<Record<string, string>>(file, { columns: true, bom: true });
  return rows.flatMap((row) => (row[column] ? [row[column]] : []));
}

/** Of the month's documents, those that are kept; the others are drafts, and their payments have failed. */
export async function leaveFew(
  { control }: Pick<BooksSite, "control">,
  isKept: {
    readonly invoice: (id: string, status: string) => boolean;
    readonly order?: RegExp;
  },
): Promise<void> {
  const kept = new Set<unknown>();
  for (const { id, status } of await control.stored("invoices"))
    if (isKept.invoice(String(id), String(status))) kept.add(id);
    else await control.patch("invoices", id, { status: "DRAFT" });
  for (const { id, invoiceId } of await control.stored("payments"))
    if (!kept.has(invoiceId)) await control.patch("payments", id, { status: "FAILED" });
  const { order } = isKept;
  if (order === undefined) return;
  for (const [resource, field] of [
    ["orders", "id"],
    ["delivery-tickets", "orderId"],
  ] as const)
    for (const row of await control.stored(resource, "supplier"))
      if (!order.test(String(row[field])))
        await control.patch(resource, row["id"], { status: "DRAFT" });
}
