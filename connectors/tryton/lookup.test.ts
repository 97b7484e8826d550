import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Books as Copy, trytonIsThere, useTryton } from "../../test/support/tryton.ts";
import { Refused } from "../../src/core/errors.ts";
import { type Lookup, openLookup } from "./books.ts";
import { openTryton, type Tryton } from "./wire.ts";

describe.skipIf(!trytonIsThere)("codes of a real Tryton", () => {
  const server = useTryton();
  let shared: Copy;
  beforeAll(() => {
    shared = server.copy("shared");
  });

  /** `calls` are those that Tryton was asked. */
  function open(copy: Copy, user: { user: string; password: string } = copy) {
    const now = (): Date => new Date("2026-11-21T12:00:00Z");
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
    return { tryton, lookup, calls };
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
});
