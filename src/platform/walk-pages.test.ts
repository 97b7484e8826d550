/** Pages that no sandbox gives: a platform that contradicts itself, and records that cannot be read whole. */
import nock from "nock";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { clientFor, idsIn, walkAt, walked } from "../../test/platform/support.ts";
import { testClock } from "../../test/support/clock.ts";
import { sortableInstant } from "../core/keys.ts";
import { unread, type WalkPosition } from "../core/watermark.ts";
import { walkSource } from "./walk.ts";

beforeAll(() => {
  if (!nock.isActive()) nock.activate();
});
afterEach(() => nock.cleanAll());
afterAll(() => nock.restore());

const record = (id: string, updatedAt = "2026-11-20T10:00:00Z"): string =>
  `{"id":"${id}","updatedAt":"${updatedAt}","lines":[{}]}`;
const page = (records: readonly string[], meta: object): string =>
  `{"success":true,"data":[${records.join(",")}],"meta":${JSON.stringify(meta)}}`;

/** Answers the walk's requests with these bodies, one after the other. */
function answers(...bodies: readonly string[]) {
  const others = bodies.some((body) => body.includes("taxLines")) ? ["taxLines"] : [];
  for (const body of bodies)
    nock("http://platform.test")
      .get("/v1/public/orders")
      .query(true)
      .reply(200, body, { Date: "Sat, 21 Nov 2026 12:00:00 GMT" });
  const clock = testClock();
  return walkSource(clientFor({ clock }), {
    list: "listOrders",
    detail: { operation: "getOrder", lines: "lines", others },
    overlapMs: 0,
    clock,
  });
}

const marked: WalkPosition = { watermark: sortableInstant("2026-11-19T00:00:00Z"), walk: null };

describe("a walk that leads nowhere ends, keeps what it read, and leaves the mark", () => {
  const first = page([record("a")], { hasMore: true, nextCursor: "c1" });
  test.each([
    [
      "gives the same cursor twice",
      [first, page([record("b")], { hasMore: true, nextCursor: "c1" })],
      ["a", "b"],
    ],
    [
      "says there is more but gives no cursor",
      [first, page([record("b")], { hasMore: true, nextCursor: null })],
      ["a", "b"],
    ],
    ["says there is more but gives no cursor", [page([record("a")], { hasMore: true })], ["a"]],
    [
      "says there is more but gives no cursor",
      [first, page([], { hasMore: true, nextCursor: null })],
      ["a"],
    ],
  ])("when the platform %s", async (how, bodies, ids) => {
    const { pages, position, trouble } = await walked(answers(...bodies), marked);
    expect(trouble?.message).toBe(`The walk of /orders ${how}.`);
    expect(trouble?.stop).toBeNull();
    expect(idsIn(pages)).toEqual(ids);
    // Not with the cursor that leads nowhere: the next run begins again.
    expect(position).toEqual(marked);
  });

  test("when it gives nothing but empty pages, each with a new cursor, beyond what its total needs", async () => {
    const empty = Array.from({ length: 30 }, (_, n) =>
      page([], { hasMore: true, nextCursor: `e${n}`, total: 1 }),
    );
    const { trouble, pages } = await walked(answers(first, ...empty), marked);
    expect(trouble?.stop).toBe("endless");
    expect(pages.length).toBeLessThan(15);
  });

  test("when it does not end after 10,000 pages, and the list does not say how many there are", async () => {
    const walk = walkAt("c1", { pages: 10_000 });
    const more = page([record("a")], { hasMore: true, nextCursor: "c2" });
    const { trouble, position } = await walked(answers(more), { ...marked, walk });
    expect(trouble?.message).toBe(
      "The walk of /orders does not end after 10001 pages, and the list does not say how many records it has.",
    );
    expect(trouble?.stop).toBe("endless");
    expect(position).toEqual({ ...marked, endless: 1 });
  });
});

test("of a page only the records without their lines, with none, or without another list are read in detail", async () => {
  const whole = '"updatedAt":"2026-11-20T10:00:00Z"';
  const records = [
    `{"id":"a",${whole},"lines":[{}],"taxLines":[]}`,
    `{"id":"b",${whole},"lines": [ ],"taxLines":[]}`,
    `{"id":"c",${whole},"lines":null,"taxLines":[]}`,
    `{"id":"d",${whole},"notes":"\\"lines\\":[{}]","taxLines":[]}`,
    `{"id":"e",${whole},"lines":[{}]}`,
  ];
  for (const id of ["b", "d", "e"])
    nock("http://platform.test")
      .get(`/v1/public/orders/${id}`)
      .reply(200, `{"success":true,"data":{"id":"${id}",${whole},"lines":[{"of":"${id}"}]}}`);
  const { pages, trouble } = await walked(answers(page(records, { hasMore: false })));
  expect(trouble).toBeNull();
  expect(pages[0]?.changes.map(({ text }) => /"of":"."/.exec(text)?.[0] ?? null)).toEqual([
    null,
    '"of":"b"',
    null,
    '"of":"d"',
    '"of":"e"',
  ]);
  expect(nock.isDone()).toBe(true);
});

describe("what is no list page is not taken for one", () => {
  test.each([
    ["{}"],
    ['{"success":true,"data":{}}'],
    ['{"success":true,"data":[]}'],
    ['{"success":true,"data":[],"meta":{}}'],
    ['{"success":true,"data":[],"meta":{"hasMore":"no"}}'],
    ['{"success":true,"data":[],"meta":{"hasMore":false},}'],
    ['{"success":true,"data":[{"id":"a"},"meta":{"hasMore":false}}'],
  ])("%s", async (body) => {
    const { pages, position, trouble } = await walked(answers(body), marked);
    expect(trouble?.message).toBe("/orders did not answer with a list.");
    expect(pages).toEqual([]);
    expect(position).toEqual(marked);
  });

  test("a cursor that is an integer is followed; one whose digits would be lost is none", async () => {
    const [a, b] = [record("a"), record("b")];
    const { pages, trouble } = await walked(
      answers(
        page([a], { hasMore: true, nextCursor: 1_764_000_000_123 }),
        page([b], { hasMore: false }),
      ),
    );
    expect(trouble).toBeNull();
    expect(idsIn(pages)).toEqual(["a", "b"]);
    const more = '"meta":{"hasMore":true,"nextCursor":12345678901234567890}';
    const lost = await walked(answers(`{"success":true,"data":[${a}],${more}}`), marked);
    expect(lost.trouble?.message).toContain("gives no cursor");
  });

  test("a platform that refuses a cursor beside `updatedSince` is asked with the cursor alone, then", async () => {
    const orders = () => nock("http://platform.test").get("/v1/public/orders");
    const first = page([record("a")], { hasMore: true, nextCursor: "c1" });
    orders()
      .query({ pageSize: "100", cursor: "c1" })
      .reply(200, page([record("b")], { hasMore: false }));
    orders()
      .query(({ cursor }) => cursor === undefined)
      .times(4)
      .reply(200, first);
    orders()
      .query(({ cursor, updatedSince }) => cursor === "c1" && updatedSince !== undefined)
      .times(3)
      .reply(
        400,
        '{"success":false,"error":{"code":"VALIDATION_ERROR","message":"cursor or updatedSince"}}',
      );
    const { pages, trouble } = await walked(answers());
    expect(trouble).toBeNull();
    expect([...new Set(idsIn(pages))]).toEqual(["a", "b"]);
    expect(nock.isDone()).toBe(true);
  });

  test("a cursor at the end is not followed", async () => {
    const { pages, trouble } = await walked(
      answers(page([record("a")], { hasMore: false, nextCursor: "c9" })),
    );
    expect(trouble).toBeNull();
    expect(idsIn(pages)).toEqual(["a"]);
  });
});

describe("a record that cannot be read whole is quarantined, and the page goes on", () => {
  test.each([
    ["has no usable id", '{"updatedAt":"2026-11-20T10:00:00Z","lines":[{}]}'],
    ["has no usable id", '{"id":"","updatedAt":"2026-11-20T10:00:00Z","lines":[{}]}'],
    ["has no usable id", '{"id":7,"updatedAt":"2026-11-20T10:00:00Z","lines":[{}]}'],
    ["has no usable id", `{"id":"${"x".repeat(201)}","updatedAt":"2026-11-20T10:00:00Z"}`],
    ["has no usable updatedAt (undefined)", '{"id":"b","lines":[{}]}'],
    ["has no usable updatedAt (null)", '{"id":"b","updatedAt":null}'],
    ["has no usable updatedAt (yesterday)", '{"id":"b","updatedAt":"yesterday"}'],
    ["has no usable updatedAt (2026-11-20)", '{"id":"b","updatedAt":"2026-11-20"}'],
    [
      "has no usable updatedAt (2026-02-30T10:00:00Z)",
      '{"id":"b","updatedAt":"2026-02-30T10:00:00Z"}',
    ],
    ["is not valid JSON", '{"id":"b","updatedAt":2026-11-20}'],
    ["", "null"],
    ["", '"text"'],
    ["", "[]"],
  ])("one that %s", async (why, bad) => {
    const body = page([record("a"), bad, record("c", "2026-11-20T11:00:00Z")], { hasMore: false });
    const { pages, position, trouble } = await walked(answers(body));
    expect(trouble).toBeNull();
    expect(pages[0]?.changes).toMatchObject([
      { id: "a" },
      {
        id: expect.stringMatching(/^unreadable-/) as string,
        version: null,
        text: JSON.stringify(bad),
        fault: {
          code: "unreadable-record",
          message: expect.stringContaining(`the platform sent a record that ${why}`) as string,
        },
      },
      { id: "c" },
    ]);
    expect(position.watermark).toBe(sortableInstant("2026-11-20T11:00:00Z"));
  });

  test("the same one again is the same record; another is another", async () => {
    const bad = '{"id":"b"}';
    const body = page([bad, bad, '{"id":"d"}'], { hasMore: false });
    const ids = idsIn((await walked(answers(body))).pages);
    expect(ids[0]).toBe(ids[1]);
    expect(ids[0]).not.toBe(ids[2]);
  });
});

test("brackets, quotes and members of the same name inside a record do not cut it", async () => {
  const tricky =
    '{"id":"a","notes":"]},\\"data\\":[{ \\\\","updatedAt":"2026-11-20T10:00:00Z","lines":[{"data":[1.50,[]]}]}';
  const { pages } = await walked(answers(page([tricky, record("b")], { hasMore: false })));
  expect(pages[0]?.changes[0]?.text).toBe(tricky);
  expect(idsIn(pages)).toEqual(["a", "b"]);
});

test("without the platform's clock the mark goes as far as what was read", async () => {
  nock("http://platform.test")
    .get("/v1/public/orders")
    .query(true)
    .reply(200, page([record("a")], { hasMore: false }));
  const { position } = await walked(answers(), unread);
  expect(position.watermark).toBe(sortableInstant("2026-11-20T10:00:00Z"));
});
