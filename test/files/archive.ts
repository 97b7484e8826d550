/** A source whose archive says that it holds any number of files: only the newest of them is really there. */
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FilesConfig } from "../../connectors/files/config.ts";
import { localDrop } from "../../connectors/files/folder/local.ts";
import type { Drop, Entry } from "../../connectors/files/folder/port.ts";
import { filesHoldings } from "../../connectors/files/holdings.ts";
import { Kept, type Site } from "../../connectors/files/pickup.ts";
import { formatOf, openSource } from "../../connectors/files/source.ts";

const HEADER =
  "ID,Code,Name,Phone,Mobile,E-Mail,Addresses/Building Name,Addresses/Street,Addresses/Postal Code,Addresses/City," +
  "Addresses/Subdivision/Code,Addresses/Country/Code,Customer Payment Term";
const customer = (name: string) =>
  `${HEADER}\r\n1,1,${name},,,,,Dock St,77520,Baytown,US-TX,US,\r\n`;

/** `count` files in the archive, of which `Newest` is in the last; `now` may be set. */
export async function archiveOf(folder: string, count: number) {
  const archive = join(folder, "archive");
  const newest = "customers-new.00000000.csv";
  await mkdir(archive);
  await writeFile(join(archive, newest), customer("Newest"));
  await utimes(join(archive, newest), 1_795_000_000, 1_795_000_000);
  const drop = localDrop(folder);
  let visits = 0;
  let trouble: Error | null = null;
  const full: Drop["visit"] = async (path, see, isWanted = () => true) => {
    if (trouble !== null && path.startsWith(archive)) throw trouble;
    if (path !== archive) return drop.visit(path, see, isWanted);
    visits++;
    for (let at = 0; at < count; at++) {
      const name = `customers-${at}.${at.toString(16).padStart(8, "0")}.csv`;
      const entry: Entry = { name, kind: "file", size: 300, mtimeMs: 1_790_000_000_000 + at };
      if (isWanted(name)) see(entry);
      // As a disk does: between some hundred of them others go on.
      if (at % 512 === 0) await Promise.resolve();
    }
    return drop.visit(path, see, isWanted);
  };
  let now = new Date("2026-11-22T12:00:00Z");
  const site: Site = {
    folder,
    drop: { ...drop, visit: full },
    kept: new Kept(),
    now: () => now,
    pause: () => Promise.resolve(),
    currency: "USD",
    dayOf: (instant) => instant.slice(0, 10),
    ignore: {},
    note: () => {},
  };
  const settings = {
    layout: "books.parties",
    profile: "tryton-export/customers",
    pick: "customers*.csv",
    keepDays: 30,
  };
  const config = FilesConfig.parse({ folder: ".", settleMs: 0, sources: { it: settings } });
  const [it] = Object.values(config.sources);
  if (it === undefined) throw new Error("no source");
  const source = openSource(formatOf(it).read(it, site), it, config, site);
  const holdings = filesHoldings(config, site);
  return {
    visits: () => visits,
    /** From now on nothing under the archive can be listed. */
    breakArchive: (error: Error) => void (trouble = error),
    later: (days: number) => void (now = new Date(now.getTime() + days * 86_400_000)),
    /** The names of the parties that the newest export shows. */
    parties: async () => {
      const { signal } = new AbortController();
      const scope = { dated: null, changedSince: null, open: true };
      const names: unknown[] = [];
      for await (const { holdings: some } of holdings.list("party", scope, null, signal))
        names.push(...some.map(({ facts }) => facts.words?.["name"]));
      return names;
    },
    read: async (name: string | null) => {
      if (name !== null) await writeFile(join(folder, `customers-${name}.csv`), customer(name));
      const { signal } = new AbortController();
      const pages = source.read(null, { signal, known: () => null, stored: () => false });
      let changes = 0;
      for await (const page of pages) changes += page.changes.length;
      return changes;
    },
  };
}
