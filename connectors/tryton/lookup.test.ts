import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Books as Copy, trytonIsThere, useTryton } from "../../test/support/tryton.ts";
import { Refused } from "../../src/core/errors.ts";
import { type Lookup, openLookup } from "./books.ts";
import { openTryton, type Tryton } from "./wire.ts";

const MINUTE = 60_000;

describe.skipIf(!trytonIsThere)("codes of a real Tryton", () => {
  const server = useTryton();
  let shared: Copy;
  beforeAll(() => {
    shared = server.copy("shared");
  });

  /** A lookup with a clock of the test's own; `calls` are those that Tryton was asked. */
  function open(copy: Copy, user: { user: string; password: string } = copy) {
    let nowMs = Date.parse("2026-11-21T12:00:00Z");
    const now = (): Date => new Date(nowMs);
    const tryton = openTryton({ ...copy, ...user }, { note: () => {}, now });
    onTestFinished(() => tryton.close());
    const calls: string[] = [];
    const counted: Tryton = {
      ...tryton,
      call(method, params, options) {
        calls.push(method);
        return tryton.call(method, params, options);
      },
    };
    const lookup: Lookup = openLookup(counted, { now });
    return { tryton, lookup, calls, apply: (ms: number) => (nowMs += ms) };
  }

  test("a product brings the accounts of its category", async () => {
    const { lookup } = open(shared);
    const freight = await lookup.product("FREIGHT");
    expect(freight).toEqual({
      id: freight.id,
      revenue: { id: await lookup.account("4100"), code: "4100" },
      expense: { id: await lookup.account("5100"), code: "5100" },
    });
    // A code of the cross-reference, with its leading zero.
    expect((await lookup.product("087")).revenue?.id).toBe(await lookup.account("4000"));
  });

  test("a category that leaves its accounts to the one above has those", async () => {
    const copy = server.copy("category");
    const { tryton, lookup } = open(copy, copy.admin);
    const [fuel] = await tryton.call<[number]>("model.product.category.search", [
      [["name", "=", "Fuel"]],
      0,
      1,
      null,
    ]);
    const below = { name: "Diesel", parent: fuel, accounting: true, account_parent: true };
    const [category] = await tryton.call<[number]>("model.product.category.create", [[below]]);
    const [template] = await tryton.call<[number]>("model.product.template.search", [
      [["products.code", "=", "ULSD-CLR"]],
      0,
      1,
      null,
    ]);
    await tryton.call("model.product.template.write", [[template], { account_category: category }]);
    expect(await lookup.product("ULSD-CLR")).toMatchObject({
      revenue: { id: await lookup.account("4000"), code: "4000" },
      expense: { id: await lookup.account("5000"), code: "5000" },
    });
  });

  test("what people set up once is asked for once, and again after ten minutes or when the clock was set back", async () => {
    const { lookup, calls, apply } = open(shared);
    await lookup.account("4000");
    await lookup.account("4000");
    expect(calls).toHaveLength(1);
    apply(11 * MINUTE);
    await lookup.account("4000");
    expect(calls).toHaveLength(2);
    apply(-24 * 60 * MINUTE);
    await lookup.account("4000");
    expect(calls).toHaveLength(3);
  });

  test("many are asked for in one call per kind, and then no more", async () => {
    const { lookup, calls } = open(shared);
    const codes = { account: ["4000", "4100"], product: ["FREIGHT", "087", "87"], unit: ["gal"] };
    await lookup.load(codes);
    await lookup.load({ ...codes, product: ["FREIGHT", "087"] });
    expect(calls).toHaveLength(3);
    const one = open(shared).lookup;
    expect(await lookup.account("4100")).toBe(await one.account("4100"));
    expect(await lookup.product("087")).toEqual(await one.product("087"));
    expect(await lookup.unit("gal")).toEqual(await one.unit("gal"));
    expect(calls).toHaveLength(3);
    await expect(lookup.product("87")).rejects.toThrow("Tryton has no product 87");
  });

  test("a missing code is found as soon as somebody has created it", async () => {
    const copy = server.copy("created");
    const { tryton, lookup } = open(copy, copy.admin);
    await expect(lookup.location("WH-9")).rejects.toThrow("Tryton has no location WH-9");
    const values = { name: "A tank", code: "WH-9", type: "storage" };
    const [id] = await tryton.call<[number]>("model.stock.location.create", [[values]]);
    expect(await lookup.location("WH-9")).toBe(id);
  });

  test.each([
    ["account", "9999"],
    ["product", "87"],
    ["unit", "GAL"],
    ["journal", "rev"],
  ] as const)("%s %s is refused with the code and what to do", async (kind, code) => {
    const { lookup } = open(shared);
    const error: unknown = await lookup[kind](code).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Refused);
    const { fault } = error as Refused;
    expect(fault).toMatchObject({
      code: "not-in-tryton",
      message: `Tryton has no ${kind} ${code}`,
      field: kind,
    });
    expect(fault.next).toContain("Create the");
  });

  test("a code that two accounts have names neither", async () => {
    const copy = server.copy("twice");
    const { tryton, lookup } = open(copy, copy.admin);
    const second = await lookup.account("4100");
    await tryton.call("model.account.account.write", [[second], { code: "4000" }]);
    await lookup.load({ account: ["4000"], product: [], unit: [] });
    await expect(lookup.account("4000")).rejects.toMatchObject({
      fault: { code: "twice-in-tryton" },
    });
  });
});
