/** Tokens: rotated, asked for once, lost between answer and storing, and given by a person. */
import { readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import type { Sink } from "../../src/core/contract.ts";
import { surroundingsIn } from "../../test/support/surroundings.ts";
import { invoiceDocument, itemOf } from "../example/example.fixture.ts";
import { beginAuthorising, openTokens, readTokens, writeTokens } from "./tokens.ts";
import { COMPANY } from "./company.fixture.ts";
import { openCompany } from "./company-server.fixture.ts";
import { QuickbooksOnlineConfig } from "./config.ts";
import { examined } from "../../src/ledger/examine.ts";
import { checksOf, warningsOf } from "./examine.ts";
import { openOnline } from "./online.ts";
import { deliver, never, opened, settings } from "./quickbooks-online.fixture.ts";
import { openWire, QUICKBOOKS } from "./wire.ts";

const item = itemOf(invoiceDocument("FL-1"));

describe("tokens", () => {
  const staleIn = (config: ReturnType<typeof settings>, more: object = {}) =>
    writeTokens(config.tokens, {
      ...readTokens(config.tokens, COMPANY),
      accessUntil: "2020-01-01T00:00:00.000Z",
      ...more,
    });

  test("that are refused are replaced once, and the call goes again with the new one", async () => {
    const company = await openCompany();
    const config = settings(company);
    company.access.clear();
    expect(await deliver(opened(config).sinks["invoices"] as Sink, item)).toMatchObject({
      outcome: "done",
    });
    expect(company.refreshed).toBe(1);
    expect(readTokens(config.tokens, COMPANY)).toMatchObject({ refreshToken: "refresh-1" });
    expect(statSync(config.tokens).mode & 0o777).toBe(0o600);
    expect(readdirSync(dirname(config.tokens))).toEqual(["tokens.json"]);
  });

  test("are asked for by one of several flows and processes at a time", async () => {
    const company = await openCompany();
    company.strict = true;
    const config = settings(company);
    staleIn(config);
    const parsed = QuickbooksOnlineConfig.parse(config);
    const pause = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms / 10));
    const both = [
      openTokens(parsed, surroundingsIn("/", { pause })),
      openTokens(parsed, surroundingsIn("/", { pause })),
    ];
    const all = await Promise.all([...both, ...both].map((tokens) => tokens.access()));
    expect(new Set(all)).toEqual(new Set(["access-1"]));
    expect(company.refreshed).toBe(1);
  });

  test("whose answer was lost are asked for again with the old one; where Intuit refuses it, a person authorises", async () => {
    for (const strict of [false, true]) {
      const company = await openCompany();
      company.strict = strict;
      const config = settings(company);
      staleIn(config);
      company.losesTokens = true;
      const sink = opened(config).sinks["invoices"] as Sink;
      expect(await deliver(sink, item)).toMatchObject({ outcome: "nothing" });
      expect(await deliver(sink, item)).toMatchObject(
        strict ? { outcome: "nothing", stop: "credentials" } : { outcome: "done" },
      );
      expect(company.rows("Invoice")).toHaveLength(strict ? 0 : 1);
    }
  });

  test("that Intuit ended are not asked for again before a person authorised, or five minutes passed", async () => {
    const company = await openCompany();
    const config = settings(company);
    const dead = { refreshToken: "refresh-ended" };
    staleIn(config, dead);
    let now = new Date("2026-11-21T12:00:00.000Z");
    const tokens = openTokens(
      QuickbooksOnlineConfig.parse(config),
      surroundingsIn("/", { now: () => now }),
    );
    const ended = { code: "invalid_grant" };
    for (let times = 0; times < 3; times++)
      await expect(tokens.access("access-0")).rejects.toMatchObject(ended);
    expect(company.tokensAsked).toBe(1);
    now = new Date(now.getTime() + 300_000);
    await expect(tokens.access()).rejects.toMatchObject(ended);
    expect(company.tokensAsked).toBe(2);
    staleIn(config, { refreshToken: "refresh-0" });
    expect(await tokens.access()).toBe("access-1");
  });

  test("that come without a new refresh token, without its time or with an end for good are kept", async () => {
    const company = await openCompany();
    const config = settings(company);
    const parsed = QuickbooksOnlineConfig.parse(config);
    const now = new Date("2026-11-21T12:00:00.000Z");
    const tokens = openTokens(parsed, surroundingsIn("/", { now: () => now }));
    const days = (count: number): string =>
      new Date(now.getTime() + count * 86_400_000).toISOString();
    const x = "x_refresh_token_expires_in";
    for (const [members, kept] of [
      [{ refresh_token: undefined }, { refreshToken: "refresh-0", refreshUntil: days(101) }],
      [{ [x]: undefined }, { refreshToken: "refresh-2", refreshUntil: days(100) }],
      [
        { [x]: "864000", expires_in: "60" },
        { refreshUntil: days(10), accessUntil: days(1 / 1440) },
      ],
      [{ x_refresh_token_hard_expires_in: 432_000 }, { refreshUntil: days(5) }],
    ] as const) {
      staleIn(config);
      company.tokenMembers = members;
      await tokens.access();
      expect(readTokens(config.tokens, COMPANY)).toMatchObject(kept);
    }
  });

  test("are not read where others may, and a lock that a killed process left is taken", async () => {
    const company = await openCompany();
    const config = settings(company);
    staleIn(config);
    const lock = `${config.tokens}.lock`;
    writeFileSync(lock, "");
    utimesSync(lock, 0, 0);
    const tokens = openTokens(QuickbooksOnlineConfig.parse(config), surroundingsIn("/"));
    expect(await tokens.access()).toBe("access-1");
    writeFileSync(config.tokens, "{}", { mode: 0o644 });
    expect(() => readTokens(config.tokens, COMPANY)).toThrow(/tokens/);
  });

  test("that end within a week are said, and what is missing in QuickBooks by its name", async () => {
    const company = await openCompany();
    const config = settings(company, { items: { charge: "Freight" } });
    staleIn(config, {
      accessUntil: "2099-01-01T00:00:00.000Z",
      refreshUntil: "2026-11-27T00:00:00.000Z",
    });
    company.closedUntil = "2026-10-31";
    Object.assign(company.preferences, { AccountingInfoPrefs: { BookCloseDate: "2026-10-31" } });
    const now = () => new Date("2026-11-21T12:00:00.000Z");
    const parsed = QuickbooksOnlineConfig.parse(config);
    const surroundings = surroundingsIn("/", { now });
    const wire = openWire(parsed, surroundings);
    const days = [{ day: "2026-10-30", flow: "invoices", count: 2 }];
    const needs = {
      ourselves: [],
      parts: new Set<string>(),
      column: () => [],
      days,
    };
    const checks = checksOf(openOnline(parsed, surroundings, wire), needs, never);
    const told = await examined(QUICKBOOKS, checks, never);
    const faults = told.flatMap(({ fault }) => fault?.code ?? []);
    expect(faults).toEqual(["authorise-soon", "not-in-quickbooks", "closed-period"]);
    expect(warningsOf({ config: parsed, surroundings })).toEqual([
      {
        code: "authorise-soon",
        message: "the authorisation of company 9130357 ends on 2026-11-27, in 5 days",
        next: expect.stringContaining("fuelbridge quickbooks authorise"),
      },
    ]);
    const weekBefore = () => new Date("2026-11-18T12:00:00.000Z");
    expect(
      warningsOf({ config: parsed, surroundings: surroundingsIn("/", { now: weekBefore }) }),
    ).toEqual([]);
    await wire.close();
  });

  test("come from a person's sign-in, only with the state of this question and for this company", async () => {
    const company = await openCompany();
    company.refresh.add("code-1");
    const config = QuickbooksOnlineConfig.parse(
      settings(company, { redirectUri: "http://localhost:18449/callback" }),
    );
    const begun = beginAuthorising(config, "/", {
      now: () => new Date(),
      pause: () => Promise.resolve(),
    });
    const state = new URL(begun.address).searchParams.get("state") ?? "";
    const at = (more: object) =>
      `http://localhost:18449/callback?${new URLSearchParams({ code: "code-1", state, realmId: COMPANY, ...more }).toString()}`;
    for (const wrong of [{ state: "other" }, { realmId: "1" }, { code: "" }])
      await expect(begun.finish(at(wrong))).rejects.toMatchObject({ name: "EnvironmentError" });
    expect(await begun.finish(at({}))).toMatchObject({
      company: COMPANY,
      refreshToken: "refresh-1",
    });
  });

  test("and the client's secret stand in no answer, note or address", async () => {
    const company = await openCompany();
    const config = settings(company);
    company.access.clear();
    const notes: unknown[] = [];
    const { sinks } = opened(config, { note: (...said) => void notes.push(said) });
    company.says = { path: /^invoice /, status: 400, code: "6000" };
    const answers = [await deliver(sinks["invoices"] as Sink, item)];
    company.refresh.clear();
    company.access.clear();
    answers.push(await deliver(sinks["invoices"] as Sink, item));
    const said = JSON.stringify([answers, notes, company.asked]);
    expect(notes.length).toBeGreaterThan(0);
    expect(said).not.toMatch(/secret-of-tests|access-\d|refresh-\d/);
  });
});

test.each([
  ["https://fuelbridge.example.com/callback", true],
  ["http://localhost:8449/callback", false],
  ["https://localhost:8449/callback", false],
  ["http://fuelbridge.example.com/callback", false],
  ["https://192.0.2.7/callback", false],
  ["https://[2001:db8::7]/callback", false],
  ["com.example.fuelbridge:/callback", false],
])(
  "production keys and the redirect address %s: %j, and sandbox keys take it",
  (redirectUri, isTaken) => {
    const given = {
      company: "9130357",
      clientId: "client-id-of-the-app",
      clientSecret: "secret-of-the-app",
      redirectUri,
      items: { charge: "Freight" },
      accounts: { expense: "5000", paymentsMade: "Checking" },
    };
    const { success, error } = QuickbooksOnlineConfig.safeParse(given);
    expect([success, error?.issues[0]?.path]).toEqual(
      isTaken ? [true, undefined] : [false, ["redirectUri"]],
    );
    expect(QuickbooksOnlineConfig.safeParse({ ...given, environment: "sandbox" }).success).toBe(
      true,
    );
  },
);
