import { describe, expect, test } from "vitest";
import { nowhere } from "../../../test/conformance/samples.ts";
import { instant, type Row, times } from "../../../test/conformance/support.ts";
import { delivery } from "../../../test/platform/deliver.ts";
import { deliverThrough, unknownOutcomes } from "../../../test/platform/outcomes-unknown.ts";
import { faultFor, items, never, outgoing, usePlatform } from "../../../test/platform/support.ts";
import { resolve, retry, select } from "../../office/decisions.ts";

const platform = usePlatform();
const { control } = platform;

const sink = () => platform.sink("supplierTerminals");
const stored = () => control.stored("supplier-terminals", "supplier");
const made = async (...records: readonly Row[]): Promise<string[]> =>
  (await control.records("supplier-terminals", records)).map(({ id }) => String(id));
const terminal = (more = ""): string =>
  `{"terminalCode":"T-76-TX-2780","name":"Houston","lat":29.7600${more}}`;
const there = { terminalCode: "T-76-TX-2780", name: "Houston", lat: 29.76, isActive: true };
const send = async (document = terminal()) => {
  const to = sink();
  return to.send(outgoing(to, [document]), never);
};
const find = async (document = terminal()) => {
  const to = sink();
  return to.find(outgoing(to, [document]), never);
};
/** What is asked for the terminal that we made as `id`. */
const changing = (id: string, document = terminal(), firstSentAt: string | null = null) => {
  const [item] = items(document);
  if (item === undefined) throw new Error("no item");
  const frozen = sink().freeze([{ ...item, counterpart: id }]);
  return { ...frozen, key: "fb1_test_0123456789abcdef", items: [item], firstSentAt };
};

test("what is frozen has the digits of the document", () => {
  expect(sink().freeze(items(terminal()))).toEqual({
    target: "POST /supplier-terminals",
    body: terminal(),
  });
  expect(changing(nowhere)).toMatchObject({
    target: `PUT /supplier-terminals/${nowhere}`,
    body: terminal(),
  });
});

test.each([
  ["terminalCode", terminal().replace("T-76-TX-2780", "x".repeat(51))],
  ["terminalCode", '{"name":"Houston"}'],
  ["name", '{"terminalCode":"T"}'],
  ["capacity", terminal(',"capacity":1.5')],
  ["unitSystem", terminal(',"unitSystem":"mt"')],
])(
  "what the contract does not take is refused before it costs a request: %s",
  (field, document) => {
    expect(faultFor(sink(), document)).toMatchObject({ code: "over-the-contract", field });
  },
);

test("what was sent is there once; the same again is replayed", async () => {
  const answer = await send();
  expect(await stored()).toMatchObject([{ id: answer.ids?.[0], terminalCode: "T-76-TX-2780" }]);
  expect(await send()).toMatchObject({ outcome: "done", repeated: true, ids: answer.ids });
  expect(await stored()).toHaveLength(1);
});

describe("looking for a new terminal", () => {
  test.each<[string, Row[], string?]>([
    ["none", []],
    [
      "none",
      [
        { ...there, terminalCode: "T-76-TX-27801", name: "Dallas" },
        { ...there, terminalCode: "t-76-tx-2780", name: "Dallas" },
      ],
    ],
    ["exact", [there]],
    ["exact", [{ ...there, city: "Houston" }]],
    ["exact", [there], ',"city":null,"taxingAuthority":"Harris County"'],
    ["exact", [{ ...there, capacity: 40_000 }], ',"capacity":40000'],
    ["exact", [{ ...there, name: "Old" }, there]],
    ["different", [{ ...there, name: "Old" }]],
    ["different", [{ ...there, isActive: false }]],
    ["different", [{ ...there, capacity: 40_001 }], ',"capacity":40000'],
    ["several", [there, there]],
  ])("%s: %j %s", async (found, records, more) => {
    if (records.length > 0) await made(...records);
    expect(await find(terminal(more))).toMatchObject({ found });
  });

  test("on any page", async () => {
    await made(...times(150, (n) => ({ terminalCode: `T-${n}`, name: "not T-76-TX-2780" })));
    const [id] = await made({ ...there, createdAt: instant(0) });
    expect(await find()).toMatchObject({ found: "exact", ids: [id] });
  });

  test("which cannot be done just now proves nothing", async () => {
    await control.fault({ method: "GET", path: "/supplier-terminals", kind: "garbage", times: 5 });
    expect(await find()).toMatchObject({ found: "unreadable" });
  });
});

describe("a terminal that we made", () => {
  test("is changed", async () => {
    const [id = ""] = await made({ ...there, name: "Old", city: "Houston" });
    expect(await sink().send(changing(id), never)).toMatchObject({ outcome: "done", ids: [id] });
    expect(await stored()).toMatchObject([{ name: "Houston", city: "Houston" }]);
  });

  test.each([
    ["exact", {}],
    ["none", { name: "Old", updatedAt: instant(1) }],
    ["different", { name: "Old", updatedAt: instant(1_000) }],
  ])("shows the change or not: %s %j", async (found, fields) => {
    const [id = ""] = await made({ ...there, ...fields });
    const request = changing(id, terminal(), instant(1_000));
    expect(await sink().find(request, never)).toMatchObject({ found });
  });

  test("may be gone", async () => {
    expect(await sink().find(changing(nowhere), never)).toMatchObject({ found: "none" });
  });
});

describe("through the engine", () => {
  const write = { method: "POST", path: "/supplier-terminals" };

  test.each(unknownOutcomes)("there once, whatever happens: %j", async (fault) => {
    expect(await deliverThrough(platform, sink(), there, fault, write)).toEqual({ delivered: 1 });
    expect(await stored()).toMatchObject([there]);
  });

  test("one that somebody entered by hand is adopted, one with other fields is for a person", async () => {
    await made(there, { ...there, terminalCode: "T-2", name: "Dallas" });
    const documents = [terminal(), terminal().replace("T-76-TX-2780", "T-2")];
    const clock = await platform.clock();
    expect(await delivery(sink(), clock, documents.slice(0, 1)).settled()).toEqual({
      delivered: 1,
    });
    expect(await delivery(sink(), clock, documents.slice(1)).settled()).toEqual({ quarantined: 1 });
    expect(await control.requests("?method=POST")).toEqual([]);
  });

  describe("one whose code was changed in the ERP waits, and makes no second one", () => {
    const old = terminal(',"city":"Houston"');
    const renamed = old.replace("T-76-TX-2780", "T-76-TX-2780-NEW");
    const posts = async () => (await control.requests("?method=POST")).length;

    test.each([
      ["that this store has delivered", [old]],
      ["that a store delivered which is lost or was put back", []],
    ])("%s", async (_, before) => {
      const sent = delivery(sink(), await platform.clock(), before, [...before, renamed]);
      if (before.length === 0) await made({ ...there, city: "Houston" });
      expect((await sent.settled())["quarantined"]).toBe(1);
      const [told] = sent.store.questions.quarantine();
      expect(told).toMatchObject({
        code: "code-changed",
        cause: expect.stringContaining("T-76-TX-2780-NEW"),
      });
      expect(await posts()).toBe(before.length);
      const { engine, store, flow } = sent;
      const [known] = await stored();
      const decision = { by: "ann", note: "its new code", receiverId: String(known?.["id"]) };
      store.transaction(() => resolve(engine, select(engine, [flow], "all"), decision));
      expect(await sent.settled()).toEqual({ delivered: before.length + 1 });
      expect(store.links.find("invoice", "platform", decision.receiverId)).toMatchObject({
        erpId: `D-${before.length}`,
      });
      expect(await posts()).toBe(before.length);
    });

    test("where both are to be made at once", async () => {
      const sent = delivery(sink(), await platform.clock(), [old, renamed]);
      expect(await sent.settled()).toEqual({ delivered: 1, quarantined: 1 });
      expect(await posts()).toBe(1);
    });

    test("and is a terminal of its own when a person says so, or its place is another", async () => {
      await made({ ...there, city: "Houston" });
      const sent = delivery(sink(), await platform.clock(), [
        renamed,
        terminal(',"city":"Dallas"').replace("T-76-TX-2780", "T-3"),
      ]);
      expect(await sent.settled()).toEqual({ delivered: 1, quarantined: 1 });
      const { engine, store, flow } = sent;
      store.transaction(() => {
        for (const chosen of select(engine, [flow], "all")) retry(engine, chosen);
      });
      expect(await sent.settled()).toEqual({ delivered: 2 });
      expect(await stored()).toHaveLength(3);
    });
  });
});
