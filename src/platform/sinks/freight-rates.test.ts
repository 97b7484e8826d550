import { beforeEach, describe, expect, test } from "vitest";
import { nowhere } from "../../../test/conformance/samples.ts";
import { instant, type Row } from "../../../test/conformance/support.ts";
import { delivery } from "../../../test/platform/deliver.ts";
import { deliverThrough, unknownOutcomes } from "../../../test/platform/outcomes-unknown.ts";
import { faultFor, items, never, outgoing, usePlatform } from "../../../test/platform/support.ts";

const platform = usePlatform();
const { control } = platform;

/** Two connections of the supplier. */
let here = "";
let elsewhere = "";
beforeEach(async () => {
  const connections = await control.stored("connections", "supplier");
  [here, elsewhere] = connections.map(({ id }) => String(id)) as [string, string];
});

const sink = () => platform.sink("freightRates");
const stored = () => control.stored("freight-rates", "supplier");
const made = async (...records: readonly Row[]): Promise<string[]> => {
  const all = records.map((record) => ({ connectionId: here, ...record }));
  return (await control.records("freight-rates", all)).map(({ id }) => String(id));
};
const send = async (document: string, to = sink()) => to.send(outgoing(to, [document]), never);
const find = async (document: string, firstSentAt: string | null = null, to = sink()) =>
  to.find(outgoing(to, [document], { firstSentAt }), never);

const lane = { originCity: "Houston", originState: "TX", destinationZip: "77002", product: "ULSD" };
/** Members are given as JSON text, so that numbers keep their digits. */
const rate = (more = ',"ratePerMile":3.250'): string =>
  `${JSON.stringify({ connectionId: here, ...lane }).slice(0, -1)}${more}}`;

describe("a new rate", () => {
  test("is frozen with its digits; its connection is in the path as well", () => {
    expect(sink().freeze(items(rate()))).toEqual({
      target: `POST /connections/${here}/freight-rates`,
      body: rate(),
    });
  });

  test.each([
    ["connectionId", () => rate().replace(here, "C-1")],
    ["customFees.0.label", () => rate(',"customFees":[{"amount":5}]')],
  ])(
    "that the contract does not take is refused before it costs a request: %s",
    (field, document) => {
      expect(faultFor(sink(), document())).toMatchObject({ code: "over-the-contract", field });
    },
  );

  test("without any price is refused", () => {
    expect(faultFor(sink(), rate(""))?.message).toContain("at least one of ratePerMile");
  });

  test("is there once, with its digits; the same again is replayed", async () => {
    const answer = await send(rate());
    const { text } = await control.ask("GET", "/records/freight-rates");
    expect(text).toContain('"ratePerMile":3.250');
    expect(answer).toMatchObject({ outcome: "done", ids: [(await stored())[0]?.["id"]] });
    expect(await send(rate())).toMatchObject({ outcome: "done", repeated: true, ids: answer.ids });
    expect(await stored()).toHaveLength(1);
  });

  const same = { ...lane, ratePerMile: 3.25 };

  test.each<[string, Row, string?]>([
    ["exact", same],
    ["exact", { ...same, notes: "other words", effectiveAt: instant(7) }],
    ["exact", { ...same, effectiveAt: instant(7) }, `,"effectiveAt":"${instant(7)}"`],
    [
      "exact",
      { ...same, customFees: [{ id: "1", label: "Toll", amount: 5, unit: null }] },
      ',"customFees":[{"label":"Toll","amount":5.00}]',
    ],
    ["exact", { ...same, customFees: null }, ',"customFees":[]'],
    ["none", { ...same, destinationCity: "Houston" }],
    ["none", { ...same, product: "ULSD-DYED" }],
    ["none", { ...same, product: null }],
    ["none", { ...same, ratePerMile: 3.26 }],
    ["none", { ...same, flatFee: 0 }],
    ["none", { ...same, distanceUnit: "KILOMETERS" }],
    ["none", { ...same, effectiveAt: instant(9) }, `,"effectiveAt":"${instant(7)}"`],
    [
      "none",
      { ...same, customFees: [{ id: "1", label: "Toll", amount: 6 }] },
      ',"customFees":[{"label":"Toll","amount":5}]',
    ],
  ])("is looked for by lane, amounts and beginning: %s %j %s", async (found, fields, more = "") => {
    const [id] = await made(fields);
    expect(await find(rate(`,"ratePerMile":3.25${more}`))).toMatchObject({
      found,
      ...(found === "exact" ? { ids: [id] } : {}),
    });
  });

  test("once it was sent, only rates made since then count; clocks may differ by two minutes", async () => {
    const [, id] = await made(
      { ...same, createdAt: instant(879) },
      { ...same, createdAt: instant(880) },
    );
    expect(await find(rate(), instant(1_000))).toMatchObject({ found: "exact", ids: [id] });
    expect(await find(rate(), instant(1_001))).toMatchObject({ found: "none" });
    expect(await find(rate())).toMatchObject({ found: "several" });
  });

  test("is not found on another connection, nor on one that is not there", async () => {
    await made({ ...same, connectionId: elsewhere });
    expect(await find(rate())).toMatchObject({ found: "none" });
    expect(await find(rate().replace(here, nowhere))).toMatchObject({ found: "none" });
  });

  test("cannot be looked for just now", async () => {
    const path = "/connections/{id}/freight-rates";
    await control.fault({ method: "GET", path, kind: "truncate", times: 5 });
    expect(await find(rate())).toMatchObject({ found: "unreadable" });
  });

  test("that somebody entered by hand is adopted", async () => {
    await made(same);
    const work = delivery(sink(), await platform.clock(), [rate()]);
    expect(await work.settled()).toEqual({ delivered: 1 });
    expect(await stored()).toHaveLength(1);
  });

  test.each([-600, 0, 600])(
    "is there once where the platform's clock is %s seconds from ours",
    async (seconds) => {
      const clock = await platform.clock();
      clock.set(-seconds * 1_000);
      const path = "/connections/{id}/freight-rates";
      await control.fault({ method: "POST", path, kind: "status", status: 503, when: "after" });
      const work = delivery(platform.sink("freightRates", { clock }), clock, [rate()]);
      expect(await work.settled()).toEqual({ delivered: 1 });
      expect(await stored()).toHaveLength(1);
    },
  );

  test.each(unknownOutcomes)("is there once, whatever happens: %j", async (fault) => {
    const document = { connectionId: here, ...same };
    const write = { method: "POST", path: "/connections/{id}/freight-rates" };
    expect(await deliverThrough(platform, sink(), document, fault, write)).toEqual({
      delivered: 1,
    });
    expect(await stored()).toMatchObject([same]);
  });
});

describe("a change", () => {
  const old = { ...lane, destinationCity: "Houston", ratePerMile: 3, updatedAt: instant(1) };
  const change = (freightRateId: unknown, more: Row = {}): string =>
    JSON.stringify({ freightRateId, connectionId: here, ...lane, ratePerMile: 3.25, ...more });

  test("goes to the rate that it names, and to the one that we made; the connection stays here", () => {
    const target = `PUT /freight-rates/${nowhere} /connections/${here}/freight-rates`;
    const body = JSON.stringify({ ...lane, ratePerMile: 3.25 });
    expect(sink().freeze(items(change(nowhere)))).toEqual({ target, body });
    const [item] = items(rate(',"destinationCity":null,"customFees":null,"ratePerMile":3.25'));
    if (item === undefined) throw new Error("no item");
    expect(sink().freeze([{ ...item, counterpart: nowhere }])).toEqual({ target, body });
  });

  test.each([
    ["freightRateId", () => change("R-1")],
    ["connectionId", () => change(nowhere, { connectionId: "C-1" })],
    ["ratePerMile", () => change(nowhere, { ratePerMile: -1 })],
    ["destinationCity", () => change(nowhere, { destinationCity: "Dallas" })],
    ["destinationState", () => change(nowhere, { destinationState: "TX" })],
    ["distanceUnit", () => change(nowhere, { distanceUnit: "KILOMETERS" })],
    ["customFees", () => change(nowhere, { customFees: [{ label: "Toll", amount: 5 }] })],
  ])(
    "that the contract does not take is refused before it costs a request: %s",
    (field, document) => {
      expect(faultFor(sink(), document())).toMatchObject({ code: "over-the-contract", field });
    },
  );

  test("leaves what it does not name", async () => {
    const [id] = await made(old);
    expect(await send(change(id))).toMatchObject({ outcome: "done", ids: [id] });
    expect(await send(change(id))).toMatchObject({ outcome: "done", repeated: true, ids: [id] });
    expect(await stored()).toMatchObject([
      { ...lane, destinationCity: "Houston", ratePerMile: 3.25 },
    ]);
  });

  test.each([
    ["exact", { ratePerMile: 3.25 }, {}],
    ["exact", { ratePerMile: 3.25 }, { customFees: null }],
    ["none", {}, {}],
    ["none", { ratePerMile: 3.25 }, { notes: "new" }],
    ["different", { updatedAt: instant(1_000) }, {}],
  ])("is looked for by what it says: %s %j %j", async (found, fields, more) => {
    const [id] = await made({ ...old, ...fields });
    expect(await find(change(id, more), instant(1_000))).toMatchObject({ found });
  });

  test("of a rate that is not on its connection is for a person, before anything is sent", async () => {
    const [id] = await made({ ...old, connectionId: elsewhere });
    const work = delivery(sink(), await platform.clock(), [change(id)]);
    expect(await work.settled()).toEqual({ quarantined: 1 });
    expect(await control.requests("?method=PUT")).toEqual([]);
  });

  test.each(unknownOutcomes)("is made, whatever happens: %j", async (fault) => {
    const [freightRateId] = await made(old);
    const document = { freightRateId, connectionId: here, ratePerMile: 3.25 };
    const write = { method: "PUT", path: "/freight-rates/{id}" };
    expect(await deliverThrough(platform, sink(), document, fault, write)).toEqual({
      delivered: 1,
    });
    expect(await stored()).toMatchObject([{ ...lane, ratePerMile: 3.25 }]);
  });
});

describe("the end of a rate", () => {
  const ends = () => platform.sink("endedFreightRates");
  const end = (freightRateId: unknown, connectionId = here): string =>
    JSON.stringify({ freightRateId, connectionId });

  test("has no body", () => {
    expect(ends().freeze(items(end(nowhere)))).toEqual({
      target: `DELETE /freight-rates/${nowhere} /connections/${here}/freight-rates`,
      body: "",
    });
  });

  test.each([
    ["freightRateId", () => end("R-1")],
    ["connectionId", () => end(nowhere, "C-1")],
  ])(
    "that the contract does not take is refused before it costs a request: %s",
    (field, document) => {
      expect(faultFor(ends(), document())).toMatchObject({ code: "over-the-contract", field });
    },
  );

  test("deletes it; one that is gone is as good", async () => {
    const [id, other] = await made({ flatFee: 1 }, { flatFee: 2 });
    const to = ends();
    expect(await to.send(outgoing(to, [end(id)]), never)).toMatchObject({ outcome: "done" });
    expect(await stored()).toMatchObject([{ id: other }]);
    const key = "fb1_test_another-key-again";
    expect(await to.send(outgoing(to, [end(id)], { key }), never)).toMatchObject({
      outcome: "done",
    });
  });

  test("is looked for in its connection", async () => {
    const [id] = await made({ flatFee: 1 });
    expect(await find(end(id), null, ends())).toMatchObject({ found: "none" });
    expect(await find(end(nowhere), null, ends())).toMatchObject({
      found: "exact",
      ids: [nowhere],
    });
    expect(await find(end(id, nowhere), null, ends())).toMatchObject({ found: "different" });
  });

  test("of one that is gone is done, without a person", async () => {
    const work = delivery(ends(), await platform.clock(), [end(nowhere)]);
    expect(await work.settled()).toEqual({ delivered: 1 });
  });

  test.each(unknownOutcomes)("comes, whatever happens: %j", async (fault) => {
    const [freightRateId, other] = await made({ flatFee: 1 }, { flatFee: 2 });
    const document = { freightRateId, connectionId: here };
    const write = { method: "DELETE", path: "/freight-rates/{id}" };
    expect(await deliverThrough(platform, ends(), document, fault, write)).toEqual({
      delivered: 1,
    });
    expect(await stored()).toMatchObject([{ id: other }]);
  });
});
