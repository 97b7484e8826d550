/** Part 4, rule P2, and the readings of a walk. */
import { describe, expect, it } from "vitest";
import { invoice, order } from "./samples.ts";
import { type Answer, idsOf, instant, invalid, type Row, times, useSandbox } from "./support.ts";

const sandbox = useSandbox();
const { control } = sandbox;

const walks = ["orders", "invoices", "delivery-tickets"];
const since = (seconds: number): string => `updatedSince=${encodeURIComponent(instant(seconds))}`;
const at = (n: number): Row => ({ createdAt: instant(n), updatedAt: instant(n) });

/** Follows nextCursor as a caller does: the pages, in order. */
async function walk(
  path: string,
  query: string,
  between?: () => Promise<unknown>,
): Promise<Answer[]> {
  const pages = [await sandbox.get(`${path}?${query}`)];
  for (let last = pages[0]; last?.meta.hasMore; last = pages.at(-1)) {
    await between?.();
    const cursor = encodeURIComponent(String(last.meta.nextCursor));
    pages.push(await sandbox.get(`${path}?cursor=${cursor}`));
    expect(pages.length).toBeLessThan(50);
  }
  return pages;
}
const all = (pages: readonly Answer[]): Row[] => pages.flatMap(({ rows }) => rows);

describe.each(walks)("GET /%s", (resource) => {
  const path = `/${resource}`;
  const make = (count: number, fields: (n: number) => Row = at): Promise<Row[]> =>
    control.records(resource, times(count, fields));

  it("updatedSince leaves out what has not changed since", async () => {
    const records = await make(5);
    const { rows } = await sandbox.get(`${path}?${since(3)}`);
    expect(idsOf(rows)).toEqual(idsOf(records.slice(3)));
  });

  it("reading: updatedSince is inclusive", async () => {
    await make(1, () => at(7));
    expect((await sandbox.get(`${path}?${since(7)}`)).rows).toHaveLength(1);
    expect((await sandbox.get(`${path}?${since(7.001)}`)).rows).toHaveLength(0);
  });

  it("reading switched: updatedSince is exclusive", async () => {
    await make(1, () => at(7));
    await control.readings({ updatedSinceInclusive: false });
    expect((await sandbox.get(`${path}?${since(7)}`)).rows).toHaveLength(0);
    expect((await sandbox.get(`${path}?${since(6.999)}`)).rows).toHaveLength(1);
  });

  it("updatedSince reads any offset", async () => {
    await make(1, () => at(7));
    const local = encodeURIComponent("2026-01-01T02:00:07+02:00");
    expect((await sandbox.get(`${path}?updatedSince=${local}`)).rows).toHaveLength(1);
  });

  it.each(["2026-01-01", "yesterday", "2026-01-01T00:00:00", "2026-02-30T00:00:00Z", "0"])(
    "updatedSince=%s is 400",
    async (value) => {
      expect(await sandbox.get(`${path}?updatedSince=${value}`)).toMatchObject(invalid);
    },
  );

  it("nextCursor leads on until hasMore is false, every record once", async () => {
    const records = await make(7);
    const pages = await walk(path, `${since(0)}&pageSize=3`);
    expect(pages.map(({ rows }) => rows.length)).toEqual([3, 3, 1]);
    expect(idsOf(all(pages))).toEqual(idsOf(records));
  });

  it("a page before the end has hasMore true and a nextCursor; reading: the last has null", async () => {
    await make(4);
    const [first, last] = await walk(path, `${since(0)}&pageSize=2`);
    expect(first?.meta).toMatchObject({ hasMore: true, nextCursor: expect.any(String) as string });
    expect(last?.meta).toMatchObject({ hasMore: false, nextCursor: null });
  });

  it("reading: a walk goes by ascending updatedAt, whatever createdAt says", async () => {
    const records = await make(5, (n) => ({ createdAt: instant(0), updatedAt: instant(100 - n) }));
    const pages = await walk(path, `${since(0)}&pageSize=2`);
    expect(idsOf(all(pages))).toEqual(idsOf(records.toReversed()));
  });

  it("reading: then by id: records of one instant are neither lost nor doubled", async () => {
    const records = await make(5, () => at(1));
    const pages = await walk(path, `${since(1)}&pageSize=1`);
    expect(idsOf(all(pages))).toEqual(idsOf(records).map(String).toSorted());
  });

  it("reading: page and sorting are ignored in a walk", async () => {
    const records = await make(3);
    const { rows } = await sandbox.get(
      `${path}?${since(0)}&page=2&sortBy=createdAt&sortOrder=desc`,
    );
    expect(idsOf(rows)).toEqual(idsOf(records));
  });

  it("reading: a cursor carries the walk's filter", async () => {
    const status = resource === "invoices" ? "PAID" : resource === "orders" ? "BIDDING" : "SIGNED";
    const records = await make(6, (n) => ({ ...at(n), ...(n % 2 === 0 ? { status } : {}) }));
    const pages = await walk(path, `${since(0)}&status=${status}&pageSize=1`);
    expect(idsOf(all(pages))).toEqual(idsOf(records.filter((_, n) => n % 2 === 0)));
  });

  it("reading: repeated parameters are accepted beside a cursor", async () => {
    const records = await make(3);
    const query = `${since(0)}&pageSize=2`;
    const { meta } = await sandbox.get(`${path}?${query}`);
    const { rows } = await sandbox.get(`${path}?${query}&cursor=${String(meta.nextCursor)}`);
    expect(idsOf(rows)).toEqual(idsOf(records.slice(2)));
  });

  it("a record that changes during a walk is met again, none is skipped", async () => {
    const records = await make(6);
    const touched = records[0]?.["id"];
    let once = false;
    const pages = await walk(path, `${since(0)}&pageSize=2`, async () => {
      if (!once) await control.patch(resource, touched, { updatedAt: instant(50) });
      once = true;
    });
    const seen = idsOf(all(pages));
    expect(new Set(seen)).toEqual(new Set(idsOf(records)));
    expect(seen.filter((id) => id === touched)).toHaveLength(2);
  });

  it("a record created during a walk is met in it", async () => {
    await make(4);
    let added: Row[] = [];
    const pages = await walk(path, `${since(0)}&pageSize=3`, async () => {
      added = await make(1, () => at(60));
    });
    expect(idsOf(all(pages))).toContain(added[0]?.["id"]);
  });

  it.each(["invented", "bm90IGEgY3Vyc29y", "0"])(
    "reading: the invented cursor %s is 400",
    async (cursor) => {
      expect(await sandbox.get(`${path}?${since(0)}&cursor=${cursor}`)).toMatchObject(invalid);
    },
  );

  it("reading: an outdated cursor is 400", async () => {
    await make(2);
    const { meta } = await sandbox.get(`${path}?${since(0)}&pageSize=1`);
    await control.advance(3601);
    const answer = await sandbox.get(`${path}?cursor=${String(meta.nextCursor)}`);
    expect(answer).toMatchObject(invalid);
  });

  it("a cursor is good until then", async () => {
    await make(2);
    const { meta } = await sandbox.get(`${path}?${since(0)}&pageSize=1`);
    await control.advance(3590);
    expect((await sandbox.get(`${path}?cursor=${String(meta.nextCursor)}`)).status).toBe(200);
  });

  it("reading switched: cursorLifeSeconds", async () => {
    await make(2);
    await control.readings({ cursorLifeSeconds: 10 });
    const { meta } = await sandbox.get(`${path}?${since(0)}&pageSize=1`);
    await control.advance(11);
    expect((await sandbox.get(`${path}?cursor=${String(meta.nextCursor)}`)).status).toBe(400);
  });

  it("reading switched: walkOrder createdAtDesc walks from the newest created", async () => {
    const records = await make(5, (n) => ({ createdAt: instant(n), updatedAt: instant(100 - n) }));
    await control.readings({ walkOrder: "createdAtDesc" });
    const pages = await walk(path, `${since(0)}&pageSize=2`);
    expect(idsOf(all(pages))).toEqual(idsOf(records.toReversed()));
  });

  it("a walk over nothing ends at once", async () => {
    const { rows, meta } = await sandbox.get(`${path}?${since(0)}`);
    expect(rows).toEqual([]);
    expect(meta).toMatchObject({ total: 0, hasMore: false, nextCursor: null });
  });

  it("without updatedSince it is a list, newest first", async () => {
    const records = await make(3);
    const { rows, meta } = await sandbox.get(path);
    expect(idsOf(rows)).toEqual(idsOf(records.toReversed()));
    expect(meta.nextCursor ?? null).toBeNull();
  });

  it("reading: an empty updatedSince or cursor counts as not sent", async () => {
    await make(1);
    expect((await sandbox.get(`${path}?updatedSince=&cursor=`)).rows).toHaveLength(1);
  });

  it("a cursor of one list is no cursor of another", async () => {
    await make(2);
    const { meta } = await sandbox.get(`${path}?${since(0)}&pageSize=1`);
    const other = `/${walks.find((name) => name !== resource) ?? ""}`;
    expect(await sandbox.get(`${other}?cursor=${String(meta.nextCursor)}`)).toMatchObject(invalid);
  });

  it("a cursor of one company is no cursor of another", async () => {
    await make(2);
    const { meta } = await sandbox.get(`${path}?${since(0)}&pageSize=1`);
    const answer = await sandbox.get(`${path}?cursor=${String(meta.nextCursor)}`, {
      as: "outsider",
    });
    expect(answer).toMatchObject(invalid);
  });

  it("reading switched: readLagSeconds: what was written just now is not read yet", async () => {
    await control.readings({ readLagSeconds: 30 });
    const body = {
      orders: order(),
      invoices: {
        invoiceNumber: "L",
        subtotal: 1,
        total: 1,
        lineItems: [{ description: "d", amount: 1 }],
      },
      "delivery-tickets": {},
    }[resource];
    await sandbox.post(path, body);
    expect((await sandbox.get(`${path}?${since(0)}`)).rows).toHaveLength(0);
    await control.advance(31);
    expect((await sandbox.get(`${path}?${since(0)}`)).rows).toHaveLength(1);
  });
});

describe("what moves updatedAt", () => {
  const writes: [string, boolean, string, (id: string) => Promise<unknown>][] = [
    ["PUT /orders/{id} does", true, "orders", (id) => sandbox.put(`/orders/${id}`, { notes: "n" })],
    [
      "PUT /delivery-tickets/{id} does",
      true,
      "delivery-tickets",
      (id) => sandbox.put(`/delivery-tickets/${id}`, { bolNumber: "B" }),
    ],
    [
      "signing a ticket does",
      true,
      "delivery-tickets",
      (id) => sandbox.post(`/delivery-tickets/${id}/sign`, { receiverName: "R" }),
    ],
    [
      "marking an invoice as paid does",
      true,
      "invoices",
      (id) => sandbox.put(`/invoices/${id}/mark-paid`),
    ],
    [
      "reading: a payment moves its invoice's",
      true,
      "invoices",
      (id) => control.records("payments", [{ invoiceId: id, amount: 1 }]),
    ],
    [
      "reading: a note does not move its order's",
      false,
      "orders",
      (id) => sandbox.post(`/orders/${id}/notes`, { content: "n" }),
    ],
    ["reading does not", false, "orders", (id) => sandbox.get(`/orders/${id}`)],
  ];

  it.each(writes)("%s", async (_sentence, moves, resource, write) => {
    const status = resource === "invoices" ? { status: "OUTSTANDING" } : {};
    const [record] = await control.records(resource, [{ ...at(1), ...status }]);
    await write(String(record?.["id"]));
    const stored = (await control.stored(resource)).find((row) => row["id"] === record?.["id"]);
    expect(stored?.["updatedAt"] !== instant(1)).toBe(moves);
  });
});

describe("lists that are not walked", () => {
  it.each(["/payments", "/pricing/rack", "/connections", "/locations", "/supplier-terminals"])(
    "GET %s ignores updatedSince and cursor",
    async (path) => {
      const plain = await sandbox.get(path);
      const asked = await sandbox.get(`${path}?${since(9e8)}&cursor=x`);
      expect(asked.status).toBe(200);
      expect(asked.rows).toEqual(plain.rows);
    },
  );
});

it("reading switched: lateCommitSeconds: what others write is listed so much later than its updatedAt", async () => {
  await control.readings({ lateCommitSeconds: 480 });
  const [theirs] = await control.records("invoices", [{ invoiceNumber: "THEIRS" }]);
  const { data: ours } = await sandbox.post("/invoices", invoice());
  const numbers = async (): Promise<unknown[]> =>
    (await sandbox.get("/invoices?updatedSince=2020-01-01T00:00:00Z")).rows.map(
      (row) => row["invoiceNumber"],
    );
  expect(await numbers()).toEqual([ours["invoiceNumber"]]);
  expect((await sandbox.get(`/invoices/${String(theirs?.["id"])}`)).status).toBe(404);
  await control.advance(479);
  expect(await numbers()).toHaveLength(1);
  await control.advance(2);
  expect(await numbers()).toEqual(["THEIRS", ours["invoiceNumber"]]);
});
