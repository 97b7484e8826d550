/** Differences of many kinds, each planted into two sides that agree, with what must be found. */
import { Decimal } from "../../src/core/decimal.ts";
import type { Facts, Holding, HoldingKind } from "../../src/core/holdings.ts";
import type { Bucket, Side } from "../../src/reconcile/case.ts";
import type { Pair, TwoSides } from "./two-sides.ts";

const d = (digits: string): Decimal => Decimal.of(digits);
const CENT = d("0.01");

/** What must be found: a case of this key, in this bucket; with this field, or this cause, where one is named. */
export interface Found {
  readonly key: string;
  readonly kind: HoldingKind;
  readonly bucket: Bucket;
  readonly field?: string;
  readonly code?: string;
}

export interface Plant {
  readonly name: string;
  readonly plant: (ground: Ground) => readonly Found[];
}

/** Two sides, and which of their pairs no plant has touched yet. */
export class Ground {
  readonly sides: TwoSides;
  readonly #free: Pair[];

  constructor(sides: TwoSides, free: readonly Pair[] = sides.pairs) {
    this.sides = sides;
    this.#free = [...free];
  }

  /** A pair that no plant has touched. Documents with payments are taken only when asked for. */
  take(kind: HoldingKind, wanted: (pair: Pair) => boolean = () => true, isPaid = false): Pair {
    const at = this.#free.findIndex(
      (pair) => pair.kind === kind && pair.isPaid === isPaid && wanted(pair),
    );
    const [pair] = at < 0 ? [] : this.#free.splice(at, 1);
    if (pair === undefined) throw new Error(`no ${kind} is left to plant a difference in`);
    return pair;
  }

  of(side: Side, pair: Pair): Holding {
    const found = this.sides[side].find(({ kind, id }) => kind === pair.kind && id === pair[side]);
    if (found === undefined) throw new Error(`${pair.kind} ${pair[side]} is not there`);
    return found;
  }

  change(side: Side, pair: Pair, change: (holding: Holding) => Holding): void {
    const holding = this.of(side, pair);
    this.sides[side][this.sides[side].indexOf(holding)] = change(holding);
  }

  facts(side: Side, pair: Pair, change: (facts: Facts) => Facts): void {
    this.change(side, pair, (holding) => ({ ...holding, facts: change(holding.facts) }));
  }

  remove(side: Side, pair: Pair): void {
    this.sides[side].splice(this.sides[side].indexOf(this.of(side, pair)), 1);
  }

  addCopy(side: Side, pair: Pair, change: Partial<Holding>): Holding {
    const copy = { ...this.of(side, pair), id: `${pair[side]}-copy`, ...change };
    this.sides[side].push(copy);
    return copy;
  }
}

const differs = (pair: Pair, field: string, code?: string): Found => ({
  key: `platform:${pair.platform}`,
  kind: pair.kind,
  bucket: "differs",
  field,
  ...(code === undefined ? {} : { code }),
});

const alone = (pair: Pair, side: Side, code?: string): Found => ({
  key: `${side}:${pair[side]}`,
  kind: pair.kind,
  bucket: side === "platform" ? "only on the platform" : "only in the ERP",
  ...(code === undefined ? {} : { code }),
});

const twice = (pair: Pair): Found => ({
  key: `platform:${pair.platform}`,
  kind: pair.kind,
  bucket: "twice",
  field: "record",
});

const indexOf = ({ platform }: Pair): number => Number(/\d+$/.exec(platform)?.[0]);
/** The only payment of its document. */
const isSingle = (pair: Pair): boolean => indexOf(pair) % 8 === 4;
const isKnown = ({ by }: Pair): boolean => by !== "number";
const isKnownSingle = (pair: Pair): boolean => isKnown(pair) && isSingle(pair);
const isMarked = ({ by, began }: Pair): boolean => by === "mark" && began === "platform";

/** One field of a record is changed on one side. */
function altered(
  name: string,
  kind: HoldingKind,
  field: string,
  change: (facts: Facts) => Facts,
  options: {
    readonly of?: (pair: Pair) => boolean;
    readonly side?: Side;
    readonly code?: string;
  } = {},
): Plant {
  return {
    name,
    plant: (ground) => {
      const pair = ground.take(kind, options.of);
      ground.facts(options.side ?? "books", pair, change);
      return [differs(pair, field, options.code)];
    },
  };
}

const withMoney =
  (name: "total" | "open" | "amount" | "price" | "tax", by: Decimal) =>
  (facts: Facts): Facts => {
    const before = facts.money?.[name] ?? Decimal.zero;
    return { ...facts, money: { ...facts.money, [name]: before.plus(by) } };
  };

const withWord =
  (name: "currency" | "reference" | "unit" | "name" | "notes" | "document", text: string) =>
  (facts: Facts): Facts => ({ ...facts, words: { ...facts.words, [name]: text } });

const withState =
  (state: NonNullable<Facts["state"]>) =>
  (facts: Facts): Facts => ({ ...facts, state });

const withDay =
  (name: "date" | "due", day: string) =>
  (facts: Facts): Facts => ({ ...facts, days: { ...facts.days, [name]: day } });

const withOtherParty = (facts: Facts): Facts => ({
  ...facts,
  party: facts.party === "A-00003" ? "A-00002" : "A-00003",
});

const withLines =
  (change: (lines: NonNullable<Facts["lines"]>) => NonNullable<Facts["lines"]>) =>
  (facts: Facts): Facts => ({ ...facts, lines: change(facts.lines ?? []) });

const alterations: readonly Plant[] = [
  altered("a total by a cent", "invoice", "money.total", withMoney("total", CENT)),
  altered("a bill's total by a cent", "bill", "money.total", withMoney("total", CENT)),
  altered("a total by a part of a cent", "bill", "money.total", withMoney("total", d("0.004"))),
  altered("another payer", "invoice", "party", withOtherParty, {
    of: isKnown,
  }),
  altered("another issuer", "bill", "party", withOtherParty, {
    of: isKnown,
  }),
  altered(
    "another product, hence account",
    "invoice",
    "lines.2.product",
    withLines(([one, two]) => [one, { ...two, product: "erp X", account: "erp acc X" }] as never),
  ),
  altered(
    "another account only",
    "bill",
    "lines.1.account",
    withLines(([one, two]) => [{ ...one, account: "erp acc X" }, two] as never),
  ),
  altered(
    "gallons moved between lines",
    "invoice",
    "lines.1.quantity",
    withLines(
      ([one, two]) =>
        [
          { ...one, quantity: d("510") },
          { ...two, quantity: d("0") },
        ] as never,
    ),
  ),
  altered(
    "a line lost, the sum kept",
    "invoice",
    "lines.2",
    withLines(([one, two]) => [{ ...one, amount: one?.amount.plus(two?.amount ?? CENT) }] as never),
  ),
  altered(
    "tax moved between kinds",
    "invoice",
    "taxes.erp FEDERAL",
    (facts) => ({
      ...facts,
      taxes: (facts.taxes ?? []).map((tax) => ({
        ...tax,
        amount: tax.amount.plus(tax.code === "erp STATE" ? CENT : CENT.negated()),
      })),
    }),
    { of: ({ began }) => began === "platform" },
  ),
  altered("due date", "invoice", "days.due", withDay("due", "2026-12-24")),
  altered("a date in another month", "bill", "days.date", withDay("date", "2026-11-01")),
  altered(
    "number",
    "invoice",
    "number",
    (facts) => {
      const number = `${facts.number}9`;
      return { ...facts, number, words: { ...facts.words, reference: number } };
    },
    { of: isKnown },
  ),
  altered("reference", "bill", "reference", withWord("reference", "X"), { side: "platform" }),
  altered("notes", "invoice", "notes", withWord("notes", "changed by hand")),
  altered("currency", "bill", "currency", withWord("currency", "CAD")),
  altered("PAID taken back", "invoice", "state", withState("paid")),
  altered("a void whose books stand", "invoice", "state", withState("ended"), {
    side: "platform",
    code: "void-stands",
  }),
  altered("cancelled in the books", "bill", "state", withState("ended"), {
    code: "ended-in-books",
  }),
  altered("a draft in the books", "invoice", "state", withState("draft")),
  altered("partly paid in the books", "invoice", "money.open", withMoney("open", d("-60"))),
  altered("a payment by a cent", "payment", "money.amount", withMoney("amount", CENT), {
    of: isKnownSingle,
  }),
  altered("a payment's reference", "bill-payment", "reference", withWord("reference", "X"), {
    of: isKnownSingle,
  }),
  altered("a payment on another invoice", "payment", "document", withWord("document", "FL-99999"), {
    of: isKnownSingle,
  }),
  altered("a payment taken back", "bill-payment", "state", withState("ended"), {
    of: isKnownSingle,
  }),
  altered("a party renamed", "party", "name", withWord("name", "Ranch")),
  altered("a party inactive", "party", "state", withState("ended")),
  altered("a price at its sixth digit", "price", "money.price", withMoney("price", d("0.000001")), {
    side: "platform",
  }),
  altered("the unit of a price", "price", "unit", withWord("unit", "bbl"), { side: "platform" }),
];

const others: readonly Plant[] = [
  {
    name: "a cent here, compensated there",
    plant: (ground) => {
      const [one, other] = [ground.take("invoice"), ground.take("invoice")];
      ground.facts("books", one, withMoney("total", CENT));
      ground.facts("books", other, withMoney("total", CENT.negated()));
      return [differs(one, "money.total"), differs(other, "money.total")];
    },
  },
  {
    name: "missing in the books",
    plant: (ground) => {
      const pair = ground.take("invoice");
      ground.remove("books", pair);
      return [alone(pair, "platform")];
    },
  },
  {
    name: "missing on the platform",
    plant: (ground) => {
      const pair = ground.take("bill", isMarked);
      ground.remove("platform", pair);
      return [alone(pair, "books", "gone")];
    },
  },
  {
    name: "entered by hand",
    plant: (ground) => {
      const pair = ground.take("bill");
      const facts = { ...ground.of("books", pair).facts, number: `HAND-${pair.books}`, words: {} };
      const copy = ground.addCopy("books", pair, { mark: null, change: null, facts });
      return [{ key: `books:${copy.id}`, kind: "bill", bucket: "only in the ERP", code: "extra" }];
    },
  },
  {
    name: "an invoice twice in the books",
    plant: (ground) => {
      const pair = ground.take("invoice");
      ground.addCopy("books", pair, { mark: null });
      return [twice(pair)];
    },
  },
  {
    name: "a bill twice on the platform",
    plant: (ground) => {
      const pair = ground.take("bill");
      ground.addCopy("platform", pair, { mark: null });
      return [twice(pair)];
    },
  },
  {
    name: "a payment twice in the books",
    plant: (ground) => {
      const pair = ground.take("payment", (one) => isMarked(one) && isSingle(one));
      ground.addCopy("books", pair, {});
      return [twice(pair)];
    },
  },
  {
    name: "a payment missing in the books",
    plant: (ground) => {
      const pair = ground.take("payment", isSingle);
      ground.remove("books", pair);
      return [alone(pair, "platform")];
    },
  },
  {
    name: "payments settled in one lump",
    plant: (ground) => {
      const invoice = ground.take("invoice", (pair) => indexOf(pair) % 4 === 0, true);
      const payment = (part: number): Pair =>
        ground.take("payment", (pair) => indexOf(pair) === indexOf(invoice) * 2 + part);
      const [first, second] = [payment(0), payment(1)];
      const { total } = ground.of("books", invoice).facts.money ?? {};
      ground.remove("books", first);
      ground.change("books", second, (holding) => ({
        ...holding,
        id: `settlement-${holding.id}`,
        mark: null,
        facts: {
          ...holding.facts,
          money: { amount: total ?? null },
          words: { ...holding.facts.words, reference: null },
        },
      }));
      return [differs(first, "record", "lumped")];
    },
  },
  {
    name: "a party doubled",
    plant: (ground) => {
      const pair = ground.take("party", ({ books }) => books !== "A-00003");
      ground.addCopy("books", pair, { mark: null });
      return [twice(pair)];
    },
  },
  {
    name: "a price missing on the platform",
    plant: (ground) => {
      const pair = ground.take("price");
      ground.remove("platform", pair);
      return [alone(pair, "books")];
    },
  },
  {
    name: "a sale that became a purchase",
    plant: (ground) => {
      const pair = ground.take("invoice", isMarked);
      ground.change("platform", pair, (holding) => ({ ...holding, kind: "bill" }));
      return [
        { ...alone(pair, "platform", "turned"), kind: "bill" },
        alone(pair, "books", "turned"),
      ];
    },
  },
  {
    name: "a link swapped between two",
    plant: (ground) => {
      const [one, other] = [ground.take("invoice", isLinked), ground.take("invoice", isLinked)];
      ground.sides.links = ground.sides.links.map((link) => {
        if (link.kind !== "invoice") return link;
        if (link.platformId === one.platform) return { ...link, erpId: other.books };
        return link.platformId === other.platform ? { ...link, erpId: one.books } : link;
      });
      return [differs(one, "link"), differs(other, "link")];
    },
  },
  {
    name: "a mark that contradicts the link",
    plant: (ground) => {
      const pair = ground.take("bill", isMarked);
      ground.sides.links.push({
        kind: "bill",
        platformId: pair.platform,
        erpId: "another",
      });
      return [differs(pair, "link")];
    },
  },
];

const isLinked = ({ by, began }: Pair): boolean => by === "link" && began === "platform";

const withQuantity = (quantity: string) =>
  withLines(([one, ...rest]) => [{ ...one, quantity: d(quantity) }, ...rest] as never);

/** Of orders and of tickets alike. */
const goods = (["order", "ticket"] as const).flatMap((kind): readonly Plant[] => [
  altered(`other gallons of an ${kind}`, kind, "lines.1.quantity", withQuantity("1.5")),
  altered(
    `another product of an ${kind}`,
    kind,
    "lines.2.product",
    withLines(([one, two]) => [one, { ...two, product: "erp X" }] as never),
  ),
  altered(
    `a line of an ${kind} lost`,
    kind,
    "lines.2",
    withLines((lines) => lines.slice(0, 1)),
  ),
  altered(`another party of an ${kind}`, kind, "party", withOtherParty, { of: isKnown }),
  altered(
    `a number of an ${kind} that a clerk has changed`,
    kind,
    "number",
    (facts) => ({ ...facts, number: `${facts.number}-NEW` }),
    { of: isMarked },
  ),
  altered(`an ${kind} that is a draft in the books`, kind, "state", withState("draft")),
  altered(`an ${kind} cancelled whose books stand`, kind, "state", withState("ended"), {
    side: "platform",
    code: "void-stands",
  }),
  altered(`an ${kind} cancelled in the books`, kind, "state", withState("ended"), {
    code: "ended-in-books",
  }),
  {
    name: `an ${kind} missing in the books`,
    plant: (ground) => {
      const pair = ground.take(kind);
      ground.remove("books", pair);
      return [alone(pair, "platform")];
    },
  },
  {
    name: `an ${kind} missing on the platform`,
    plant: (ground) => {
      const pair = ground.take(kind, isMarked);
      ground.remove("platform", pair);
      return [alone(pair, "books", "gone")];
    },
  },
  {
    name: `an ${kind} twice in the books`,
    plant: (ground) => {
      const pair = ground.take(kind, isMarked);
      ground.addCopy("books", pair, {});
      return [twice(pair)];
    },
  },
  {
    name: `an ${kind} that a clerk entered once more`,
    plant: (ground) => {
      const pair = ground.take(kind);
      ground.addCopy("books", pair, { mark: null });
      return [twice(pair)];
    },
  },
  {
    name: `an ${kind} of the books alone is no difference`,
    plant: (ground) => {
      const pair = ground.take(kind);
      const own = { number: `HAND-${pair.books}`, days: { date: "2026-09-01" } };
      const facts = { ...ground.of("books", pair).facts, ...own };
      ground.addCopy("books", pair, { mark: null, facts });
      return [];
    },
  },
  {
    name: `an ${kind} that a clerk copied under another number`,
    plant: (ground) => {
      const pair = ground.take(kind, isMarked);
      const facts = { ...ground.of("books", pair).facts, number: `HAND-${pair.books}` };
      const copy = ground.addCopy("books", pair, { mark: null, facts });
      return [{ key: `books:${copy.id}`, kind, bucket: "only in the ERP", code: "extra" }];
    },
  },
  {
    name: `a draft of an ${kind} that a clerk copied is no difference`,
    plant: (ground) => {
      const pair = ground.take(kind);
      const own = { number: `HAND-${pair.books}`, state: "draft" } as const;
      const facts = { ...ground.of("books", pair).facts, ...own };
      ground.addCopy("books", pair, { mark: null, facts });
      return [];
    },
  },
]);

export const plants: readonly Plant[] = [...alterations, ...others, ...goods];
