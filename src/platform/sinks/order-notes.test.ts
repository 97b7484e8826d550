import { describe, expect, test } from "vitest";
import { nowhere } from "../../../test/conformance/samples.ts";
import { instant } from "../../../test/conformance/support.ts";
import { delivery } from "../../../test/platform/deliver.ts";
import { deliverThrough, unknownOutcomes } from "../../../test/platform/outcomes-unknown.ts";
import { faultFor, never, outgoing, usePlatform } from "../../../test/platform/support.ts";

const platform = usePlatform();
const { control } = platform;

const sink = () => platform.sink("orderNotes");
const order = async (): Promise<string> =>
  String((await control.records("orders", [{}]))[0]?.["id"]);
const note = (orderId: string, content = "ERP order SO-4711"): string =>
  JSON.stringify({ orderId, content });
const send = async (document: string) => {
  const to = sink();
  return to.send(outgoing(to, [document]), never);
};
const find = async (document: string, firstSentAt: string | null = instant(1_000)) => {
  const to = sink();
  return to.find(outgoing(to, [document], { firstSentAt }), never);
};

test("what is frozen names the order in its target, and nowhere else", () => {
  expect(outgoing(sink(), [note(nowhere)])).toMatchObject({
    target: `POST /orders/${nowhere}/notes`,
    body: '{"content":"ERP order SO-4711"}',
  });
});

test.each([
  ["orderId", note("SO-4711")],
  ["content", note(nowhere, "")],
  ["content", note(nowhere, "x".repeat(2001))],
])(
  "what the contract does not take is refused before it costs a request: %s",
  (field, document) => {
    expect(faultFor(sink(), document)).toMatchObject({ code: "over-the-contract", field });
  },
);

test("what was sent is there once; the same again is replayed", async () => {
  const id = await order();
  const answer = await send(note(id));
  const notes = await control.stored("order-notes");
  expect(notes).toMatchObject([{ orderId: id, content: "ERP order SO-4711" }]);
  expect(answer).toMatchObject({ outcome: "done", ids: [notes[0]?.["id"]] });
  expect(await send(note(id))).toMatchObject({ outcome: "done", repeated: true, ids: answer.ids });
  expect(await control.stored("order-notes")).toHaveLength(1);
});

describe("looking for a note", () => {
  const content = "ERP order SO-4711";
  const notes = async (...records: readonly { content: string; seconds: number }[]) => {
    const orderId = await order();
    const made = await control.records(
      "order-notes",
      records.map(({ content, seconds }) => ({ orderId, content, createdAt: instant(seconds) })),
    );
    return { orderId, ids: made.map(({ id }) => id) };
  };

  test("exact: the same words, since the first send; clocks may differ by two minutes", async () => {
    const { orderId, ids } = await notes(
      { content, seconds: 880 },
      { content: "x", seconds: 1001 },
    );
    expect(await find(note(orderId))).toMatchObject({ found: "exact", ids: [ids[0]] });
  });

  test("none: other words, and the same from before", async () => {
    const { orderId } = await notes(
      { content: `${content} `, seconds: 1001 },
      { content, seconds: 879 },
    );
    expect(await find(note(orderId))).toMatchObject({ found: "none" });
  });

  test("none: no such order", async () => {
    expect(await find(note(nowhere))).toMatchObject({ found: "none" });
  });

  test("several: twice since the first send", async () => {
    const { orderId } = await notes({ content, seconds: 1000 }, { content, seconds: 1001 });
    expect(await find(note(orderId))).toMatchObject({ found: "several" });
  });
});

test.each([-600, 0, 600])(
  "one note where the platform's clock is %s seconds from ours",
  async (seconds) => {
    const clock = await platform.clock();
    clock.set(-seconds * 1_000);
    const orderId = await order();
    await control.fault({
      method: "POST",
      path: "/orders/{id}/notes",
      kind: "status",
      status: 503,
      when: "after",
    });
    const work = delivery(platform.sink("orderNotes", { clock }), clock, [note(orderId)]);
    expect(await work.settled()).toEqual({ delivered: 1 });
    expect(await control.stored("order-notes")).toHaveLength(1);
  },
);

test.each(unknownOutcomes)("through the engine: one note, or a person: %j", async (fault) => {
  const document = { orderId: await order(), content: "SO-1" };
  const counts = await deliverThrough(platform, sink(), document, fault, {
    method: "POST",
    path: "/orders/{id}/notes",
  });
  const nobodyKnows = fault["status"] === 504 && fault["when"] === "before";
  expect(counts).toEqual(nobodyKnows ? { quarantined: 1 } : { delivered: 1 });
  expect(await control.stored("order-notes")).toHaveLength(nobodyKnows ? 0 : 1);
});
