/** A drop folder, and an engine's side of reading it: pages are kept, batches remembered. */
import { copyFile, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SourceConfig, TableSource } from "../../connectors/files/config.ts";
import { localDrop } from "../../connectors/files/folder/local.ts";
import type { Drop } from "../../connectors/files/folder/port.ts";
import { files } from "../../connectors/files/index.ts";
import type { Site } from "../../connectors/files/pickup.ts";
import { formatOf, openSource, tableReader } from "../../connectors/files/source.ts";
import type { Change, Endpoint, Obstacle, Page, Reading, Source } from "../../src/core/contract.ts";
import { type Json, parseExact } from "../../src/core/json.ts";
import { type Layout, parties } from "../../src/formats/table/layouts.ts";
import type { Profile } from "../../src/formats/table/profile.ts";
import { specimenProfiles } from "./specimens.ts";
import { surroundingsIn } from "../support/surroundings.ts";

const EXPORTS = join(import.meta.dirname, "../../test/data/tryton-export");

interface Extract {
  readonly pages: readonly Page[];
  readonly changes: readonly Change[];
  readonly notices: readonly string[];
  readonly obstacles: readonly Obstacle[];
}

export interface DropFolder {
  readonly path: string;
  readonly drop: Drop;
  /** A copy of a file of the export, under its own or another name. */
  copy(name: string, as?: string): Promise<void>;
  put(name: string, content: string | Buffer): Promise<void>;
  names(folder?: string): Promise<string[]>;
  open(source: Record<string, unknown>, more?: Record<string, unknown>): Endpoint;
  /** Reads all there is and consumes every page, as the engine does. */
  read(source: Record<string, unknown>, more?: Record<string, unknown>): Promise<Extract>;
  /** The same through another drop on this folder. */
  readThrough(drop: Drop, source: Record<string, unknown>, more?: Partial<Site>): Promise<Extract>;
  /** The store is put back from a backup that knows nothing of what was read. */
  forget(): void;
  /** Runs between the two listings of a reading. */
  duringPause: () => Promise<void>;
  remove(): Promise<void>;
}

export async function dropFolder(): Promise<DropFolder> {
  const path = await mkdtemp(join(tmpdir(), "drop-"));
  const seen: { id: string; name: string; at: string }[] = [];
  let position: Json | null = null;
  let clock = 0;
  // Files land a second apart, in the order in which the test puts them.
  const stamp = (name: string) => utimes(join(path, name), 1_790_000_000, 1_790_000_000 + clock++);
  const known: Reading["known"] = (id) => {
    const at = seen.findLastIndex((arrival) => arrival.id === id);
    return seen[at] === undefined ? null : { ...seen[at], since: seen.length - 1 - at };
  };
  const drop = localDrop(path);
  const surroundings: Site = {
    ...surroundingsIn(path, {
      now: () => new Date("2026-11-21T12:00:00Z"),
      pause: () => folder.duringPause(),
    }),
    drop,
  };
  /** Its settings are those of a layout that the connector offers and that is of one file, too. */
  const specimenSource = (profile: Profile, source: Record<string, unknown>, more = {}): Source => {
    const it = { ...source, layout: parties.name, profile: "tryton-export/customers" };
    const config = files.config.parse({ folder: ".", sources: { it }, ...more });
    const table = config.sources["it"] as TableSource;
    return openSource(tableReader(table, surroundings, profile), table, config, surroundings);
  };
  async function readAll(source: Source): Promise<Extract> {
    const obstacles: Obstacle[] = [];
    const reading: Reading = {
      signal: new AbortController().signal,
      known,
      stored: () => false,
      hindered: (obstacle) => obstacles.push(obstacle),
    };
    const pages: Page[] = [];
    for await (const page of source.read(position, reading)) {
      pages.push(page);
      ({ position } = page);
      const { id, name = "", numbers = [] } = page.arrival ?? {};
      if (id !== undefined)
        seen.push(...[...numbers, id].map((id) => ({ id, name, at: "2026-11-21T12:00:00Z" })));
    }
    const changes = pages.flatMap((page) => page.changes);
    return { pages, changes, obstacles, notices: pages.flatMap(toldOf) };
  }
  const folder: DropFolder = {
    path,
    drop,
    async copy(name, as = name) {
      await copyFile(join(EXPORTS, name), join(path, as));
      await stamp(as);
    },
    async put(name, content) {
      await writeFile(join(path, name), content);
      await stamp(name);
    },
    names: async (sub = ".") =>
      (await readdir(join(path, sub)).catch((): string[] => [])).toSorted(),
    open: (source, more) =>
      files.open(
        files.config.parse({ folder: ".", sources: { it: source }, ...more }),
        surroundings,
      ),
    async read(source, more) {
      const specimen = specimenProfiles.get(source["layout"] as string);
      if (specimen !== undefined) return readAll(specimenSource(specimen, source, more));
      return readAll(folder.open(source, more).sources["it"] as Source);
    },
    readThrough(drop, source, more = {}) {
      const config = files.config.parse({ folder: ".", sources: { it: source } });
      const it = config.sources["it"] as SourceConfig;
      const site = { ...surroundings, ...more, drop };
      return readAll(openSource(formatOf(it).read(it, site), it, config, site));
    },
    forget() {
      seen.length = 0;
      position = null;
    },
    duringPause: async () => {},
    remove: () => rm(path, { recursive: true, force: true }),
  };
  return folder;
}

/** What a person is told of a page. */
export const toldOf = ({ notices = [], refused = [] }: Page): string[] => [
  ...notices,
  ...refused.map(({ fault }) => fault.message),
];

/** The records of changes without a fault, as a mapping would get them. */
export function recordsOf<R>({ record }: Layout<R>, changes: readonly Change[]): R[] {
  return changes
    .filter(({ fault }) => fault === undefined)
    .map(({ text }) => record.parse(parseExact(text)));
}

export const picks = {
  customers: {
    layout: "books.parties",
    profile: "tryton-export/customers",
    pick: "customers*.csv",
  },
  suppliers: {
    layout: "books.parties",
    profile: "tryton-export/suppliers",
    pick: "suppliers*.csv",
  },
  products: { layout: "tryton-export/products", pick: "products*.csv" },
  priceLists: {
    layout: "books.prices",
    profile: "tryton-export/price-lists",
    pick: "price-lists*.csv",
  },
  invoices: {
    layout: "books.invoices",
    profile: "tryton-export/customer-invoices",
    pick: {
      heads: "customer-invoices*.csv",
      lines: "customer-invoice-lines*.csv",
      taxes: "customer-invoice-taxes*.csv",
    },
  },
  invoicesAndLines: {
    layout: "books.invoices",
    profile: "tryton-export/customer-invoices",
    pick: { heads: "customer-invoices*.csv", lines: "customer-invoice-lines*.csv" },
  },
  invoiceHeads: {
    layout: "books.invoices",
    profile: "tryton-export/customer-invoices",
    pick: "customer-invoices*.csv",
  },
  bills: { layout: "tryton-export/supplier-invoices", pick: "supplier-invoices*.csv" },
  payments: { layout: "tryton-export/payments", pick: "payments*.csv" },
} as const;
