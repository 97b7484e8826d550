import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { trytonIsThere, useTryton, type Books as Copy } from "../../test/support/tryton.ts";
import type { Endpoint, Examination } from "../../src/core/contract.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import type { TrytonConfig } from "./config.ts";
import { tryton as connector } from "./index.ts";
import { openTryton } from "./wire.ts";

const never = new AbortController().signal;
/** Within the fiscal years of the books. */
const NOW = new Date("2026-11-21T12:00:00Z");

type Changes = Partial<Omit<TrytonConfig, "accounts" | "journals">> & {
  readonly accounts?: Partial<TrytonConfig["accounts"]>;
  readonly journals?: Partial<TrytonConfig["journals"]>;
};

function endpoint(copy: Copy, changes: Changes = {}, now = NOW): Endpoint {
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
    dayOf: (instant) => instant.slice(0, 10),
    ignore: {},
    note: () => {},
  });
  onTestFinished(() => opened.close());
  return opened;
}

const examine = async (opened: Endpoint): Promise<readonly Examination[]> =>
  (await opened.examine?.(never)) ?? [];

const faults = async (opened: Endpoint): Promise<Examination[]> =>
  (await examine(opened)).filter(({ fault }) => fault !== null);

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

  test("with the rights of the README and the codes of the books all is right", async () => {
    const opened = endpoint(shared);
    await opened.check(never);
    const all = await examine(opened);
    expect(all.filter(({ fault }) => fault !== null)).toEqual([]);
    expect(all.map(({ what }) => what)).toEqual([
      "rights: codes and prices",
      "rights: parties",
      "rights: invoices and payments",
      "rights: orders",
      "rights: deliveries",
      'company "Prairie Fuel" in USD',
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
    const [found] = await faults(endpoint(shared, { currency: "CAD" }));
    expect(found?.fault).toMatchObject({
      code: "wrong-currency",
      message: "the books of Prairie Fuel are kept in USD, not in CAD",
    });
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

  test("a closed period and a user without groups are said, with what to do", async () => {
    const copy = server.copy("closed");
    const opened = endpoint(copy);
    await opened.check(never);
    await asAdmin(
      copy,
      // The eleventh of the second fiscal year.
      ["model.account.period.close", [23]],
      ["model.res.user.write", [2], { groups: [["remove", [8, 9]]] }],
    );
    const found = await faults(endpoint(copy));
    expect(found.map(({ what }) => what)).toContain("open period for 2026-11-21");
    const closed = found.find(({ what }) => what.startsWith("open period"));
    expect(closed?.fault?.message).toBe("period 2026-11 is closed");
    const rights = found.filter(({ what }) => what.startsWith("rights:"));
    expect(rights.map(({ fault }) => fault?.code)).toContain("no-right");
  });

  test("claims need a right more, the module must be there", async () => {
    const [claim] = await faults(endpoint(shared, { guard: "claim" }));
    expect(claim?.fault).toMatchObject({
      code: "no-right",
      message: "the user may not: write ir.model.data, create ir.model.data, delete ir.model.data",
    });
    const [module] = await faults(endpoint(shared, { guard: "module" }));
    expect(module?.fault?.message).toBe("Tryton does not have the module fuelbridge_guard");
  });

  test("a wrong password, an unknown database, company and address are told apart", async () => {
    const password = await refusal(endpoint({ ...shared, password: "not-the-one" }));
    expect(password.stop).toBe("credentials");
    expect(password.next).toContain("password");
    const database = await refusal(endpoint({ ...shared, database: "nowhere" }));
    expect(database.message).toContain("nowhere.sqlite' doesn't exist");
    expect(database.stop).toBeNull();
    const company = await refusal(endpoint({ ...shared, company: "Nobody Inc." }));
    expect(company.message).toContain('no company "Nobody Inc."');
    expect(company.next).toContain("company");
    const address = await refusal(endpoint({ ...shared, url: "http://127.0.0.1:9" }));
    expect(address.message).toContain("ECONNREFUSED");
    expect(address.next).toContain("Start Tryton");
  });
});
