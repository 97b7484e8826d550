/** `fuelbridge doctor`, started once for each kind of books, and else in this process: between a sandbox and a real Tryton. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { usePlatform } from "../../test/platform/support.ts";
import { startLedger, TOKEN } from "../../connectors/example/ledger.fixture.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { commandHere } from "../../test/support/site-command.ts";
import { layOut, openSite, type Site } from "../../test/support/site.ts";
import { fuelbridge, type Said } from "../../test/support/site-program.ts";
import { type Books, trytonIsThere, useTryton } from "../../test/support/tryton.ts";
import { exitCodes } from "../core/errors.ts";
import type { MonthStatus } from "../office/answers.ts";

interface Report {
  readonly ok: boolean;
  readonly data: {
    readonly right: boolean;
    readonly examinations: readonly {
      readonly endpoint: string;
      readonly what: string;
      readonly fault: { readonly code: string; readonly next: string } | null;
    }[];
  };
}

const doctor = (config: string, ...options: string[]): Promise<Said> =>
  commandHere(["doctor", "--config", config, ...options]);

const faultsOf = (out: string) => {
  const { data } = JSON.parse(out) as Report;
  return data.examinations
    .filter(({ fault }) => fault !== null)
    .map(({ endpoint, what, fault }) => [endpoint, what, fault?.code]);
};

/** A site on which nobody but the doctor sends anything. */
async function quietSite(): Promise<Site> {
  const folder = join(tempFolder(), "site");
  layOut(folder, (text) => text.replace(/every: \d+m/g, "$&\n    paused: true"));
  const site = await openSite(folder);
  onTestFinished(() => site.close());
  return site;
}

/** What the platform has seen, and what the month says was used, by the same purpose. */
async function requestsOf(site: Site): Promise<{ seen: number; used: number; checks: number }> {
  const { used, purposes } = await site.ask<MonthStatus>("budget", "status");
  const checks = purposes.find(({ purpose }) => purpose === "check")?.used ?? -1;
  return { seen: (await site.control.requests()).length, used, checks };
}

/** Programs are started: on a machine with other work that takes its time. */
const LOADED = { timeout: 600_000 };

/** On the demo's site: invoices, terminals and prices. */
const EACH = 3;

describe("the doctor's requests are in the month's budget, and it says so", LOADED, () => {
  test("without a daemon the store counts them", async () => {
    const site = await quietSite();
    const { code, out } = await site.here("doctor");
    expect(code).toBe(exitCodes.ok);
    expect(out).toMatch(
      new RegExp(
        `\nThis counts as ${EACH} requests to the platform: ${EACH} of 50000 are used in \\d{4}-\\d{2} `,
      ),
    );
    expect(await requestsOf(site)).toEqual({ seen: EACH, used: EACH, checks: EACH });
  });

  test("beside a daemon, which holds the store, the daemon counts them", async () => {
    const site = await quietSite();
    const daemon = await site.daemon();
    const { requests } = await site.ask<{ requests: unknown }>("doctor");
    expect(requests).toEqual({
      counted: EACH,
      month: { month: expect.any(String) as string, used: EACH, perMonth: 50_000 },
    });
    expect(await requestsOf(site)).toEqual({ seen: EACH, used: EACH, checks: EACH });
    daemon.kill("SIGTERM");
    await daemon.ended;
    expect(await requestsOf(site)).toEqual({ seen: EACH, used: EACH, checks: EACH });
  });

  test("beside a daemon that read an older file, doctor and status say so, and what to do", async () => {
    const site = await quietSite();
    const daemon = await site.daemon();
    const told = async () => [
      (await site.here("doctor")).out.includes("changed since it started"),
      (await site.here("status")).out.includes("runs with an older configuration"),
    ];
    expect(await told()).toEqual([false, false]);
    const before = readFileSync(site.config, "utf8");
    writeFileSync(site.config, before.replace("paused: true", "paused: false"));
    expect(await told()).toEqual([true, true]);
    writeFileSync(site.config, before);
    expect(await told()).toEqual([false, false]);
    daemon.kill("SIGTERM");
    await daemon.ended;
  });

  test("beside a daemon that does not answer the platform is not asked; everything else is", async () => {
    const site = await quietSite();
    const daemon = await site.daemon();
    daemon.kill("SIGSTOP");
    const { code, out } = await site.here("doctor");
    daemon.kill("SIGCONT");
    expect(code).toBe(exitCodes.environment);
    expect(out).toMatch(
      /^platform .* It was not asked, because the request could not be counted: /m,
    );
    expect(out).toMatch(/^erp +connection and credentials +ok$/m);
    expect(out).toContain("The platform was not asked: no request is counted.");
    expect(await requestsOf(site)).toEqual({ seen: 0, used: 0, checks: 0 });
    daemon.kill("SIGTERM");
    await daemon.ended;
  });

  test("a request that the budget does not allow is not sent", async () => {
    const site = await quietSite();
    await site.ask("doctor");
    writeFileSync(
      site.config,
      readFileSync(site.config, "utf8").replace(
        "platform:",
        `platform:\n  budget: { perMonth: ${EACH} }`,
      ),
    );
    const { code, out } = await site.here("doctor");
    expect(code).toBe(exitCodes.environment);
    expect(out).toContain(`${EACH} of the ${EACH} requests of`);
    expect(await requestsOf(site)).toEqual({ seen: EACH, used: EACH, checks: EACH });
  });
});

/** Of what the flows read, besides taxes and our own company. */
const TABLES_NEEDED = {
  items: "product,item\nULSD-CLR,ULSD-CLR\n",
  units: "unit,symbol\ngal,gal\n",
  "charge-accounts": "line,sales,purchases\ncharge,4000,5000\n",
  sites: "location,company\n",
  customers: "company,account\n",
  vendors: "company,account\n",
};

describe("doctor, with tables", LOADED, () => {
  test("of a connector that has nothing looked at it says so, and not that everything is right", async () => {
    const { ledger, close } = await startLedger();
    onTestFinished(close);
    const token = join(tempFolder(), "token");
    writeFileSync(token, TOKEN, { mode: 0o600 });
    const books = `endpoints:\n  books:\n    connector: example\n    url: ${ledger.url}\n    token: \${file:${token}}\n    accounts: { revenue: "4000", expense: "5000" }`;
    const folder = join(tempFolder(), "site");
    layOut(folder, (text) =>
      text.replace(/every: \d+m/g, "$&\n    paused: true").replace(/^endpoints:/m, books),
    );
    const site = await openSite(folder);
    onTestFinished(() => site.close());
    const { code, out } = await site.here("doctor");
    expect(out).toMatch(/^books +codes, rights and closing date +not looked at$/m);
    expect(out).toContain("Of books only the connection was looked at.");
    expect(out).not.toContain("Everything is right");
    expect(code).toBe(exitCodes.ok);
  });

  test("a table without rows that every document needs, and one that is missing, are faults; others are told", async () => {
    const folder = join(tempFolder(), "site");
    layOut(folder, (text) =>
      text
        .replace(/every: \d+m/g, "$&\n    paused: true")
        .replace(
          /(mapping: canonical\/(orders|customer-invoices)\n(.*\n){3}) +paused: true\n/g,
          "$1",
        ),
    );
    const site = await openSite(folder);
    onTestFinished(() => site.close());
    const crossref = join(folder, "config", "crossref");
    for (const [table, header] of [
      ["items", "product,item"],
      ["customers", "company,account"],
    ] as const)
      writeFileSync(join(crossref, `${table}.csv`), `${header}\n`);
    rmSync(join(crossref, "taxes.csv"));
    const { code, out } = await site.here("doctor");
    expect(code).toBe(exitCodes.environment);
    expect(out).toMatch(
      /^here +crossref\/items.csv +it has no rows, so what orders and invoices-issued /m,
    );
    expect(out).toMatch(/^here +crossref\/customers.csv +ok; no rows yet: a document that needs/m);
    expect(out).toMatch(
      /^here +crossref\/taxes.csv +there is no such table, and invoices-issued /m,
    );
    expect(out).toContain("crossref/items.csv: Add a row for each product: product,item.");
    expect(out).not.toContain("Everything is right");
  });
});

describe.skipIf(!trytonIsThere)("doctor", LOADED, () => {
  const platform = usePlatform();
  const server = useTryton();

  /** A configuration between both; `change` spoils it. */
  function configuration(
    books: Books,
    change: (text: string) => string = (text) => text,
    tax = "2310",
  ): string {
    const folder = tempFolder();
    const secret = (name: string, value: string): string => {
      writeFileSync(join(folder, name), value, { mode: 0o600 });
      return `\${file:${name}}`;
    };
    mkdirSync(join(folder, "crossref"));
    const text = `
version: 1
company: prairie
currency: USD
timeZone: America/Chicago
state: state
platform:
  url: ${platform.urls().baseUrl}
  environment: live
  apiKey: ${secret("key", platform.secret("supplier"))}
endpoints:
  books:
    connector: tryton
    url: ${books.url}
    database: ${books.database}
    user: ${books.user}
    password: ${secret("password", books.password)}
    company: ${books.company}
    accounts: { receivable: "1200", payable: "2100", revenue: "4000", expense: "5000" }
    paymentMethod: Bank transfer
flows:
  invoices: { mapping: books/customer-invoices, from: platform.invoicesIssued, to: books.invoices, every: 1h }
  orders: { mapping: books/orders, from: platform.orders, to: books.orders, every: 1h }
`;
    writeFileSync(
      join(folder, "crossref", "tax-accounts.csv"),
      `tax_type,sales,purchases\nFederal,2300,2300\nState,${tax},2310\n`,
    );
    writeFileSync(
      join(folder, "crossref", "own-company.csv"),
      `setting,value\ncompanyId,${platform.company("supplier")}\n`,
    );
    for (const [table, rows] of Object.entries(TABLES_NEEDED))
      writeFileSync(join(folder, "crossref", `${table}.csv`), rows);
    const file = join(folder, "fuelbridge.yaml");
    writeFileSync(file, change(text));
    return file;
  }

  test("all right: every line says ok, and the exit code is 0", async () => {
    const { code, out, err } = await fuelbridge([
      "doctor",
      "--config",
      configuration(server.copy("right")),
    ]).ended;
    expect({ code, err }).toEqual({ code: exitCodes.ok, err: "" });
    expect(out).toMatch(/^platform +connection and credentials +ok$/m);
    expect(out).toMatch(/^books +account 1200 \(receivable\) +ok$/m);
    expect(out).toMatch(/^books +crossref\/tax-accounts.csv \(sales\): 2 accounts +ok$/m);
    expect(out).toMatch(/^platform +crossref\/own-company.csv line 2: our own company +ok/m);
    expect(out).toContain("Everything is right.");
  });

  test("what is wrong is said with what to do, and the exit code is 3", async () => {
    const change = (text: string) => text.replace('"4000"', '"4999"');
    const file = configuration(server.copy("codes"), change, "2399");
    const words = await doctor(file);
    expect(words.code).toBe(exitCodes.environment);
    expect(words.out).toMatch(/^books +account 4999 \(revenue\) +Tryton has no account 4999$/m);
    expect(words.out).toContain("2 faults:");
    expect(words.out).toMatch(
      /^books +crossref\/tax-accounts.csv line 3 +Tryton has no account 2399$/m,
    );
    expect(words.out).toContain("  books, account 4999 (revenue): Create the account in Tryton");
  });

  test("an endpoint that is not there does not hide what is wrong with the others, in JSON too", async () => {
    const file = configuration(server.copy("away"), (text) =>
      text
        .replace(platform.urls().baseUrl, "http://127.0.0.1:9/v1/public")
        .replace('"2100"', '"2199"'),
    );
    const { code, out } = await doctor(file, "--json");
    expect(code).toBe(exitCodes.environment);
    expect(faultsOf(out)).toEqual([
      ["platform", "connection and credentials", "unavailable"],
      ["books", "account 2199 (payable)", "not-in-tryton"],
    ]);
  });

  test("a wrong password is the credentials, and in no output", async () => {
    const file = configuration({ ...server.copy("password"), password: "not-the-one-71" });
    const { out, err } = await doctor(file, "--json");
    expect(faultsOf(out)).toEqual([["books", "connection and credentials", "credentials"]]);
    expect(out + err).not.toContain("not-the-one-71");
  });
});
