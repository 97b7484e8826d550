import { expect, test } from "vitest";
import { afterPage, sinceOf, unread, type Walk } from "./watermark.ts";

const walk: Walk = {
  since: "1970-01-01T00:00:00.000Z",
  cursor: null,
  latest: null,
  startedAt: "2026-11-21T10:00:00.000000000Z",
  pages: 0,
  restarts: 0,
};
const nine = "2026-11-21T09:00:00.000000000Z";
const eleven = "2026-11-21T11:00:00.000000000Z";

test("the watermark holds until the walk is complete", () => {
  const middle = afterPage(unread, walk, { cursor: "c1", latest: nine });
  expect(middle.watermark).toBeNull();
  expect(middle.walk).toMatchObject({ cursor: "c1", latest: nine, pages: 1 });
  const end = afterPage(middle, middle.walk as Walk, { cursor: null, latest: null });
  expect(end).toEqual({ watermark: nine, walk: null });
});

test("it never passes the server's clock at the walk's start", () => {
  expect(afterPage(unread, walk, { cursor: null, latest: eleven }).watermark).toBe(walk.startedAt);
});

test("it never moves back behind what was read, and an empty walk leaves it", () => {
  const eight = "2026-11-21T08:00:00.000000000Z";
  const position = { watermark: nine, walk };
  expect(afterPage(position, walk, { cursor: null, latest: eight }).watermark).toBe(nine);
  expect(afterPage(position, walk, { cursor: null, latest: null }).watermark).toBe(nine);
  const clockless = { ...walk, startedAt: "" };
  expect(afterPage(position, clockless, { cursor: null, latest: null }).watermark).toBe(nine);
});

test("left ahead by a server's clock that was ahead once, it comes back to that clock", () => {
  const position = { watermark: eleven, walk };
  expect(afterPage(position, walk, { cursor: null, latest: nine }).watermark).toBe(walk.startedAt);
  expect(afterPage(position, walk, { cursor: null, latest: null }).watermark).toBe(walk.startedAt);
});

test("the overlap is asked for again; nothing read yet asks for everything", () => {
  expect(sinceOf({ watermark: nine, walk: null }, 300_000)).toBe("2026-11-21T08:55:00.000Z");
  expect(sinceOf(unread, 300_000)).toBe("1970-01-01T00:00:00.000Z");
});
