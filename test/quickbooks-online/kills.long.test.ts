/**
 * The program is killed (SIGKILL) at every HTTP write to QuickBooks, in turn before QuickBooks carries the write out and
 * after, and started again each time: nothing is lost, doubled or changed, and no secret is left anywhere.
 *
 * @module-tag numbers
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Trace } from "../../src/report/office.ts";
import { CLIENT } from "../../connectors/quickbooks-online/company.fixture.ts";
import { tempFolder } from "../support/folder.ts";
import { expected } from "../tryton/ledger.ts";
import { figuresOf, marksIn } from "./ledger.ts";
import { type OnlineSite, openOnlineSite } from "./site.ts";

/** Starts of the program in all, at most. */
const STARTS = 200;

test(
  "killed at every write, the program brings both sides in step, each document exactly once",
  { timeout: 1_200_000 },
  async () => {
    const folder = tempFolder();
    const site = await openOnlineSite(folder);
    onTestFinished(() => site.close());
    const config = join(folder, "config", "quickbooks-online.yaml");
    const yaml = readFileSync(config, "utf8");
    writeFileSync(
      config,
      yaml.replace("sameName: suffix\n", "sameName: suffix\n    settleMs: 0\n"),
    );
    await leaveAFew(site);

    let log = "";
    let kills = 0;
    for (let starts = 0; ; starts++) {
      expect(starts, log.slice(-2_000)).toBeLessThan(STARTS);
      const running = site.start("once");
      // Every write is cut off twice: not carried out, so that it is made again, and then carried out.
      site.books.cuts = () => {
        running.kill("SIGKILL");
        return kills++ % 2 === 0 ? "before" : "after";
      };
      const { code, out, err } = await running.ended;
      log += out + err;
      if (code !== null) {
        expect({ code, out }).toEqual({ code: 0, out: "In step.\n" });
        break;
      }
    }
    expect(kills).toBeGreaterThanOrEqual(8);
    expect(figuresOf(site.books, folder)).toEqual(await expected(site, new Map(), []));
    const marks = marksIn(site.books);
    expect(marks.filter((mark, at) => marks.indexOf(mark) !== at)).toEqual([]);

    const [invoice] = site.books.rows("Invoice");
    const trace = await site.ask<Trace>("trace", String(invoice?.["DocNumber"]));
    const everything = [log, JSON.stringify(trace), ...contentsOf(join(folder, "var"))].join("\n");
    expect(everything).not.toMatch(new RegExp(`${CLIENT.clientSecret}|access-\\d|refresh-\\d`));
  },
);

/** Of the month's invoices and payments; the others are drafts, and their payments have failed. */
async function leaveAFew({ control }: OnlineSite): Promise<void> {
  const kept = new Set<unknown>();
  for (const { id } of await control.stored("invoices"))
    if (/^0[0-7]/.test(String(id))) kept.add(id);
    else await control.patch("invoices", id, { status: "DRAFT" });
  for (const { id, invoiceId } of await control.stored("payments"))
    if (!kept.has(invoiceId)) await control.patch("payments", id, { status: "FAILED" });
}

/** Of every file but the two that hold secrets on purpose. */
const contentsOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => !/(?:client-secret|api-key|quickbooks-online\.json)$/.test(name))
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile())
    .map((file) => readFileSync(file, "latin1"));
