import { expect, test } from "vitest";
import type { Desired } from "./port.ts";
import type { OrderDocument } from "./documents.ts";
import { type BookedOrder, orderAdapter, orderIn } from "./orders.ts";
import { desired as document } from "./plan.fixture.ts";

const { signal } = new AbortController();
const call = { key: "k", signal, purpose: "delivery", made: new Set<string>() } as const;

const order = (more: Partial<BookedOrder<null>> = {}): BookedOrder<null> => ({
  side: "sale",
  id: "5",
  number: "12",
  state: "processing",
  status: "posted",
  mark: null,
  reference: "SO-1",
  party: "C-1",
  date: "2026-11-20",
  lines: [],
  native: null,
  ...more,
});

/** Of books that find all of these, whatever they are asked for. */
const adapterOf = (...all: readonly BookedOrder<null>[]) =>
  orderAdapter<null>({
    markedIn: "its comment",
    search: async (side) => all.filter((one) => one.side === side),
    async *list(side) {
      yield { rows: all.filter((one) => one.side === side), position: "" };
    },
    isUnfinished: async () => true,
    create: async () => "5",
    step: async () => {},
  });

const desired = (binding: string | null = null): Desired<"order"> => ({
  ...document({ binding }),
  document: { type: "sale", number: "SO-1", lines: [] } as unknown as OrderDocument,
});

test.each([
  ["sale 12", { side: "sale", number: "12", id: null, platformId: null }],
  ["sale 12 platform:id-1", { side: "sale", number: "12", id: null, platformId: "id-1" }],
  ["purchase #5 platform:id-1", { side: "purchase", number: null, id: "5", platformId: "id-1" }],
  ["12", null],
])("an id of any age is read: %s", (id, name) => {
  expect(orderIn(id)).toEqual(name);
});

test.each<[says: string, found: string | null, more: Partial<BookedOrder<null>>, bound?: string]>([
  ["with its mark is its own", "sale 12 platform:id-1", { mark: "id-1" }],
  ["with another's mark is not, also under its number", null, { mark: "id-2" }, "sale 12"],
  ["that a person entered may be its own", "sale 12", {}],
  ["that a person entered and cancelled is not", null, { status: "cancelled" }],
  [
    "is still its own, cancelled, when its link names it",
    "sale 12",
    { status: "cancelled" },
    "sale 12",
  ],
  ["of the other side is not, by its reference", null, { side: "purchase" }],
  [
    "of the other side is told, by its mark",
    "purchase 12 platform:id-1",
    { side: "purchase", mark: "id-1" },
  ],
  [
    "of the other side is told, by a link of its own side",
    "purchase 12",
    { side: "purchase" },
    "purchase 12",
  ],
  [
    "of the other side is not, by a link that has a mark",
    null,
    { side: "purchase" },
    "purchase 12 platform:id-9",
  ],
])("an order %s", async (_, found, more, bound) => {
  const all = await adapterOf(order(more)).locate([desired(bound)], call);
  expect(all.map(({ id }) => id)).toEqual(found === null ? [] : [found]);
});

test("a posted one may be unfinished on its own side only; a draft is named by its database id", async () => {
  const marked = { mark: "id-1" };
  const turned = order({ ...marked, side: "purchase" });
  const adapter = adapterOf(order(marked), turned);
  const located = await adapter.locate([desired()], call);
  expect(located.map(({ unfinished }) => unfinished)).toEqual([true, false]);
  const [draft] = await adapterOf(order({ status: "draft" })).get(["sale 12", "nothing"], call);
  expect(draft).toMatchObject({ id: "sale #5", aliases: ["sale #5"] });
  expect(await adapter.create([desired()], call)).toEqual(["sale #5 platform:id-1"]);
});
