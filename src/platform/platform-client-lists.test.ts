import { expect, test } from "vitest";
import { nowhere } from "../../test/conformance/samples.ts";
import { errorOf, useTypedClient } from "../../test/platform/typed-client.ts";

const { control, open, against } = useTypedClient("conformance");

test("a walk comes by every change once", async () => {
  const since = { updatedSince: "2020-01-01T00:00:00Z" };
  const seen: string[] = [];
  for await (const { data } of open().walk("listInvoices", { ...since, pageSize: 2 }))
    seen.push(...data.map(({ invoiceNumber }) => invoiceNumber));
  const stored = await control.stored("invoices");
  expect(seen.toSorted()).toEqual(stored.map((row) => String(row["invoiceNumber"])).toSorted());
});

test("a walk goes on from a cursor", async () => {
  const since = { updatedSince: "2020-01-01T00:00:00Z", pageSize: 2 };
  const client = open();
  const { value } = await client.walk("listOrders", since).next();
  const cursor = value?.meta.nextCursor ?? "";
  const rest: string[] = [];
  for await (const { data } of client.walk("listOrders", { cursor, pageSize: 2 }))
    rest.push(...data.map(({ id }) => id));
  expect(rest).toHaveLength((await control.stored("orders")).length - 2);
});

test("pages come by every record", async () => {
  const counts: number[] = [];
  for await (const { data, meta } of open().pages("listRackPrices", { pageSize: 4 }))
    counts.push(data.length, meta.totalPages);
  expect(counts).toEqual([4, 2, 2, 2]);
});

const page = (meta: object, data: unknown[] = []) => ({
  body: JSON.stringify({
    success: true,
    data,
    meta: { total: 9, page: 1, pageSize: 1, totalPages: 9, hasMore: true, ...meta },
  }),
});
const row = {
  id: nowhere,
  invoiceId: nowhere,
  amount: 1,
  method: "ach",
  status: "SUCCEEDED",
  paidAt: "2026-01-01T00:00:00Z",
};

async function drained(list: AsyncGenerator): Promise<number> {
  let count = 0;
  for await (const _ of list) count++;
  return count;
}

test("a walk that comes to a cursor again, has none or is empty ends with an error", async () => {
  let at = 0;
  const circle = await against(() => page({ nextCursor: "ABA"[at++ % 3] }, [bare]));
  const walk = circle.walk("listDeliveryTickets", { cursor: "start" });
  expect((await errorOf(drained(walk))).message).toContain("same cursor twice");
  const lost = await against(() => page({}, [bare]));
  const since = { updatedSince: "2026-01-01T00:00:00Z" };
  const without = lost.walk("listDeliveryTickets", since);
  expect((await errorOf(drained(without))).message).toContain("no cursor");
  const empty = await against(() => page({ nextCursor: "A" }));
  const nothing = empty.walk("listDeliveryTickets", since);
  expect(await errorOf(drained(nothing))).toMatchObject({ kind: "unreadable" });
});

test("a walk leads on over pages that are empty, and ends with an error where only such come", async () => {
  const pages = [
    page({ nextCursor: "A" }),
    page({ nextCursor: "B" }),
    page({ hasMore: false }, [bare]),
  ];
  const client = await against(() => pages.shift() ?? page({}));
  const since = { updatedSince: "2026-01-01T00:00:00Z" };
  expect(await drained(client.walk("listDeliveryTickets", since))).toBe(3);
  let at = 0;
  const endless = await against(() => page({ nextCursor: `C${at++}` }));
  expect(await errorOf(drained(endless.walk("listDeliveryTickets", since)))).toMatchObject({
    kind: "unreadable",
    message: expect.stringContaining("11 pages are empty") as string,
  });
});

test("a cursor that is a whole number is followed; one whose digits would be lost is refused", async () => {
  const metas = ['"hasMore":true,"nextCursor":1764000000123', '"hasMore":false,"nextCursor":null'];
  const counts = '"total":2,"page":1,"pageSize":1,"totalPages":2';
  const answer = (meta = "") => ({
    body: `{"success":true,"data":[${JSON.stringify(bare)}],"meta":{${counts},${meta}}}`,
  });
  const asked: string[] = [];
  const client = await against(({ url }) => {
    asked.push(url ?? "");
    return answer(metas[asked.length - 1]);
  });
  const query = { updatedSince: "2026-01-01T00:00:00Z" };
  expect(await drained(client.walk("listDeliveryTickets", query))).toBe(2);
  expect(asked[1]).toContain("cursor=1764000000123");
  const lost = await against(() => answer('"hasMore":true,"nextCursor":12345678901234567890'));
  const walk = lost.walk("listDeliveryTickets", query);
  expect(await errorOf(drained(walk))).toMatchObject({ kind: "unreadable" });
});

test("pages that are empty or always the same end with an error", async () => {
  const empty = await against(() => page({}));
  expect((await errorOf(drained(empty.pages("listPayments")))).message).toContain("empty");
  const same = await against(() => page({}, [row]));
  const message = "page 2 was answered with 1";
  expect((await errorOf(drained(same.pages("listPayments")))).message).toContain(message);
});

const bare = {
  id: nowhere,
  ticketNumber: "1",
  status: "DRAFT",
  createdAt: "2026-01-01T00:00:00Z",
  updatedAt: "2026-01-01T00:00:00Z",
};
