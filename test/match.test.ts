/** `fuelbridge match` over a real store: a month of the sandbox, read by flows, matched without one request. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { loadConfiguration } from "../src/app/configuration.ts";
import { askOf } from "../src/app/ask.ts";
import { concernsOf } from "../src/office/concerns.ts";
import type { Office } from "../src/office/questions.ts";
import type { MatchReport } from "../src/match/report.ts";
import { monthEndView } from "../src/views/status.ts";
import { asText } from "../src/views/text.ts";
import { type Sandbox, startSandbox } from "../src/sandbox/server.ts";
import type { Fault } from "../src/sandbox/scenes/month.ts";
import { askCommand, commandHere } from "./support/here.ts";
import { PASSWORD, testConsole } from "./support/console.ts";
import { isMounted, tempFolder } from "./support/folder.ts";
import { isThere } from "./support/machine.ts";
import { monthSite, scoreOf } from "./support/matched.ts";
import { settleIn } from "./support/site.ts";

let sandbox: Sandbox;
const control = async (path: string, body?: object, method = "GET"): Promise<unknown> => {
  const response = await fetch(`${sandbox.controlUrl}${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  return response.json();
};

const template = mkdtempSync(join(tmpdir(), "fuelbridge-match-"));
const truthFile = join(template, "truth.json");

/** The platform of a site's folder, which holds its state, is what `control` speaks to and the site's commands find. */
async function openPlatform(folder: string): Promise<void> {
  const month = { trades: 60, faults: 13, seed: 11 };
  const db = join(folder, "platform.sqlite");
  sandbox = await startSandbox({ db, scenario: "month", month, truth: truthFile });
  const { keys } = (await control("/keys")) as { keys: { name: string; key: string }[] };
  vi.stubEnv("MATCH_KEY", keys.find(({ name }) => name === "supplier")?.key ?? "");
  vi.stubEnv("MATCH_URL", sandbox.baseUrl);
}

/** Tests run in any order, and each changes what the platform holds: each has a copy of a site whose flows have run. */
beforeAll(async () => {
  const folder = join(template, "site");
  mkdirSync(join(folder, "erp"), { recursive: true });
  cpSync("config/crossref", join(folder, "crossref"), { recursive: true });
  await openPlatform(folder);
  writeFileSync(join(folder, "config.yaml"), monthSite("./crossref"));
  await commandHere("once", "--config", join(folder, "config.yaml"));
  await sandbox.close();
}, 120_000);
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(template, { recursive: true, force: true });
});

async function site(more = ""): Promise<string> {
  const folder = join(tempFolder(), "site");
  cpSync(join(template, "site"), folder, { recursive: true, preserveTimestamps: true });
  settleIn(join(folder, "state"));
  await openPlatform(folder);
  const { close } = sandbox;
  onTestFinished(() => close());
  const file = join(folder, "config.yaml");
  writeFileSync(file, monthSite("./crossref", more));
  return file;
}

const requests = async (): Promise<number> =>
  ((await control("/requests")) as { requests: unknown[] }).requests.length;
const found = (file: string, ...more: string[]) =>
  askCommand<MatchReport>("match", ...more, "--config", file);
/** What was planted, but for these kinds. */
const truthBut = (...kinds: string[]): Fault[] =>
  (JSON.parse(readFileSync(truthFile, "utf8")) as Fault[]).filter(
    ({ kind }) => !kinds.includes(kind),
  );
const office = async <Result>(file: string, work: (office: Office) => Promise<Result>) =>
  askOf(await loadConfiguration(file), work, "match");

test("what the flows have stored is matched without one request; people settle what was found; values that change bring it back", async () => {
  const file = await site(", alertAbove: 1000");
  // All that there is was read: what is missing would be a comparison that is not made.
  const { flows } = await office(file, (it) => it.status());
  const stored = (await control("/records/rack-prices?key=supplier")) as { records: unknown[] };
  expect(flows.find(({ name }) => name === "prices")?.received).toBe(stored.records.length);
  const before = await requests();
  const report = await found(file);
  expect(await requests()).toBe(before);

  expect(scoreOf(truthBut("missing freight"), report)).toMatchObject({ missed: [], wrong: [] });
  expect(report.notCompared).toEqual([
    "freight: no flow brings freight rates, and there is no table crossref/freight-rates.csv",
  ]);

  // One party, one direction, as CSV.
  const { direction, party } = report.parties[0] as MatchReport["parties"][number];
  const own = await found(file, "--party", party, "--direction", direction);
  expect(own.findings).toEqual(
    report.findings.filter((one) => one.party === party && one.direction === direction),
  );
  const { out, code } = await commandHere("match", "--csv", "--config", file);
  expect([code, out.trim().split("\n")[0]]).toEqual([
    1,
    "rule,certainty,direction,party,day,invoices,tickets,orders,compared,billed,expected,gallons,amount,favour,joined_by,cause,next",
  ]);

  // Large ones are a concern, which alerts tell.
  const { matching } = await office(file, (it) => it.status());
  expect(matching).toMatchObject({ open: report.findings.length });
  expect(matching.large.map(({ key }) => key).toSorted()).toEqual(
    report.findings
      .filter(({ amount }) => Number(amount ?? 0) > 1000)
      .map(({ key }) => key)
      .toSorted(),
  );

  // Accepted: it counts no more, and is written down.
  const rate = report.findings.find(({ rule }) => rule === "order-price");
  const person = { by: "ann", note: "agreed by phone" };
  const seen = { key: rate?.key ?? "", digest: rate?.digest ?? "" };
  const old = { ...seen, digest: "of other values" };
  for (const other of [old, { ...seen, key: "none" }])
    await expect(office(file, (it) => it.settleFinding(other, "accepted", person))).rejects.toThrow(
      "not known any more, or has other values",
    );
  await office(file, (it) => it.settleFinding(seen, "accepted", person));
  const after = await found(file);
  const kept = await office(file, (it) => it.findings());
  expect(kept.findings.find(({ key }) => key === rate?.key)).toMatchObject({
    state: "accepted",
    note: "ann: agreed by phone",
  });
  expect(after.findings.map((one) => one.key)).not.toContain(rate?.key);
  expect(after.accepted.map((one) => one.key)).toEqual([rate?.key]);
  const { deeds } = await office(file, (it) => it.deeds(null));
  expect(deeds[0]).toMatchObject({
    by: "ann",
    reason: "agreed by phone",
    event: "finding accepted",
  });

  // Other values: it is back.
  const invoice = rate?.papers.find(({ kind }) => kind === "invoice");
  const all = (await control("/records/invoices")) as { records: Record<string, unknown>[] };
  const record = all.records.find(({ id }) => id === invoice?.id) as {
    lineItems: Record<string, unknown>[];
  };
  const lineItems = record.lineItems.map((line) =>
    line["product"] === null ? line : { ...line, rate: Number(line["rate"]) + 0.5 },
  );
  await control(`/records/invoices/${invoice?.id}`, { lineItems }, "PATCH");
  await commandHere("once", "--config", file);
  expect((await found(file)).findings.map((one) => one.key)).toContain(rate?.key);
}, 120_000);

test("freight is compared with the site's own table of lanes", async () => {
  const file = await site();
  const record = async (kind: string): Promise<Record<string, string>[]> =>
    ((await control(`/records/${kind}?key=supplier`)) as { records: Record<string, string>[] })
      .records;
  const parties = new Map(
    (await record("connections")).map((one) => [one["id"], one["toCompanyId"]]),
  );
  const racks = new Map(
    (await record("supplier-terminals")).map((one) => [one["id"], one["terminalCode"]]),
  );
  const lanes = (await record("freight-rates")).map((one, at) => {
    const { connectionId, originTerminalId, destinationZip, flatFee, fuelSurchargePercent } = one;
    return `L${at},${parties.get(connectionId)},${racks.get(originTerminalId)},${destinationZip},${flatFee},${fuelSurchargePercent},2026-01-01`;
  });
  const head =
    "code,party,originTerminalId,destinationZip,flatFee,fuelSurchargePercent,effectiveAt";
  writeFileSync(join(dirname(file), "crossref", "freight-rates.csv"), [head, ...lanes].join("\n"));
  await commandHere("once", "--config", file);
  const report = await found(file);
  expect(report.notCompared).toEqual([]);
  expect(report.findings.map(({ rule }) => rule)).toContain("freight");
  expect(scoreOf(truthBut(), report)).toMatchObject({ missed: [], wrong: [] });
}, 120_000);

test("the page accepts and disputes with a note beside the finding, claims from one supplier, and the evidence has what people said", async () => {
  const file = await site();
  await office(file, async (it) => {
    const { as } = await testConsole(it);
    const ann = await as("accountant");
    const pageOf = async (path: string): Promise<string> =>
      (await ann.get(path)).body.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");
    const told = await ann.post("/match", { from: "", to: "", note: "month's end" });
    expect(told.status).toBe(303);
    const { findings } = await it.findings();
    const [first, second] = findings.filter(
      ({ direction, favour }) => direction === "purchase" && favour === "us",
    );
    const seenOf = (one = first) => ({ key: one?.key ?? "", digest: one?.digest ?? "" });
    await ann.post("/match/dispute", { ...seenOf(first), note: "letter of the 24th" });
    await ann.post("/match/accept", { ...seenOf(second), note: "agreed by phone" });
    const page = await pageOf("/match");
    expect(page).toContain(`disputed. accountant: letter of the 24th. ${first?.cause}`);
    expect(page).toContain(`accepted. accountant: agreed by phone. ${second?.cause}`);
    const claim = await pageOf(`/match/claim?direction=purchase&party=${first?.party}`);
    expect(claim).toContain(first?.papers[0]?.number);
    const csv = await ann.get(`/match/claim/csv?direction=purchase&party=${first?.party}`);
    const cells = csv.body
      .trim()
      .split("\n")
      .map((line) => Number(line.split(",").at(-1)));
    const sum = cells.slice(1, -1).reduce((total, one) => total + one, 0);
    expect(sum).toBeCloseTo(cells.at(-1) ?? 0, 2);
    expect(sum).toBeGreaterThanOrEqual(Number(first?.amount));
    await ann.post("/match/reopen", { ...seenOf(second), note: "a mistake" });
    expect(await pageOf("/match")).toContain(`accountant: a mistake. ${second?.cause}`);
    expect((await it.findings()).findings.filter(({ state }) => state === "accepted")).toEqual([]);
    // A viewer sees them and settles nothing.
    const viewer = await as("viewer");
    await viewer.get("/match");
    const { status } = await viewer.post("/match/accept", { ...seenOf(first), note: "no" });
    expect(status).toBe(403);
  });
  const pack = join(dirname(file), "evidence");
  await commandHere("evidence", "make", pack, "--from", "2020-01-01", "--config", file);
  const csv = readFileSync(join(pack, "match.csv"), "utf8").trim().split("\n");
  const { findings } = await office(file, (it) => it.findings());
  expect(csv).toHaveLength(findings.length + 1);
  expect(readFileSync(join(pack, "match.txt"), "utf8")).toMatch(
    /: Of \d+ invoices .*\n(?:Not compared: .*\n)+disputed: .* \(accountant: letter of the 24th\)/,
  );
}, 120_000);

test.runIf(isThere("chromium"))(
  "from the page alone, the supplier who overcharged most is found and the claim exported in four clicks",
  async () => {
    const file = await site();
    await found(file);
    await office(file, async (it) => {
      const { web } = await testConsole(it);
      const browser = await chromium.launch({
        executablePath: "/usr/bin/chromium",
        args: ["--no-sandbox"],
      });
      onTestFinished(() => browser.close());
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${web.port}/`);
      await page.getByLabel("Name").fill("accountant");
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Log in" }).click();
      const now = Date.now();
      const [from = "", to = ""] = [now - 31 * 86_400_000, now].map((atMs) =>
        new Date(atMs).toISOString().slice(0, 10),
      );
      await page.getByRole("navigation").getByRole("link", { name: "Match", exact: true }).click();
      await page.getByLabel("From").first().fill(from);
      await page.getByLabel("To", { exact: true }).first().fill(to);
      await page.getByLabel("Which").selectOption("purchase");
      await page.getByRole("button", { name: "Show" }).click();
      const rows = page
        .getByRole("row")
        .filter({ has: page.getByRole("link", { name: "Claim it" }) });
      const owed = (await rows.allInnerTexts()).map((text) =>
        Number(/\$([\d,.]+)/.exec(text)?.[1]?.replaceAll(",", "")),
      );
      const most = Math.max(...owed);
      await rows.nth(owed.indexOf(most)).getByRole("link", { name: "Claim it" }).click();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("link", { name: "The claim as CSV" }).click(),
      ]);
      const lines = readFileSync(await download.path(), "utf8")
        .trim()
        .split("\n");
      // What it should be is summed here, from the findings alone.
      const theirs = (await it.findings()).findings.filter(
        ({ direction, favour, day }) =>
          direction === "purchase" && favour === "us" && day >= from && day <= to,
      );
      const sums = [...Map.groupBy(theirs, ({ party }) => party).values()].map((own) =>
        own.reduce((sum, { amount }) => sum + Number(amount), 0),
      );
      expect(sums.length).toBeGreaterThan(1);
      expect(most).toBeCloseTo(Math.max(...sums), 2);
      expect(Number(lines.at(-1)?.split(",").at(-1))).toBeCloseTo(most, 2);
    });
  },
  120_000,
);

test("without room on the disk nothing is compared: a person is told what to do, the flows go on, and with room it is compared", async ({
  skip,
}) => {
  const file = await site();
  const state = join(dirname(file), "state");
  const aside = tempFolder();
  cpSync(state, aside, { recursive: true });
  if (!isMounted(state, "size=450m,mode=700")) skip("this machine mounts nothing");
  cpSync(aside, state, { recursive: true });
  settleIn(state);
  const told = {
    message: expect.stringMatching(/ has 4\d\d MB free; what is read needs 512 MB\.$/),
    next: expect.stringMatching(/^Free space on that disk; papers are compared the next night/),
  };
  const all = { from: null, to: null, party: null, direction: null, by: "ann" };
  await office(file, async (it) => {
    await expect(it.match(all)).rejects.toMatchObject(told);
    const status = await it.status();
    expect(status.matching).toMatchObject({ lastAt: null, trouble: told });
    expect(concernsOf(status)).toContainEqual(
      expect.objectContaining({ detail: told.message, next: told.next }),
    );
  });
  const command = await commandHere("match", "--config", file);
  expect(command).toMatchObject({ code: 1, out: "" });
  expect(command.err).toMatch(/needs 512 MB\.\n {2}Free space on that disk; /);
  expect((await commandHere("once", "--config", file)).code).toBe(0);
  spawnSync("/bin/mount", ["-o", "remount,size=800m", state]);
  await office(file, async (it) => {
    expect((await it.match(all)).findings.length).toBeGreaterThan(0);
    expect((await it.status()).matching.trouble).toBeNull();
  });
}, 120_000);

test("why papers could not be compared is told after a restart as well, in the status, on the page and at the month's end, until all of them are", async () => {
  const file = await site();
  const table = join(dirname(file), "crossref", "products.csv");
  const rows = readFileSync(table, "utf8");
  const all = { from: null, to: null, party: null, direction: null, by: "daemon" };
  await office(file, async (it) => {
    await it.match(all);
    writeFileSync(table, rows + rows);
    await expect(it.match(all)).rejects.toThrow("products.csv cannot be used");
  });
  writeFileSync(table, rows);
  await office(file, async (it) => {
    const why = expect.stringContaining("products.csv cannot be used") as string;
    const status = await it.status();
    expect(status.matching).toMatchObject({ trouble: { message: why } });
    const { next = "" } = status.matching.trouble ?? {};
    expect(next).not.toBe("");
    expect(concernsOf(status)).toContainEqual(expect.objectContaining({ detail: why, next }));
    const { as } = await testConsole(it);
    const { body } = await (await as("viewer")).get("/match");
    expect(body).toContain("They could not be compared");
    expect(body).toContain(next);
    const month = async (): Promise<string> => asText(monthEndView(await it.monthEnd("2020-01")));
    expect(await month()).toMatch(/prices match +open .*not compared \d{4}-/);
    // One party's papers are not all of them.
    await it.match({ ...all, party: "nobody" });
    expect((await it.status()).matching.trouble).not.toBeNull();
    await it.match(all);
    expect((await it.status()).matching.trouble).toBeNull();
    // That nobody compared that month is another thing.
    expect(await month()).not.toMatch(/not compared \d{4}-/);
  });
}, 120_000);

test("a finding is over by itself when the paper comes", async () => {
  const file = await site();
  const ghost = (await found(file)).findings.find(
    ({ rule, direction }) => rule === "no-delivery" && direction === "sale",
  );
  const { records } = (await control("/records/invoices")) as {
    records: { id: string; payerCompanyId: string; lineItems: Record<string, unknown>[] }[];
  };
  const invoice = records.find(({ id }) => id === ghost?.papers[0]?.id);
  const [line] = invoice?.lineItems ?? [];
  const productLines = (invoice?.lineItems ?? [])
    .filter(({ product }) => product !== null)
    .map(({ product, grossGallons, netGallons }) => ({
      product_name: product,
      gross_gallons: grossGallons,
      net_gallons: netGallons,
    }));
  const ticket = {
    ticketNumber: String(line?.["deliveryTicket"]).toLowerCase(),
    receiverCompanyId: invoice?.payerCompanyId,
    bolNumber: line?.["bolNumber"],
    deliveryDate: line?.["deliveredDate"],
    status: "SIGNED",
    productLines,
  };
  await control("/records/delivery-tickets", { key: "supplier", records: [ticket] }, "POST");
  await commandHere("once", "--config", file);
  expect((await found(file)).findings.map(({ key }) => key)).not.toContain(ghost?.key);
  const { findings } = await office(file, (it) => it.findings());
  expect(findings.map(({ key }) => key)).not.toContain(ghost?.key);
}, 120_000);

test("a price list that was replaced is still known, for its versions are kept", async () => {
  const file = await site();
  const first = await found(file);
  const old = first.findings.find(({ rule }) => rule === "old-price-list");
  expect(old).toBeDefined();
  const invoices = (await control("/records/invoices")) as {
    records: { id: string; lineItems: { product: string | null }[] }[];
  };
  const billed = invoices.records.find(({ id }) => id === old?.papers[0]?.id);
  const products = new Set(billed?.lineItems.map(({ product }) => product));
  const { records } = (await control("/records/rack-prices?key=supplier")) as {
    records: { id: string; product: string }[];
  };
  // The platform keeps one price by terminal and product: today's takes the place of the one before.
  const effectiveAt = new Date().toISOString();
  for (const { id, product } of records)
    if (products.has(product))
      await control(`/records/rack-prices/${id}`, { price: 9.99, effectiveAt }, "PATCH");
  await commandHere("once", "--config", file);
  const report = await found(file);
  expect(report.findings.find(({ key }) => key === old?.key)).toEqual(old);
}, 120_000);
