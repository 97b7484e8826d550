/**
 * The program is killed (SIGKILL) at HTTP writes to Business Central, in turn before one is carried out and after, in bad
 * weather (429, 503, 504 and 500 with and without effect, tokens that end, a clerk who deletes our drafts), and
 * started again each time: nothing is lost, doubled or changed, and no secret is in the log, a trace or the store.
 *
 * @module-tag numbers
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Company, SECRET } from "../../connectors/business-central/company.fixture.ts";
import { Random } from "../../src/sandbox/scenes/random.ts";
import { ordersWanted } from "../quickbooks-online/ledger.ts";
import { leaveFew } from "../support/books-site.ts";
import { tempFolder } from "../support/folder.ts";
import { IN_STEP } from "../support/in-step.ts";
import { confirmedOrders } from "../support/on-platform.ts";
import { killsAsked } from "../support/runs.ts";
import { expected } from "../tryton/ledger.ts";
import { figuresOf, marksIn, ordersIn } from "./ledger.ts";
import { openCentralSite } from "./site.ts";

/** Set: so many kills, over more of the month's invoices and orders. */
const KILLS = killsAsked() ?? 10;
const SEED = Number(process.env["DRILL_SEED"] ?? 20_261_128);
/** Of twenty requests one meets the weather. */
const WEATHER = 0.05;

test(
  `killed ${KILLS} times in bad weather, the program brings both sides in step, each document exactly once (seed ${SEED})`,
  { timeout: 1_200_000 + KILLS * 30_000 },
  async () => {
    const folder = tempFolder();
    const site = await openCentralSite(folder);
    onTestFinished(() => site.close());
    const ids = (await site.control.stored("invoices")).map(({ id }) => String(id)).sort();
    const kept = new Set(ids.slice(0, Math.max(12, KILLS / 3)));
    await leaveFew(site, {
      invoice: (id) => kept.has(id),
      order: KILLS > 100 ? /^[0-3]/ : /^0/,
    });
    const random = new Random(SEED);
    let [log, kills, isRunning] = ["", 0, false];
    const cut = new Set<string>();
    const met = new Map<string, number>();
    for (let starts = 0; ; starts++) {
      site.books.tokens.clear();
      expect(starts, log.slice(-2_000)).toBeLessThan(KILLS + 100);
      const running = site.start("once");
      isRunning = true;
      site.books.meets = (request) => {
        const isWrite = !request.startsWith("GET ");
        // Every write is cut off twice: not carried out, so that it is made again, and then carried out.
        if (isWrite && isRunning && kills < KILLS && random.chance(0.5)) {
          running.kill("SIGKILL");
          isRunning = false;
          kills++;
          if (cut.has(request)) return "after";
          cut.add(request);
          return "before";
        }
        return random.chance(WEATHER) ? weather(site.books, request, random, met) : null;
      };
      const { code, out, err } = await running.ended;
      log += out + err;
      // Weather that outlasts its patience: it says so, and its operator starts it again.
      if (code === 1 && /cannot be read: .*: bad weather\n/.test(out)) continue;
      if (code !== null) {
        expect({ code, out }).toEqual({ code: 0, out: IN_STEP });
        break;
      }
    }
    site.books.meets = () => null;
    expect(kills).toBeGreaterThanOrEqual(KILLS);
    expect(await site.causes()).toEqual([]);
    expect(figuresOf(site.books, folder)).toEqual(await expected(site, new Map(), []));
    expect(ordersIn(site.books)).toEqual(ordersWanted(await confirmedOrders(site)));
    const marks = marksIn(site.books);
    expect(marks.filter((mark, at) => marks.indexOf(mark) !== at)).toEqual([]);
    expect(site.books.rows("salesOrders").length).toBeGreaterThan(0);
    const told = [log, ...contentsOf(join(folder, "var"))].join("\n");
    expect(told).not.toMatch(new RegExp(`${SECRET}|Bearer |${[...site.books.tokens].join("|")}`));
    process.stdout.write(`kills ${kills}, weather ${JSON.stringify(Object.fromEntries(met))}\n`);
  },
);

/** What comes instead of an answer, or before one. */
function weather(company: Company, request: string, random: Random, met: Map<string, number>) {
  const wait = { "retry-after": "1" };
  const isWrite = !request.startsWith("GET ");
  const kinds = {
    429: () => ({ status: 429, headers: wait }),
    503: () => ({ status: 503, headers: wait }),
    token: () => {
      company.tokens.clear();
      return null;
    },
    ...(isWrite
      ? {
          504: () => ({ status: 504 }),
          "504 late": () => ({ status: 504, isDone: true }),
          500: () => ({ status: 500 }),
          lost: () => "after" as const,
        }
      : {}),
    ...(/Invoices\([^)]*\)\/Microsoft\.NAV\.post /.test(request)
      ? { clerk: () => clerk(company, request) }
      : {}),
  };
  const [name, meeting] = random.pick(Object.entries(kinds));
  met.set(name, (met.get(name) ?? 0) + 1);
  return meeting();
}

/** A clerk deletes the draft that is about to be posted. */
function clerk(company: Company, request: string): null {
  const [, set = "", id = ""] = /(\w+Invoices)\(([^)]*)\)/.exec(request) ?? [];
  const row = company.rows(set).find((one) => one.id === id);
  if (row?.["status"] === "Draft") company.delete(set, id);
  return null;
}

/** Of every file but the two that hold secrets on purpose. */
const contentsOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => !/(?:client-secret|api-key)$/.test(name))
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile())
    .map((file) => readFileSync(file, "latin1"));
