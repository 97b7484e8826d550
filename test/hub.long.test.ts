/**
 * A hub and its sites as people start them, with SIGKILL: alone, and over a Redis that is killed and forgets, too.
 *
 * @module-tag numbers
 */
import { existsSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  exportOf,
  Group,
  GROUP_FLOWS,
  GROUP_READ,
  GROUP_SITES,
  groupOwner,
  locationsOf,
} from "./support/group.ts";
import { startRedis } from "./support/redis.ts";
import { killsAsked } from "./support/runs.ts";
import { atWork, type Members, only, type Site } from "./support/site.ts";
import { imported, written } from "./support/site-sides.ts";

/** Adds an order like one that is open. */
async function addOrder({ world, control }: Site, at: number): Promise<void> {
  const open = (await world.records("orders")).filter(({ status }) => status === "CONFIRMED");
  const like: Record<string, unknown> = { ...open[at % open.length] };
  for (const own of ["id", "createdAt", "updatedAt"]) delete like[own];
  await control.records("orders", [like]);
}

/** What the ERP of a site exports, into its folder. */
function dropExport(group: Group, name: string, at: number, count: number): void {
  const folder = join(group.folderOf(name), "erp", "export");
  for (const [file, text] of exportOf(at, count)) {
    writeFileSync(join(folder, `.${file}`), text);
    renameSync(join(folder, `.${file}`), join(folder, file));
  }
}

/** Of each list of the platform what each site has imported: [id, site], each record once. */
const FOLDERS = [
  ["orders", "orders"],
  ["delivery-tickets", "tickets"],
  ["invoices", "invoices"],
] as const;

/** As many as one site alone makes. */
const MADE = 109;

const named = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `s${String(at).padStart(2, "0")}`);

test.each([
  {
    what: "a hub and its three sites",
    sites: GROUP_SITES as readonly string[],
    processes: 0,
    kills: 12,
  },
  // FUELBRIDGE_KILLS=14: it takes ten minutes and more.
  ...(killsAsked() === null
    ? []
    : [
        {
          what: "a hub and its 20 sites in four processes, two workers and Redis",
          sites: named(20),
          processes: 4,
          kills: 14,
        },
      ]),
])(
  "whatever of $what is killed, each record is booked once, at its site, and the month has all requests",
  async ({ sites, processes, kills: usual }) => {
    const isOver = processes > 0;
    const kills = killsAsked() ?? usual;
    const redis = isOver ? await startRedis() : null;
    const site = await atWork(only(...GROUP_FLOWS));
    const { world, control } = site;
    const locations = await locationsOf(site);
    const over = redis === null ? {} : { redis, processes };
    const group = await Group.of(site, { every: "10s", sites, ...over });
    const members = ["hub", ...sites];
    const carriers = isOver
      ? Array.from({ length: processes }, (_, at) => `part-${at}`)
      : [...sites];
    const programs = new Map(["hub", ...carriers].map((name) => [name, group.program(name)]));
    if (isOver) for (const name of ["worker-1", "worker-2"]) programs.set(name, group.worker());
    const ordersBooked = (): number =>
      sites
        .map((name) => join(group.folderOf(name), "erp", "import", "orders"))
        .reduce((sum, folder) => sum + (existsSync(folder) ? readdirSync(folder).length : 0), 0);
    const numbers = async (): Promise<string[]> =>
      (await world.records("invoices")).map(({ invoiceNumber }) => written(invoiceNumber));
    const reached = (count: number) =>
      expect.poll(ordersBooked, { timeout: 240_000, interval: 500 }).toBe(count);
    const again = async (name: string, hasLost = false): Promise<void> => {
      const program = programs.get(name);
      program?.kill("SIGKILL");
      await program?.ended;
      if (hasLost) await group.lose(name);
      programs.set(name, name.startsWith("worker") ? group.worker() : group.program(name));
    };
    const oneSite = (kill: number): string => carriers[kill % carriers.length] as string;
    const harms: ((kill: number) => Promise<void>)[] = [
      () => again("hub"),
      (kill) => again(oneSite(kill)),
      () => again("hub", true),
      (kill) => again(oneSite(kill)),
    ];
    if (redis !== null)
      harms.push(
        () => again("worker-1"),
        () => redis.kill().then(() => redis.start()),
        () => redis.flush(),
      );

    await reached(388);
    for (let kill = 0; kill < kills; kill++) {
      await addOrder(site, kill);
      for (const at of isOver ? [2 * kill, 2 * kill + 1] : [])
        if (at < sites.length) dropExport(group, sites[at] ?? "", at, sites.length);
      await harms[kill % harms.length]?.(kill);
      // It goes on at once, while all read, or after all is done.
      if (kill % 3 > 0) await reached(388 + kill + 1);
    }
    // Exports of the sites that no kill had its turn with.
    const exports = isOver ? sites.length : 0;
    for (let at = 2 * kills; at < exports; at++) dropExport(group, sites[at] ?? "", at, exports);
    await reached(388 + kills);
    const made = async (): Promise<number> =>
      (await numbers()).filter((number) => number.startsWith("INV-")).length;
    if (isOver) await expect.poll(made, { timeout: 240_000, interval: 1_000 }).toBe(MADE);

    for (const name of members) {
      const { flows } = await group.status(name);
      const read = flows.filter((one) => (GROUP_READ as readonly string[]).includes(one.name));
      expect(read.map((one) => [name, one.quarantined, one.pending])).toEqual(
        read.map(() => [name, 0, 0]),
      );
    }
    for (const [resource, folder] of FOLDERS) {
      const records = new Map<unknown, Members>(
        (await world.records(resource)).map((record) => [record["id"], record]),
      );
      const all = sites.flatMap((name) =>
        imported({ demo: group.folderOf(name) }, folder).map(([id]) => ({ id, name })),
      );
      expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
      const astray = all.filter(
        ({ id, name }) => groupOwner(sites, locations, records.get(id) ?? {}) !== name,
      );
      expect(astray).toEqual([]);
    }
    const codes = (await world.records("connections")).flatMap(({ erpId }) => erpId ?? []);
    // Vendors of the platform give numbers that others have given.
    const own = (await numbers()).filter((number) => number.startsWith("INV-"));
    for (const all of [own, codes]) expect(new Set(all).size).toBe(all.length);
    if (isOver) {
      const requests = await control.requests();
      expect(requests.filter(({ status }) => status === 429)).toEqual([]);
      const { used, perMonth } = (await group.status("hub")).requests;
      expect(used).toBeGreaterThanOrEqual(requests.length);
      expect(used).toBeLessThan(perMonth);
    }
  },
  1_200_000,
);
