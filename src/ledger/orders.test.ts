import { describe, expect, test } from "vitest";
import { Decimal } from "../core/decimal.ts";
import type { OrderDocument, ShipmentDocument } from "./documents.ts";
import { goodsAdapter, type GoodsRow, noteOf, orderIn, ticketIn } from "./goods.ts";
import { desired as document } from "./plan.fixture.ts";
import type { Desired } from "./port.ts";

const { signal } = new AbortController();
const call = { key: "k", signal, purpose: "delivery", made: new Set<string>() } as const;

const order = (more: Partial<GoodsRow> = {}): GoodsRow => ({
  side: "sale",
  id: "5",
  number: "12",
  state: "processing",
  status: "posted",
  marks: [],
  reference: "SO-1",
  party: "C-1",
  date: "2026-11-20",
  lines: [],
  ...more,
});

/** Of books that find all of these, whatever they are asked for. */
const ordersOf = (...all: readonly GoodsRow[]) =>
  goodsAdapter("order", {
    markedIn: "its comment",
    search: async ({ side }) => all.filter((one) => one.side === side),
    async *list(side) {
      yield { rows: all.filter((one) => one.side === side), position: "" };
    },
    isUnfinished: () => true,
    create: async () => "5",
    apply: async () => {},
  });

const ordered = (binding: string | null = null): Desired<"order"> => ({
  ...document({ binding }),
  document: { type: "sale", number: "SO-1", lines: [] } as unknown as OrderDocument,
});

test.each([
  ["sale 12", { side: "sale", number: "12", id: null, platformId: null }],
  ["sale 12 platform:id-1", { side: "sale", number: "12", id: null, platformId: "id-1" }],
  ["purchase #5 platform:id-1", { side: "purchase", number: null, id: "5", platformId: "id-1" }],
  ["12", null],
])("the name of an order of any age is read: %s", (id, name) => {
  expect(orderIn(id)).toEqual(name);
});

const marked = { marks: ["id-1"] };
const bought = { side: "purchase" } as const;
test.each<[says: string, found: string | null, more: Partial<GoodsRow>, bound?: string]>([
  ["with its mark is its own", "sale 12 platform:id-1", marked],
  ["with another's mark is not, also under its number", null, { marks: ["id-2"] }, "sale 12"],
  ["that a person entered may be its own", "sale 12", {}],
  ["that a person entered and cancelled is not", null, { status: "cancelled" }],
  ["cancelled, that its link names, is its own", "sale 12", { status: "cancelled" }, "sale 12"],
  ["of the other side is not, by its reference", null, bought],
  ["of the other side is told, by its mark", "purchase 12 platform:id-1", { ...bought, ...marked }],
  ["of the other side is told, by a link of its own side", "purchase 12", bought, "purchase 12"],
  ["of the other side is not, by a link with a mark", null, bought, "purchase 12 platform:id-9"],
])("an order %s", async (_, found, more, bound) => {
  const all = await ordersOf(order(more)).locate([ordered(bound)], call);
  expect(all.map(({ id }) => id)).toEqual(found === null ? [] : [found]);
});

test("an order may be unfinished on its own side only; a draft is named by its database id", async () => {
  const adapter = ordersOf(order(marked), order({ ...marked, ...bought }));
  const located = await adapter.locate([ordered()], call);
  expect(located.map(({ unfinished }) => unfinished)).toEqual([true, false]);
  const [draft] = await ordersOf(order({ status: "draft" })).get(["sale 12", "nothing"], call);
  expect(draft).toMatchObject({ id: "sale #5", aliases: ["sale #5"] });
  expect(await adapter.create([ordered()], call)).toEqual(["sale #5 platform:id-1"]);
});

describe("a delivery ticket", () => {
  const ticket = (more: Partial<GoodsRow> = {}): GoodsRow =>
    order({ number: "DT-1", status: "draft", marks: ["id-1"], ...more });
  const adapterOf = (one: GoodsRow) =>
    goodsAdapter("shipment", {
      search: async ({ numbers, ids }) =>
        numbers.includes(one.number ?? "") || ids.includes(one.id) ? [one] : [],
      async *list() {
        yield { rows: [one], position: "" };
      },
      create: async () => {},
      apply: async () => {},
    });
  const quantity = Decimal.of("0");
  const delivered = {
    id: "id-1",
    number: "DT-1",
    type: "out",
    status: "waiting",
    order: null,
    date: null,
    note: "gross 8010",
    lines: [{ product: "ULSD", quantity, unit: "gal" }],
  } as unknown as ShipmentDocument;
  const desired = { ...document({ number: "DT-1" }), document: delivered } as Desired<"shipment">;

  test.each([
    [
      "DT-1 done platform:id-1",
      { number: "DT-1", status: "done", brought: "DT-1 done", platformId: "id-1" },
    ],
    [
      "DT 1 waiting platform:id-1",
      { number: "DT 1", status: "waiting", brought: "DT 1 waiting", platformId: "id-1" },
    ],
    ["DT-1", null],
  ])("its name of any age is read: %s", (id, name) => {
    expect(ticketIn(id)).toEqual(name);
  });

  test.each<[says: string, unfinished: boolean, more: Partial<GoodsRow>]>([
    ["that says whose it is and waits is complete", false, {}],
    ["that does not is not", true, { marks: [] }],
    ["that was only entered is not", true, { status: "entered" }],
  ])("%s", async (_, unfinished, more) => {
    const [entry] = await adapterOf(ticket(more)).locate([desired], call);
    expect(entry).toMatchObject({ unfinished, id: "DT-1 waiting platform:id-1" });
  });

  test.each<[status: GoodsRow["status"], ...called: string[]]>([
    ["entered"],
    ["draft", "waiting"],
    ["posted", "waiting", "done"],
    ["cancelled", "waiting", "done", "cancelled"],
  ])("that is %s is called by what brought it there, and by its number", async (status, ...to) => {
    const [entry] = await adapterOf(ticket({ status })).get(["DT-1"], call);
    expect(entry?.aliases).toEqual(["DT-1", ...to.map((one) => `DT-1 ${one} platform:id-1`)]);
  });

  test("its note ends with whose it is", () => {
    expect(noteOf(delivered)).toBe("gross 8010\nplatform:id-1");
  });

  test("a line that moves nothing is refused before a request is made of it", () => {
    const accept = () => adapterOf(ticket()).accept?.(delivered);
    expect(accept).toThrow("the line of ULSD moves 0 gal");
  });
});
