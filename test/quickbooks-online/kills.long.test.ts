/**
 * The program is killed (SIGKILL) at every HTTP write to QuickBooks, in turn before QuickBooks carries the write out and
 * after, and started again each time, with a token that is over: nothing is lost, doubled or changed, and no secret is in
 * the log, a trace, the store, any other file, or what `npm run emit` writes.
 *
 * @module-tag numbers
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Trace } from "../../src/office/answers.ts";
import { CLIENT } from "../../connectors/quickbooks-online/company.fixture.ts";
import { quickbooksOnlineBodies } from "../emit/quickbooks-online.ts";
import { leaveFew } from "../support/books-site.ts";
import { tempFolder } from "../support/folder.ts";
import { IN_STEP } from "../support/in-step.ts";
import { confirmedOrders } from "../support/on-platform.ts";
import { killsAsked } from "../support/runs.ts";
import { expected } from "../tryton/ledger.ts";
import { figuresOf, marksIn, ordersIn, ordersWanted } from "./ledger.ts";
import { openOnlineSite } from "./site.ts";

/** Set: so many kills, over more of the month's invoices and orders. Else every write of a few is cut off twice. */
const KILLS = killsAsked();
/** Starts of the program in all, at most. */
const STARTS = 200 + (KILLS ?? 0);

test(
  "killed at every write, the program brings both sides in step, each document exactly once",
  { timeout: 1_200_000 + (KILLS ?? 0) * 60_000 },
  async () => {
    const folder = tempFolder();
    const site = await openOnlineSite(folder);
    onTestFinished(() => site.close());
    const config = join(folder, "config", "quickbooks-online.yaml");
    const yaml = readFileSync(config, "utf8");
    writeFileSync(
      config,
      `${yaml.replace("sameName: suffix\n", "sameName: suffix\n    settleMs: 0\n")}\nlog: { level: debug }\n`,
    );
    const ids = (await site.control.stored("invoices")).map(({ id }) => String(id)).sort();
    const kept = new Set(KILLS === null ? [] : ids.slice(0, Math.max(12, KILLS / 6)));
    await leaveFew(site, {
      invoice: (id) => (KILLS === null ? /^0[0-7]/.test(id) : kept.has(id)),
      order: KILLS === null ? /^00/ : KILLS > 300 ? /./ : /^[0-3]/,
    });

    let log = "";
    let kills = 0;
    const cut = new Set<string>();
    for (let starts = 0; ; starts++) {
      // The token is over: every start asks for new ones.
      site.books.access.clear();
      expect(starts, log.slice(-2_000)).toBeLessThan(STARTS);
      const running = site.start("once");
      // Every write is cut off twice: not carried out, so that it is made again, and then carried out. Cut off more often
      // than that it would go to a person, as what ends the program each time it is sent must.
      site.books.cuts = (write) => {
        if (kills === KILLS) return null;
        running.kill("SIGKILL");
        kills++;
        if (cut.has(write)) return "after";
        cut.add(write);
        return "before";
      };
      const { code, out, err } = await running.ended;
      log += out + err;
      if (code !== null) {
        expect({ code, out }).toEqual({ code: 0, out: IN_STEP });
        break;
      }
    }
    expect(kills).toBeGreaterThanOrEqual(KILLS ?? 8);
    expect(await site.causes()).toEqual([]);
    expect(figuresOf(site.books, folder)).toEqual(await expected(site, new Map(), []));
    expect(ordersIn(site.books)).toEqual(ordersWanted(await confirmedOrders(site)));
    expect(site.books.rows("Estimate").length).toBeGreaterThan(0);
    const marks = marksIn(site.books);
    expect(marks.filter((mark, at) => marks.indexOf(mark) !== at)).toEqual([]);

    const [invoice] = site.books.rows("Invoice");
    const trace = await site.ask<Trace>("trace", String(invoice?.["DocNumber"]));
    const emitted = (await quickbooksOnlineBodies(1, 20)).map(({ bytes }) => bytes.toString());
    const told = [log, JSON.stringify(trace), ...emitted, ...contentsOf(join(folder, "var"))];
    const basic = Buffer.from(`${CLIENT.clientId}:${CLIENT.clientSecret}`).toString("base64");
    const secrets = `${CLIENT.clientSecret}|access-\\d|refresh-\\d|Bearer |${basic}`;
    expect(site.books.refreshed).toBeGreaterThan(0);
    expect(told.join("\n")).not.toMatch(new RegExp(secrets));
  },
);

/** Of every file but the two that hold secrets on purpose. */
const contentsOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => !/(?:client-secret|api-key|quickbooks-online\.json)$/.test(name))
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile())
    .map((file) => readFileSync(file, "latin1"));
