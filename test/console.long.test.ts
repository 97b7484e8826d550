/**
 * A day at the console, in a real browser, against a real daemon: what is wrong is found, mended and gone; a month is
 * compared and printed; who may not is refused. Where FUELBRIDGE_SCREENSHOTS names a folder, screenshots go there.
 *
 * @module-tag numbers
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { AxeBuilder } from "@axe-core/playwright";
import { type Browser, chromium, type Locator, type Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../src/demo/sshd.ts";
import { isGoodsHolding } from "../src/core/holdings.ts";
import { moneyKinds } from "../src/reconcile/case.ts";
import type { Total } from "../src/reconcile/report.ts";
import { SourceUnavailable } from "../src/core/errors.ts";
import type { Office } from "../src/office/questions.ts";
import { PASSWORD, testConsole } from "./support/console.ts";
import { recordingOffice } from "./support/console-offices.ts";
import { tempFolder } from "./support/folder.ts";
import { isThere } from "./support/machine.ts";
import { atWork, type Site } from "./support/site.ts";
import { until } from "./support/site-program.ts";

/** Null: nobody looks at them, and each costs a second. */
const SCREENSHOTS = process.env["FUELBRIDGE_SCREENSHOTS"] ?? null;
const PAGES = [
  "",
  "needs-you",
  "documents",
  "reconciliation",
  "match",
  "month-end",
  "budget",
  "flows",
  "cross-references",
  "audit",
];

const web =
  (port: number) =>
  (yaml: string): string =>
    yaml.replace("console:\n  port: 0", `console:\n  port: 0\n  web:\n    port: ${port}`);

/** A browser of its own; it ends with the test. */
async function open(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  onTestFinished(() => browser.close());
  return browser;
}

async function userOf(site: Site, name: string, role: string): Promise<string> {
  const added = await site.askProgram<{ password: string }>(
    "user",
    "add",
    name,
    "--role",
    role,
    "--generate",
    "--note",
    "the test",
  );
  return added.password;
}

async function login(browser: Browser, url: string, name: string, password: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  const complaints: string[] = [];
  page.on(
    "console",
    (message) => void (message.type() === "error" && complaints.push(message.text())),
  );
  page.on("pageerror", ({ message }) => complaints.push(message));
  onTestFinished(() =>
    expect(complaints.filter((one) => !one.includes("status of 4"))).toEqual([]),
  );
  await page.goto(url);
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("heading", { level: 1, name: "Today" }).waitFor();
  return page;
}

const NONE = { violations: [] };

const LIGHT_DESK = ["desktop", "light"] as const;
const DARK_PHONE = ["phone", "dark"] as const;
/** The pages that people look at each day, also the other way around. */
const ALL_WAYS = new Set(["", "needs-you", "match"]);
const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

/** Each page on a light screen and a dark phone; axe finds nothing on either. What axe finds depends on one of both. */
async function photographed(page: Page, url: string, paths: readonly string[]): Promise<void> {
  if (SCREENSHOTS !== null) mkdirSync(SCREENSHOTS, { recursive: true });
  for (const [device, colorScheme] of [
    LIGHT_DESK,
    DARK_PHONE,
    ["desktop", "dark"],
    ["phone", "light"],
  ] as const) {
    const isUsual = (device === "desktop") === (colorScheme === "light");
    await page.setViewportSize(SIZES[device]);
    await page.emulateMedia({ colorScheme });
    for (const path of paths.filter((one) => isUsual || ALL_WAYS.has(one))) {
      await page.goto(url + path);
      const { violations } = isUsual ? await new AxeBuilder({ page }).analyze() : NONE;
      const told = violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
      expect({ path, device, colorScheme, told }).toEqual({ path, device, colorScheme, told: [] });
      const isWider = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
      expect([path, device, isWider]).toEqual([path, device, false]);
      const name = `${path.split("/")[0] || "today"}${path.includes("/") ? "-one" : ""}-${device}-${colorScheme}.png`;
      if (SCREENSHOTS !== null)
        await page.screenshot({ path: join(SCREENSHOTS, name), fullPage: true });
    }
  }
}

/** What has the focus, and whether anybody sees it there. */
const FOCUSED = `(() => {
  const one = document.activeElement;
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
  const isOutlined = outlineStyle !== "none" && outlineWidth !== "0px";
  return { told: one.outerHTML.slice(0, 120), isSeen: isOutlined || boxShadow !== "none" };
})()`;

/** Nobody touches a mouse: by Tab until `what` has the focus, which is seen wherever it stops. */
async function tabTo(page: Page, what: Locator): Promise<void> {
  await what.waitFor();
  const hasFocus = (): Promise<boolean> => what.evaluate((one) => one.matches(":focus"));
  for (let stops = 0; !(await hasFocus()); stops++) {
    expect(stops).toBeLessThan(MOST_STOPS);
    await page.keyboard.press("Tab");
    const { told, isSeen } = await page.evaluate<{ told: string; isSeen: boolean }>(FOCUSED);
    expect([told, isSeen || told.startsWith("<body")]).toEqual([told, true]);
  }
}
const MOST_STOPS = 400;

/** Links to files, and what only unfolds. */
const STAYS = 'summary, a[href*="csv"], a[href*="evidence"]';

async function press(page: Page, what: Locator): Promise<void> {
  await tabTo(page, what);
  const stays = await what.evaluate((one, stays) => one.matches(stays), STAYS);
  const gone = stays ? null : page.waitForEvent("framenavigated", { timeout: 300_000 });
  await page.keyboard.press("Enter");
  await gone;
  await page.waitForLoadState();
}

async function type(page: Page, field: Locator, text: string): Promise<void> {
  await tabTo(page, field);
  await page.keyboard.type(text);
}

/** Totals whose line, the counts and amounts of both sides, is not in the text. */
const unfound = (totals: readonly Total[], text: string): Total[] =>
  totals.filter(({ kind, bucket, platform, books }) => {
    const shown = [platform, books].map((side) => `${side.records}\\s+${figure(kind, side)}`);
    const line = new RegExp(`\\b${bucket}\\s+${shown.join("\\s+")}(?!\\S)`);
    return !line.test(text.replaceAll(",", ""));
  });

const figure = (kind: Total["kind"], { amount, gallons }: Total["platform"]): string => {
  if (isGoodsHolding(kind)) return `${gallons.replaceAll(".", "\\.")} gal`;
  return moneyKinds.has(kind) ? dollars(amount) : "–";
};

const dollars = (amount: string): string =>
  `$${amount}`.replace("$-", "-$").replaceAll(/[$.]/g, "\\$&");

test.runIf(isThere("chromium") && isThere("pdftotext"))(
  "six tasks take at most five steps by the page's own links and keyboard alone; a month is printed with its totals; a viewer is refused",
  { timeout: 1_500_000 },
  async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/`;
    const site = await atWork(web(port));
    const table = join(site.folder, "config", "crossref", "products.csv");
    writeFileSync(table, readFileSync(table, "utf8").replace(/^ULSD-DYE,.*\n/m, ""));
    const passwords = {
      ann: await userOf(site, "ann", "accountant"),
      vic: await userOf(site, "vic", "viewer"),
    };
    const daemon = await site.daemon();
    const needing = async (): Promise<{ id: string; title: string } | undefined> =>
      (
        await site.ask<{ groups: { id: string; title: string }[] }>("quarantine", "list")
      ).groups.find(({ title }) => title.includes("ULSD-DYE"));
    await until("a group for the row", async () => (await needing()) !== undefined);
    const browser = await open();
    const page = await login(browser, url, "ann", passwords.ann);

    // A task begins at Today and goes by the links of its pages, by keyboard alone.
    const clicks: Record<string, number> = {};
    const task = async (
      name: string,
      work: (click: (what: Locator) => Promise<void>) => Promise<void>,
    ): Promise<void> => {
      await page.goto(url);
      clicks[name] = 0;
      await work(async (what) => {
        clicks[name] = (clicks[name] ?? 0) + 1;
        await press(page, what);
      });
    };
    const toPage = (name: string): Locator =>
      page.getByRole("navigation").getByRole("link", { name, exact: true });
    const downloaded = async (click: Promise<void>): Promise<Buffer> => {
      const [download] = await Promise.all([page.waitForEvent("download"), click]);
      return readFileSync(await download.path());
    };

    await task("export the list of open quarantine", async (click) => {
      await click(toPage("Needs you"));
      const csv = String(
        await downloaded(click(page.getByRole("link", { name: "CSV of these documents" }))),
      );
      expect(csv).toMatch(/^number,.*,amount,.*,cause,/);
      const lines = csv.trimEnd().split("\n").slice(1);
      expect(lines.length).toBeGreaterThan(1);
      expect(lines.filter((one) => !/,(?:needs you|waits),/.test(one))).toEqual([]);
      expect(csv).toContain("ULSD-DYE");
    });

    // Finds what is wrong, adds the row, and sees the group empty.
    const before = await needing();
    await task("add a missing row and see it go", async (click) => {
      await click(toPage("Needs you"));
      const card = page.locator("article", { hasText: "one row of products: ULSD-DYE" }).first();
      await click(card.getByText("Add the row ULSD-DYE"));
      await type(page, card.getByLabel("product", { exact: true }), "ULSD-DYE");
      await type(page, card.getByLabel(/Reason/), "Kim at the terminal said so");
      await click(card.getByRole("button", { name: "Add the row and retry" }));
      expect(await page.getByRole("status").innerText()).toMatch(
        /ULSD-DYE is in products now\. \d+ documents? will be tried again now\./,
      );
      await until("the group to be gone", async () => (await needing())?.id !== before?.id);
      await click(toPage("Needs you"));
      expect(await page.getByRole("link", { name: /ULSD-DYE/ }).count()).toBe(0);
    });
    await page.goto(`${url}audit`);
    expect(await page.getByRole("main").innerText()).toContain("Kim at the terminal said so");

    // Searches an invoice, by keyboard alone.
    await page.goto(`${url}documents`);
    await until("every invoice to be looked at", async () =>
      (
        await site.ask<{ flows: { name: string; pending: number; received: number }[] }>("status")
      ).flows.some(
        ({ name, pending, received }) => name === "invoices" && received > 0 && pending === 0,
      ),
    );
    await page.getByLabel(/Number, party/).focus();
    await page.keyboard.type("INV-2026-00052");
    await page.keyboard.press("Enter");
    await page
      .getByRole("row", { name: /INV-2026-00052.*00 Ranch.*\$11,294\.66/ })
      .getByRole("link")
      .first()
      .click();
    expect(await page.getByRole("heading", { level: 1 }).innerText()).toContain("00 Ranch");
    const document = new URL(page.url()).pathname.slice(1);

    await task("find an invoice by its amount", async (click) => {
      await click(toPage("Documents"));
      await type(page, page.getByLabel(/Number, party/), "11,294.66");
      await click(page.getByRole("button", { name: "Search" }));
      const row = page.getByRole("row", { name: /INV-2026-00052.*00 Ranch.*\$11,294\.66/ });
      await click(row.getByRole("link").first());
      expect(await page.getByRole("heading", { level: 1 }).innerText()).toContain("$11,294.66");
    });

    const compare = async (click: (what: Locator) => Promise<void>): Promise<void> => {
      await type(page, page.getByLabel(/Reason/), "month's end");
      await click(page.getByRole("button", { name: "Compare now" }));
      await page.getByRole("heading", { name: "Counts and sums" }).waitFor({ timeout: 300_000 });
    };
    await task("who owes what differs, by party", async (click) => {
      await click(toPage("Reconciliation"));
      await click(page.getByRole("button", { name: "What will it cost?" }));
      await compare(click);
      const differing = page.getByRole("region", { name: "Parties whose open balance differs" });
      expect(await differing.innerText()).toMatch(/\d{6} .*\s+by customers\s+platform\s+\$/);
    });
    await task("prove a month", async (click) => {
      await click(page.getByRole("link", { name: "Month's end" }));
      await click(page.getByRole("link", { name: "Compare the month" }));
      await compare(click);
      const evidence = page.getByRole("link", { name: "Evidence for an auditor (zip)" });
      const zip = await downloaded(click(evidence));
      expect(zip.subarray(0, 2).toString()).toBe("PK");
    });
    const startedMs = performance.now();
    await task("claim from the supplier who overcharged most", async (click) => {
      await click(toPage("Match"));
      await type(page, page.getByLabel(/Reason/), "month's end");
      await click(page.getByRole("button", { name: "Compare now" }));
      const which = page.getByLabel("Which");
      await tabTo(page, which);
      while ((await which.inputValue()) !== "purchase") await page.keyboard.press("ArrowDown");
      await click(page.getByRole("button", { name: "Show" }));
      const most = page.getByRole("row", { name: /\$[1-9]/ }).first();
      expect(await most.innerText()).toMatch(/^Tulsa Crossroads Refining Co\..*\$548\.82/s);
      await click(most.getByRole("link", { name: "Claim it" }));
      const csv = page.getByRole("link", { name: "The claim as CSV" });
      const claim = String(await downloaded(click(csv)));
      expect(claim).toMatch(
        /^bill,day,ticket,differs,amount\n(?:TUL-\d+,.*\n){4}Total,,,,548\.82\n$/,
      );
    });
    expect(performance.now() - startedMs).toBeLessThan(180_000);
    expect(clicks).toEqual({
      "claim from the supplier who overcharged most": 5,
      "export the list of open quarantine": 2,
      "add a missing row and see it go": 4,
      "find an invoice by its amount": 3,
      "who owes what differs, by party": 3,
      "prove a month": 4,
    });

    // Compares the month, and prints it: what is on the paper is what the program counts by itself.
    const [from, to] = ["2026-10-01", new Date().toISOString().slice(0, 10)];
    await page.goto(`${url}reconciliation/cost?from=${from}&to=${to}`);
    await page.getByLabel(/Reason/).fill("month's end");
    await page.getByRole("button", { name: "Compare now" }).click();
    await page.getByRole("heading", { name: "Counts and sums" }).waitFor({ timeout: 300_000 });
    const report = await page.getByRole("main").innerText();
    const pdf = join(SCREENSHOTS ?? tempFolder(), "reconciliation.pdf");
    await page.pdf({ path: pdf });
    const paper = execFileSync("pdftotext", ["-layout", pdf, "-"], { encoding: "utf8" });
    expect(paper).toContain("Reconciled by, date");
    expect(paper).not.toContain("Log out");
    const told = await site.askProgram<{ totals: readonly Total[] }>(
      "reconcile",
      "--from",
      from,
      "--to",
      to,
    );
    expect(told.totals.length).toBeGreaterThan(0);
    for (const text of [report, paper]) expect(unfound(told.totals, text)).toEqual([]);
    const job = new URL(page.url()).pathname.slice(1);

    const group =
      (await site.ask<{ groups: { id: string }[] }>("quarantine", "list")).groups[0]?.id ?? "";
    await photographed(page, url, [...PAGES, `needs-you/${group}`, document, job]);

    // Looks, and may do nothing.
    const viewer = await login(browser, url, "vic", passwords.vic);
    await viewer.goto(`${url}needs-you/${group}`);
    expect(await viewer.getByRole("main").innerText()).toContain("You are logged in as viewer.");
    expect(await viewer.locator("main form").count()).toBe(0);
    daemon.kill("SIGTERM");
    expect((await daemon.ended).code).toBe(143);
  },
);

test.runIf(isThere("chromium"))(
  "a page that cannot bring itself up to date keeps what it showed and says that it is older, until it can",
  { timeout: 120_000 },
  async () => {
    const { office } = recordingOffice();
    let isBroken = false;
    const status: Office["status"] = async () => {
      if (isBroken) throw new SourceUnavailable("the store is busy", { next: "Wait." });
      return office.status();
    };
    const { web } = await testConsole({ ...office, status });
    const page = await (await (await open()).newContext()).newPage();
    await page.clock.install();
    await page.goto(`http://127.0.0.1:${web.port}/`);
    await page.getByLabel("Name").fill("viewer");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Log in" }).click();
    const things = page.getByRole("heading", { name: /^\d+ things to look at$/ });
    const older = page.getByText("This page could not bring itself up to date");
    await things.waitFor();
    const asksAgain = (): Promise<void> => page.clock.fastForward(20_500);
    // Who goes by keyboard stays where they are.
    const inside = page.getByRole("main").getByRole("link", { name: "What they went to" });
    await inside.focus();
    await Promise.all([page.waitForResponse(/\/$/), asksAgain()]);
    await expect.poll(() => inside.evaluate((one) => one.matches(":focus"))).toBe(true);
    for (const [broken, state] of [
      [true, "visible"],
      [true, "visible"],
      [false, "hidden"],
    ] as const) {
      isBroken = broken;
      await asksAgain();
      await older.waitFor({ state });
      expect(await things.isVisible()).toBe(true);
    }
    await web.close();
    await asksAgain();
    await older.waitFor({ state: "visible" });
    expect(await things.isVisible()).toBe(true);
  },
);

test(
  "five hundred connections that say nothing keep nobody out for longer than the headers may take",
  { timeout: 120_000 },
  async () => {
    const { office } = recordingOffice();
    const { web, browser } = await testConsole(office);
    const sockets: Socket[] = Array.from({ length: 500 }, () => {
      const socket = connect(web.port, "127.0.0.1")
        .on("error", () => undefined)
        .resume();
      socket.write("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ");
      return socket;
    });
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
    const answered = async (): Promise<boolean> =>
      browser()
        .get("/login")
        .then(
          ({ status }) => status === 200,
          () => false,
        );
    const startedMs = performance.now();
    while (!(await answered())) await delay(250);
    expect(performance.now() - startedMs).toBeLessThan(60_000);
    await until("the slow connections to be closed", async () =>
      sockets.every(({ destroyed, closed }) => destroyed || closed),
    );
  },
);
