/** The evidence pack: what is in it, what other programs say of it, and that a change of any file is found. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { configuredSite } from "../../test/support/configured.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { isThere } from "../../test/support/machine.ts";
import { askedOf } from "../../test/support/reconciling.ts";
import { tellOf, twoSides } from "../../test/support/two-sides.ts";
import { commandHere } from "../../test/support/here.ts";
import { loadConfiguration } from "../app/configuration.ts";
import { storeFile } from "../store/database.ts";
import { openStore } from "../store/store.ts";
import { evidenceOf, SUMS, sumsOf } from "./evidence.ts";
import { reconcile } from "./report.ts";

const ABOUT = {
  company: "bluebonnet",
  environment: "live",
  version: "0.1.0",
  at: "2026-11-22T19:00:00.000Z",
  by: "ann",
  audit: null,
  mappings: { flows: [], digests: {} },
};

test("a pack has the rows of both sides, its journals pass hledger, and verify names every file that was changed", async () => {
  const pairs = twoSides(20);
  const report = reconcile(askedOf(pairs, tellOf(pairs.pairs)));
  const files = evidenceOf(report, ABOUT, "the report");
  const rows = parse(files["records.csv"] ?? "", { columns: true }) as { side: string }[];
  const count = (side: "platform" | "books"): number =>
    report.cases.reduce((sum, one) => sum + one.records[side].length, 0);
  for (const side of ["platform", "books"] as const)
    expect(rows.filter((row) => row.side === side)).toHaveLength(count(side));

  const folder = tempFolder();
  const sums = sumsOf(files);
  for (const [name, text] of [...Object.entries(files), [SUMS, sums]] as const)
    writeFileSync(join(folder, name), text);
  if (isThere("hledger"))
    for (const name of ["period.journal", "agreement.journal"])
      execFileSync("hledger", ["-f", join(folder, name), "check", "-s", "ordereddates"]);
  if (process.platform === "linux") execFileSync("sha256sum", ["-c", SUMS], { cwd: folder });

  const verify = async (...more: string[]) => {
    const said = await commandHere("evidence", "verify", folder, ...more, "--json");
    const { data } = JSON.parse(said.out) as { data: { seal: string } };
    return { code: said.code, ...data };
  };
  const whole = await verify();
  expect(whole).toMatchObject({ code: 0, changed: [], missing: [], extra: [] });
  const { seal } = whole;
  for (const name of Object.keys(files)) {
    const path = join(folder, name);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replace(/\d/, (digit) => String((Number(digit) + 1) % 10)) + " ");
    expect(await verify()).toMatchObject({ code: 1, changed: [name] });
    writeFileSync(path, text);
  }
  writeFileSync(join(folder, "more.csv"), "");
  expect(await verify()).toMatchObject({ code: 1, extra: ["more.csv"] });
  // Whoever writes new sums as well is found by the seal that was noted when the pack was made.
  writeFileSync(join(folder, SUMS), `${sums}${"0".repeat(64)}  more.csv\n`.replace(/^0+/, ""));
  expect(await verify("--seal", seal)).toMatchObject({ code: 1, sealed: false });
});

test("a pack holds the head of the audit: verify finds that the store's audit was cut off or changed since, and grows in peace", async () => {
  const { file } = configuredSite();
  const { state } = await loadConfiguration(file);
  const write = (...events: string[]) => {
    const store = openStore(state);
    store.transaction(() => {
      for (const event of events) store.journal.audit(0, { event, detail: "for the test" });
    });
    const head = store.journal.head();
    store.close();
    return head;
  };
  const audit = write("first", "second");
  const pairs = twoSides(1);
  const report = reconcile(askedOf(pairs, tellOf(pairs.pairs)));
  const files = evidenceOf(report, { ...ABOUT, audit }, "the report");
  const folder = tempFolder();
  for (const [name, text] of [...Object.entries(files), [SUMS, sumsOf(files)]] as const)
    writeFileSync(join(folder, name), text);
  const verify = async () => {
    const words = ["evidence", "verify", folder, "--audit", "--config", file, "--json"];
    const said = await commandHere(...words);
    const { data } = JSON.parse(said.out) as { data: object };
    return { code: said.code, ...data };
  };
  write("third");
  expect(await verify()).toMatchObject({ code: 0, head: audit, audit: { broken: null } });
  const byHand = new Database(storeFile(state));
  byHand.exec("drop trigger audit_kept; delete from audit where audit > 1");
  byHand.close();
  const broken = { entry: 2, how: "missing" };
  expect(await verify()).toMatchObject({ code: 1, changed: [], audit: { broken } });
});
