import { describe, expect, test } from "vitest";
import { Ground } from "../../test/support/planted.ts";
import { askedOf } from "../../test/support/reconciling.ts";
import { type Pair, tellOf, twoSides } from "../../test/support/two-sides.ts";
import { Decimal } from "../core/decimal.ts";
import type { Facts, Holding } from "../core/holdings.ts";
import { agreeing } from "./case.ts";
import { type CaseRow, reconcile } from "./report.ts";

const wrong = ({ sides }: Ground): readonly CaseRow[] =>
  reconcile(askedOf(sides, tellOf(sides.pairs))).cases.filter(
    ({ bucket }) => !agreeing.has(bucket),
  );

/** An invoice that is paid on both sides, and the platform has none of its payments. */
function settledHere(): { site: Ground; own: Holding[] } {
  const site = new Ground(twoSides(16));
  const invoice = site.sides.pairs.find(({ kind, isPaid }) => kind === "invoice" && isPaid) as Pair;
  const { number } = site.sides.books.find(({ id }) => id === invoice.books)?.facts ?? {};
  const isOf = (one: Holding): boolean =>
    one.kind === "payment" && one.facts.words?.document === number;
  const own = site.sides.books
    .filter(isOf)
    .map((one): Holding => ({ ...one, id: `own ${one.id}`, mark: null }));
  for (const side of ["platform", "books"] as const)
    site.sides[side].splice(0, Infinity, ...site.sides[side].filter((one) => !isOf(one)));
  site.sides.books.push(...own);
  return { site, own };
}

test("a record that its side cannot tell whole is one row that says why and what to do, and the rest is compared", () => {
  const untold = {
    code: "cannot-be-told",
    message: 'the books cannot tell it: No rate found for currency "Euro".',
    next: "Enter the rate.",
  };
  const site = new Ground(twoSides(40));
  const invoice = site.take("invoice");
  site.change("books", invoice, (one) => ({ ...one, untold }));
  const other = site.take("invoice");
  site.facts("books", other, (facts) => ({ ...facts, party: "somebody else" }));
  expect(
    wrong(site).map(({ bucket, differences, cause }) => [bucket, differences[0], cause?.next]),
  ).toEqual(
    expect.arrayContaining([
      [
        "differs",
        { field: "comparison", platform: "held", books: `cannot be compared: ${untold.message}` },
        "Enter the rate.",
      ],
    ]),
  );
  expect(wrong(site)).toHaveLength(2);
  // On one side only it says so beside.
  const alone = new Ground(twoSides(40));
  const lost = alone.take("invoice");
  alone.change("books", lost, (one) => ({ ...one, untold, mark: null }));
  alone.sides.platform.splice(alone.sides.platform.indexOf(alone.of("platform", lost)), 1);
  alone.sides.links = alone.sides.links.filter(({ erpId }) => erpId !== lost.books);
  expect(wrong(alone)).toMatchObject([
    {
      bucket: "only in the ERP",
      cause: {
        code: "cannot-be-compared",
        message: `it is not on the platform, and ${untold.message}`,
      },
    },
  ]);
});

describe("a payment that only the books hold", () => {
  test("is out of scope where both sides call its invoice paid and it comes to the total: the platform takes no payments", () => {
    const { site, own } = settledHere();
    expect(wrong(site)).toEqual([]);
    const rows = reconcile(askedOf(site.sides, tellOf(site.sides.pairs))).cases.filter(({ key }) =>
      key.startsWith("books:own "),
    );
    expect(rows.map(({ bucket, cause }) => [bucket, cause?.message])).toEqual(
      own.map(({ facts }) => [
        "out of scope",
        `the platform takes no payments; invoice ${facts.words?.document} is paid on both sides`,
      ]),
    );
  });

  test("of several invoices is out of scope where all say that they are paid and all payments come to their totals", () => {
    const site = new Ground(twoSides(40));
    const paid = site.sides.pairs.filter(({ kind, isPaid }) => kind === "invoice" && isPaid);
    const several = paid.slice(0, 2).map((pair) => site.of("books", pair));
    const called = several.map(({ facts }) => facts.number ?? "");
    const isOf = ({ kind, facts }: Holding): boolean =>
      kind === "payment" && called.includes(facts.words?.document ?? "");
    const [one] = site.sides.books.filter(isOf) as [Holding];
    for (const side of ["platform", "books"] as const)
      site.sides[side].splice(0, Infinity, ...site.sides[side].filter((other) => !isOf(other)));
    const check = (amount: Decimal): Holding => ({
      ...one,
      id: "own check",
      mark: null,
      pays: called,
      facts: { ...one.facts, money: { amount }, words: { ...one.facts.words, document: null } },
    });
    const sum = Decimal.sum(several.map(({ facts }) => facts.money?.total ?? Decimal.zero));
    site.sides.books.push(check(sum));
    expect(wrong(site)).toEqual([]);
    site.sides.books.splice(-1, 1, check(sum.plus(Decimal.of("0.01"))));
    expect(wrong(site).map(({ key, bucket }) => [key, bucket])).toEqual([
      ["books:own check", "only in the ERP"],
    ]);
  });

  test("is told with its invoice where that began in the books: paid in part, or not on the platform at all", () => {
    const site = new Ground(twoSides(16));
    const pair = site.sides.pairs.find(
      ({ kind, began }) => kind === "invoice" && began === "books",
    ) as Pair;
    const { facts } = site.of("books", pair);
    const total = facts.money?.total ?? Decimal.zero;
    const amount = Decimal.of("100.00");
    site.facts("books", pair, (now) => ({
      ...now,
      money: { ...now.money, open: total.minus(amount) },
    }));
    const own = (id: string): Holding => ({
      kind: "payment",
      id,
      version: null,
      mark: null,
      change: null,
      facts: {
        party: facts.party ?? null,
        state: "paid",
        days: { date: "2026-11-20" },
        money: { amount },
        words: { document: facts.number ?? null },
      },
    });
    site.sides.books.push(own("own 1"));
    const told = () => wrong(site).map(({ kind, bucket }) => `${kind} ${bucket}`);
    expect(told()).toEqual(["invoice differs"]);
    // One more than its open amount says is nobody's.
    site.sides.books.push(own("own 2"));
    expect(told()).toEqual([
      "invoice differs",
      "payment only in the ERP",
      "payment only in the ERP",
    ]);
    // It may be a customer's for several documents: nobody is told to cancel it.
    expect(wrong(site)[1]?.cause?.next).toMatch(/^Look what it pays in the books/);
    site.sides.platform.splice(site.sides.platform.indexOf(site.of("platform", pair)), 1);
    site.sides.links = site.sides.links.filter(({ erpId }) => erpId !== pair.books);
    expect(told()).toEqual(["invoice only in the ERP"]);
  });

  test("is a difference where it is one payment too many, or pays less than the total", () => {
    const more = settledHere();
    const [first] = more.own as [Holding];
    more.site.sides.books.push({ ...first, id: "own once more" });
    expect(wrong(more.site).map(({ kind, bucket }) => `${kind} ${bucket}`)).toEqual(
      [...more.own, first].map(() => "payment only in the ERP"),
    );
    const less = settledHere();
    less.site.sides.books.splice(less.site.sides.books.indexOf(less.own[0] as Holding), 1, {
      ...(less.own[0] as Holding),
      facts: { ...less.own[0]?.facts, money: { amount: Decimal.of("0.01") } },
    });
    expect(new Set(wrong(less.site).map(({ kind, bucket }) => `${kind} ${bucket}`))).toEqual(
      new Set(["payment only in the ERP"]),
    );
  });

  test("is a difference where it names a payment of the platform, or both sides do not agree on its invoice", () => {
    const marked = settledHere();
    marked.site.sides.books.splice(marked.site.sides.books.indexOf(marked.own[0] as Holding), 1, {
      ...(marked.own[0] as Holding),
      mark: "a payment that was deleted",
    });
    expect(wrong(marked.site).map(({ bucket, cause }) => [bucket, cause?.code])).toContainEqual([
      "only in the ERP",
      "gone",
    ]);
    const open = settledHere();
    const number = open.own[0]?.facts.words?.document;
    const { pairs } = open.site.sides;
    const at = open.site.sides.platform.findIndex(({ facts }) => facts.number === number);
    const held = open.site.sides.platform[at] as Holding;
    const pair = pairs.find(({ platform }) => platform === held.id) as Pair;
    open.site.facts("platform", pair, (facts) => ({
      ...facts,
      state: "open",
      money: { ...facts.money, open: facts.money?.total ?? null },
    }));
    expect(wrong(open.site).map(({ kind, bucket }) => `${kind} ${bucket}`)).toEqual(
      expect.arrayContaining(["invoice differs", "payment only in the ERP"]),
    );
  });
});

describe("a document that its receiver keeps as a draft", () => {
  /** Where posting is left to a person, nothing is expected of the state. */
  function drafted(): { site: Ground; pair: Pair; told: ReturnType<typeof tellOf> } {
    const site = new Ground(twoSides(16));
    const pair = site.take("bill", ({ by }) => by === "link");
    site.facts("books", pair, (facts) => ({ ...facts, state: "draft" }));
    const tell = tellOf(site.sides.pairs);
    const told: typeof tell = (one) => {
      const said = tell(one);
      if (one.platform[0]?.id !== pair.platform || said === null || !("facts" in said)) return said;
      const { state: _, ...facts } = said.facts;
      return { ...said, facts };
    };
    return { site, pair, told };
  }
  const open = ({ site, told }: ReturnType<typeof drafted>): readonly CaseRow[] =>
    reconcile(askedOf(site.sides, told)).cases.filter(({ bucket }) => !agreeing.has(bucket));

  test("waits for the accountant, and is told after a day; what was edited in it differs", () => {
    const draft = drafted();
    expect(open(draft)).toMatchObject([
      {
        bucket: "waiting",
        overdue: true,
        cause: { message: "waits for an accountant: it is a draft in the books, not posted" },
      },
    ]);
    draft.site.facts("books", draft.pair, (facts) => ({
      ...facts,
      money: { ...facts.money, total: Decimal.of("1.00") },
    }));
    expect(open(draft).map(({ bucket }) => bucket)).toEqual(["differs"]);
  });

  test("is known by the id that it had as a draft once it is posted under a number: the link contradicts nothing", () => {
    const { site, pair } = drafted();
    site.change("books", pair, (holding) => ({
      ...holding,
      mark: pair.platform,
      aliases: ["#18"],
      facts: { ...holding.facts, state: "open" },
    }));
    site.sides.links = site.sides.links.map((link) =>
      link.erpId === pair.books ? { ...link, erpId: "#18" } : link,
    );
    expect(wrong(site)).toEqual([]);
  });
});

test("what began in the books and is gone there is not to be delivered again", () => {
  const site = new Ground(twoSides(40));
  const pair = site.take("invoice", ({ by }) => by === "link");
  site.remove("books", pair);
  const nextOf = (told: ReturnType<typeof tellOf>): string | undefined => {
    const [row] = reconcile(askedOf(site.sides, told)).cases.filter(
      ({ bucket }) => !agreeing.has(bucket),
    );
    expect(row).toMatchObject({ bucket: "only on the platform", cause: { code: "gone" } });
    return row?.cause?.next;
  };
  const tell = tellOf(site.sides.pairs);
  expect(nextOf(tell)).toBe(
    "It was deleted in the books, or they were restored: retry its delivery.",
  );
  // Nobody can say what it should be: the side that would is the one that has it no more.
  expect(nextOf((one) => (one.books.length === 0 ? null : tell(one)))).toMatch(
    /^If it began in the books, list it there again, or void it on the platform\./,
  );
});

test("a company of the platform that the store never linked is not gone from the books, whatever code its connection shows; a linked one is", () => {
  const site = new Ground(twoSides(16));
  const [never, linked] = [
    site.take("party", ({ by }) => by === "number"),
    site.take("party", ({ by }) => by === "link"),
  ];
  const skip = "no flow takes a party from the platform";
  for (const pair of [never, linked]) {
    const { number } = site.of("platform", pair).facts;
    site.change("platform", pair, (holding) => ({ ...holding, mark: number ?? null }));
    site.remove("books", pair);
  }
  const { cases } = reconcile(
    askedOf(site.sides, tellOf(site.sides.pairs), { told: () => null, stored: () => ({ skip }) }),
  );
  const of = (pair: Pair): unknown =>
    cases
      .filter(({ key, kind }) => kind === "party" && key === `platform:${pair.platform}`)
      .map(({ bucket, cause }) => [bucket, cause?.code, cause?.message]);
  expect(of(never)).toEqual([["out of scope", "out-of-scope", skip]]);
  expect(of(linked)).toMatchObject([["only on the platform", "gone", expect.any(String)]]);
});

describe("what the books settled as one payment, without a payment of the platform", () => {
  /** An invoice with one payment, which the books settled on another day. */
  function settledAsOne(): { site: Ground; payment: Pair } {
    const site = new Ground(twoSides(16));
    const payment = site.take("payment", ({ platform }) => platform.endsWith("00004"));
    const invoice = site.take("invoice", ({ platform }) => platform.endsWith("00002"), true);
    site.sides.links = site.sides.links.filter(({ platformId }) => platformId !== payment.platform);
    site.change("books", payment, (holding) => ({
      ...holding,
      id: "settlement",
      mark: invoice.platform,
      facts: { ...holding.facts, words: { ...holding.facts.words, reference: "as one" } },
    }));
    return { site, payment };
  }

  test("is told as that, and not as a side that is wrong: the late payment is noted on it", () => {
    const { site } = settledAsOne();
    expect(wrong(site)).toMatchObject([
      {
        kind: "payment",
        bucket: "differs",
        cause: { code: "settled-as-one", next: expect.stringContaining("No money") as string },
      },
    ]);
  });

  test("is told as that where the payments do not come to it, and never as entered by hand", () => {
    const { site, payment } = settledAsOne();
    site.facts("platform", payment, (facts) => ({ ...facts, money: { amount: Decimal.of("7") } }));
    const rows = wrong(site).filter(({ kind }) => kind === "payment");
    expect(rows.map(({ bucket, cause }) => [bucket, cause?.code])).toEqual([
      ["only on the platform", "missing"],
      ["only in the ERP", "settled-as-one"],
    ]);
  });
});

test.each(["number", "id"])(
  "a part that is paid by a payment which the platform took back is not said to need nothing, where books call the document by its %s",
  (by) => {
    const site = new Ground(twoSides(16));
    const payment = site.take("payment", ({ by: proof, platform }) => {
      return proof === "mark" && !platform.endsWith("0");
    });
    const { document } = site.of("books", payment).facts.words ?? {};
    const invoice = site.take(
      "invoice",
      (pair) => site.of("books", pair).facts.number === document,
      true,
    );
    const { total } = site.of("books", invoice).facts.money ?? {};
    const part = { amount: Decimal.of("10.00") };
    if (by === "id")
      site.facts("books", payment, (facts) => ({
        ...facts,
        words: { ...facts.words, document: site.of("books", invoice).id },
      }));
    for (const side of ["platform", "books"] as const) {
      site.facts(side, payment, (facts) => ({ ...facts, money: part }));
      const open = side === "platform" ? total : total?.minus(part.amount);
      site.facts(side, invoice, (facts) => ({
        ...facts,
        state: "open",
        money: { ...facts.money, open: open ?? null },
      }));
    }
    site.facts("platform", payment, (facts) => ({ ...facts, state: "ended" }));
    const { cases } = reconcile(askedOf(site.sides, tellOf(site.sides.pairs)));
    const told = cases.find(({ key }) => key === `platform:${invoice.platform}`);
    expect(told).toMatchObject({
      cause: {
        code: "progress",
        message: expect.stringContaining(payment.platform) as string,
        next: expect.stringContaining("payment first") as string,
      },
    });
  },
);

test("an invoice of the books that the platform calls disputed is told; one that came from there is noted in the books", () => {
  const site = new Ground(twoSides(16));
  const own = site.take("invoice", ({ began }) => began === "books");
  site.facts("platform", own, (facts) => ({ ...facts, state: "disputed" }));
  // No mapping says what becomes of it on the platform.
  const tell = tellOf(site.sides.pairs);
  const told: typeof tell = (one) => {
    const said = tell(one);
    if (said === null || !("facts" in said)) return said;
    const { state: _, ...facts } = said.facts;
    return { ...said, facts };
  };
  const { cases } = reconcile(askedOf(site.sides, told));
  expect(cases.filter(({ bucket }) => !agreeing.has(bucket))).toMatchObject([
    {
      key: `platform:${own.platform}`,
      cause: { code: "progress" },
      differences: [{ field: "state", platform: "disputed", books: "open" }],
    },
  ]);
});

test("an invoice that waits for its payments is waiting while nothing but its progress differs", () => {
  const site = new Ground(twoSides(16));
  const pair = site.take("invoice", ({ by }) => by === "mark", true);
  const total = (facts: Holding["facts"]) => facts.money?.total ?? null;
  site.facts("books", pair, (facts) => ({
    ...facts,
    state: "open",
    money: { ...facts.money, open: total(facts) },
  }));
  const stored = () => ({ settling: { for: "its payments, until tomorrow" } });
  const told = (): unknown =>
    reconcile(askedOf(site.sides, tellOf(site.sides.pairs), { stored }))
      .cases.filter(({ key }) => key === `platform:${pair.platform}`)
      .map(({ bucket, cause }) => [bucket, cause?.code]);
  expect(told()).toEqual([["waiting", "waiting"]]);
  site.facts("books", pair, (facts) => ({ ...facts, days: { ...facts.days, due: "2027-01-01" } }));
  expect(told()).toEqual([["differs", "fields"]]);
});

test("an invoice that only the platform has as paid names its payment, where that is in quarantine", () => {
  const site = new Ground(twoSides(16));
  const payment = site.take(
    "payment",
    ({ by, platform }) => by === "mark" && !platform.endsWith("0"),
  );
  const { document } = site.of("books", payment).facts.words ?? {};
  const isIts = (pair: Pair): boolean => site.of("books", pair).facts.number === document;
  const invoice = site.take("invoice", isIts, true);
  site.facts("books", invoice, (facts) => ({
    ...facts,
    state: "open",
    money: { ...facts.money, open: facts.money?.total ?? null },
  }));
  site.remove("books", payment);
  const stored = ({ kind }: Pick<Holding, "kind">) =>
    kind === "payment" ? { person: { why: "the party is not there" } } : {};
  const { cases } = reconcile(askedOf(site.sides, tellOf(site.sides.pairs), { stored }));
  const told = cases.find(({ key }) => key === `platform:${invoice.platform}`);
  expect(told).toMatchObject({
    bucket: "differs",
    cause: { message: `a payment of it is in quarantine: payment ${payment.platform}` },
  });
});

test("an order that its books keep by amounts alone is equal: no gallons are not zero gallons; other amounts differ", () => {
  const site = new Ground(twoSides(40));
  const [order, other] = [site.take("order"), site.take("order")];
  const byAmount = (facts: Facts, more = Decimal.zero): Facts => ({
    ...facts,
    lines: (facts.lines ?? []).map((line) => ({
      ...line,
      quantity: null,
      unitPrice: null,
      amount: line.amount.plus(more),
    })),
  });
  site.facts("books", order, (facts) => byAmount(facts));
  site.facts("books", other, (facts) => byAmount(facts, Decimal.of("0.01")));
  const tell = tellOf(site.sides.pairs);
  const { cases } = reconcile(
    askedOf(site.sides, (one) => {
      const told = tell(one);
      const isKept = one.books.some(({ id }) => id === order.books || id === other.books);
      return isKept && told !== null && "facts" in told
        ? { ...told, facts: byAmount(told.facts) }
        : told;
    }),
  );
  const differing = cases.filter(({ bucket }) => !agreeing.has(bucket));
  expect(differing.map(({ records }) => records.books.map(({ id }) => id))).toEqual([
    [other.books],
  ]);
  expect(differing[0]?.differences.map(({ field }) => field)).toEqual([
    "lines.1.amount",
    "lines.2.amount",
  ]);
});

test("an invoice that is paid on both sides, on another day on each, is not said to lack a payment; a credit is none", () => {
  const site = new Ground(twoSides(16));
  const paid = site.sides.pairs.find(({ kind, isPaid }) => kind === "invoice" && isPaid) as Pair;
  site.facts("platform", paid, (facts) => ({
    ...facts,
    days: { ...facts.days, paid: "2026-01-02" },
  }));
  site.facts("books", paid, (facts) => ({ ...facts, days: { ...facts.days, paid: "2026-01-03" } }));
  expect(wrong(site)).toMatchObject([
    {
      differences: [{ field: "days.paid" }],
      cause: { code: "fields", message: "it is paid on both sides, on another day on each" },
    },
  ]);
  site.facts("books", paid, (facts) => ({ ...facts, state: "settled" }));
  expect(wrong(site)).toMatchObject([{ cause: { code: "settled-otherwise" } }]);
});
