/** Lists count and skip by days. Whatever the days, pages and totals are those of the plain list. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Driver, type Item } from "./driver.suite.ts";

const HOURS = 3_600_000;
const id = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const at = (hours: number): string => new Date(Date.UTC(2026, 0, 1) + hours * HOURS).toISOString();
const STATUSES = ["POSTED", "DELIVERED", null];

/** Over eight days, midnights among them, several at one instant. */
const seeded = Array.from({ length: 60 }, (_, n) => ({
  id: id((n * 37) % 60),
  status: STATUSES[n % 3] ?? null,
  createdAt: at(((n * 7) % 48) * 4),
  updatedAt: at(((n * 11) % 32) * 6),
}));

let sandbox: Driver;
let orders: Item[];
beforeAll(async () => {
  sandbox = await Driver.start();
  await sandbox.raw("orders", seeded);
  // Some move to another day, and status, after they were counted.
  for (const [n, { id }] of seeded.slice(0, 20).entries())
    await sandbox.control("PATCH", `/records/orders/${id}`, {
      status: STATUSES[(n + 1) % 3],
      createdAt: at(n * 9),
      updatedAt: at(n * 12),
    });
  orders = await sandbox.records("orders");
});
afterAll(() => sandbox.close());

describe("a list over many days", () => {
  it.each([
    ["createdAt", "desc"],
    ["createdAt", "asc"],
    ["updatedAt", "desc"],
    ["updatedAt", "asc"],
  ])("by %s, %s: every page holds what comes next", async (by, order) => {
    const sign = order === "asc" ? 1 : -1;
    const place = (item: Item) => `${String(item[by])} ${item.id}`;
    const wanted = orders.toSorted((one, other) => (place(one) < place(other) ? -sign : sign));
    const seen: string[] = [];
    for (let page = 1, more = true; more; page++) {
      const query = `sortBy=${by}&sortOrder=${order}&pageSize=7&page=${page}`;
      const { data, meta } = (await sandbox.get(`/orders?${query}`)).json;
      expect(meta.total).toBe(orders.length);
      seen.push(...data.map((item) => item.id));
      more = meta.hasMore;
    }
    expect(seen).toEqual(wanted.map((item) => item.id));
    const beyond = (await sandbox.get(`/orders?sortBy=${by}&pageSize=7&page=10`)).json;
    expect([beyond.data, beyond.meta.hasMore]).toEqual([[], false]);
  });

  it.each([true, false])("a walk's total, updatedSinceInclusive %s", async (inclusive) => {
    await sandbox.read({ updatedSinceInclusive: inclusive });
    for (const status of [undefined, "POSTED"])
      for (let hours = -6; hours < 240; hours += 6) {
        const since = at(hours);
        const filter = status === undefined ? "" : `&status=${status}`;
        const { meta } = (await sandbox.get(`/orders?updatedSince=${since}${filter}`)).json;
        const changed = orders.filter(
          (order) =>
            (status === undefined || order["status"] === status) &&
            (String(order["updatedAt"]) > since || (inclusive && order["updatedAt"] === since)),
        );
        expect(meta.total).toBe(changed.length);
      }
  });
});
