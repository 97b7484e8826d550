import { expect, test } from "vitest";
import { Decimal } from "../core/decimal.ts";
import type { Facts } from "../core/holdings.ts";
import type { GoodsStanding, Standing, Wanted } from "./adapter.ts";
import { goodsLine, onSideOf, planGoods } from "./goods.ts";
import { identify } from "./identify.ts";
import { ladder, standing, wanted as document } from "./plan.fixture.ts";

const lineOf = (gallons: string) =>
  goodsLine({
    product: "ULSD",
    quantity: Decimal.of(gallons),
    unit: "gal",
    unitPrice: Decimal.of("2.4"),
  });
const factsOf = (gallons = "8000", side: "sale" | "purchase" = "sale"): Facts => ({
  words: { side },
  lines: [lineOf(gallons)],
});
const goods: GoodsStanding = {
  called: "sale 1",
  state: "processing",
  told: "sale 1 processing",
  unmarking: "platform:id-1 out of its comment",
};
const order = (more: Partial<Standing> = {}): Standing =>
  standing({ id: "sale 1", touched: null, facts: factsOf(), goods, ...more });
const wanted = (more: Partial<Wanted> = {}): Wanted => document({ expected: factsOf(), ...more });

function planned(one: Wanted, ...all: readonly Standing[]) {
  const [found = { is: "none" as const }] = identify([one], onSideOf(one, all), ladder);
  const next = planGoods({ kind: "order", books: "Books" }, one, found, all);
  return next.do === "ask" ? next.fault.code : next.do;
}

const other = factsOf("7500");
const draft = { rung: "draft" } as const;
const entered = { mark: null } as const;

test.for<[says: string, does: string, one: Partial<Wanted>, ...all: Partial<Standing>[]]>([
  ["one that is not there is made", "create", {}],
  ["one that ended before it was booked is nothing", "nothing", { target: "cancelled" }],
  ["a draft is confirmed", "posted", {}, draft],
  ["a draft that is to be one stays it", "nothing", { target: "draft" }, draft],
  ["what is left of a step is completed", "posted", {}, { unfinished: true }],
  ["our own draft is written anew", "amended", {}, { ...draft, facts: other }],
  ["a confirmed one is not", "changed-after-confirmation", {}, { facts: other }],
  [
    "nor is one that moves already",
    "changed-after-confirmation",
    {},
    { ...draft, facts: other, goods: { ...goods, fixed: true } },
  ],
  [
    "one that a person entered is taken when it says the same",
    "posted",
    {},
    { ...draft, ...entered },
  ],
  [
    "and left alone when it does not, whether its link names it or not",
    "another-order",
    { binding: "sale 1" },
    { ...draft, ...entered, facts: other },
  ],
  [
    "so is one that these books bill by themselves",
    "another-order",
    {},
    { ...entered, goods: { ...goods, stranger: "is invoiced by Books itself" } },
  ],
  ["another party's is not ours", "another-order", {}, { party: "C-2" }],
  ["two are for a person", "another-order", {}, {}, {}],
  ["an open one is cancelled", "cancelled", { target: "cancelled" }, draft],
  ["a confirmed one is for a person", "cancelled-after-confirmation", { target: "cancelled" }, {}],
  ["so is one that was cancelled there", "cancelled-in-books", {}, { rung: "cancelled" }],
  [
    "one that turned round since it was booked is not booked twice",
    "turned",
    {},
    { facts: factsOf("8000", "purchase") },
  ],
  [
    "until the first is cancelled",
    "create",
    {},
    { facts: factsOf("8000", "purchase"), rung: "cancelled" },
  ],
])("an order: %s", ([, does, one, ...all]) => {
  expect(planned(wanted(one), ...all.map(order))).toBe(does);
});
