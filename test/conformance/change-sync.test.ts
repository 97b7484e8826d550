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

  it("reading: updatedSince is inclusive, in any offset; switched, exclusive", async () => {
    await make(1, () => at(7));
    const found = async (query: string): Promise<number> =>
      (await sandbox.get(`${path}?${query}`)).rows.length;
    const local = encodeURIComponent("2026-01-01T02:00:07+02:00");
    const asked = [since(6.999), since(7), `updatedSince=${local}`, since(7.001)];
    expect(await Promise.all(asked.map(found))).toEqual([1, 1, 1, 0]);
    await control.readings({ updatedSinceInclusive: false });
    expect(await Promise.all(asked.map(found))).toEqual([1, 0, 0, 0]);
  });

  it.each(["2026-01-01", "yesterday", "2026-01-01T00:00:00", "2026-02-30T00:00:00Z", "0"])(
    "updatedSince=%s is 400",
    async (value) => {
      expect(await sandbox.get(`${path}?updatedSince=${value}`)).toMatchObject(invalid);
    },
  );

  it("nextCursor leads on until hasMore is false, every record once; reading: the last has null", async () => {
    const records = await make(7);
    const pages = await walk(path, `${since(2)}&pageSize=2`);
    expect(pages.map(({ rows }) => rows.length)).toEqual([2, 2, 1]);
    expect(idsOf(all(pages))).toEqual(idsOf(records.slice(2)));
    const more = { hasMore: true, nextCursor: expect.any(String) as string };
    expect(pages.map(({ meta }) => meta)).toMatchObject([
      more,
      more,
      { hasMore: false, nextCursor: null },
    ]);
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

  it("reading: an invented cursor is 400, and so is one of another list or company", async () => {
    await make(2);
    const { meta } = await sandbox.get(`${path}?${since(0)}&pageSize=1`);
    const other = `/${walks.find((name) => name !== resource) ?? ""}`;
    const cursor = `cursor=${String(meta.nextCursor)}`;
    for (const invented of ["invented", "bm90IGEgY3Vyc29y", "0"])
      expect(await sandbox.get(`${path}?${since(0)}&cursor=${invented}`)).toMatchObject(invalid);
    expect(await sandbox.get(`${other}?${cursor}`)).toMatchObject(invalid);
    expect(await sandbox.get(`${path}?${cursor}`, { as: "outsider" })).toMatchObject(invalid);
  });

  it.each([3600, 10])("reading: a cursor is good for %i s, and then 400", async (seconds) => {
    await make(2);
    if (seconds !== 3600) await control.readings({ cursorLifeSeconds: seconds });
    const { meta } = await sandbox.get(`${path}?${since(0)}&pageSize=1`);
    const next = `${path}?cursor=${String(meta.nextCursor)}`;
    await control.advance(seconds - 9);
    expect((await sandbox.get(next)).status).toBe(200);
    await control.advance(10);
    expect(await sandbox.get(next)).toMatchObject(invalid);
  });

  it("reading switched: walkOrder createdAtDesc walks from the newest created", async () => {
    const records = await make(5, (n) => ({ createdAt: instant(n), updatedAt: instant(100 - n) }));
    await control.readings({ walkOrder: "createdAtDesc" });
    const pages = await walk(path, `${since(0)}&pageSize=2`);
    expect(idsOf(all(pages))).toEqual(idsOf(records.toReversed()));
  });

  it("a walk over nothing ends at once; without updatedSince it is a list, newest first", async () => {
    const { rows, meta } = await sandbox.get(`${path}?${since(0)}`);
    expect(rows).toEqual([]);
    expect(meta).toMatchObject({ total: 0, hasMore: false, nextCursor: null });
    const records = await make(3);
    const listed = await sandbox.get(path);
    expect(idsOf(listed.rows)).toEqual(idsOf(records.toReversed()));
    expect(listed.meta.nextCursor ?? null).toBeNull();
  });

  it("reading: an empty updatedSince or cursor counts as not sent", async () => {
    await make(1);
    expect((await sandbox.get(`${path}?updatedSince=&cursor=`)).rows).toHaveLength(1);
  });

  it("reading switched: readLagSeconds: what was written just now is not read yet", async () => {
    await control.readings({ readLagSeconds: 30 });
    await sandbox.post(path, { orders: order(), invoices: invoice() }[resource] ?? {});
    expect((await sandbox.get(`${path}?${since(0)}`)).rows).toHaveLength(0);
    await control.advance(31);
    expect((await sandbox.get(`${path}?${since(0)}`)).rows).toHaveLength(1);
  });
});

describe("what moves updatedAt", () => {
  const writes: [string, boolean, "PUT" | "POST" | "GET", string, Row?][] = [
    ["PUT does", true, "PUT", "/orders/{id}", { notes: "n" }],
    ["PUT does", true, "PUT", "/delivery-tickets/{id}", { bolNumber: "B" }],
    ["signing does", true, "POST", "/delivery-tickets/{id}/sign", { receiverName: "R" }],
    ["marking as paid does", true, "PUT", "/invoices/{id}/mark-paid"],
    ["reading: a note does not", false, "POST", "/orders/{id}/notes", { content: "n" }],
    ["reading does not", false, "GET", "/orders/{id}"],
  ];
  const moved = async (resource: string, write: (id: string) => Promise<unknown>) => {
    const status = resource === "invoices" ? { status: "OUTSTANDING" } : {};
    const [record] = await control.records(resource, [{ ...at(1), ...status }]);
    await write(String(record?.["id"]));
    const stored = (await control.stored(resource)).find((row) => row["id"] === record?.["id"]);
    return stored?.["updatedAt"] !== instant(1);
  };

  it.each(writes)("%s: %s: %s %s", async (_sentence, moves, method, path, body) => {
    const write = (id: string) => sandbox.call(method, path.replace("{id}", id), body);
    expect(await moved(path.split("/")[1] ?? "", write)).toBe(moves);
  });

  it("reading: a payment moves its invoice's", async () => {
    const pay = (id: string) => control.records("payments", [{ invoiceId: id, amount: 1 }]);
    expect(await moved("invoices", pay)).toBe(true);
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
