import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";
import { usedOf } from "../core/budget.ts";
import { ledger } from "./journal.ts";
import { openStore } from "./store.ts";

const MONTH = "2026-11";
const AT = Date.UTC(2026, 10, 23);

function opened(folder = tempFolder()) {
  const store = openStore(folder);
  return { folder, store, month: ledger(store) };
}

test("every request counts at once, under what it was for, and a process that ends well loses none", () => {
  const { folder, store, month } = opened();
  for (let at = 0; at < 45; at++) month.spend(AT, at % 3 === 0 ? "write" : "poll");
  expect(month.spent(MONTH)).toEqual({ write: 15, poll: 30 });
  month.close();
  store.close();
  expect(opened(folder).month.spent(MONTH)).toEqual({ write: 15, poll: 30 });
});

test("kill -9 loses no request: what was leased and not written down counts as sent", () => {
  const folder = tempFolder();
  const script = `
    import { ledger } from "./src/store/journal.ts";
    import { openStore } from "./src/store/store.ts";
    const store = openStore(process.argv[1]);
    const month = ledger(store);
    for (let at = 0; at < Number(process.argv[2]); at++) {
      month.spend(${AT}, "poll");
      if (at === 24) store.transaction(() => {});
    }
    process.kill(process.pid, "SIGKILL");`;
  let before = 0;
  for (const sent of [1, 20, 47]) {
    const args = ["--input-type=module-typescript", "-e", script, folder, String(sent)];
    expect(spawnSync(process.execPath, args)).toMatchObject({ signal: "SIGKILL" });
    const { store, month } = opened(folder);
    const used = usedOf(month.spent(MONTH));
    store.close();
    expect(used - before).toBeGreaterThanOrEqual(sent);
    // No more than it had sent, and no more than a block.
    expect(used - before).toBeLessThanOrEqual(sent + Math.min(sent, 20));
    before = used;
  }
  const { month } = opened(folder);
  // Those that stood under their purpose: 15 of the second process and 31 of the last, with its last lease each.
  expect(month.spent(MONTH)).toMatchObject({ poll: 46 });
});

test("a month that turns in the middle of a block keeps its own requests, and gives the rest back", () => {
  const { folder, store, month } = opened();
  for (let at = 0; at < 7; at++) month.spend(AT, "poll");
  month.spend(Date.UTC(2026, 11, 1), "write");
  expect(month.spent(MONTH)).toEqual({ poll: 7 });
  expect(month.spent("2026-12")).toEqual({ write: 1 });
  month.close();
  store.close();
  expect(opened(folder).month.spent(MONTH)).toEqual({ poll: 7 });
});

test("requests are known by day, also those not written down yet; of days before the last month nothing is kept", () => {
  const { folder, store, month } = opened();
  const spend = (day: string, purpose: "poll" | "write", requests: number): void => {
    for (let at = 0; at < requests; at++) month.spend(Date.parse(day), purpose);
  };
  spend("2026-09-30", "poll", 2);
  spend("2026-10-01", "poll", 3);
  spend("2026-11-01", "poll", 25);
  spend("2026-11-02", "poll", 4);
  spend("2026-11-02", "write", 5);
  const days = [
    { day: "2026-11-01", spent: { poll: 25 } },
    { day: "2026-11-02", spent: { poll: 4, write: 5 } },
  ];
  expect(store.journal.spentByDay(MONTH)).toEqual(days);
  month.close();
  store.close();
  const again = opened(folder).store.journal;
  expect(again.spentByDay(MONTH)).toEqual(days);
  expect(again.spentByDay("2026-10")).toEqual([{ day: "2026-10-01", spent: { poll: 3 } }]);
  expect(again.spentByDay("2026-09")).toEqual([]);
  expect(again.spent("2026-09")).toEqual({ poll: 2 });
});

test("a transaction that fails takes no request back", () => {
  const { folder, store, month } = opened();
  for (let at = 0; at < 7; at++) month.spend(AT, "poll");
  const failing = () =>
    store.transaction(() => {
      throw new Error("a fault in a mapping");
    });
  expect(failing).toThrow("a fault in a mapping");
  expect(usedOf(month.spent(MONTH))).toBe(7);
  month.close();
  store.close();
  expect(usedOf(opened(folder).month.spent(MONTH))).toBe(7);
});

test("a month is closed by the platform's quota stop, until its time to ask again or its release", () => {
  const { store, month } = opened();
  const stop = { sinceMs: 0, message: "", next: "" };
  const trip = (breaker: string, scope: string, retryMs: number) =>
    store.journal.trip({ ...stop, breaker, scope, retryMs });
  trip("version", "platform", 9_000);
  trip("quota", "erp", 9_000);
  expect(month.closedUntil(1_000)).toBeNull();
  trip("quota", "platform", 5_000);
  expect([month.closedUntil(4_999), month.closedUntil(5_000)]).toEqual([5_000, null]);
  store.transaction(() => store.journal.release("quota", "Ann", 0));
  expect(month.closedUntil(1_000)).toBeNull();
});

test("how far looks are ahead of the month outlives a process, and passes; writes do not count", () => {
  const { folder, store, month } = opened();
  for (let at = 0; at < 1_000; at++) month.spend(AT, "poll");
  for (let at = 0; at < 50; at++) month.spend(AT, "write");
  expect(month.haste(AT)).toMatchObject({ requests: 1_000, most: 2_500, waitMs: 0 });
  month.close();
  store.close();
  const again = opened(folder).month;
  expect(again.haste(AT).requests).toBe(1_000);
  // 34,000 are left for looks in eight days, and four times as many an hour pass.
  expect(again.haste(AT + 3_600_000).requests).toBeCloseTo(1_000 - (4 * 34_000) / (8 * 24 - 1), 0);
  expect(again.haste(AT - 3_600_000).requests, "a clock that is set back").toBe(1_000);
});

test("what a clock that was ahead kept of that passes from now on, not only when its time comes", () => {
  const { month } = opened();
  const DAY = 86_400_000;
  for (let at = 0; at < 2_600; at++) month.spend(AT + 300 * DAY, "poll");
  expect(month.haste(AT).waitMs).toBeGreaterThan(0);
  expect(month.haste(AT + DAY).requests).toBe(0);
});
