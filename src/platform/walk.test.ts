import { describe, expect, test } from "vitest";
import { instant, times } from "../../test/conformance/support.ts";
import {
  counting,
  idsIn,
  positionOf,
  reading,
  usePlatform,
  walked,
} from "../../test/platform/support.ts";
import { Decimal } from "../core/decimal.ts";
import { sortableInstant } from "../core/keys.ts";
import type { WalkPosition } from "../core/watermark.ts";
import { openClient, type PlatformOptions } from "./client.ts";
import { walkSource } from "./walk.ts";

const platform = usePlatform();
const { control } = platform;

const invoices = (count: number, from = 0) =>
  control.records(
    "invoices",
    times(count, (n) => ({
      invoiceNumber: `W-${from + n}`,
      total: Decimal.of(`${1000 + n}.50`),
      updatedAt: instant(from + n),
      lineItems: [{ description: "ULSD", amount: Decimal.of("1000.50") }],
    })),
  );
const idsOf = (rows: readonly Record<string, unknown>[]): string[] =>
  rows.map(({ id }) => String(id));

const detail = { operation: "getInvoice", lines: "lineItems" } as const;
const list = { list: "listInvoices", detail, overlapMs: 300_000 } as const;

async function feed(options: Partial<PlatformOptions> = {}) {
  const clock = await platform.clock();
  const client = platform.client({ clock, ...options });
  return walkSource(client, { ...list, clock });
}

/** A walk that was stopped after so many pages, and its process ended. */
async function stopped(after: number) {
  const client = openClient(platform.reach());
  const source = walkSource(client, { ...list, clock: await platform.clock() });
  const before = await walked(source, null, (_, page) => page === after);
  await client.close();
  return before;
}

const asked = async () =>
  (await control.requests()).map(({ path, query }) => {
    const { cursor, updatedSince, pageSize } = query as Record<string, string>;
    return { path, updatedSince, pageSize, resumed: cursor !== undefined };
  });

describe("a walk", () => {
  test("yields every record once, in pages of 100, with the digits the platform wrote", async () => {
    const records = await invoices(250);
    const { pages } = await walked(await feed());
    expect(idsIn(pages)).toEqual(idsOf(records));
    const texts = pages.flatMap(({ changes }) => changes.map(({ text }) => text));
    expect(texts[234]).toContain('"total":1234.50');
    expect(texts[234]).toContain('"amount":1000.50');
    const updatedSince = "1970-01-01T00:00:00.000Z";
    const request = { path: "/invoices", updatedSince, pageSize: "100" };
    expect(await asked()).toEqual([
      { ...request, resumed: false },
      { ...request, resumed: true },
      { ...request, resumed: true },
    ]);
  });

  test("may be a snapshot of when it was begun: no page of it is newer, and what goes on from a stored cursor says no time", async () => {
    await invoices(250);
    const clock = await platform.clock();
    const source = walkSource(platform.client({ clock }), { ...list, clock });
    const begun = clock.now().wallMs;
    const wait = (): void => clock.advance(20 * 60_000);
    const { pages } = await walked(source, null, wait);
    expect(pages.map(({ asked }) => asked?.atMs)).toEqual([begun, begun, begun]);
    const cut = await stopped(1);
    const resumed = await walked(source, cut.position);
    expect(resumed.pages.map(({ asked }) => asked)).toEqual([undefined, undefined]);
    // Its cursor is refused, and it begins anew here.
    const anew = clock.now().wallMs;
    await control.fault({ kind: "cursor", method: "GET", path: "/invoices" });
    const again = await walked(source, cut.position);
    expect(again.pages.map(({ asked }) => asked?.atMs)).toEqual([anew, anew, anew]);
  });

  test("tells each record's version as text that sorts, whatever its zone and precision", async () => {
    const updatedAt = ["2026-01-01T00:00:00.123456Z", "2026-01-01T02:00:00+02:00"];
    await control.records(
      "invoices",
      updatedAt.map((updatedAt) => ({ updatedAt })),
    );
    const { pages } = await walked(await feed());
    const versions = pages.flatMap(({ changes }) => changes.map(({ version }) => version));
    expect(new Set(versions)).toEqual(
      new Set(["2026-01-01T00:00:00.000000000Z", "2026-01-01T00:00:00.123456000Z"]),
    );
  });

  test("leaves its mark where it was until it is complete, and the next one begins an overlap before", async () => {
    await invoices(250);
    const source = await feed();
    const first = await walked(source);
    const latest = sortableInstant(instant(249));
    expect(first.pages.map((page) => positionOf(page).watermark)).toEqual([null, null, latest]);
    await invoices(20, 1_000);
    const second = await walked(source, first.position);
    expect(second.pages.map((page) => positionOf(page).watermark)).toEqual([
      latest,
      latest,
      sortableInstant(instant(1_019)),
    ]);
    const since = (await asked()).map(({ updatedSince }) => updatedSince);
    expect(since.slice(3)).toEqual([instant(249 - 300), instant(249 - 300), instant(249 - 300)]);
  });

  test("after a burst costs one request again once nothing of it can be late", async () => {
    await invoices(250);
    const clock = await platform.clock();
    const source = walkSource(platform.client({ clock }), { ...list, clock });
    let { position } = await walked(source);
    const pages: number[] = [];
    for (const minutes of [9, 1, 10, 60]) {
      await clock.pause(minutes * 60_000);
      const look = await walked(source, position);
      position = look.position;
      pages.push(look.pages.length);
    }
    expect(pages).toEqual([3, 3, 1, 1]);
    expect((await asked()).at(-1)?.updatedSince).toBe(instant(249));
    const [late] = await invoices(1, 249);
    expect(idsIn((await walked(source, position)).pages)).toContain(late?.["id"]);
  });

  test("over nothing leaves no mark", async () => {
    const { pages } = await walked(await feed());
    const asked: unknown = expect.anything();
    expect(pages).toEqual([{ changes: [], asked, position: { watermark: null, walk: null } }]);
  });

  test("goes on after a stop between any two pages, without losing or repeating a record", async () => {
    const records = await invoices(350);
    for (let stop = 1; stop <= 3; stop++) {
      const before = await stopped(stop);
      expect(before.pages).toHaveLength(stop);
      const after = await walked(await feed(), before.position);
      expect(idsIn([...before.pages, ...after.pages])).toEqual(idsOf(records));
      expect(after.position.watermark).toBe(sortableInstant(instant(349)));
    }
  });

  test("keeps its cursor under way and the time it began, as the server told it", async () => {
    await invoices(150);
    await control.advance(40 * 86_400);
    const now = await control.now();
    const { pages } = await walked(await feed());
    const { walk } = positionOf(pages[0]);
    expect(walk).toMatchObject({ pages: 1, restarts: 0, latest: sortableInstant(instant(99)) });
    // To the second: the header `Date` has no finer digits.
    expect(Date.parse(walk?.startedAt ?? "")).toBeGreaterThan(now - 1_000);
    expect(Date.parse(walk?.startedAt ?? "")).toBeLessThanOrEqual(await control.now());
  });

  test("never marks further than the server's clock at its start: records from the future count later", async () => {
    await control.advance(40 * 86_400);
    const now = await control.now();
    const future = new Date(now + 3_600_000).toISOString();
    await control.records("invoices", [{ updatedAt: future }]);
    const { position } = await walked(await feed());
    expect(Date.parse(position.watermark ?? "")).toBeLessThanOrEqual(await control.now());
    expect(Date.parse(position.watermark ?? "")).toBeGreaterThan(now - 1_000);
  });

  test("that ends while records change is followed by one that finds them", async () => {
    const records = await invoices(250);
    await control.readings({ walkOrder: "createdAtDesc" });
    const source = await feed();
    const first = await walked(source, null, async (_, page) => {
      if (page === 2)
        for (const one of [records[0], records[249]])
          await control.patch("invoices", one?.["id"], {});
    });
    const second = await walked(source, first.position);
    expect(idsIn(second.pages)).toEqual(
      expect.arrayContaining(idsOf([records[0] ?? {}, records[249] ?? {}])),
    );
  });

  test("what we owe is a feed of its own", async () => {
    const [issued] = await control.records("invoices", [{ invoiceNumber: "OURS" }]);
    const [owed] = await control.records(
      "invoices",
      [{ invoiceNumber: "THEIRS", payerCompanyId: platform.company("supplier") }],
      "carrier",
    );
    const { sources } = platform.endpoint();
    for (const [name, record] of [
      ["invoicesIssued", issued],
      ["invoicesPayable", owed],
    ] as const) {
      const source = sources[name];
      if (source === undefined) throw new Error(name);
      expect(idsIn((await walked(source)).pages)).toEqual([record?.["id"]]);
    }
  });

  test.each([
    ["orders", "orders", { lines: [{ product: "ULSD", gallons: 1 }] }],
    ["deliveryTickets", "delivery-tickets", {}],
  ])("%s are a feed too", async (name, resource, more) => {
    const records = await control.records(
      resource,
      times(120, (n) => ({ updatedAt: instant(n), ...more })),
    );
    const source = platform.endpoint().sources[name];
    if (source === undefined) throw new Error(name);
    expect(idsIn((await walked(source)).pages)).toEqual(idsOf(records));
    expect((await control.requests()).map(({ path }) => path)).toEqual([
      `/${resource}`,
      `/${resource}`,
    ]);
  });
});

describe("a cursor that is refused", () => {
  test.each([1, 2, 3])(
    "%i times: the walk begins again from its own beginning",
    async (refusals) => {
      const records = await invoices(250);
      await control.fault({ kind: "cursor", times: refusals });
      const from: WalkPosition = { watermark: sortableInstant(instant(50)), walk: null };
      const { pages, trouble } = await walked(await feed(), from);
      expect(trouble).toBeNull();
      expect(new Set(idsIn(pages))).toEqual(new Set(idsOf(records)));
      const begun = (await asked()).filter(({ resumed }) => !resumed);
      expect(new Set(begun.map(({ updatedSince }) => updatedSince))).toEqual(
        new Set([instant(50 - 300)]),
      );
      expect(begun).toHaveLength(refusals + 1);
    },
  );

  test("too often: the run ends, the mark stays, and the next run begins a new walk", async () => {
    const records = await invoices(250);
    await control.fault({ kind: "cursor", times: 4 });
    const watermark = sortableInstant(instant(50));
    const { position, trouble } = await walked(await feed(), { watermark, walk: null });
    expect(trouble?.message).toBe(
      "The walk of /invoices began again 3 times: its cursor was refused.",
    );
    expect(trouble?.stop).toBeNull();
    expect(position).toEqual({ watermark, walk: null });
    const { pages } = await walked(await feed(), position);
    expect(new Set(idsIn(pages))).toEqual(new Set(idsOf(records)));
  });

  test("because the daemon was away for longer than it lives: nothing is lost", async () => {
    const records = await invoices(250);
    await control.readings({ cursorLifeSeconds: 60 });
    const before = await stopped(1);
    await control.advance(3_600);
    const after = await walked(await feed(), before.position);
    expect(idsIn(after.pages)).toEqual(idsOf(records));
    expect(after.position.walk).toBeNull();
  });
});

describe("a read that fails on the way", () => {
  const onList = { method: "GET", path: "/invoices" };
  test.each([
    [{ kind: "status", status: 500 }],
    [{ kind: "status", status: 502 }],
    [{ kind: "status", status: 503, retryAfter: 2 }],
    [{ kind: "status", status: 504 }],
    [{ kind: "status", status: 429, code: "RATE_LIMIT_EXCEEDED", retryAfter: 30 }],
    [{ kind: "reset" }],
    [{ kind: "truncate" }],
    [{ kind: "garbage" }],
  ])("is tried again four times within the run: %j", async (fault) => {
    const records = await invoices(150);
    await control.fault({ ...onList, ...fault, times: 4 });
    const { pages, trouble } = await walked(await feed());
    expect(trouble).toBeNull();
    expect(idsIn(pages)).toEqual(idsOf(records));
    expect(await control.requests()).toHaveLength(6);
  });

  test.each([
    { kind: "status", status: 500 },
    { kind: "reset" },
    { kind: "truncate" },
    { kind: "garbage" },
  ])("five times ends the run, which goes on from its last page: %j", async (fault) => {
    const records = await invoices(250);
    const before = await stopped(1);
    await control.requests();
    await control.fault({ ...onList, ...fault, times: 5 });
    const failed = await walked(await feed(), before.position);
    expect(failed.trouble).not.toBeNull();
    expect(failed.trouble?.stop).toBeNull();
    expect(failed.pages).toEqual([]);
    const after = await walked(await feed(), before.position);
    expect(idsIn([...before.pages, ...after.pages])).toEqual(idsOf(records));
  });

  test("and asks for an hour is left to a later run", async () => {
    await control.fault({ ...onList, kind: "status", status: 503, retryAfter: 3_600 });
    const before = await control.now();
    const { trouble } = await walked(await feed());
    expect(trouble).toMatchObject({ waitMs: 3_600_000, stop: null });
    expect((await control.now()) - before).toBeLessThan(60_000);
    expect(await control.requests()).toHaveLength(1);
  });

  test("when we are told to end is not tried again", async () => {
    await control.fault({ ...onList, kind: "status", status: 503, times: 5 });
    const stop = new AbortController();
    const clock = await platform.clock();
    const pause = async () => stop.abort();
    const source = walkSource(platform.client(), {
      ...list,
      clock: { ...clock, pause },
    });
    await walked(source, null, undefined, reading({ signal: stop.signal }));
    expect(await control.requests()).toHaveLength(1);
  });

  test.each([
    ["401", { kind: "status", status: 401 }, "credentials"],
    ["403", { kind: "status", status: 403 }, "scope"],
    ["410", { kind: "status", status: 410 }, "version"],
    ["429 of the month", { kind: "status", status: 429, code: "MONTHLY_CAP_EXCEEDED" }, "quota"],
  ])(
    "with a %s stops until a person or time clears it, and loses nothing",
    async (_, fault, stop) => {
      const records = await invoices(250);
      const before = await stopped(1);
      await control.fault({ ...onList, ...fault });
      const failed = await walked(await feed(), before.position);
      expect(failed.trouble?.stop).toBe(stop);
      const after = await walked(await feed(), before.position);
      expect(idsIn([...before.pages, ...after.pages])).toEqual(idsOf(records));
    },
  );

  test("because the month is used up says when it ends", async () => {
    await control.limits({ key: "supplier", monthlyCap: 0 });
    const { trouble } = await walked(await feed());
    expect(trouble?.stop).toBe("quota");
    const now = new Date(await control.now());
    const left = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1) - now.getTime();
    expect(trouble?.waitMs).toBeGreaterThan(left - 60_000);
    expect(await control.requests()).toHaveLength(1);
  });
});

describe("lists that carry no lines", () => {
  const half = { listsCarryLines: false };

  test.each([
    ["leaves them out", half],
    ["shows them as empty", { listsCarryLines: "empty" }],
  ])(
    "each record that is new to us is read in detail, and no other: a list that %s",
    async (_, reads) => {
      const records = await invoices(120);
      await control.readings(reads);
      const { governor, counts } = counting();
      const source = await feed({ governor });
      const known = new Set(idsOf(records.slice(0, 100)));
      const stored = (id: string) => known.has(id);
      const { pages } = await walked(source, null, undefined, reading({ stored }));
      expect(idsIn(pages)).toEqual(idsOf(records.slice(100)));
      expect(pages[1]?.changes[0]?.text).toContain('"amount":1000.50');
      expect(counts()).toEqual({ poll: 2, detail: 20 });
    },
  );

  test("a detail's own time is its version", async () => {
    const [record] = await invoices(1);
    await control.readings({ ...half, readLagSeconds: 0 });
    const client = platform.client();
    const later = new Date(await control.now()).toISOString();
    const source = walkSource(
      {
        ...client,
        async exchange(request) {
          if (request.purpose === "detail")
            await control.patch("invoices", record?.["id"], { updatedAt: later });
          return client.exchange(request);
        },
      },
      { ...list, clock: await platform.clock() },
    );
    const { pages } = await walked(source);
    expect(pages[0]?.changes[0]?.version).toBe(sortableInstant(later));
    // The mark follows the list: what was not listed yet comes with the next walk.
    expect(positionOf(pages[0]).watermark).toBe(sortableInstant(instant(0)));
  });

  test("a record that is gone from sight meanwhile is left out", async () => {
    const records = await invoices(3);
    await control.readings(half);
    await control.fault({ method: "GET", path: "/invoices/{id}", kind: "status", status: 404 });
    const { pages } = await walked(await feed());
    expect(idsIn(pages)).toEqual(idsOf(records.slice(1)));
  });

  test.each([{ kind: "garbage" }, { kind: "status", status: 503 }])(
    "a detail that cannot be read ends the run instead of being left out: %j",
    async (fault) => {
      const records = await invoices(120);
      await control.readings(half);
      await control.fault({ method: "GET", path: "/invoices/{id}", ...fault, times: 5 });
      const { pages, trouble, position } = await walked(await feed());
      expect(pages).toEqual([]);
      expect(trouble?.stop).toBeNull();
      expect(idsIn((await walked(await feed(), position)).pages)).toEqual(idsOf(records));
    },
  );
});
