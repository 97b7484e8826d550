import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Books as Copy, trytonIsThere, useTryton } from "../../test/support/tryton.ts";
import { calendarOf } from "../../src/core/time.ts";
import { testedSeries } from "../../test/support/tryton-releases.ts";
import type { Cell, Endpoint, Examination, Needs } from "../../src/core/contract.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import type { TrytonConfig } from "./config.ts";
import { ledgerOf, tryton as connector } from "./index.ts";
import { day } from "./rows.ts";
import { openTryton, releaseOf } from "./wire.ts";
import { booksOf } from "./sink.fixture.ts";

const never = new AbortController().signal;
/** Within the fiscal years of the books. */
const NOW = new Date("2026-11-21T12:00:00Z");

type Changes = Partial<Omit<TrytonConfig, "accounts" | "journals">> & {
  readonly accounts?: Partial<TrytonConfig["accounts"]>;
  readonly journals?: Partial<TrytonConfig["journals"]>;
  readonly currency?: string;
  readonly timeZone?: string;
};

function endpoint(
  copy: Copy,
  { currency = "USD", timeZone = "UTC", ...changes }: Changes = {},
  now = NOW,
): Endpoint {
  const { url, database, user, password, company } = copy;
  const config = connector.config.parse({
    url,
    database,
    user,
    password,
    company,
    paymentMethod: "Bank transfer",
    paymentTerm: "Net 10",
    ...changes,
    accounts: {
      receivable: "1200",
      payable: "2100",
      revenue: "4000",
      expense: "5000",
      ...changes.accounts,
    },
    journals: { ...changes.journals },
  });
  const opened = connector.open(config, {
    folder: ".",
    now: () => now,
    pause: async () => {},
    currency,
    dayOf: calendarOf(timeZone),
    ignore: {},
    note: () => {},
  });
  onTestFinished(() => opened.close());
  return opened;
}

const NEEDS: Needs = {
  parts: new Set(),
  ourselves: [],
  column: () => [],
  days: [],
};

const examine = async (
  opened: Endpoint,
  needs: Partial<Needs> = {},
): Promise<readonly Examination[]> => (await opened.examine?.(never, { ...NEEDS, ...needs })) ?? [];

const faults = async (opened: Endpoint, needs: Partial<Needs> = {}): Promise<Examination[]> =>
  (await examine(opened, needs)).filter(({ fault }) => fault !== null);

const refusal = async (opened: Endpoint): Promise<SourceUnavailable> => {
  const error: unknown = await opened.check(never).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(SourceUnavailable);
  return error as SourceUnavailable;
};

describe.skipIf(!trytonIsThere)("a real Tryton", () => {
  const server = useTryton();
  let shared: Copy;
  beforeAll(() => {
    shared = server.copy("shared");
  });
  /** What the office changes in Tryton. */
  async function asAdmin(copy: Copy, ...calls: (readonly [string, ...unknown[]])[]): Promise<void> {
    const tryton = openTryton(
      { ...copy, ...copy.admin },
      { note: () => {}, now: () => new Date() },
    );
    for (const [method, ...params] of calls) await tryton.call(method, params);
    await tryton.close();
  }

  async function idOf(copy: Copy, code: string, model = "account.account"): Promise<number> {
    const tryton = openTryton(
      { ...copy, ...copy.admin },
      { note: () => {}, now: () => new Date() },
    );
    const [id] = await tryton.call<[number]>(`model.${model}.search`, [[["code", "=", code]]]);
    await tryton.close();
    return id;
  }

  test("with the rights of the README and the codes of the books all is right", async () => {
    const opened = endpoint(shared);
    await opened.check(never);
    const all = await examine(opened);
    expect(all.filter(({ fault }) => fault !== null)).toEqual([]);
    expect(all.map(({ what }) => what)).toEqual([
      expect.stringMatching(testedSeries === "6.0" ? /^Tryton 6\.0\.\d+$/ : /^Tryton 8\.0$/),
      "rights: codes and prices",
      "rights: parties",
      "rights: invoices and payments",
      "rights: orders",
      "rights: deliveries",
      "prices with 6 decimal places",
      "open period for 2026-11-21",
      "open period for 2026-12-01",
      "open period for 2027-01-01",
      "account 1200 (receivable)",
      "account 2100 (payable)",
      "account 4000 (revenue)",
      "account 5000 (expense)",
      "journal REV (revenue)",
      "journal EXP (expense)",
      'payment method "Bank transfer"',
      'payment term "Net 10"',
      "warehouse WH",
      "unit gal",
    ]);
  });

  test("every code that is not there is a fault of its own, with its code", async () => {
    const found = await faults(
      endpoint(shared, {
        accounts: { receivable: "1299" },
        journals: { revenue: "BANK" },
        paymentMethod: "Cheque",
        paymentTerm: "Net 11",
        warehouse: "YARD",
      }),
    );
    expect(found.map(({ fault }) => [fault?.code, fault?.message])).toEqual([
      ["not-in-tryton", "Tryton has no account 1299"],
      ["not-in-tryton", "Tryton has no journal BANK"],
      ["not-in-tryton", "Tryton has no invoice payment method Cheque"],
      ["not-in-tryton", "Tryton has no payment term Net 11"],
      ["not-in-tryton", "Tryton has no location YARD"],
    ]);
  });

  test("each row of a table that points to nothing in the books is named with its file and line", async () => {
    const tables: Record<string, readonly string[]> = {
      "items.item": ["ULSD-CLR", "087", "NOTHING", "089", "NOTHING"],
      "tax-accounts.sales": ["2310", "2399", "2320"],
      // Not of a flow that is configured.
      "tax-accounts.purchases": ["2398"],
      "units.symbol": ["gal", "hl"],
      "customers.account": ["SELF", "A-1", "A-2", "LEFT", "MERGED"],
    };
    const copy = server.copy("tables");
    const gone = { name: "Gone", active: false };
    const replaced_by = await idOf(copy, "SELF", "party.party");
    await asAdmin(
      copy,
      ["model.account.account.write", [await idOf(copy, "2320")], { end_date: day("2026-11-20") }],
      [
        "model.party.party.create",
        [
          { ...gone, code: "LEFT" },
          { ...gone, code: "MERGED", replaced_by },
        ],
      ],
    );
    const column = (table: string, column: string): Cell[] =>
      (tables[`${table}.${column}`] ?? []).map((value, at) => ({
        key: `k${at}`,
        value,
        file: `crossref/${table}.csv`,
        line: at + 2,
      }));
    const parts = new Set(["invoices", "orders"]);
    const all = await examine(endpoint(copy), { parts, column });
    const ofTables = all.filter(({ what }) => what.startsWith("crossref/"));
    expect(ofTables.map(({ what, fault, note }) => [what, fault?.message ?? note ?? "ok"])).toEqual(
      [
        ["crossref/items.csv (item): 4 products", "ok"],
        ["crossref/items.csv lines 4, 6", "Tryton has no product NOTHING"],
        ["crossref/units.csv (symbol): 2 units", "ok"],
        ["crossref/units.csv line 3", "Tryton has no unit hl"],
        ["crossref/tax-accounts.csv (sales): 3 accounts", "ok"],
        ["crossref/tax-accounts.csv line 3", "Tryton has no account 2399"],
        ["crossref/tax-accounts.csv line 4", "account 2320 ended on 2026-11-20"],
        [
          "crossref/customers.csv (account): 5 parties",
          "not in Tryton by code, and created with the first document unless the platform's id is found: A-1 (line 3), A-2 (line 4)",
        ],
        ["crossref/customers.csv line 5", "the party LEFT is not active in Tryton"],
      ],
    );
  });

  test("an account or a journal of another kind is a fault", async () => {
    const found = await faults(
      endpoint(shared, { accounts: { receivable: "4000" }, journals: { revenue: "EXP" } }),
    );
    expect(found.map(({ fault }) => fault?.message)).toEqual([
      "account 4000 is no receivable account",
      "journal EXP is of type expense, not revenue",
    ]);
  });

  test("books in another currency are a fault", async () => {
    const { message, next } = await refusal(endpoint(shared, { currency: "CAD" }));
    expect(message).toBe("Tryton keeps USD, not CAD");
    expect(next).toContain("name the company that keeps its books in it");
  });

  test("a fiscal year that nobody has made yet is seen two months ahead", async () => {
    const found = await faults(endpoint(shared, {}, new Date("2027-11-30T12:00:00Z")));
    expect(found).toHaveLength(1);
    expect(found[0]?.fault).toMatchObject({
      code: "closed-period",
      message: "there is no period for 2028-01-01",
    });
  });

  test("the day is the company's: on the last evening of the year it is still the old one", async () => {
    const opened = endpoint(
      shared,
      { timeZone: "America/Chicago" },
      new Date("2028-01-01T04:00:00Z"),
    );
    const found = await faults(opened);
    expect(found.map(({ fault }) => fault?.message)).toEqual([
      "there is no period for 2028-01-01",
      "there is no period for 2028-02-01",
    ]);
  });

  test("a period that is opened again is told as long as its journals are closed, which Tryton leaves so", async () => {
    const copy = server.copy("reopened");
    const opened = endpoint(copy);
    await asAdmin(
      copy,
      [
        "model.account.journal.period.create",
        [{ journal: await idOf(copy, "REV", "account.journal"), period: 23 }],
      ],
      ["model.account.period.close", [23]],
      ["model.account.period.reopen", [23]],
    );
    const days = [{ day: "2026-11-03", flow: "invoices-issued", count: 12 }];
    const found = await faults(opened, { days });
    const message = "period 2026-11 is closed for the journal REV";
    const next = expect.stringContaining("Entries > Journals - Periods") as string;
    expect(found.map(({ what, fault }) => [what, fault?.message, fault?.next])).toEqual([
      ["open period for 2026-11-21", message, next],
      [
        "period 2026-11",
        `${message}: 12 of invoices-issued, from 2026-11-03 on, cannot be booked`,
        next,
      ],
    ]);
  });

  test("a closed period and a user without groups are said, with what to do", async () => {
    const copy = server.copy("closed");
    const opened = endpoint(copy);
    await opened.check(never);
    await asAdmin(
      copy,
      // The eleventh of the second fiscal year.
      ["model.account.period.close", [23]],
      ["model.account.account.write", [await idOf(copy, "2320")], { closed: true }],
      ["model.party.party.create", [{ code: "OUT", name: "Gone", active: false }]],
      ["model.res.user.write", [2], { groups: [["remove", [8, 9]]] }],
    );
    const cell = { key: "k", file: "crossref/t.csv", line: 7 };
    const values: Record<string, string> = { "tax-accounts": "2320", customers: "OUT" };
    const found = await faults(endpoint(copy), {
      parts: new Set(["invoices"]),
      column: (table) => (values[table] ? [{ ...cell, value: values[table] }] : []),
      days: [
        { day: "2026-10-31", flow: "invoices-issued", count: 4 },
        { day: "2026-11-03", flow: "invoices-issued", count: 12 },
        { day: "2026-11-02", flow: "payments-made", count: 1 },
        { day: "2024-05-02", flow: "invoices-issued", count: 2 },
      ],
    });
    expect(found.map(({ what, fault }) => [what, fault?.message])).toEqual(
      expect.arrayContaining([
        [
          "period 2026-11",
          "period 2026-11 is closed: 12 of invoices-issued, 1 of payments-made, from 2026-11-02 on, cannot be booked",
        ],
        [
          "period 2024-05",
          "there is no period for 2024-05-02: 2 of invoices-issued, from 2024-05-02 on, cannot be booked",
        ],
        ["crossref/t.csv line 7", "account 2320 is closed"],
        ["crossref/t.csv line 7", "the party OUT is not active in Tryton"],
      ]),
    );
    expect(found.map(({ what }) => what)).toContain("open period for 2026-11-21");
    const closed = found.find(({ what }) => what.startsWith("open period"));
    expect(closed?.fault?.message).toBe("period 2026-11 is closed");
    const rights = found.filter(({ what }) => what.startsWith("rights:"));
    expect(rights.map(({ fault }) => fault?.code)).toContain("no-right");
  });

  test("a release that no test runs against is told, and documents go all the same", async () => {
    const untested = testedSeries === "6.0" ? "6.8.17" : "8.1";
    const books = booksOf(shared);
    const examined = (its: string) => {
      const tryton = { ...books.tryton, release: async () => releaseOf(its) };
      return ledgerOf({ ...books, tryton }).examine(never, NEEDS);
    };
    const [release, ...others] = await examined(untested);
    const [newer] = await examined("8.2");
    expect(newer).toMatchObject({ what: "Tryton 8.2", fault: { code: "own-numbers" } });
    expect(release).toEqual({
      what: `Tryton ${untested}`,
      fault: null,
      note: expect.stringContaining("tested with Tryton 6.0 and 8.0, not with") as string,
    });
    expect(others.filter(({ fault }) => fault !== null)).toEqual([]);
  });

  test("the module must be there where it guards", async () => {
    const [module] = await faults(endpoint(shared, { guard: "module" }));
    expect(module?.fault?.message).toBe("Tryton does not have the module fuelbridge_guard");
  });

  test("the right to attach is examined where a flow attaches PDFs, and only there", async () => {
    const copy = server.copy("attach");
    const books = { ...booksOf(copy) };
    const [model] = await books.tryton.call<number[]>("model.ir.model.search", [
      [[releaseOf(testedSeries).modelName, "=", "ir.attachment"]],
    ]);
    const named = releaseOf(testedSeries).ofModel === "model" ? "ir.attachment" : model;
    const values = { model: named, perm_read: true, perm_create: false };
    await asAdmin(copy, ["model.ir.model.access.create", [values]]);
    expect(await faults(endpoint(copy), { parts: new Set(["invoices"]) })).toEqual([]);
    expect(await faults(endpoint(copy), { parts: new Set(["invoiceFiles"]) })).toMatchObject([
      {
        what: "rights: PDFs (attach: pdf)",
        fault: { code: "no-right", message: "the user may not: create ir.attachment" },
      },
    ]);
  });

  test("a wrong password, an unknown database, company and address are told apart", async () => {
    const password = await refusal(endpoint({ ...shared, password: "not-the-one" }));
    expect(password.stop).toBe("credentials");
    expect(password.next).toContain("password");
    const database = await refusal(endpoint({ ...shared, database: "nowhere" }));
    expect(database.message).toMatch(/nowhere\.sqlite' doesn't exist|no database "nowhere"/);
    expect(database.stop).toBeNull();
    const company = await refusal(endpoint({ ...shared, company: "Nobody Inc." }));
    expect(company.message).toContain('no company "Nobody Inc."');
    expect(company.next).toContain("company");
    const address = await refusal(endpoint({ ...shared, url: "http://127.0.0.1:9" }));
    expect(address.message).toContain("ECONNREFUSED");
    expect(address.next).toContain("Start Tryton");
  });
});
