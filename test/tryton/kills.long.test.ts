/**
 * The same work in bad weather: the daemon is killed again and again, Tryton hangs, dies and is set back to an older
 * copy of its books. Nothing may be booked twice, and nothing may be missing without a reason.
 *
 * @module-tag numbers
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import Database from "better-sqlite3";
import { describe, expect, onTestFailed, onTestFinished, test } from "vitest";
import type { QuarantineGroup, Status } from "../../src/office/answers.ts";
import { Random } from "../../src/sandbox/scenes/random.ts";
import { IN_STEP } from "../support/in-step.ts";
import { runs } from "../support/runs.ts";
import { until } from "../support/site-program.ts";
import { trytonIsThere, useTryton } from "../support/tryton.ts";
import { balances, bookedInvoices, expected, invoicesByMonth } from "./ledger.ts";
import { askStore, requestsIn } from "./requests.ts";
import { openSite, type Site } from "./site.ts";

/** Another one: KILLS_SEED=7 */
const SEED = Number(process.env["KILLS_SEED"] ?? 20_261_121);
const SLOW = 1_800_000;
const SITES = runs(0, 2, 5);
const KILLS = runs(0, 8, 10);
/** Longer than Tryton computes for any call here, though it serves all sites at once. */
const SETTLE_MS = 10_000;
const INVOICES = 15;
const CALM_MS = 600_000;

const quick = (yaml: string): string =>
  yaml
    .replace("environment: live", "$&\n  settle: 1s")
    .replace("batch: 20", `batch: 5\n    settleMs: ${SETTLE_MS}`)
    // Most paid invoices have no payments here: they are settled as one.
    .replace("settleAfter: 26h", "settleAfter: 10s")
    .replaceAll(/ to: books\.(?:invoices|bills|shipments)\n/g, "$&    attach: pdf\n")
    .replaceAll("every: 1m", "every: 1h")
    .replaceAll(/every: \d\d?m/g, "every: 20s");

describe.skipIf(!trytonIsThere)(`${SITES * KILLS} kills, seed ${SEED}`, () => {
  const server = useTryton();

  test(
    "killed in its work, with a Tryton that hangs, dies and is set back, every invoice is in the books once",
    { timeout: SLOW },
    async () => {
      onTestFailed(() => void process.stderr.write(`KILLS_SEED=${SEED}\n`));
      const random = new Random(SEED);
      const sites: Site[] = [];
      // One by one: a Tryton that loads the classes of several databases at once may refuse a login.
      for (let at = 0; at < SITES; at++)
        sites.push(await siteWithWork(at, random.int(1, 1_000_000)));
      const plans = sites.map(() => Array.from({ length: KILLS }, () => random.next()));
      const kill = (from: number, to: number) =>
        together(sites, (site, at) => killed(site, plans[at]?.slice(from, to) ?? []));

      await Promise.all(sites.map(begin));
      const kept = sites.map(({ books }) => backUp(books.path));
      const first = await kill(0, 2);
      const [more] = await Promise.all([kill(2, KILLS), hangAndDie(random)]);
      // The kills really came while something was under way in Tryton.
      expect(first + more).toBeGreaterThan((SITES * KILLS) / 3);

      // Kills come so soon after a send that little is finished: what the books are about to lose is booked here.
      await Promise.all(sites.map((site) => site.command("once")));
      await server.kill();
      for (const [at, { books }] of sites.entries()) {
        rmSync(`${books.path}-journal`, { force: true });
        books.restore(kept[at] ?? "");
      }
      await server.restart();
      await Promise.all(sites.map(calm));
      for (const site of sites) await expectEverythingOnce(site);
      // What was booked after the backup was told to be gone, and delivered again.
      expect(await together(sites, async (site) => lostIn(site))).toBeGreaterThan(SITES);
    },
  );

  async function siteWithWork(at: number, seed: number): Promise<Site> {
    const folder = mkdtempSync(join(tmpdir(), "fuelbridge-tryton-kills-"));
    const books = server.copy(`kills${at}`);
    const site = await openSite(folder, books, { scenario: "empty", change: quick });
    onTestFinished(async () => {
      await site.close();
      rmSync(folder, { recursive: true, force: true });
    });
    await giveWork(site, seed);
    return site;
  }

  /** Calls hang for a while; later the server is gone in the middle of them. */
  async function hangAndDie(random: Random): Promise<void> {
    await pause(random.int(4_000, 8_000));
    server.pause();
    await pause(random.int(2_000, 5_000));
    server.resume();
    await pause(random.int(3_000, 6_000));
    await server.kill();
    await pause(random.int(500, 1_500));
    await server.restart();
  }
});

const together = async (
  sites: readonly Site[],
  work: (site: Site, at: number) => Promise<number>,
): Promise<number> => {
  const each = await Promise.all(sites.map(work));
  return each.reduce((sum, one) => sum + one, 0);
};

/** A month in small: invoices, orders with tickets, bills, and payments of some. */
async function giveWork({ control, companyId }: Site, seed: number): Promise<void> {
  await control.generate({
    key: "supplier",
    invoices: INVOICES,
    orders: 5,
    deliveryTickets: 5,
    seed,
  });
  for (const { id } of await control.stored("orders"))
    await control.patch("orders", id, { locationId: LOCATION });
  const issued = (await control.stored("invoices")).filter((one) => one["companyId"] === companyId);
  const bills = issued.slice(0, 5).map((invoice, at) => ({
    ...invoice,
    id: undefined,
    lineItems: anew(invoice["lineItems"]),
    taxLines: anew(invoice["taxLines"]),
    companyId: VENDOR,
    payerCompanyId: companyId,
    invoiceNumber: `V-${1_000 + at}`,
  }));
  await control.records("invoices", bills);
  const open = issued.filter(({ status }) => status === "OUTSTANDING").slice(0, 10);
  await control.records(
    "payments",
    open.map(({ id, total }) => ({
      invoiceId: id,
      amount: Math.round(Number(total) * 50) / 100,
      method: "ACH",
      status: "SUCCEEDED",
      paidAt: new Date().toISOString(),
    })),
  );
}

const LOCATION = "a903118c-3ef2-46c6-98ee-b5f48a83e50d";
const VENDOR = "3c32a18c-b781-4efd-afcf-a5e1dcab93fb";
const anew = (rows: unknown): object[] =>
  (rows as object[]).map((row) => ({ ...row, id: undefined, invoiceId: undefined }));

/** The first invoices are booked; nothing is under way then. */
async function begin(site: Site): Promise<void> {
  const daemon = site.start("run");
  const isBooked = async (): Promise<boolean> =>
    (await site.tryton.call<number>("account.invoice.search_count", POSTED)) > 0;
  await until("the first invoice", isBooked, CALM_MS);
  daemon.kill("SIGTERM");
  await daemon.ended;
  expect(requestsIn(site, "sending", "unknown")).toBe(0);
}

/** Nothing is to be sent any more when nothing was sent for this long. */
const NOTHING_LEFT_MS = 60_000;
const AFTER_SENDING_MS = 1_500;

const POSTED = [["state", "in", ["posted", "paid"]]];

/**
 * Once for each chance, soon after a request has left; how many of these kills came while something was under way in
 * Tryton. A start settles and inspects what was sent before, in a Tryton that all sites share, and only then sends.
 */
async function killed(site: Site, chances: readonly number[]): Promise<number> {
  let hit = 0;
  for (const chance of chances) {
    const daemon = site.start("run");
    await daemon.said('"fuelbridge runs"');
    const end = performance.now() + NOTHING_LEFT_MS;
    while (requestsIn(site, "sending") === 0 && performance.now() < end) await pause(100);
    await pause(chance * AFTER_SENDING_MS);
    daemon.kill("SIGKILL");
    const { signal, err } = await daemon.ended;
    expect({ signal, err }).toEqual({ signal: "SIGKILL", err: "" });
    if (requestsIn(site, "sending") > 0) hit++;
  }
  return hit;
}

/** A copy of one moment. */
function backUp(path: string): string {
  const kept = `${path}.backup`;
  const database = new Database(path, { timeout: 60_000 });
  try {
    database.prepare("vacuum into ?").run(kept);
  } finally {
    database.close();
  }
  return kept;
}

/**
 * After the backup everything is looked for first (`once` does that before it sends anything), and a person retries
 * what the books have lost.
 */
async function calm(site: Site): Promise<void> {
  const isCalm = async (): Promise<boolean> => {
    const { code } = await site.command("once");
    const { groups } = await site.ask<{ groups: QuarantineGroup[] }>("quarantine", "list");
    const gone = groups.filter((group) => LOST.has(group.code));
    for (const { id } of gone) await site.command("quarantine", "retry", id);
    return code === 0 && gone.length === 0;
  };
  await until("calm", isCalm, CALM_MS);
  // What we wrote comes by once more, and must be known as our own.
  expect(await site.command("once")).toMatchObject({ code: 0, out: IN_STEP });
}

/** A document that is gone, and one that was made for what is gone. */
const LOST = new Set(["gone", "not-in-tryton", "no-such-invoice", "no-document"]);

async function expectEverythingOnce(site: Site): Promise<void> {
  expect(JSON.stringify(await site.parked())).toBe("[]");
  const { stops } = await site.ask<Status>("status");
  expect(stops).toEqual([]);
  const wanted = await expected(site, new Map(), []);
  expect({
    balances: await balances(site),
    invoicesByMonth: await invoicesByMonth(site),
  }).toEqual(wanted);
  const booked = await bookedInvoices(site.tryton);
  const marks = booked.map(({ type, comment }) => `${type} ${comment}`);
  expect(marks.filter((mark, at) => marks.indexOf(mark) !== at)).toEqual([]);
  expect(booked.filter(({ state }) => state === "draft")).toEqual([]);
  const attached = await site.tryton.rows<Attached>("ir.attachment", [], "resource", "name");
  const files = attached.map(({ resource, name }) => `${resource} ${name}`);
  expect(files.filter((file, at) => files.indexOf(file) !== at)).toEqual([]);
  const open = await site.tryton.rows<{ id: number }>("account.invoice", ISSUED, "id");
  const without = open.filter(
    ({ id }) => !attached.some(({ resource }) => resource === `account.invoice,${id}`),
  );
  expect(without).toEqual([]);
}

interface Attached {
  readonly resource: string;
  readonly name: string;
}

/** Those that a PDF hangs on: no credit notes. */
const ISSUED = [...POSTED, ["total_amount", ">=", 0]];

/** How many documents it found to be gone. */
const lostIn = (site: Site): number =>
  askStore(site, "select 1 from audit where event = 'gone'").length;
