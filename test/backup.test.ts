/** Backup of the running store, and the drill that proves it: restored, everything is on both sides exactly once. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pino } from "pino";
import { expect, test, vi } from "vitest";
import { composeDaemon } from "../src/app/compose.ts";
import { loadConfiguration } from "../src/app/configuration.ts";
import { startServices } from "../src/app/services.ts";
import type { Config } from "../src/config/config.ts";
import { serveAdmin } from "../src/office/server.ts";
import type { Change } from "../src/core/contract.ts";
import { ConfigurationError } from "../src/core/errors.ts";
import { Daemon } from "../src/engine/daemon.ts";
import { storeOffice } from "./support/office.ts";
import { type Copied, examineCopy, restoreStore } from "../src/store/backup.ts";
import { openStore } from "../src/store/store.ts";
import { testClock } from "./support/clock.ts";
import { bill, engineOn, pagesOf, type Receiver, receiver } from "./support/engine.ts";
import { configuredSite } from "./support/configured.ts";
import { webReceiver } from "./support/receivers.ts";
import { tempFolder } from "./support/folder.ts";
import { askCommand, commandHere } from "./support/here.ts";

const signal = new AbortController().signal;
const OWNER = {
  company: "bluebonnet",
  platform: "https://api.example.com/v1",
  environment: "test",
  formerUrls: [],
};

/** A site with both directions, whose ERP tells `invoices` and whose platform tells `bills`. */
function siteOn(
  folder: string,
  [erp, platform]: readonly [Receiver, Receiver],
  told: { readonly invoices: readonly Change[]; readonly bills: readonly Change[] },
) {
  const bench = engineOn(folder, testClock(Date.now()));
  bench.store.transaction(() => bench.store.binding.claim(OWNER, 0));
  const position = told.invoices.length + told.bills.length;
  const home = bench.flow({
    name: "home",
    side: "platform",
    from: "platform.bills",
    to: "erp.bills",
    sink: erp,
    source: pagesOf([{ changes: told.bills, position }]),
  });
  const out = bench.flow({
    sink: platform,
    source: pagesOf([{ changes: told.invoices, position }]),
  });
  const flows = [home, out];
  const daemon = new Daemon(bench.engine, flows);
  const parts = { engine: bench.engine, flows, daemon, version: "0", startedAt: new Date() };
  return { ...bench, daemon, office: storeOffice(parts) };
}

const numbersIn = ({ executed }: Receiver): string[] =>
  executed.map(({ body }) => (JSON.parse(body) as { number: string }[])[0]?.number ?? "").sort();

test("drill: copied in the middle of a send, worked on, restored: everything is on both sides exactly once", async () => {
  const folder = tempFolder();
  const sides = [receiver({ operation: "erp.bill" }), receiver()] as const;
  const [erp, platform] = sides;
  const told = {
    invoices: ["I-1", "I-2", "I-3"].map((number) => bill(number, "10.10")),
    bills: ["B-1", "B-2", "B-3"].map((number) => bill(number, "20.20")),
  };
  const first = siteOn(folder, sides, told);
  const copies: Copied[] = [];
  // The copy is made while the first byte of I-2 has left and nobody knows its outcome yet.
  platform.script.push(
    () => ({ answer: { outcome: "done", detail: "201", ids: ["id-of-I-1"] }, execute: true }),
    async () => {
      copies.push(await first.office.backup());
      return { answer: { outcome: "done", detail: "201", ids: ["id-of-I-2"] }, execute: true };
    },
  );
  await first.daemon.once(signal);
  first.store.close();
  expect([numbersIn(platform), numbersIn(erp)]).toEqual([
    ["I-1", "I-2", "I-3"],
    ["B-1", "B-2", "B-3"],
  ]);
  const [copied] = copies;
  if (copied === undefined) throw new Error("nothing was copied");
  const copy = examineCopy(copied.file, "The copy");
  expect(copy.audit).toBeGreaterThanOrEqual(copied.auditBefore);
  expect(copy.audit).toBeLessThanOrEqual(copied.auditAfter);
  expect(copy).toMatchObject({ company: "bluebonnet", environment: "test" });

  const asked = { folder, file: copied.file, owner: OWNER, by: "eva", atMs: Date.now() };
  const { aside } = restoreStore(asked);
  expect(existsSync(join(aside ?? "", "fuelbridge.sqlite"))).toBe(true);

  // Both sides tell everything again, and something new.
  const again = {
    invoices: [...told.invoices, bill("I-4", "10.10")],
    bills: [...told.bills, bill("B-4", "20.20")],
  };
  const second = siteOn(folder, sides, again);
  await second.daemon.once(signal);
  expect(second.store.journal.breakers().map(({ breaker }) => breaker)).toEqual(["restored"]);
  expect([platform.executed.length, erp.executed.length]).toEqual([3, 3]);
  await second.office.release("restored", "eva");
  const { entries } = await second.office.audit({ from: null, to: null, after: 0, people: true });
  expect(entries.map(({ who, event }) => [who, event])).toEqual([
    ["eva", "store restored"],
    ["eva", "released: restored"],
  ]);
  await second.daemon.once(signal);
  expect(numbersIn(platform)).toEqual(["I-1", "I-2", "I-3", "I-4"]);
  expect(numbersIn(erp)).toEqual(["B-1", "B-2", "B-3", "B-4"]);
  const { flows, quarantine } = await second.office.status();
  expect(flows.map(({ delivered }) => delivered)).toEqual([4, 4]);
  expect(quarantine).toEqual([]);
  second.store.close();
});

test("a restored store stops though nothing was sent since its copy, and on a machine that has no mark", async () => {
  const folder = tempFolder();
  const elsewhere = join(tempFolder(), "state");
  const store = openStore(folder);
  store.transaction(() => store.binding.claim(OWNER, 0));
  const { file } = await store.copy(Date.now());
  store.close();
  for (const place of [folder, elsewhere]) {
    restoreStore({ folder: place, file, owner: OWNER, by: "eva", atMs: Date.now() });
    const restored = openStore(place);
    expect(restored.restored()).toMatch(/restored from a backup/);
    restored.close();
  }
});

test("a backup of another company, a damaged one and one under a held store change nothing", async () => {
  const folder = tempFolder();
  const store = openStore(folder);
  store.transaction(() => store.binding.claim(OWNER, 0));
  const { file } = await store.copy(Date.now());
  const asked = { folder, file, owner: OWNER, by: "eva", atMs: Date.now() };
  expect(() => restoreStore(asked)).toThrow(/in use by another fuelbridge process/);
  store.close();
  const before = readFileSync(join(folder, "fuelbridge.sqlite"));
  const other = { ...OWNER, company: "mesquite" };
  expect(() => restoreStore({ ...asked, owner: other })).toThrow(ConfigurationError);
  const bytes = readFileSync(file);
  const damaged = join(tempFolder(), "damaged.sqlite");
  writeFileSync(damaged, bytes.fill(0xff, 8_192 * 3, 8_192 * 9));
  expect(() => restoreStore({ ...asked, file: damaged })).toThrow(/cannot be used/);
  expect(readFileSync(join(folder, "fuelbridge.sqlite")).equals(before)).toBe(true);
  const opened = openStore(folder);
  expect(opened.restored()).toBeNull();
  opened.close();
});

test("the commands back up under a running daemon, refuse to restore under it, and restore after it", async () => {
  const { file } = configuredSite();
  const config = await loadConfiguration(file);
  const { state } = config;
  const daemon = await composeDaemon(config, pino({ level: "silent" }));
  const admin = await serveAdmin({ office: daemon.office, state, port: 0, secrets: [] });
  const to = join(tempFolder(), "tuesday.sqlite");
  type Made = { file: string; sha256: string; bytes: number };
  const made = await askCommand<Made>("backup", "--to", to, "--config", file);
  expect(made).toMatchObject({ file: to, company: "bluebonnet" });
  expect(readFileSync(to)).toHaveLength(made.bytes);
  const twice = await commandHere("backup", "--to", to, "--config", file);
  expect(twice).toMatchObject({ code: 3, out: "" });
  const refused = await commandHere("restore", to, "--config", file, "--json");
  expect(refused.code).toBe(3);
  expect(JSON.parse(refused.out)).toMatchObject({ ok: false, error: { code: "environment" } });
  await admin.close();
  await daemon.close();
  await askCommand("backup", "--config", file);
  const { removed } = await askCommand<{ removed: string[] }>(
    "backup",
    "--keep",
    "1",
    "--config",
    file,
  );
  expect(removed).toHaveLength(1);
  // On a share: its own oldest, and never another company's.
  const share = tempFolder();
  const other = "fuelbridge-other-20260101T000000000Z.sqlite";
  writeFileSync(join(share, other), "");
  const onShare = () =>
    askCommand<Made>("backup", "--to", `${share}/`, "--keep", "1", "--config", file);
  await onShare();
  const last = await onShare();
  expect(readdirSync(share).toSorted()).toEqual([basename(last.file), other]);
  const unmounted = await commandHere("backup", "--to", `${share}/nas/`, "--config", file);
  expect(unmounted).toMatchObject({ code: 3, err: expect.stringContaining("There is no folder") });
  const single = await commandHere("backup", "--to", `${to}2`, "--keep", "1", "--config", file);
  expect(single).toMatchObject({ code: 2 });
  await askCommand("restore", to, "--by", "eva", "--config", file);

  // The daemon that starts next stops, says so where it is asked, and tells whoever is to be told.
  const web = await webReceiver();
  const told = { webhook: { url: web.url, key: null }, email: null, quiet: null };
  const watched: Config = {
    ...config,
    monitoring: { port: 0 },
    alerts: { ...told, collectMs: 0, unreachableMs: 60_000 },
  };
  const log = pino({ level: "silent" });
  const next = await composeDaemon(watched, log);
  const services = await startServices(watched, next, log);
  const { stops } = await askCommand<{ stops: { breaker: string }[] }>("status", "--config", file);
  expect(stops.map(({ breaker }) => breaker)).toEqual(["restored"]);
  const metrics = await (await fetch(`http://127.0.0.1:${services.monitor}/metrics`)).text();
  expect(metrics).toContain('fuelbridge_stops{cause="restored"} 1');
  await vi.waitUntil(() => web.posts.length > 0, { timeout: 60_000, interval: 20 });
  await services.close();
  await next.close();
  expect(JSON.parse(web.posts[0]?.body ?? "")).toMatchObject({
    status: "trouble",
    began: [{ title: "Stopped: restored, everything that is sent" }],
  });
});
