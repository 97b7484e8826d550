/**
 * A month in both directions, on real servers: the program is killed (SIGKILL) at writes into the tables and at writes to the
 * platform, in turn before one is carried out and after, and started again each time, while the ERP's job works, people enter
 * and change documents on both sides, and the server is killed besides. Nothing is lost, doubled, changed or silent.
 *
 * @module-tag numbers
 */
import { describe, expect, onTestFinished, test } from "vitest";
import { dialects, type Query, type SqlRow } from "../../src/ledger/sql.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Random } from "../../src/sandbox/scenes/random.ts";
import { type Booked, figuresIn } from "../support/booked.ts";
import { type BooksSite, leaveFew, openBooksSite } from "../support/books-site.ts";
import { tempFolder } from "../support/folder.ts";
import { IN_STEP } from "../support/in-step.ts";
import { ownOnPlatform, pricesAt } from "../support/on-platform.ts";
import { killsAsked } from "../support/runs.ts";
import { today } from "../support/site.ts";
import { expected } from "../tryton/ledger.ts";
import type { OwnInvoice } from "../tryton/office.ts";
import { createViews, isThere, startServer } from "./server.ts";
import {
  bookedIn,
  type CuttingLine,
  cuttingLine,
  enter,
  insert,
  stagingYaml,
  work,
} from "./site.ts";

/** `FUELBRIDGE_KILLS=300`: so many on each server, over more of the month. */
const KILLS = killsAsked() ?? 20;
const SEED = Number(process.env["DRILL_SEED"] ?? 20_261_128);
const TERMINAL = "T-76-TX-2799";
const SQL_WRITE = /\b(?:insert into|update) fuelbridge_document\b/;
const HTTP_WRITE = /^(?:POST|PATCH|PUT|DELETE) /;
/** Of twenty kills the server dies in one as well. */
const SERVER_DIES = 0.05;

describe.each(dialects.filter((dialect) => isThere[dialect]))("%s", (dialect) => {
  test(
    `killed ${KILLS} times in both directions, both sides are in step, each document exactly once (seed ${SEED})`,
    { timeout: 1_200_000 + KILLS * 30_000 },
    async () => {
      const server = await startServer(dialect);
      onTestFinished(() => server.stop());
      const { settings, run } = await server.database();
      await createViews(run);
      const tables = await cuttingLine(settings.port, /\bcommit\b/);
      const platform = await cuttingLine(0, / HTTP\/1\.1/);
      const site = await openBooksSite(tempFolder(), {
        name: "sql-staging",
        isCopy: false,
        change: (yaml) =>
          stagingYaml(yaml, { ...settings, port: tables.port }).replace(
            /url: \$\{FUELBRIDGE_PLATFORM_URL.*/,
            `url: http://127.0.0.1:${platform.port}/v1/public`,
          ),
        secrets: { password: String(settings["password"]) },
        env: {},
        close: () => Promise.resolve(),
      });
      platform.to(site.platformPort);
      onTestFinished(async () => {
        tables.close();
        platform.close();
        await site.close();
      });
      const ids = (await site.control.stored("invoices")).map(({ id }) => String(id)).sort();
      const kept = new Set(ids.slice(0, Math.max(16, KILLS / 2)));
      await leaveFew(site, { invoice: (id) => kept.has(id) });
      const random = new Random(SEED);
      const own = await enterByHand(run, Math.max(4, KILLS / 5));
      const told = { tables: 0, platform: 0, servers: 0 };
      const hurt = (most: number) =>
        killedRuns(site, { tables, platform }, { random, most, told, run, server });

      await hurt(KILLS / 2);
      await work(run);
      const [taken] = await changeBothSides(site, run);
      await hurt(KILLS);
      await work(run);
      expect(await site.here("once")).toMatchObject({ code: 0, out: IN_STEP });

      expect(told.tables + told.platform).toBeGreaterThanOrEqual(KILLS);
      expect(Math.min(told.tables, told.platform)).toBeGreaterThan(0);
      expect(await site.causes()).toEqual([]);
      await expectOnce(site, run, own);
      const number = `${own[0]?.number}`;
      expect(await ownOnPlatform(site, own)).toEqual(
        own.map((one) => [
          one.number,
          expect.any(String),
          one.total.fixed(2),
          one.number === number ? "PAID" : "OUTSTANDING",
        ]),
      );
      expect(await pricesAt(site, TERMINAL)).toEqual({ "ULSD-CLR": "2.51", "UNL-87": "2.19127" });
      const ended = await run("select state from fuelbridge_invoices where platform_id = ?", [
        taken,
      ]);
      expect(ended).toEqual([{ state: "cancelled" }]);
      const report = await site.here("reconcile");
      expect(report).toMatchObject({ code: 0, out: expect.stringContaining("Both sides agree") });
      process.stdout.write(`${dialect}: kills ${JSON.stringify(told)}\n`);
    },
  );
});

interface Hurting {
  readonly random: Random;
  /** Kills in all, after which it is left alone. */
  readonly most: number;
  readonly told: { tables: number; platform: number; servers: number };
  readonly run: Query;
  readonly server: { kill(): Promise<void>; restart(): Promise<void> };
}

/** Runs until one ends by itself. Each write is cut off at most twice: not carried out, and then carried out. */
async function killedRuns(
  site: BooksSite,
  lines: Readonly<Record<"tables" | "platform", CuttingLine>>,
  { random, most, told, run, server }: Hurting,
): Promise<void> {
  let log = "";
  const cut = new Set<string>();
  for (let starts = 0; ; starts++) {
    expect(starts, log.slice(-2_000)).toBeLessThan(most + 100);
    const running = site.start("once");
    let isRunning = true;
    for (const [name, pattern, chance] of [
      ["tables", SQL_WRITE, 0.3],
      ["platform", HTTP_WRITE, 0.9],
    ] as const) {
      lines[name].meets = (message) => {
        const isLeft = isRunning && told.tables + told.platform < most;
        if (!isLeft || !pattern.test(message) || !random.chance(chance)) return null;
        isRunning = false;
        told[name]++;
        const write = message.slice(0, 200);
        if (cut.has(write)) return "after";
        cut.add(write);
        return "before";
      };
      lines[name].isCut = () => running.kill("SIGKILL");
    }
    const { code, out, err } = await running.ended;
    log += out + err;
    for (const line of Object.values(lines)) line.meets = () => null;
    if (code !== null) {
      expect({ code, out }, log.slice(-2_000)).toEqual({ code: 0, out: IN_STEP });
      return;
    }
    if (random.chance(SERVER_DIES)) {
      await server.kill();
      await server.restart();
      told.servers++;
    }
    if (random.chance(0.3)) await work(run);
  }
}

/** A customer, a supplier, invoices and prices that the ERP has of its own. */
async function enterByHand(run: Query, count: number): Promise<OwnInvoice[]> {
  const party = { active: "1", is_customer: "1", is_supplier: "0" };
  await insert(run, "fuelbridge_parties", {
    code: "A-1001",
    name: "Lone Prairie Travel Centers, LLC",
    ...party,
  });
  await insert(run, "fuelbridge_parties", { code: "C10010", name: "Brazos Gin & Feed", ...party });
  await insert(run, "fuelbridge_parties", {
    code: "V10010",
    name: "Gulf Terminal Supply",
    active: "1",
    is_customer: "0",
    is_supplier: "1",
  });
  for (const [product, price] of [
    ["ULSD-CLR", "2.41375"],
    ["087", "2.19127"],
  ] as const)
    await insert(run, "fuelbridge_prices", { list: TERMINAL, product, price, unit: "gal" });
  const all: OwnInvoice[] = [];
  for (let at = 0; at < count; at++) all.push(await ownInvoice(run, at));
  return all;
}

async function ownInvoice(run: Query, at: number): Promise<OwnInvoice> {
  const total = Decimal.of(String(1_000 + at))
    .plus(Decimal.of("0.25"))
    .fixed(2);
  const number = `SI-${at}`;
  const invoice = {
    id: `own-${at}`,
    number,
    party_code: "C10010",
    document_date: today(),
    untaxed: total,
    tax: "0",
    total,
  };
  const line = {
    product: "ULSD-CLR",
    description: "Diesel",
    quantity: total,
    unit: "gal",
    unit_price: "1",
    amount: total,
  };
  await enter(run, invoice, [line], []);
  return { id: at, number, party: "C10010", date: today(), total: Decimal.of(total), paid: false };
}

/** A void on the platform, a payment at the ERP's counter, a price. Returns what is void. */
async function changeBothSides(site: BooksSite, run: Query): Promise<[string]> {
  const [open] = await run(
    "select id from fuelbridge_document d where kind = 'invoice' and status = 'accepted' and state = 'open' and not exists (select 1 from fuelbridge_document p where p.invoice_id = d.id) order by seq",
  );
  const id = open?.["id"] ?? "";
  await site.control.patch("invoices", id, { status: "VOID" });
  await run(
    "update fuelbridge_invoices set state = 'paid', open = 0, paid_date = document_date, cleared_by = 'money' where id = 'own-0'",
  );
  await run("update fuelbridge_prices set price = 2.51 where product = 'ULSD-CLR'");
  return [id];
}

/** What the rows say is what the platform's records add up to, and so is what the job made of them. */
async function expectOnce(site: BooksSite, run: Query, own: readonly OwnInvoice[]): Promise<void> {
  const rows = await run("select * from fuelbridge_document order by kind, id, version");
  const newest = [...Map.groupBy(rows, ({ kind, id }) => `${kind} ${id}`).values()].map(
    (all) => all.at(-1) as SqlRow,
  );
  const born = own.map((one): Booked => ({ ...one, type: "out", lines: [] }));
  const { invoicesByMonth } = await expected(site, new Map(), own);
  const booked = [...newest.flatMap(bookedIn), ...born];
  expect(figuresIn(site.folder, booked, []).invoicesByMonth).toEqual(invoicesByMonth);
  const payments = (await site.records("payments")).filter(({ status }) => status === "SUCCEEDED");
  const paid = rows.filter(({ kind }) => kind === "payment");
  expect(new Set(paid.map(({ id }) => id))).toEqual(new Set(payments.map(({ id }) => id)));
  expect(paid).toHaveLength(payments.length);
  const twice = await run(
    "select kind, id from fuelbridge_document where status = 'accepted' group by kind, id, state having count(*) > 1",
  );
  expect(twice).toEqual([]);
  const doubled = await run(
    "select platform_id, count(*) as many from fuelbridge_invoices where platform_id is not null group by platform_id having count(*) > 1",
  );
  expect(doubled).toEqual([]);
  const open = await run(
    "select seq from fuelbridge_document where status in ('new', 'taken') or told is null and status <> 'superseded'",
  );
  expect(open).toEqual([]);
}
