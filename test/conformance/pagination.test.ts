/** Part 4, rule P1, and what readings say of lists. */
import { describe, expect, it } from "vitest";
import type { Operation } from "../../src/platform/contract/operation.ts";
import { operations } from "../../src/platform/contract/operations.ts";
import { price } from "./samples.ts";
import { idsOf, instant, invalid, type Row, times, useSandbox } from "./support.ts";

const sandbox = useSandbox();
const { control } = sandbox;

const at = (n: number): Row => ({ createdAt: instant(n), updatedAt: instant(n) });

interface List {
  readonly path: string;
  readonly resource: string;
  readonly size: number;
  readonly max: number;
}
const lists: List[] = [
  { path: "/orders", resource: "orders", size: 20, max: 100 },
  { path: "/delivery-tickets", resource: "delivery-tickets", size: 20, max: 100 },
  { path: "/invoices", resource: "invoices", size: 20, max: 100 },
  { path: "/payments", resource: "payments", size: 20, max: 100 },
  { path: "/pricing/rack", resource: "rack-prices", size: 50, max: 500 },
  { path: "/connections", resource: "connections", size: 20, max: 500 },
  { path: "/locations", resource: "locations", size: 20, max: 100 },
  { path: "/supplier-terminals", resource: "supplier-terminals", size: 50, max: 100 },
];

/** Adds `count` records; connections come on top of the scenario's own. */
async function fill(list: List, count: number): Promise<number> {
  const invoice =
    list.resource === "payments"
      ? (await control.records("invoices", [{ invoiceNumber: "P" }]))[0]?.["id"]
      : null;
  await control.records(
    list.resource,
    times(count, (n) => ({
      ...at(n),
      ...(invoice === null ? {} : { invoiceId: invoice, paidAt: instant(n) }),
      ...(list.resource === "rack-prices" ? price({ product: `P${n}` }) : {}),
      ...(list.resource === "connections" ? { toCompanyId: sandbox.company("customer") } : {}),
    })),
  );
  return (await control.stored(list.resource, "supplier")).length;
}

describe.each(lists)("GET $path", (list) => {
  const { path, size, max } = list;

  it(`page defaults to 1, pageSize to ${size}`, async () => {
    const total = await fill(list, size + 1);
    const { rows, meta } = await sandbox.get(path);
    expect(rows).toHaveLength(size);
    expect(meta).toMatchObject({
      page: 1,
      pageSize: size,
      total,
      totalPages: Math.ceil(total / size),
      hasMore: true,
    });
  });

  it(`pageSize ${max} is accepted, ${max + 1} is 400`, async () => {
    expect((await sandbox.get(`${path}?pageSize=${max}`)).meta.pageSize).toBe(max);
    expect(await sandbox.get(`${path}?pageSize=${max + 1}`)).toMatchObject(invalid);
  });

  it("pageSize and page are whole numbers from 1", async () => {
    for (const name of ["pageSize", "page"])
      for (const value of ["0", "-1", "1.5", "x"])
        expect(await sandbox.get(`${path}?${name}=${value}`), value).toMatchObject(invalid);
  });

  it("pages hold every record once", async () => {
    const total = await fill(list, 7);
    const seen: unknown[] = [];
    for (let page = 1; page <= Math.ceil(total / 3); page++) {
      const { rows, meta } = await sandbox.get(`${path}?page=${page}&pageSize=3`);
      expect(meta.hasMore).toBe(page < meta.totalPages);
      seen.push(...idsOf(rows));
    }
    expect(new Set(seen)).toEqual(new Set(idsOf(await control.stored(list.resource, "supplier"))));
    expect(seen).toHaveLength(total);
  });

  it("reading: a page past the end is 200 and empty", async () => {
    const total = await fill(list, 1);
    const answer = await sandbox.get(`${path}?page=99`);
    expect(answer).toMatchObject({ status: 200, rows: [], meta: { page: 99, hasMore: false } });
    expect(answer.meta.total).toBe(total);
  });

  it("reading: an unknown query parameter is ignored, an empty one counts as not sent", async () => {
    const { status, meta } = await sandbox.get(
      `${path}?colour=red&page=&pageSize=&search=&status=`,
    );
    expect(status).toBe(200);
    expect(meta).toMatchObject({ page: 1, pageSize: size });
  });
});

describe("lists", () => {
  it("are those that the contract has", () => {
    const paged = Object.values<Operation>(operations).filter(({ pageSize }) => pageSize);
    expect(lists.map(({ path }) => path)).toEqual(paged.map(({ path }) => path));
  });

  it("reading: totalPages of nothing is 0", async () => {
    const { meta } = await sandbox.get("/orders");
    expect(meta).toMatchObject({ total: 0, totalPages: 0, hasMore: false });
  });

  it.each(lists.filter(({ resource }) => resource !== "payments" && resource !== "connections"))(
    "reading: $path comes by createdAt descending",
    async (list) => {
      await fill(list, 5);
      const created = (await sandbox.get(list.path)).rows.map((row) => String(row["createdAt"]));
      expect(created).toEqual(created.toSorted().toReversed());
    },
  );

  it("GET /allocations takes no parameters and comes sorted by terminalId", async () => {
    const [connection] = await control.stored("connections");
    const terminals = ["B", "C", "A"];
    await control.records(
      "allocations",
      terminals.map((terminalId) => ({ terminalId, connectionId: connection?.["id"] })),
    );
    const { rows } = await sandbox.get("/allocations?page=2&pageSize=1");
    expect(rows.map((row) => row["terminalId"])).toEqual(["A", "B", "C"]);
  });
});
