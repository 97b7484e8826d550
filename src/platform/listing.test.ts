import nock from "nock";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { times } from "../../test/conformance/support.ts";
import { clientFor, idsIn, reading, usePlatform, walked } from "../../test/platform/support.ts";
import { testClock } from "../../test/support/clock.ts";
import { Decimal } from "../core/decimal.ts";
import { sortableInstant } from "../core/keys.ts";
import { listingSource } from "./walk.ts";

const platform = usePlatform();
const { control } = platform;

const idsOf = (rows: readonly Record<string, unknown>[]): string[] =>
  rows.map(({ id }) => String(id));

/** Payments of one invoice of ours. */
async function payments(count: number) {
  const [invoice] = await control.records("invoices", [{ invoiceNumber: "P-1" }]);
  return control.records(
    "payments",
    times(count, (n) => ({
      invoiceId: invoice?.["id"],
      amount: Decimal.of(`${100 + n}.50`),
      method: "ACH",
      status: "PENDING",
      reference: `ACH-${n}`,
    })),
  );
}

async function received(options: { pageSize?: number } = {}) {
  const clock = await platform.clock();
  const list = { list: "listPayments", query: { role: "issuer" }, clock } as const;
  return listingSource(platform.client({ clock }), { ...list, ...options });
}

const asked = async () =>
  (await control.requests())
    .filter(({ path }) => path === "/payments")
    .map(({ query }) => query as Record<string, string>);

describe("a listing", () => {
  test("yields every record once, in pages of 100, with the digits the platform wrote", async () => {
    const records = await payments(250);
    const { pages, trouble } = await walked(await received());
    expect(trouble).toBeNull();
    expect(idsIn(pages).toSorted()).toEqual(idsOf(records).toSorted());
    expect(pages.map(({ changes }) => changes.length)).toEqual([100, 100, 50]);
    const ends = { name: "/payments", total: 250, isLast: true, isComplete: true };
    expect(pages.map(({ list }) => list)).toMatchObject([
      { isLast: false },
      { isLast: false },
      ends,
    ]);
    const texts = pages.flatMap(({ changes }) => changes.map(({ text }) => text));
    expect(texts.filter((text) => text.includes('"amount":134.50'))).toHaveLength(1);
    expect(await asked()).toEqual(
      ["1", "2", "3"].map((page) => ({ role: "issuer", page, pageSize: "100" })),
    );
  });

  test("goes on after an empty page as long as its total owes records", async () => {
    const records = await payments(250);
    await control.readings({ emptyPages: true, pageSizeMost: 30 });
    const { pages, trouble } = await walked(await received());
    expect(trouble).toBeNull();
    expect(idsIn(pages).toSorted()).toEqual(idsOf(records).toSorted());
    expect(pages.filter(({ changes }) => changes.length === 0)).toHaveLength(9);
  });

  test("has no place to go on from: every run begins at the first page", async () => {
    const records = await payments(150);
    const source = await received();
    const first = await walked(source, null, (_, page) => page === 1);
    expect(first.pages.map(({ position }) => position)).toEqual([null]);
    const second = await walked(source, first.position);
    expect(idsIn(second.pages).toSorted()).toEqual(idsOf(records).toSorted());
  });

  test("is as old as its first page: others may be of the same snapshot", async () => {
    await payments(250);
    const clock = await platform.clock();
    const source = listingSource(platform.client({ clock }), { list: "listPayments", clock });
    const begun = clock.now().wallMs;
    const { pages } = await walked(source, null, () => clock.advance(20 * 60_000));
    expect(pages.map(({ asked }) => asked?.atMs)).toEqual([begun, begun, begun]);
  });

  test("over nothing is one empty page", async () => {
    const { pages } = await walked(await received());
    const list = { name: "/payments", total: 0, isLast: true, isComplete: true };
    const asked: unknown = expect.anything();
    expect(pages).toEqual([{ changes: [], position: null, asked, list }]);
  });

  test("tells no version of records that have none, and the version of those that do", async () => {
    await payments(1);
    const at = "2026-01-01T02:00:00+02:00";
    await control.records("connections", [
      { toCompanyId: platform.company("customer"), updatedAt: at },
    ]);
    const { paymentsReceived, connections } = platform.endpoint().sources;
    if (paymentsReceived === undefined || connections === undefined) throw new Error("no source");
    const versions = async (source: typeof connections) =>
      (await walked(source)).pages.flatMap(({ changes }) => changes.map(({ version }) => version));
    expect(await versions(paymentsReceived)).toEqual([null]);
    expect(await versions(connections)).toContain(sortableInstant(at));
  });

  test("finds a record that changed after it was listed on the next run", async () => {
    const records = await payments(3);
    const source = await received();
    await walked(source);
    await control.patch("payments", records[1]?.["id"], { status: "SUCCEEDED" });
    const { pages } = await walked(source);
    const texts = pages.flatMap(({ changes }) => changes.map(({ text }) => text));
    expect(texts.filter((text) => text.includes('"status":"SUCCEEDED"'))).toHaveLength(1);
    expect(texts).toHaveLength(3);
  });

  test("repeats records that move to the next page while it is read, and loses none of the old", async () => {
    const records = await payments(150);
    const { pages, trouble } = await walked(await received(), null, async (_, page) => {
      if (page === 1) {
        await control.advance(60);
        await payments(30);
      }
    });
    expect(trouble).toBeNull();
    const ids = idsIn(pages);
    expect(ids).toEqual(expect.arrayContaining(idsOf(records)));
    expect(ids.length).toBeGreaterThan(new Set(ids).size);
  });

  test("what we receive and what we make are feeds of their own", async () => {
    const [ours] = await payments(1);
    const [owed] = await control.records(
      "invoices",
      [{ payerCompanyId: platform.company("supplier") }],
      "carrier",
    );
    const [made] = await control.records("payments", [{ invoiceId: owed?.["id"] }], "carrier");
    const { sources } = platform.endpoint();
    for (const [name, record] of [
      ["paymentsReceived", ours],
      ["paymentsMade", made],
    ] as const) {
      const source = sources[name];
      if (source === undefined) throw new Error(name);
      expect(idsIn((await walked(source)).pages)).toEqual([record?.["id"]]);
    }
  });

  test.each([
    ["paymentsReceived", "/payments", "100"],
    ["paymentsMade", "/payments", "100"],
    ["connections", "/connections", "500"],
    ["rackPrices", "/pricing/rack", "500"],
    ["supplierTerminals", "/supplier-terminals", "100"],
    ["locations", "/locations", "100"],
  ])("%s asks for the largest pages there are", async (name, path, pageSize) => {
    const source = platform.endpoint().sources[name];
    if (source === undefined) throw new Error(name);
    expect((await walked(source)).trouble).toBeNull();
    expect(await control.requests()).toMatchObject([{ path, query: { pageSize } }]);
  });

  test("a page size above the list's maximum is a refusal that says so", async () => {
    await payments(1);
    const { pages, trouble } = await walked(await received({ pageSize: 101 }));
    expect(pages).toEqual([]);
    expect(trouble?.message).toMatch(/^\/payments could not be read: 400 VALIDATION_ERROR/);
  });
});

describe("a page that fails on the way", () => {
  const onList = { method: "GET", path: "/payments" };
  test.each([
    [{ kind: "status", status: 503, retryAfter: 2 }],
    [{ kind: "status", status: 429, code: "RATE_LIMIT_EXCEEDED", retryAfter: 30 }],
    [{ kind: "reset" }],
    [{ kind: "truncate" }],
    [{ kind: "garbage" }],
  ])("is asked for again, and nothing is lost or read past: %j", async (fault) => {
    const records = await payments(150);
    await control.fault({ ...onList, ...fault, times: 4 });
    const { pages, trouble } = await walked(await received());
    expect(trouble).toBeNull();
    expect(idsIn(pages).toSorted()).toEqual(idsOf(records).toSorted());
    expect((await asked()).map(({ page }) => page)).toEqual(["1", "1", "1", "1", "1", "2"]);
  });

  test("too often ends the run with what it has, and the next one lists all of it", async () => {
    const records = await payments(150);
    const source = await received();
    const failed = await walked(source, null, async (_, page) => {
      if (page === 1) await control.fault({ ...onList, kind: "truncate", times: 5 });
    });
    expect(failed.trouble?.stop).toBeNull();
    expect(idsIn(failed.pages)).toHaveLength(100);
    const { pages } = await walked(source, failed.position);
    expect(idsIn(pages).toSorted()).toEqual(idsOf(records).toSorted());
  });

  test.each([
    ["401", { kind: "status", status: 401 }, "credentials"],
    ["429 of the month", { kind: "status", status: 429, code: "MONTHLY_CAP_EXCEEDED" }, "quota"],
  ])("with a %s stops until it is cleared", async (_, fault, stop) => {
    await control.fault({ ...onList, ...fault });
    const { trouble } = await walked(await received());
    expect(trouble?.stop).toBe(stop);
    expect(await asked()).toHaveLength(1);
  });

  test("when we are told to end, ends after the page in hand", async () => {
    await payments(150);
    const stop = new AbortController();
    const { pages } = await walked(
      await received(),
      null,
      () => stop.abort(),
      reading({ signal: stop.signal }),
    );
    expect(pages).toHaveLength(1);
    expect(await asked()).toHaveLength(1);
  });
});

/** Pages that no sandbox gives: a platform that contradicts itself. */
describe("a list that leads nowhere ends, and keeps what it read", () => {
  beforeAll(() => {
    if (!nock.isActive()) nock.activate();
  });
  afterEach(() => nock.cleanAll());
  afterAll(() => nock.restore());

  const page = (ids: readonly string[], hasMore: unknown = true): string =>
    JSON.stringify({ success: true, data: ids.map((id) => ({ id })), meta: { hasMore } });

  const answers = (...bodies: readonly string[]) => {
    for (const body of bodies)
      nock("http://platform.test").get("/v1/public/payments").query(true).reply(200, body);
    const clock = testClock();
    return listingSource(clientFor({ clock }), { list: "listPayments", clock });
  };

  test.each([
    ["says there is more after an empty page", [page(["a"]), page([])], ["a"]],
    ["gives nothing but records that it gave before", [page(["a"]), page(["a"])], ["a", "a"]],
    [
      "gives nothing but records that it gave before",
      [page(["a"]), page(["b"]), page(["a"])],
      ["a", "b", "a"],
    ],
  ])("when it %s", async (how, bodies, ids) => {
    const { pages, trouble } = await walked(answers(...bodies));
    expect(trouble?.message).toBe(`The list /payments ${how}.`);
    expect(trouble?.stop).toBeNull();
    expect(idsIn(pages)).toEqual(ids);
  });

  test("when every page is new and it never ends: it stops at its share, and at once only when released", async () => {
    const bodies = times(9, (n) => page([`${n}`]));
    const source = listingSource(clientFor({ clock: testClock() }), {
      list: "listPayments",
      pagesPerRun: 4,
      clock: testClock(),
    });
    answers(...bodies);
    const { pages, trouble } = await walked(source);
    expect(pages).toHaveLength(4);
    expect(trouble).toMatchObject({ stop: "endless", waitMs: 24 * 3_600_000 });
    expect(trouble?.message).toBe(
      "The list /payments does not end after 4 pages, and the list does not say how many records it has.",
    );
  });

  test("when it does not say whether there is more", async () => {
    const { pages, trouble } = await walked(answers(page(["a"], null)));
    expect(trouble?.message).toBe("/payments did not answer with a list.");
    expect(pages).toEqual([]);
  });

  test("one record without a usable id is quarantined, and the page goes on", async () => {
    const { pages, trouble } = await walked(answers(page(["a", "", "c"], false)));
    expect(trouble).toBeNull();
    expect(pages[0]?.changes).toMatchObject([
      { id: "a" },
      { fault: { message: "the platform sent a record that has no usable id" } },
      { id: "c" },
    ]);
  });
});
