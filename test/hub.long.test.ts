/**
 * A hub and its sites as people start them, with SIGKILL: alone, and over a Redis that is killed and forgets, too.
 *
 * @module-tag numbers
 */
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { Random } from "../src/sandbox/scenes/random.ts";
import type { Day } from "./support/day.ts";
import {
  exportOf,
  Group,
  GROUP_FLOWS,
  GROUP_READ,
  GROUP_SITES,
  groupOwner,
  locationsOf,
  makersAmong,
} from "./support/group.ts";
import { startRedis } from "./support/redis.ts";
import { killsAsked } from "./support/runs.ts";
import { atWork, type Members, only, type Site } from "./support/site.ts";
import { imported, written } from "./support/site-sides.ts";

/** Adds a record like one that is there. */
async function addLike(
  { control }: Site,
  resource: string,
  like: Members = {},
  given: Members = {},
): Promise<void> {
  const added: Record<string, unknown> = { ...like, ...given };
  for (const own of ["id", "createdAt", "updatedAt"]) delete added[own];
  await control.records(resource, [added]);
}

/** Adds an order like one that is open. */
async function addOrder(site: Site, at: number, given: Members = {}): Promise<void> {
  const orders = await site.world.records("orders");
  const open = orders.filter(({ status }) => status === "CONFIRMED");
  await addLike(site, "orders", open[at % open.length], given);
}

/** What the ERP of a site exports, into its folder. */
const dropExport = (group: Group, name: string, at: number, count: number): void =>
  drop(group, name, exportOf([at], count));

function drop(group: Group, name: string, files: ReadonlyMap<string, string>): void {
  const folder = join(group.folderOf(name), "erp", "export");
  for (const [file, text] of files) {
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

/** Each record is booked once, at its site, and what the sites made is on the platform once. */
async function expectBookedOnce(
  group: Group,
  sites: readonly string[],
  locations: readonly string[],
): Promise<void> {
  const { world } = group.site;
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
  for (const all of [await numbersMade(world), codes]) expect(new Set(all).size).toBe(all.length);
}

/** Of the invoices that the sites made. Vendors of the platform give numbers that others have given. */
const numbersMade = async ({ records }: Site["world"]): Promise<string[]> =>
  (await records("invoices"))
    .map(({ invoiceNumber }) => written(invoiceNumber))
    .filter((number) => number.startsWith("INV-"));

/** As many as one site alone makes. */
const MADE = 109;

const named = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `s${String(at).padStart(2, "0")}`);

/** How many orders the sites' ERPs have. */
const ordersAt = (group: Group, sites: readonly string[]): number =>
  sites
    .map((name) => join(group.folderOf(name), "erp", "import", "orders"))
    .reduce((sum, folder) => sum + (existsSync(folder) ? readdirSync(folder).length : 0), 0);

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
    const ordersBooked = (): number => ordersAt(group, sites);
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
    const made = async (): Promise<number> => (await numbersMade(world)).length;
    if (isOver) await expect.poll(made, { timeout: 240_000, interval: 1_000 }).toBe(MADE);

    for (const name of members) {
      const { flows } = await group.status(name);
      const read = flows.filter((one) => (GROUP_READ as readonly string[]).includes(one.name));
      expect(read.map((one) => [name, one.quarantined, one.pending])).toEqual(
        read.map(() => [name, 0, 0]),
      );
    }
    await expectBookedOnce(group, sites, locations);
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

/** Of ten minutes each: a day. */
const ROUNDS = 144;
const ROUND_S = 600;
/** The rounds between which orders, tickets and exports come. */
const [MORNING, EVENING] = [40, 110] as const;
const TICKETS = 329;
/** `FUELBRIDGE_SITES=200`: it takes half an hour. */
const SITES = Number(process.env["FUELBRIDGE_SITES"] ?? 8);
const PARTS = ["part-0", "part-1", "part-2", "part-3"] as const;

/** Without comparisons: what those cost is told by test/hub.test.ts. */
const withoutNights = (yaml: string): string =>
  `${only(...GROUP_FLOWS)(yaml)}\nreconcile: { paused: true }\n`;

/** The next ten minutes, in which all that is due is done. */
async function pass({ control }: Site, day: Day, meanwhile?: Promise<unknown>): Promise<void> {
  await control.advance(ROUND_S);
  day.move(ROUND_S);
  await meanwhile;
  await day.quiet();
}

/** Until it is so, an hour more or two. */
async function inStep(site: Site, day: Day, isSo: () => Promise<boolean>): Promise<void> {
  for (let round = 0; round < 12; round++) {
    await pass(site, day);
    if (round > 2 && (await isSo())) return;
  }
  throw new Error("it does not come into step");
}

/**
 * A day from when all is in step, and how many requests the platform has had within it. `exports`: has the ERPs of these makers, by
 * their places, write their files; `harm`: what else happens while all are at work.
 */
async function live(
  site: Site,
  day: Day,
  exports: (makers: readonly number[], round: number) => void,
  harm = async (_round: number): Promise<unknown> => null,
): Promise<number> {
  const { control, world } = site;
  const locations = await locationsOf(site);
  const makers = makersAmong(SITES);
  const before = (await control.requests()).length;
  const tickets = (await world.records("delivery-tickets")).filter(
    ({ status, supplierCompanyId }) => status === "SIGNED" && supplierCompanyId === world.companyId,
  );
  const hours = EVENING - MORNING;
  const part = (of: number): number => Math.floor((of * makers.length) / hours);
  for (let round = 0; round < ROUNDS; round++) {
    const at = round - MORNING;
    if (at >= 0 && at < hours) {
      await addOrder(site, at, { locationId: locations[(at * 7) % locations.length] ?? null });
      const ticketNumber = `BB-32${String(at * 14).padStart(4, "0")}`;
      const given = { ticketNumber, bolNumber: `88${at}` };
      await addLike(site, "delivery-tickets", tickets[at % tickets.length], given);
      exports(makers.slice(part(at), part(at + 1)), round);
    }
    await pass(site, day, harm(round));
  }
  return (await control.requests()).length - before;
}

test(`a day of a hub and its ${SITES} sites, whatever is killed, books each record once at its site for what one site asks`, async () => {
  const names = named(SITES);
  const redis = await startRedis();
  const site = await atWork(withoutNights);
  const group = await Group.of(site, { sites: names, redis, processes: PARTS.length });
  const day = group.day();
  let workers = [group.worker(), group.worker()];
  const members = ["hub", ...PARTS];
  const harms: readonly (() => Promise<unknown>)[] = [
    ...members.map((name) => () => day.kill(name).then(() => day.start(name))),
    () => redis.kill().then(() => redis.start()),
    () => redis.flush(),
    async () => {
      for (const worker of workers) worker.kill("SIGKILL");
      workers = [group.worker(), group.worker()];
    },
  ];
  for (const name of members) day.start(name);
  await day.quiet();
  for (const at of makersAmong(SITES)) {
    const files = [...exportOf([at], SITES)].filter(([file]) => file.startsWith("customers"));
    drop(group, names[at] ?? "", new Map(files));
  }
  await inStep(site, day, async () => ordersAt(group, names) === 388);
  const random = new Random(29);
  const exports = (some: readonly number[]): void => {
    for (const at of some) dropExport(group, names[at] ?? "", at, SITES);
  };
  const requests = await live(site, day, exports, async (round) => {
    if (round % 9 !== 4) return;
    await setTimeout(random.int(0, 2_000));
    await harms[Math.floor(round / 9) % harms.length]?.();
  });
  const orders = 388 + EVENING - MORNING;
  await inStep(
    site,
    day,
    async () =>
      (await numbersMade(site.world)).length === MADE && ordersAt(group, names) === orders,
  );
  const statuses = await day.statuses();
  const left = statuses.flatMap(({ flows }) =>
    flows.filter(
      ({ name, quarantined, pending }) =>
        (GROUP_READ as readonly string[]).includes(name) && quarantined + pending > 0,
    ),
  );
  expect(left).toEqual([]);
  await expectBookedOnce(group, names, await locationsOf(site));
  const tickets = names.flatMap((name) => imported({ demo: group.folderOf(name) }, "tickets"));
  expect(tickets.length).toBe(TICKETS + EVENING - MORNING);
  const all = await site.control.requests();
  expect(all.filter(({ status }) => status === 429)).toEqual([]);
  // Each process tells the month as it has last heard of it from Redis, which is every two seconds.
  const months = async () => (await day.statuses()).map(({ requests }) => requests);
  const [told] = await months();
  const ofMonth = all.filter(({ at }) => String(at).startsWith(told?.month ?? ""));
  const used = async (): Promise<number> =>
    Math.min(...(await months()).map((month) => month?.used ?? 0));
  await expect.poll(used, { timeout: 30_000 }).toBeGreaterThanOrEqual(ofMonth.length);
  for (const month of await months()) expect(month?.used).toBeLessThan(month?.perMonth ?? 0);
  await day.close();

  const lone = await atWork(withoutNights);
  const alone = await Group.of(lone, { rules: null });
  for (const file of readdirSync(join(lone.demo, "erp", "export")))
    rmSync(join(lone.demo, "erp", "export", file));
  const other = alone.day();
  other.start("north");
  await other.quiet();
  drop(alone, "north", new Map([...exportOf(makersAmong(SITES), SITES)].slice(0, 1)));
  await inStep(lone, other, async () => ordersAt(alone, ["north"]) === 388);
  const one = await live(lone, other, (some, round) =>
    drop(alone, "north", exportOf(some, SITES, `-${round}`)),
  );
  expect(Math.abs(requests / one - 1)).toBeLessThan(0.05);
}, 3_600_000);
