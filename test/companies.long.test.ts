/**
 * Four companies in one process, three of them under one API key: each record is in the books of exactly one of the three, their
 * minute and month are kept in sum, and a kill in the middle loses and doubles nothing.
 *
 * @module-tag numbers
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Status } from "../src/office/answers.ts";
import { atWork, only, type Site } from "./support/site.ts";
import { until } from "./support/site-program.ts";

const FLOWS = ["orders", "delivery-tickets", "invoices-issued", "invoices", "customers"];
const SHARING = ["north", "south", "west"];
const PER_MINUTE = 120;

/** What the ERP of the north made is the north's; the rest by places and numbers. */
function companiesOf(locations: readonly string[]): string {
  const half = locations.length / 2;
  const own = (name: string, digits: string, places: readonly string[]): string =>
    `  ${name}:\n    - number: [${Array.from(digits, (digit) => `"BB*-*${digit}"`).join(", ")}]\n` +
    `    - { kind: [order], location: [${places.map((one) => `"${one}"`).join(", ")}] }\n`;
  const home = (name: string) => `{ endpoints: { erp: { folder: ../var/${name} } } }`;
  return (
    `sites:\n  north:\n    - number: ["INV-*"]\n  all:\n    - kind: [customer]\n` +
    own("south", "01234", locations.slice(0, half)) +
    own("west", "56789", locations.slice(half)) +
    `companies:\n  north: {}\n  south: ${home("south")}\n  west: ${home("west")}\n` +
    "  lone:\n    sites: ~\n    platform: { apiKey: '${file:../var/other-key}' }\n" +
    "    endpoints: { erp: { folder: ../var/lone } }\n"
  );
}

type All = {
  companies: Record<string, { ok: boolean; data: Status; error?: { message: string } }>;
};

async function installation(): Promise<Site> {
  const site = await atWork((yaml) =>
    only(...FLOWS)(yaml)
      .replace("company: bluebonnet\n", "")
      .replace(
        /^platform:\n/m,
        `platform:\n  settle: 1s\n  budget: { perMinute: ${PER_MINUTE} }\n`,
      ),
  );
  const locations = (await site.world.records("orders")).flatMap(({ locationId }) =>
    typeof locationId === "string" ? [locationId] : [],
  );
  const yaml = readFileSync(site.config, "utf8");
  writeFileSync(site.config, `${yaml}\n${companiesOf([...new Set(locations)].toSorted())}`);
  for (const name of ["south", "west", "lone"])
    for (const part of ["export", "import"])
      mkdirSync(join(site.folder, "var", name, part), { recursive: true });
  const keys = await site.control.keys();
  const other = keys.find(({ name }) => name !== "supplier");
  writeFileSync(join(site.folder, "var", "other-key"), `${other?.key}\n`, { mode: 0o600 });
  await site.control.limits({ key: "supplier", perMinute: PER_MINUTE });
  return site;
}

const statuses = async (site: Site) => (await site.askProgram<All>("status")).companies;

/** Under the key of the three. */
const requestsOf = async (site: Site) =>
  (await site.control.requests()).filter(({ key }) => key === "supplier");

/** The files that the ERP of a company is to import. */
const imported = (site: Site, company: string, what: string): string[] => {
  const folder = company === "north" ? join("demo", "erp") : company;
  return readdirSync(join(site.folder, "var", folder, "import", what)).filter(
    (name) => !name.startsWith("."),
  );
};

test("each record is in exactly its company, the key's minute and month are kept, and a kill loses and doubles nothing", async () => {
  const site = await installation();
  const first = site.start("run");
  await first.said('"company":"lone","port"');
  const written = async () => (await site.world.records("invoices")).filter(isOurs).length;
  const isUnderWay = async () =>
    (await written()) > 10 && (await requestsOf(site)).length > PER_MINUTE;
  await until("invoices are sent, in the second minute", isUnderWay, 400_000);
  first.kill("SIGKILL");
  await first.ended;
  const byFirst = await requestsOf(site);
  expect(await written()).toBeLessThan(109);
  // What the kill left in doubt rests for a moment, and is looked for.
  await until("all of them are in step", async () => {
    const { code, err } = await site.command("once", "--json");
    expect(err).not.toContain('"level":50');
    return code === 0;
  });

  const all = await statuses(site);
  expect(Object.keys(all)).toEqual([...SHARING, "lone"]);
  const flow = (company: string, name: string) =>
    all[company]?.data.flows.find((one) => one.name === name);
  const sum = (name: string): number =>
    SHARING.reduce((total, company) => total + (flow(company, name)?.delivered ?? 0), 0);
  for (const name of ["orders", "delivery-tickets", "invoices-issued"])
    for (const company of SHARING) expect(flow(company, name)?.quarantined).toBe(0);
  expect(flow("north", "invoices")?.delivered).toBe(109);
  // As one site that has the key for itself books them.
  expect([sum("orders"), sum("delivery-tickets"), sum("invoices-issued")]).toEqual([388, 329, 227]);
  expect(await written(), "on the platform each invoice is there once").toBe(109);
  for (const [what, count] of Object.entries({ orders: 388, tickets: 329, invoices: 227 })) {
    const files = SHARING.flatMap((company) => imported(site, company, what));
    expect([what, new Set(files).size, files.length]).toEqual([what, count, count]);
  }
  expect(flow("lone", "orders")?.elsewhere ?? []).toEqual([]);

  // A process that starts learns from its first answers what is left of the minute.
  expect(byFirst.length).toBeGreaterThan(PER_MINUTE);
  expect(byFirst.filter(({ status }) => status === 429)).toEqual([]);
  const instants = byFirst.map(({ at }) => Date.parse(String(at)));
  for (const [at, instant] of instants.entries())
    expect(instant - (instants[at - PER_MINUTE] ?? -Infinity)).toBeGreaterThanOrEqual(60_000);
  const log = await requestsOf(site);
  const used = SHARING.map((company) => all[company]?.data.requests.used ?? 0);
  // All count the same month; a process that was killed may have leased a block for each that it did not send.
  expect(new Set(used).size).toBe(1);
  expect(used[0]).toBeGreaterThanOrEqual(log.length);
  expect(used[0]).toBeLessThan(log.length + 20 * SHARING.length);
}, 900_000);

const isOurs = ({ invoiceNumber }: Readonly<Record<string, unknown>>): boolean =>
  String(invoiceNumber).startsWith("INV-");

test("a company that cannot start stops no other, status says which and why", async () => {
  const site = await installation();
  const config = readFileSync(site.config, "utf8");
  const blocked = join(site.folder, "var", "blocked");
  writeFileSync(blocked, "");
  writeFileSync(site.config, config.replace("west: {", "west: { state: ../var/blocked/state,"));
  const running = site.start("run");
  await running.said('"company":"lone","port"');
  await running.said("this company is not at work");
  const { code, out } = await site.command("status", "--json");
  const { companies } = (JSON.parse(out) as { data: All }).data;
  expect(
    Object.entries(companies)
      .filter(([, { ok }]) => !ok)
      .map(([name]) => name),
  ).toEqual(["west"]);
  expect(companies["west"]?.error?.message).toContain("blocked");
  expect(code).toBe(4);
  expect(companies["north"]?.data.daemon).not.toBeNull();
  running.kill("SIGTERM");
  expect((await running.ended).code).toBe(143);
}, 120_000);
