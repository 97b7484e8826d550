import { describe, expect, test } from "vitest";
import { Decimal } from "../../../src/core/decimal.ts";
import { trytonIsThere, useTryton } from "../../../test/support/tryton.ts";
import { PriceRecord } from "../../../src/ledger/documents.ts";
import { byId, type Desk, deskIn, exactly, reader, prices } from "./source.fixture.ts";

describe.skipIf(!trytonIsThere)("prices of Tryton", () => {
  const server = useTryton();

  async function listOf(desk: Desk, name: string, lines: readonly object[], more: object = {}) {
    const { company } = await desk.clerk.session();
    const values = { name, company, lines: [["create", lines]], ...more };
    return desk.create("product.price_list", values);
  }
  const codes = async (desk: Desk) => {
    const rows = await desk.clerk.call<{ id: number; code: string }[]>(
      "model.product.product.search_read",
      [[["code", "!=", "FREIGHT"]], 0, 2, [["code", "ASC"]], ["code"]],
    );
    return rows as [{ id: number; code: string }, { id: number; code: string }];
  };

  test("one record for each product of a list, with the digits that people typed", async () => {
    const desk = deskIn(server);
    const [a, b] = await codes(desk);
    await listOf(desk, "T-75-TX-2688", [
      { product: a.id, formula: "2.413750" },
      { product: b.id, formula: " 2.1 " },
      { formula: "unit_price" },
    ]);
    const { changes } = await reader(prices(desk.books)).read();
    const record = PriceRecord.parse(exactly(changes.find(({ id }) => id.endsWith(`|${a.code}`))));
    expect(record).toEqual({
      list: "T-75-TX-2688",
      product: a.code,
      price: Decimal.of("2.413750"),
      unit: "gal",
    });
    expect(record.price.text).toBe("2.413750");
    expect(Object.keys(byId(changes)).toSorted()).toEqual(
      [`T-75-TX-2688|${a.code}`, `T-75-TX-2688|${b.code}`].toSorted(),
    );
  });

  test("a formula that is no number, and prices by quantity, are faults of that product alone", async () => {
    const desk = deskIn(server);
    const [a, b] = await codes(desk);
    await listOf(desk, "T-1", [
      { product: a.id, formula: "unit_price * 1.1" },
      { product: b.id, formula: "2.10" },
    ]);
    await listOf(desk, "T-2", [
      { product: a.id, formula: "2.10", quantity: Decimal.of("1000").toJSON() },
      { product: a.id, formula: "2.20" },
    ]);
    const { changes } = await reader(prices(desk.books)).read();
    const faults = Object.fromEntries(changes.map(({ id, fault }) => [id, fault?.code]));
    expect(faults).toEqual({
      [`T-1|${a.code}`]: "no-constant",
      [`T-1|${b.code}`]: undefined,
      [`T-2|${a.code}`]: "no-single-price",
    });
  });

  test("two lists of one name have no price of their own", async () => {
    const desk = deskIn(server);
    const [a] = await codes(desk);
    await listOf(desk, "T-1", [{ product: a.id, formula: "2.10" }]);
    const it = reader(prices(desk.books));
    await it.read();
    await listOf(desk, "T-1", [{ product: a.id, formula: "2.90" }]);
    const { changes } = await it.read();
    expect(changes.length).toBeGreaterThan(0);
    for (const { fault } of changes) expect(fault).toMatchObject({ code: "no-single-price" });
  });

  test("one that people deactivate leaves its name to the other, and both are told as they are then", async () => {
    const desk = deskIn(server);
    const [a] = await codes(desk);
    const old = await listOf(desk, "T-1", [{ product: a.id, formula: "2.10" }]);
    await listOf(desk, "T-1", [{ product: a.id, formula: "2.90" }]);
    const it = reader(prices(desk.books));
    await it.read();
    await desk.write("product.price_list", old, { active: false });
    const { changes } = await it.read();
    expect(changes.flatMap(({ fault }) => fault ?? [])).toEqual([]);
    expect(byId(changes)).toMatchObject({ [`T-1|${a.code}`]: { price: 2.9 } });
  });

  test("a list whose prices have the taxes in them says so: rack prices are without", async () => {
    const desk = deskIn(server);
    const [a] = await codes(desk);
    await listOf(desk, "T-1", [{ product: a.id, formula: "2.90" }], { tax_included: true });
    const { changes } = await reader(prices(desk.books)).read();
    expect(byId(changes)).toMatchObject({ [`T-1|${a.code}`]: { price: 2.9, taxIncluded: true } });
  });

  test("a new price is told, and so is a list that was renamed", async () => {
    const desk = deskIn(server);
    const [a] = await codes(desk);
    const list = await listOf(desk, "T-1", [{ product: a.id, formula: "2.10" }]);
    const it = reader(prices(desk.books));
    await it.read();
    const line = await desk.one("product.price_list.line", "price_list", list);
    await desk.write("product.price_list.line", line, { formula: "2.20" });
    expect(byId((await it.read()).changes)).toMatchObject({ [`T-1|${a.code}`]: { price: 2.2 } });
    await desk.write("product.price_list", list, { name: "T-9" });
    expect(byId((await it.read()).changes)).toMatchObject({ [`T-9|${a.code}`]: { price: 2.2 } });
  });
});
