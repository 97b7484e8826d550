/** The course of a drill: exports, kills and bad weather, then calm, until everything is settled or it is clear that it never will be. */
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Random } from "../../src/sandbox/scenes/random.ts";
import type { Status } from "../../src/office/answers.ts";
import type { Running } from "../support/site-program.ts";
import { audit, type Findings, written } from "./audit.ts";
import {
  backUp,
  forgetSends,
  hourLater,
  killedInTheAir,
  type Nights,
  nightsOf,
  putBack,
  recover,
} from "./backup.ts";
import { Books } from "./books.ts";
import { Person } from "./person.ts";
import { type Harm, SharedQueue } from "./queue.ts";
import { second, type Seconds } from "./second.ts";
import { type Habits, habitsOf, switches } from "./readings.ts";
import { imported, saleRecord } from "./sales.ts";
import { openSite, type Site } from "./site.ts";
import {
  beforeStart,
  calm,
  type Chosen,
  holdNextWrite,
  LATE_S,
  nextDay,
  whileRunning,
} from "./weather.ts";

export interface Options {
  readonly documents: number;
  readonly kills: number;
  readonly seed: number;
  /** Seconds; the default is {@link SETTLE_S}. */
  readonly settle?: number;
  /** How late failing writes commit, in seconds of the platform's clock. More than a minute must make it fail. */
  readonly late?: number;
  /** Second daemons are started on the same store. */
  readonly twoDaemons?: boolean;
  /** The store is replaced by older backups. */
  readonly restore?: boolean;
  /** Workers send for the daemon, over a Redis that is disturbed as well. */
  readonly bullmq?: boolean;
  /** What is being sent is forgotten between two lives, as it would be without a store: this must make it fail. */
  readonly forget?: boolean;
  /** Switched for the whole drill (readings.ts). */
  readonly readings?: readonly string[];
  /** Told now and then how far it is. */
  readonly progress?: (line: string) => void;
}

export interface Outcome extends Findings {
  readonly books: Books;
  readonly kills: number;
  readonly requests: number;
  readonly writes: number;
  /** `status 503`, `reset` → how many requests met it. */
  readonly faults: ReadonlyMap<string, number>;
  readonly replays: number;
  readonly readBacks: number;
  readonly decisions: Person["decisions"];
  readonly rounds: number;
  readonly seconds: Seconds;
  readonly restores: number;
  readonly harm: Harm | null;
  /** Kills between the first byte of a write and the record of its outcome. */
  readonly inTheAir: number;
  readonly nights: Nights;
}

const SETTLE_S = 2;
const EXPORTS_MAX = 40;
const ROUNDS_MAX = 12;
const RESTORE_EVERY = 20;
/** A round is over when nothing has changed for so long: what is left waits for a hold to end. */
const QUIET_MS = 6_000;
/**
 * Over Redis a site's name stays taken for 30 s after its daemon was killed, nothing is sent for a minute after Redis
 * began anew, and the platform's clock stands.
 */
const SHARED_LIFE_MS = 75_000;
const SHARED_QUIET_MS = 100_000;

/** Each minute is a night. */
const NIGHTS = 'reconcile: { cron: "* * * * *" }\n';
/** The kill before which the first night comes. */
const FIRST_NIGHT = 2;
/** What only a night brings comes within the next minute. */
const NIGHT_MS = 80_000;

/** What one drill goes through together. */
interface Course {
  readonly options: Options;
  readonly random: Random;
  readonly site: Site;
  readonly books: Books;
  readonly person: Person;
  readonly seconds: Seconds;
  readonly queue: SharedQueue | null;
  readonly chosen: Chosen;
  readonly habits: Habits;
  restores: number;
}

/** `folder` is empty. @throws Error when a daemon ends by itself, or does what it never may */
export async function drill(folder: string, options: Options): Promise<Outcome> {
  const { documents, kills, seed, settle = SETTLE_S } = options;
  const random = new Random(seed);
  const queue = options.bullmq ? await SharedQueue.open(folder) : null;
  const names = options.readings ?? [];
  const readings = Object.assign({}, ...names.map((name) => switches[name]?.readings ?? {})) as {};
  const habits = habitsOf(names);
  const more = `${queue?.yaml ?? ""}${habits.nights ? NIGHTS : ""}`;
  const site = await openSite(folder, { settle, more, readings });
  try {
    await queue?.startWorker(site);
    const exports = Math.max(1, Math.min(EXPORTS_MAX, Math.floor(kills / 2)));
    const books = new Books(random, join(site.erp, "export"), documents, exports, habits);
    const person = new Person(site, books.renumbered);
    const seconds: Seconds = { refused: 0, tookOver: 0 };
    const chosen: Chosen = new Map(
      names.filter((name) => switches[name]?.fault !== undefined).map((name) => [name, 0]),
    );
    const course: Course = {
      options,
      random,
      site,
      books,
      person,
      seconds,
      queue,
      chosen,
      habits,
      restores: 0,
    };
    await storm(course, Math.max(1, Math.floor(kills / exports)));
    while (!books.isExported) await nextDayOf(course);
    const rounds = await settled(course);
    const findings = await audit(site, books);
    findings.odd.push(...person.complaints);
    const { decisions } = person;
    const { restores } = course;
    return {
      ...findings,
      ...(await counted(site)),
      books,
      kills,
      decisions,
      rounds,
      seconds,
      restores,
      harm: queue?.harm ?? null,
    };
  } finally {
    await queue?.close();
    await site.platform.close();
  }
}

/** Every life ends by a kill; before each `every`th there is an export. */
async function storm(course: Course, every: number): Promise<void> {
  const { options, random, site, books } = course;
  const { kills, late = LATE_S, progress } = options;
  for (let kill = 0; kill < kills; kill++) {
    if (kill % every === 0 && !books.isExported) await nextDayOf(course);
    else if (random.chance(0.1)) books.exportPrices();
    const isShared = course.queue !== null;
    const { chosen } = course;
    const isSlow = await beforeStart(site.platform, random, { late, isShared, chosen });
    if (options.forget) forgetSends(site);
    if (course.habits.nights) hourLater(site);
    if (options.restore && kill % RESTORE_EVERY === RESTORE_EVERY / 2) backUp(site);
    if (options.restore && kill % RESTORE_EVERY === RESTORE_EVERY - 1 && putBack(site, books)) {
      course.restores++;
      await recover(site, random);
    }
    await live(course, isSlow, kill === FIRST_NIGHT);
    if (kill % 20 === 19) progress?.(`${kill + 1} kills, ${await site.platform.writes()} writes`);
  }
}

/** The ERP exports, and the platform makes invoices of its own. */
async function nextDayOf({ books, site: { platform } }: Course): Promise<void> {
  const { now } = await platform.ask<{ now: string }>("GET", "/clock");
  for (const [old, number] of books.renumberSales())
    for (const invoice of await platform.records("invoices"))
      if (invoice["invoiceNumber"] === old)
        await platform.ask("PATCH", `/records/invoices/${written(invoice["id"])}`, {
          invoiceNumber: number,
        });
  const records = books.exportNext().map((sale) => saleRecord(sale, Date.parse(now)));
  if (records.length > 0)
    await platform.ask("POST", "/records/invoices", { key: "supplier", records });
}

/** One life of a daemon, from its start to the kill. */
async function live(
  { site, person, random, seconds, options, queue, habits }: Course,
  isSlow: boolean,
  isFirstNight: boolean,
): Promise<void> {
  let daemon = site.start("run");
  const draw = random.next();
  const writes = random.int(1, Math.ceil((options.documents * 4) / options.kills));
  const moment = random.int(0, 400);
  const lifeMs = queue === null ? LIFE_MS : SHARED_LIFE_MS;
  if (draw < 0.1 && !isSlow && !isFirstNight) await pause(moment * 3);
  else {
    await daemon.said('"fuelbridge runs"');
    await person.hurry();
    if (random.chance(0.3)) await person.look();
    if (options.twoDaemons && random.chance(0.3))
      daemon = await second(site, daemon, random, seconds);
    if (random.chance(0.4)) await queue?.disturb(site, random);
    if (isFirstNight && habits.nights) await untilNight(person);
    if (isSlow || draw < 0.2) await long(site, person, random);
    else if (draw < 0.6) await untilHeld(site, random, lifeMs);
    else await untilWrites(site, writes, draw < 0.8 ? 0 : moment, lifeMs);
  }
  daemon.kill("SIGKILL");
  await killed(daemon);
}

/** After the first one a night is due in the first life of each minute. */
async function untilNight(person: Person): Promise<void> {
  const over = performance.now() + NIGHT_MS;
  while (performance.now() < over) {
    if ((await person.look())?.reconciliation.lastAt) return;
    await pause(500);
  }
}

/** Long enough for what is uncertain to be looked for, and for the person to look in. */
async function long(site: Site, person: Person, random: Random): Promise<void> {
  const until = performance.now() + random.int(2_500, 7_000);
  while (performance.now() < until) {
    await person.look();
    await whileRunning(site.platform, random);
    await pause(Math.min(500, Math.max(until - performance.now(), 0)));
  }
}

/** Until a write is at the platform, which is in no hurry to answer. */
async function untilHeld(site: Site, random: Random, lifeMs: number): Promise<void> {
  const held = await holdNextWrite(site.platform, random);
  const over = performance.now() + lifeMs;
  while (!(await held.isThere()) && performance.now() < over) await pause(LOOK_MS);
  await pause(random.int(0, held.ms));
}

const LIFE_MS = 1_500;
const LOOK_MS = 15;

/** Until so many more writes have come, and `moment` ms; or long enough without them. */
async function untilWrites(
  { platform }: Site,
  more: number,
  moment: number,
  lifeMs: number,
): Promise<void> {
  const enough = (await platform.writes()) + more;
  const over = performance.now() + lifeMs;
  while ((await platform.writes()) < enough && performance.now() < over) await pause(LOOK_MS);
  await pause(moment);
}

/** @throws Error when it had ended before, or complained */
async function killed(daemon: Running): Promise<void> {
  const { signal, code, out, err } = await daemon.ended;
  if (signal !== "SIGKILL") throw new Error(`it ended by itself with ${code}: ${out}${err}`);
  if (err !== "" || out.includes('"flow failed"')) throw new Error(`it complained: ${err}${out}`);
}

/** In rounds, each a day later, until nothing is open. Returns how many it took. */
async function settled({ site, books, person, queue, habits }: Course): Promise<number> {
  for (let round = 1; round <= ROUNDS_MAX; round++) {
    await calm(site.platform);
    if (queue === null) await nextDay(site.platform);
    if (habits.nights) hourLater(site);
    const daemon = site.start("run");
    await daemon.said('"fuelbridge runs"');
    const quietMs = Math.max(
      queue === null ? QUIET_MS : SHARED_QUIET_MS,
      habits.nights ? NIGHT_MS : 0,
    );
    const isSettled = await quiet(site, books, person, quietMs);
    daemon.kill("SIGTERM");
    const { code, out, err } = await daemon.ended;
    if (code !== 143) throw new Error(`it did not stop as told: ${code}: ${out}${err}`);
    if (isSettled) return round;
  }
  return ROUNDS_MAX;
}

/** Until everything is settled (true), or nothing moves any more (false). */
async function quiet(site: Site, books: Books, person: Person, quietMs: number): Promise<boolean> {
  let last = "";
  let settledMs: number | null = null;
  let since = performance.now();
  while (performance.now() - since < quietMs) {
    await person.hurry();
    const status = await person.look();
    if (status === null) throw new Error("the daemon does not answer");
    if (!isSettled(status, books) || !areAllImported(site, books)) settledMs = null;
    // Versions of one record count as several: every flow must have looked once more.
    else if (haveLookedSince(status, (settledMs ??= Date.now()))) return true;
    const now = JSON.stringify([
      status.flows.map(({ received, pending, quarantined }) => [received, pending, quarantined]),
      person.decisions,
    ]);
    if (now !== last) since = performance.now();
    last = now;
    await pause(500);
  }
  return false;
}

function isSettled({ flows }: Status, books: Books): boolean {
  const wanted: Readonly<Record<string, number>> = {
    customers: books.customers.length,
    "rack-prices": books.prices.size,
    invoices: books.bills.length,
    suppliers: books.suppliers.length,
    "invoices-issued": books.bills.length + books.sales.length,
  };
  return flows.every(
    ({ name, received, pending, quarantined }) =>
      received >= (wanted[name] ?? 0) && pending === 0 && quarantined === 0,
  );
}

const haveLookedSince = ({ flows }: Status, ms: number): boolean =>
  flows.every(({ lastSuccessAt }) => Date.parse(lastSuccessAt ?? "") > ms);

/** A version more of one invoice stands for no other one. */
function areAllImported({ erp }: Site, { sales }: Books): boolean {
  const numbers = new Set(imported(erp).map(([number]) => number));
  return sales.every(({ number }) => numbers.has(number));
}

async function counted(site: Site) {
  const seen = await site.platform.requests();
  const faults = new Map<string, number>();
  for (const { fault, status } of seen) {
    const kind = fault ?? (status === 429 ? "limit" : null);
    if (kind === null) continue;
    const name = kind === "status" ? `status ${status}` : kind;
    faults.set(name, (faults.get(name) ?? 0) + 1);
  }
  const posts = seen.filter(({ method }) => method === "POST");
  return {
    requests: seen.length,
    writes: posts.length,
    inTheAir: killedInTheAir(site),
    nights: nightsOf(site),
    faults: new Map([...faults].sort(([one], [other]) => one.localeCompare(other))),
    replays: posts.filter(({ replayed }) => replayed).length,
    readBacks: seen.filter(
      ({ method, query }) => method === "GET" && query["updatedSince"] === undefined,
    ).length,
  };
}
