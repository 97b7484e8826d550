/**
 * The whole road, in the words of those who use it: the program, an ERP that is a folder, and the platform. Each test
 * starts from a site that one run has brought in step.
 */
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exported } from "../src/demo/world.ts";
import { Decimal } from "../src/core/decimal.ts";
import { exitCodes } from "../src/core/errors.ts";
import { amountText } from "../src/core/text.ts";
import type { MatchReport } from "../src/match/report.ts";
import type { Report } from "../src/reconcile/report.ts";
import type { FlowStatus, QuarantineGroup, Status, Trace } from "../src/office/answers.ts";
import { IN_STEP } from "./support/in-step.ts";
import { atWork, copyOf, layOut, type Members, only, openSite, type Site } from "./support/site.ts";
import { type Said, until } from "./support/site-program.ts";
import { askStore } from "./support/site-requests.ts";
import {
  astray,
  demoCases,
  imported,
  importedFiles,
  unequalFlows,
  withoutAges,
  written,
} from "./support/site-sides.ts";

const SLOW = 600_000;
const template = mkdtempSync(join(tmpdir(), "fuelbridge-story-"));
let firstRun: Said;

beforeAll(async () => {
  layOut(template);
  const site = await openSite(template);
  firstRun = await site.command("once");
  await site.close();
}, SLOW);
afterAll(() => rmSync(template, { recursive: true, force: true }));

const inStep = (): Promise<Site> => copyOf(template);

/** As an ERP should: a whole file, moved into place. */
function drop(site: Site, name: string, change: (text: string) => string): void {
  const path = join(site.demo, "erp", "export", name);
  writeFileSync(`${path}.tmp`, change(exported(name)));
  renameSync(`${path}.tmp`, path);
}

async function once(site: Site): Promise<void> {
  expect(await site.here("once")).toMatchObject({ code: exitCodes.ok, out: IN_STEP });
}

async function flow(site: Site, name: string): Promise<FlowStatus> {
  const { flows } = await site.ask<Status>("status");
  return flows.find((flow) => flow.name === name) as FlowStatus;
}

const groups = async (site: Site): Promise<readonly QuarantineGroup[]> =>
  (await site.ask<{ groups: QuarantineGroup[] }>("quarantine", "list")).groups;
const causes = async (site: Site): Promise<string[]> =>
  (await groups(site)).map(({ count, cause }) => `${count} ${cause}`);
const groupOf = async (site: Site, cause: string): Promise<string> =>
  (await groups(site)).find((group) => group.cause === cause)?.id ?? `no group: ${cause}`;

/** The files that the ERP has of one document. */
const filesOf = (site: Site, folder: string, id: unknown): string[] =>
  imported(site, folder).flatMap(([name, content]) => (name === id ? [content] : []));

const everyFile = (site: Site): string[] =>
  readdirSync(join(site.demo, "erp", "import"), { recursive: true, encoding: "utf8" }).sort();

async function issuedInvoice(site: Site, status: string): Promise<Members> {
  const invoices = await site.world.records("invoices?key=supplier");
  const delivered = new Set(imported(site, "invoices").map(([id]) => id));
  return invoices.find(
    (one) => one["status"] === status && delivered.has(written(one["id"])),
  ) as Members;
}

describe("the demo's site", { timeout: SLOW }, () => {
  test("one run brings both sides in step: exit 0, and the totals of every flow are equal", async () => {
    expect(firstRun).toMatchObject({ code: 0, signal: null, err: "" });
    expect(firstRun.out).toMatch(/^In step, but for \d+ documents in quarantine: /);
    const site = await inStep();
    expect(await unequalFlows(site)).toEqual([]);
    const { flows, stops, daemon } = await site.ask<Status>("status");
    expect({ stops, daemon }).toEqual({ stops: [], daemon: null });
    expect(
      flows.map((flow) => [
        flow.name,
        flow.received,
        flow.delivered,
        flow.skipped,
        flow.quarantined,
      ]),
    ).toEqual([
      ["orders", 400, 388, 12, 0],
      ["delivery-tickets", 350, 329, 21, 0],
      ["invoices-issued", 240, 227, 13, 0],
      ["invoices-payable", 60, 59, 1, 0],
      ["customers", 120, 119, 0, 1],
      ["suppliers", 22, 22, 0, 0],
      ["rack-prices", 174, 168, 0, 6],
      ["invoices", 122, 109, 3, 10],
      ["paid-invoices", 122, 49, 68, 5],
    ]);
  });

  test("every document is on the other side exactly once, to the cent, and what is not says why", async () => {
    const site = await inStep();
    expect(await astray(site)).toEqual([]);
    expect(await causes(site)).toEqual([
      "5 waits for customer 000113",
      "5 waits for 5 invoices that are not delivered yet",
      "2 Lines/Formula is not a plain number with a decimal point",
      expect.stringMatching(/^1 Description has 245 characters, the platform takes 200: "ULSD #2/),
      '1 E-Mail "office(at)00ranch.example" is not an address',
      "1 Lines/Product/Code is empty.",
      expect.stringMatching(
        /^1 Reference has 88 characters, the platform takes 64: "PO 4500123456/,
      ),
      "1 a line has the negative amount -292.92; the platform takes none",
      "1 the invoice has 51 lines, the platform takes 50",
      "1 the price -0.0125 is negative",
      "1 the price holds from 5000 on",
      "1 the price is 0",
      "1 this is a credit note of -$87,058.19; the platform takes none",
    ]);
  });

  test("a second run writes nothing to either side, and knows its own documents when they come by", async () => {
    const site = await inStep();
    const before = { files: everyFile(site), writes: await site.world.writes() };
    await once(site);
    expect({ files: everyFile(site), writes: await site.world.writes() }).toEqual(before);
    expect(await flow(site, "invoices-issued")).toMatchObject({ delivered: 227, echoes: 109 });
    await once(site);
    expect(await flow(site, "invoices-issued")).toMatchObject({ received: 349, echoes: 109 });
    expect(await astray(site)).toEqual([]);
  });

  test("an invoice that was paid is delivered again, as a newer version at the same amount", async () => {
    const site = await inStep();
    const { id, total } = await issuedInvoice(site, "OUTSTANDING");
    const before = everyFile(site);
    await site.control.patch("invoices", id, { status: "PAID" });
    await once(site);
    const amount = written(total);
    expect(filesOf(site, "invoices", id).sort()).toEqual([
      `OUTSTANDING ${amount}`,
      `PAID ${amount}`,
    ]);
    expect(everyFile(site)).toHaveLength(before.length + 1);
    expect(await unequalFlows(site)).toEqual([]);
  });

  test("an invoice whose amount changed after it was posted is work for a person, never a new file", async () => {
    const site = await inStep();
    const invoice = await issuedInvoice(site, "OUTSTANDING");
    const before = everyFile(site);
    const [line, ...rest] = invoice["lineItems"] as Members[];
    const more = (value: unknown): number => Math.round(Number(value) * 100 + 1) / 100;
    const dollars = (value: unknown): string => amountText(Decimal.of(String(value)));
    const numbers = JSON.parse(JSON.stringify(rest)) as unknown[];
    await site.control.patch("invoices", invoice["id"], {
      subtotal: more(invoice["subtotal"]),
      total: more(invoice["total"]),
      lineItems: [{ ...line, amount: more(line?.["amount"]) }, ...numbers],
    });
    await once(site);
    expect(everyFile(site)).toEqual(before);
    expect(await causes(site)).toContain(
      `1 the amount changed from ${dollars(invoice["total"])} to ${dollars(more(invoice["total"]))} after it was delivered`,
    );
  });

  test("new orders go through with a status and a field that are new to us, and nothing of them is lost", async () => {
    const site = await inStep();
    const lines = [{ product: "ULSD-CLR", quantity: 7_500.4, gallons: 7_500.4, unit: "gal" }];
    const [known, strange] = await site.control.records("orders", [
      { status: "CONFIRMED", loadingNumber: "L-77001", lines },
      { status: "HELD_AT_RACK", loadingNumber: "L-77002", lines, rackHold: { hours: 7 } },
    ]);
    await once(site);
    expect(filesOf(site, "orders", known?.["id"])).toEqual(["CONFIRMED"]);
    expect(filesOf(site, "orders", strange?.["id"])).toEqual(["HELD_AT_RACK"]);
    const kept = askStore<{ text: string }>(
      site,
      "select text from record where text like '%L-77002%'",
    );
    expect(kept.map(({ text }) => JSON.parse(text) as unknown)).toMatchObject([
      { rackHold: { hours: 7 }, status: "HELD_AT_RACK" },
    ]);
    expect(await unequalFlows(site)).toEqual([]);
  });

  test("a price file in which three prices changed costs one request, with those three and no more", async () => {
    const site = await inStep();
    const before = await site.world.records("rack-prices?key=supplier");
    const writes = await site.world.writes();
    drop(site, "price-lists.csv", (text) =>
      text
        .replace(",2.413755,", ",2.500001,")
        .replace(",2.19127,", ",2.2,")
        .replace(",1.036176,", ",1.005,"),
    );
    await once(site);
    expect(await site.world.writes()).toBe(writes + 1);
    const stamps = new Map(before.map(({ id, updatedAt }) => [id, updatedAt]));
    const touched = (await site.world.records("rack-prices?key=supplier")).filter(
      ({ id, updatedAt }) => stamps.get(id as string) !== updatedAt,
    );
    expect(touched.map(({ price }) => written(price)).sort()).toEqual(["1.005", "2.2", "2.500001"]);
    expect(await flow(site, "rack-prices")).toMatchObject({ received: 177, delivered: 171 });
  });

  test("a corrected customer is taken by itself, and the invoices that waited for it go out", async () => {
    const site = await inStep();
    expect(await causes(site)).toContain("5 waits for customer 000113");
    drop(site, "customers.csv", (text) => text.replace("office(at)00", "office@00"));
    await once(site);
    expect(await flow(site, "customers")).toMatchObject({ delivered: 120, quarantined: 0 });
    expect(await flow(site, "invoices")).toMatchObject({ delivered: 114, quarantined: 5 });
    expect(await astray(site)).toEqual([]);
  });

  test("what is not mapped is parked until the row is there and it is retried, whether the daemon runs or not", async () => {
    const site = await inStep();
    const order = (product: string, loadingNumber: string) => ({
      status: "CONFIRMED",
      loadingNumber,
      lines: [{ product, quantity: 100, gallons: 100, unit: "gal" }],
    });
    await site.control.records("orders", [order("AVGAS", "L-1"), order("E85", "L-2")]);
    await once(site);
    const noRow = "crossref/items.csv has no row";
    const [avgas, e85] = [`${noRow} \`AVGAS\``, `${noRow} \`E85\``];
    expect(await causes(site)).toEqual(expect.arrayContaining([`1 ${avgas}`, `1 ${e85}`]));

    const items = join(site.folder, "config", "crossref", "items.csv");
    writeFileSync(items, `${readFileSync(items, "utf8")}AVGAS,AV-100,new\n`);
    const retried = await site.here("quarantine", "retry", await groupOf(site, avgas));
    expect(retried).toMatchObject({
      code: 0,
      out: "1 document will be tried again by the daemon once it runs, or by fuelbridge once.\n",
    });
    await once(site);
    expect(await flow(site, "orders")).toMatchObject({ delivered: 389, quarantined: 1 });

    const daemon = await site.daemon();
    writeFileSync(items, `${readFileSync(items, "utf8")}E85,E-85,new\n`);
    await site.here("quarantine", "retry", await groupOf(site, e85));
    await until("the order", async () => (await flow(site, "orders")).delivered === 390);
    daemon.kill("SIGTERM");
    expect(await daemon.ended).toMatchObject({ code: exitCodes.terminated });
    expect(await unequalFlows(site)).toEqual([]);
  });

  test("status, trace and quarantine answer the same from the running daemon and from the store", async () => {
    const site = await inStep();
    await once(site);
    const look = async () => {
      const { flows, daemon, reconciliation, company, healthy, stops } =
        await site.askCommand<Status>("status");
      const times = { lastRunAt: null, nextDueAt: null, state: null };
      const counts = flows.map((flow) => ({ ...flow, ...times }));
      const { groups } = await site.askCommand<{ groups: QuarantineGroup[] }>("quarantine", "list");
      const shown = await site.askCommand("quarantine", "show", groups[0]?.id ?? "");
      const trace = await site.askCommand<Trace>("trace", "INV-2026-00007");
      // Only a running daemon has a next one.
      const { nextDueAt: _, ...reconciled } = reconciliation;
      const status = { company, healthy, stops, reconciled };
      return { daemon, rest: withoutAges({ status, counts, groups, shown, trace }) };
    };
    const without = await look();
    const daemon = await site.daemon();
    const withIt = await look();
    expect(withIt.rest).toEqual(without.rest);
    expect([without.daemon, withIt.daemon]).toEqual([
      null,
      { pid: daemon.pid, startedAt: expect.any(String) },
    ]);
    const { steps } = without.rest.trace;
    expect(steps.map(({ event }) => event)).toEqual(
      expect.arrayContaining(["received", "send", "done", "delivered", "linked", "echo"]),
    );
    const resolved = await site.here("quarantine", "resolve", "all", "--note", "by hand");
    expect(resolved).toMatchObject({ code: 0, out: "22 documents closed.\n" });
    expect(await site.ask<Status>("status")).toMatchObject({ healthy: true });
    daemon.kill("SIGTERM");
    await daemon.ended;
    expect(await site.ask<Status>("status")).toMatchObject({ healthy: true });
  });

  test("a party that is customer and supplier is one company, though both are written at once", async () => {
    const site = await atWork(only("customers", "suppliers"));
    // The supplier's write is at the platform, not yet carried out, when the customer's turn comes.
    await site.control.fault({ path: "/suppliers", kind: "delay", ms: 3_000, times: 2 });
    await site.control.fault({ path: "/customers", kind: "delay", ms: 300, times: 4 });
    const daemon = await site.daemon();
    await until("all parties", async () => {
      const { flows } = await site.ask<Status>("status");
      return flows.filter(({ name }) => /^(customers|suppliers)$/.test(name)).every(isThrough);
    });
    daemon.kill("SIGTERM");
    await daemon.ended;
    const connections = await site.world.records("connections");
    expect(connections.filter(({ erpId }) => erpId === "000105")).toHaveLength(1);
  });

  const isThrough = ({ received, pending }: FlowStatus): boolean => received > 0 && pending === 0;

  test("the API key is in its own file and nowhere else: no output, no log, no other file", async () => {
    const site = await inStep();
    writeFileSync(site.config, `${readFileSync(site.config, "utf8")}\nlog:\n  level: debug\n`);
    drop(site, "customers.csv", (text) => text.replace("office(at)00", "office@00"));
    await site.control.fault({ kind: "status", status: 401, times: 2 });
    await site.control.fault({ kind: "garbage", times: 2 });
    const said = [firstRun, await site.here("once"), await site.here("status")];
    const daemon = await site.daemon();
    said.push(await site.here("check"), await site.here("trace", "000113"));
    daemon.kill("SIGTERM");
    said.push(await daemon.ended, await site.here("quarantine", "list", "--json"));
    expect(said.map(({ out, err }) => out + err).join("")).not.toContain(site.apiKey);

    const files = readdirSync(site.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.startsWith("platform.sqlite"))
      .map(({ parentPath, name }) => join(parentPath, name));
    expect(files.length).toBeGreaterThan(1_000);
    expect(files.filter((file) => readFileSync(file).includes(site.apiKey))).toEqual([
      join(site.demo, "api-key"),
    ]);
    expect(importedFiles(site, "orders")).toHaveLength(388);
  });

  test("reconcile asks both sides as they are: with the daemon or without, its price first, and exit 0 only when they agree", async () => {
    const site = await inStep();
    // The sandbox counts what the first run has sent, and nobody waits for its next minute.
    await site.control.limits({ key: "supplier", perMinute: 6_000 });
    const period = ["reconcile", "--from", "2026-01-01"];
    const bills = await site.here(...period, "--flow", "invoices-payable");
    expect(bills).toMatchObject({ code: exitCodes.ok });
    expect(bills.err).toMatch(/^Reconciling 2026-01-01 to .* takes about \d+ requests/);
    expect(bills.out).toContain("Both sides agree: 60 cases.");
    const daemon = await site.daemon();
    const { out, code } = await site.here(...period, "--json");
    const report = (JSON.parse(out) as { data: Report }).data;
    daemon.kill("SIGTERM");
    await daemon.ended;
    const counts = report.totals.map(({ kind, bucket, cases }) => `${kind} ${bucket} ${cases}`);
    expect({ code, counts }).toEqual({ code: exitCodes.runtime, counts: demoCases });
    const fields = report.cases.flatMap(({ differences }) => differences.map(({ field }) => field));
    expect(new Set(fields)).toEqual(new Set(["money.open"]));
    expect((await flow(site, "invoices-payable")).agreed).toMatchObject({ documents: 59 });
    // Gallons are no amount.
    expect((await flow(site, "orders")).agreed).toMatchObject({ documents: 388, amount: null });
    // Whoever came from the ERP is called as there.
    const matched = await site.here("match", "--json");
    const { findings } = (JSON.parse(matched.out) as { data: MatchReport }).data;
    expect(findings.filter(({ party, partyName }) => party === partyName)).toEqual([]);
  });
});
