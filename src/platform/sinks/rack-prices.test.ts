import { describe, expect, test } from "vitest";
import { times } from "../../../test/conformance/support.ts";
import { delivery } from "../../../test/platform/deliver.ts";
import { faultFor, items, never, outgoing, usePlatform } from "../../../test/platform/support.ts";

const platform = usePlatform();
const { control } = platform;

const price = (terminalId: string, text: string, more = ""): string =>
  `{"terminalId":"${terminalId}","product":"ULSD","price":${text}${more}}`;
const two = [price("HOU-1", "2.503190"), price("HOU-2", "2.4000")];
const sink = () => platform.sink("rackPrices");
const send = async (...documents: string[]) => {
  const to = sink();
  return to.send(outgoing(to, documents), never);
};
const find = async (...documents: string[]) => {
  const to = sink();
  return to.find(outgoing(to, documents), never);
};
const kept = (terminalId: string, amount: number, more: object = {}) => ({
  terminalId,
  product: "ULSD",
  price: amount,
  ...more,
});

test("what is frozen has the digits of the documents, in their order", () => {
  expect(sink().freeze(items(...two))).toEqual({
    target: "POST /pricing/bulk/rack",
    body: `{"prices":[${two.join(",")}]}`,
  });
});

describe("what the contract does not take is refused before it costs a request", () => {
  test.each([
    ["prices.0.price", price("T", "0")],
    ["prices.0.price", price("T", "-1")],
    ["prices.0.price", price("T", "999999.000001")],
    ["prices.0.price", price("T", '"2.50"')],
    ["prices.0.terminalId", price("", "1")],
    ["prices.0.terminalId", price("x".repeat(51), "1")],
    ["prices.0.unit", price("T", "1", ',"unit":"liter"')],
    ["prices.0.product", '{"terminalId":"T","price":1}'],
  ])("%s", (field, document) => {
    expect(faultFor(sink(), document)).toMatchObject({ code: "over-the-contract", field });
  });

  test("200 prices are taken, 201 are not", () => {
    const many = times(200, (n) => price(`T-${n}`, "999999"));
    expect(faultFor(sink(), ...many)).toBeNull();
    expect(faultFor(sink(), ...many, price("T", "1"))).toMatchObject({ field: "prices" });
  });
});

test("what was sent is there, with its digits", async () => {
  expect(await send(...two)).toEqual({
    outcome: "done",
    detail: "200",
    ids: ["HOU-1 ULSD", "HOU-2 ULSD"],
  });
  expect(await control.stored("rack-prices", "supplier")).toHaveLength(2);
  const { text } = await control.ask("GET", "/records/rack-prices");
  expect(text).toContain('"price":2.503190');
  expect(text).toContain('"price":2.4000');
});

describe("an answer that counts fewer prices than were sent", () => {
  const ended = async () => {
    const sent = delivery(sink(), await platform.clock(), two);
    const counts = await sent.settled();
    const asked = sent.store.unfinished.of(sent.flow.flow, "needs-decision");
    return { ...counts, asked: asked.map(({ number }) => number) };
  };

  test("a person has those that are not there, and no other", async () => {
    await control.readings({ bulkPrices: "ownTerminals" });
    await control.records("supplier-terminals", [{ terminalCode: "HOU-1", name: "Houston" }]);
    expect(await ended()).toEqual({ delivered: 1, quarantined: 1, asked: ["HOU-2"] });
  });

  test("those that it had already may be none of them", async () => {
    await control.readings({ bulkPrices: "changesCounted" });
    await control.records("rack-prices", [kept("HOU-1", 2.50319)]);
    expect(await ended()).toEqual({ delivered: 2, asked: [] });
  });

  test("what is sent twice may be counted once", async () => {
    await control.readings({ bulkPrices: "changesCounted" });
    expect(await send(price("HOU-1", "2.5"), price("HOU-1", "2.50"))).toMatchObject({
      outcome: "done",
    });
  });
});

describe("looking for prices", () => {
  test("none of them is there", async () => {
    await control.records("rack-prices", [kept("HOU-3", 2.5)]);
    expect(await find(...two)).toEqual({
      found: "none",
      detail: "2 of 2 prices are not there, first HOU-1 ULSD",
    });
  });

  test("exact: all of them, by amount", async () => {
    await send(...two);
    expect(await find(...two)).toMatchObject({ found: "exact", ids: ["HOU-1 ULSD", "HOU-2 ULSD"] });
    expect(await find(price("HOU-2", "2.4"))).toMatchObject({ found: "exact" });
  });

  test("different: some of them", async () => {
    await control.records("rack-prices", [kept("HOU-1", 2.50319)]);
    expect(await find(...two)).toMatchObject({ found: "different" });
  });

  test("another amount, another product and another unit are not it", async () => {
    await control.records("rack-prices", [
      kept("HOU-1", 2.50318),
      kept("HOU-2", 2.4, { product: "ULSD DYED" }),
      kept("HOU-4", 0.66, { unit: "liter" }),
    ]);
    expect(await find(...two, price("HOU-4", "0.66"))).toMatchObject({ found: "none" });
  });

  test("terminal and product are two names, wherever their words part", async () => {
    await control.records("rack-prices", [{ terminalId: "A B", product: "C", price: 2 }]);
    expect(await find('{"terminalId":"A","product":"B C","price":2}')).toMatchObject({
      found: "none",
    });
  });

  test("a litre is written as ltr and found as liter; gallons are what nobody says", async () => {
    const units = ["ltr", "gal", "bbl", "mt"].map((unit) =>
      price(unit, "1.5", `,"unit":"${unit}"`),
    );
    await send(...units);
    const stored = await control.stored("rack-prices", "supplier");
    expect(new Set(stored.map(({ unit }) => unit))).toEqual(new Set(["gal", "liter", "bbl", "mt"]));
    expect(await find(...units)).toMatchObject({ found: "exact" });
    expect(await find(price("gal", "1.5"))).toMatchObject({ found: "exact" });
    expect(await find(price("ltr", "1.5"))).toMatchObject({ found: "none" });
  });

  test.each([
    ["first", 12],
    ["last", 10],
  ])("of several prices of one thing the latest counts, listed %s", async (_, created) => {
    const day = (n: number) => `2026-11-${n}T06:00:00Z`;
    await control.records("rack-prices", [
      kept("HOU-1", 2.5, { createdAt: day(11), effectiveAt: day(19) }),
      kept("HOU-1", 2.6, { createdAt: day(created), effectiveAt: day(20) }),
    ]);
    expect(await find(price("HOU-1", "2.6"))).toMatchObject({ found: "exact" });
    expect(await find(price("HOU-1", "2.5"))).toMatchObject({ found: "none" });
  });

  test("one that has ended is not it", async () => {
    await control.records("rack-prices", [
      kept("HOU-1", 2.6, { expiresAt: "2020-01-01T00:00:00Z" }),
    ]);
    expect(await find(price("HOU-1", "2.6"))).toMatchObject({ found: "none" });
  });

  test("on any page: 1,200 prices", async () => {
    await control.records(
      "rack-prices",
      times(1_200, (n) => kept(`T-${n}`, 2)),
    );
    expect(await find(price("T-0", "2"), price("T-1199", "2"))).toMatchObject({ found: "exact" });
    expect(await control.requests()).toHaveLength(3);
  });

  test.each([
    [{ kind: "status", status: 503, retryAfter: 90 }, 90_000],
    [{ kind: "reset" }, undefined],
    [{ kind: "garbage" }, undefined],
  ])("unreadable, which proves nothing: %j", async (fault, waitMs) => {
    await control.fault({ method: "GET", ...fault, times: 5 });
    const finding = await find(...two);
    expect(finding).toMatchObject({
      found: "unreadable",
      ...(waitMs === undefined ? {} : { waitMs }),
    });
  });
});
