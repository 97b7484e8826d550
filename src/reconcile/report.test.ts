import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Ground, plants } from "../../test/support/planted.ts";
import { askedOf } from "../../test/support/reconciling.ts";
import { numbers, runs } from "../../test/support/runs.ts";
import { tellOf, twoSides } from "../../test/support/two-sides.ts";
import { Decimal } from "../core/decimal.ts";
import type { Facts, Holding } from "../core/holdings.ts";
import { agreeing, type Case, type StoredState } from "./case.ts";
import { match } from "./match.ts";
import { type Asked, type CaseRow, reconcile, type Report } from "./report.ts";
import { agreementOf } from "../views/reconciliation.ts";

const open = (ground: Ground, more: Partial<Asked> = {}): readonly CaseRow[] =>
  told(ground, more).cases.filter(({ bucket }) => !agreeing.has(bucket));

const told = (ground: Ground, more: Partial<Asked> = {}): Report =>
  reconcile(askedOf(ground.sides, tellOf(ground.sides.pairs), more));

const ground = (size = 16): Ground => new Ground(twoSides(size));

const cent = (facts: Facts): Facts => ({
  ...facts,
  money: { ...facts.money, total: (facts.money?.total ?? Decimal.zero).plus(Decimal.of("0.01")) },
});

/** What the store knows of the cases of one pair. */
const knows =
  (key: string, stored: StoredState) =>
  (one: Case): StoredState =>
    one.key === key ? stored : {};

describe("every record is in exactly one case", () => {
  const id = fc.constantFrom("1", "2", "3", "4");
  const mark = fc.option(id, { nil: null });
  const holding: fc.Arbitrary<Holding> = fc.record({
    kind: fc.constantFrom("invoice", "payment", "party", "price", "bill"),
    id,
    version: fc.constant(null),
    mark,
    change: fc.constant(null),
    facts: fc.record(
      {
        number: id,
        party: mark,
        state: fc.constantFrom("open", "ended", "paid", "draft"),
        money: fc.record({
          total: fc.constantFrom("1", "2.004").map((digits) => Decimal.of(digits)),
          amount: fc.constantFrom("1", "2").map((digits) => Decimal.of(digits)),
        }),
        words: fc.record({ document: mark, reference: mark }),
      },
      { requiredKeys: [] },
    ),
  });
  const records = fc.record({ platform: fc.array(holding), books: fc.array(holding) });
  const links = fc.array(
    fc.record({ kind: fc.constantFrom("invoice", "payment", "party"), platformId: id, erpId: id }),
  );

  test("whatever marks, links and numbers say; and the sums tie to the rows", numbers, () => {
    fc.assert(
      fc.property(records, links, (both, ties) => {
        const asked = askedOf({ ...both, links: ties }, () => null);
        const report = reconcile(asked);
        expect(report.failures).toEqual([]);
        for (const side of ["platform", "books"] as const) {
          const read = new Set(both[side].map(({ kind, id: own }) => `${kind} ${own}`));
          const placed = report.cases.flatMap((row) =>
            row.records[side].map((one) => `${row.kind} ${one.id}`),
          );
          expect(placed.toSorted()).toEqual([...read].toSorted());
        }
        expect(new Set(report.cases.map(({ kind, key }) => `${kind} ${key}`)).size).toBe(
          report.cases.length,
        );
      }),
      { numRuns: runs(100, 1_000) },
    );
  });

  test("the order of the records and their repeats change nothing", numbers, () => {
    const sides = ground(120);
    for (const one of plants) one.plant(sides);
    const before = told(sides).cases;
    fc.assert(
      fc.property(
        fc.shuffledSubarray(sides.sides.platform, { minLength: sides.sides.platform.length }),
        fc.shuffledSubarray(sides.sides.books, { minLength: sides.sides.books.length }),
        (platform, books) => {
          const shuffled = { ...sides.sides, platform: [...platform, ...platform], books };
          const after = reconcile(askedOf(shuffled, tellOf(sides.sides.pairs))).cases;
          const of = (rows: readonly CaseRow[]) =>
            rows.map(({ key, bucket }) => `${key} ${bucket}`);
          expect(of(after).toSorted()).toEqual(of(before).toSorted());
        },
      ),
      { numRuns: runs(2, 20) },
    );
  });
});

describe("what could hide a difference", () => {
  test("a wrong mapping agrees with itself: the plain comparison finds it", () => {
    const site = ground();
    const pair = site.take("invoice", ({ began }) => began === "platform");
    site.facts("books", pair, cent);
    const tell = tellOf(site.sides.pairs);
    const wrong = (one: Case) =>
      one.books[0]?.id === pair.books
        ? { began: "platform" as const, facts: one.books[0].facts }
        : tell(one);
    expect(open(site, { told: wrong }).map((row) => row.differences[0]?.field)).toEqual([
      "money.total",
    ]);
  });

  test("a void whose books stand differs, although no link and no mark names them", () => {
    const site = ground();
    const pair = site.take("invoice", ({ by, began }) => by === "number" && began === "platform");
    site.facts("platform", pair, (facts) => ({ ...facts, state: "ended" }));
    const tell = tellOf(site.sides.pairs);
    const skips = (one: Case) =>
      one.platform[0]?.id === pair.platform
        ? { began: "platform" as const, skip: "void" }
        : tell(one);
    const [row] = open(site, { told: skips });
    expect(row).toMatchObject({ bucket: "differs", cause: { code: "void-stands" } });
    expect(row?.amount.platform).toBe("0.00");
  });

  test("a link that no record confirms joins nothing; the other record is named beside", () => {
    const site = ground();
    const pair = site.take("invoice", ({ by }) => by === "link");
    site.facts("books", pair, (facts) => ({ ...facts, number: "X", party: "A-00000", words: {} }));
    const rows = open(site);
    expect(rows.map(({ bucket }) => bucket)).toEqual(["only on the platform", "only in the ERP"]);
    expect(rows.map(({ suspects }) => suspects[0])).toEqual([
      "books X, by the store's link",
      expect.stringMatching(/^platform FL-\d+, by the store's link$/),
    ]);
  });

  test("a record whose mark names nothing is never out of scope, whatever a mapping says", () => {
    const site = ground();
    const pair = site.take("bill", ({ by }) => by === "mark");
    site.remove("platform", pair);
    const tell = tellOf(site.sides.pairs);
    const skips = (one: Case) =>
      one.books[0]?.id === pair.books
        ? { began: "books" as const, skip: "from the platform" }
        : tell(one);
    expect(open(site, { told: skips }).map(({ bucket, cause }) => [bucket, cause?.code])).toEqual([
      ["only in the ERP", "gone"],
    ]);
  });

  test("a settlement of another sum joins no payments: each is told alone", () => {
    const site = ground();
    const [first, second] = ["payment-b-00000", "payment-b-00001"].map((books) =>
      site.take("payment", (pair) => pair.books === books),
    );
    if (first === undefined || second === undefined) throw new Error("no payments");
    site.sides.links = [];
    site.remove("books", first);
    site.change("books", second, (holding) => ({
      ...holding,
      mark: null,
      facts: { ...holding.facts, money: { amount: Decimal.of("7") } },
    }));
    expect(open(site).map(({ bucket }) => bucket)).toEqual([
      "only on the platform",
      "only on the platform",
      "only in the ERP",
    ]);
  });

  test("what the other side never takes is accepted by whoever closes it; what it would take is told until it is there", () => {
    const site = ground();
    const pair = site.take("invoice");
    site.remove("platform", pair);
    site.sides.links = [];
    const [row] = open(site);
    const stored = knows(row?.key ?? "", { closed: true });
    const bucket = (code: string): string | undefined => {
      const fault = { code, message: "so it is", next: "Close it." };
      const told = () => ({ began: "books" as const, fault });
      const [first] = open(site, { told, stored }).filter(({ key }) => key === row?.key);
      return first?.bucket;
    };
    expect([bucket("credit-note"), bucket("no-customer")]).toEqual(["accepted", "only in the ERP"]);
  });

  test("an acceptance is of exactly these values: the next difference is told", () => {
    const site = ground();
    const pair = site.take("invoice");
    site.facts("books", pair, cent);
    const [row] = open(site);
    const stored = knows(row?.key ?? "", { accepted: row?.digest ?? "" });
    const report = told(site, { stored });
    expect(open(site, { stored }).map(({ bucket }) => bucket)).toEqual(["accepted"]);
    expect([report.agrees, report.groups]).toEqual([true, []]);
    expect(report.totals).toContainEqual(
      expect.objectContaining({ kind: "invoice", bucket: "accepted", cases: 1 }),
    );
    expect(agreementOf(report)).toBe(
      "Both sides agree, but for 1 difference that a person accepted",
    );
    site.facts("books", pair, cent);
    expect(open(site, { stored }).map(({ bucket }) => bucket)).toEqual(["differs"]);
  });

  test("what is equal, or doubled, is not hidden by an old quarantine; waiting is said, and overdue after a day", () => {
    const site = ground();
    const [equal, doubled, waits] = [site.take("invoice"), site.take("invoice"), site.take("bill")];
    site.addCopy("books", doubled, { mark: null });
    site.facts("books", waits, cent);
    const person = { why: "not mapped" };
    const storedStates: Record<string, StoredState> = {
      [`platform:${equal.platform}`]: { person },
      [`platform:${doubled.platform}`]: { person },
      [`platform:${waits.platform}`]: {
        waits: { for: "delivery 7", since: "2026-11-20T00:00:00Z" },
      },
    };
    const rows = open(site, { stored: ({ key }) => storedStates[key] ?? {} });
    expect(rows.map(({ bucket, overdue }) => ({ bucket, overdue }))).toEqual([
      { bucket: "twice", overdue: false },
      { bucket: "waiting", overdue: true },
    ]);
  });

  test("a document is not equal where a side shows no amount, or no mapping says what it should be", () => {
    const site = ground();
    const { money: _, ...without } = site.of("books", site.take("invoice")).facts;
    const pair = site.take("invoice");
    site.facts("books", pair, () => ({ number: without.number ?? "", state: "open" }));
    expect(
      open(site, { told: () => null }).every(({ cause }) => cause?.code === "cannot-be-compared"),
    ).toBe(true);
    expect(
      open(site).some(({ differences }) =>
        differences.some(({ books }) => books === "shows no amount"),
      ),
    ).toBe(true);
  });

  test("an ignored field is left out and printed; a kind that cannot be asked keeps the sides from agreeing", () => {
    const site = ground();
    site.facts("books", site.take("invoice"), (facts) => ({
      ...facts,
      words: { ...facts.words, notes: "by hand" },
    }));
    expect(told(site).agrees).toBe(false);
    expect(told(site, { ignore: { invoice: ["notes"] } }).agrees).toBe(true);
    const unasked = [{ endpoint: "erp", kind: "price", why: "its files hold no prices" }] as const;
    expect(told(ground(), { unasked }).agrees).toBe(false);
  });
});

describe("what could invent a difference", () => {
  test("a document whose payment is under way waits with it", () => {
    const site = ground();
    const payment = site.take("payment", ({ by }) => by === "mark");
    const { document } = site.of("platform", payment).facts.words ?? {};
    site.remove("books", payment);
    const invoice = site.take(
      "invoice",
      (pair) => site.of("books", pair).facts.number === document,
      true,
    );
    site.facts("books", invoice, (facts) => ({ ...facts, state: "open" }));
    const key = `platform:${payment.platform}`;
    const waits = { for: "delivery 9", since: null };
    const rows = open(site, { stored: knows(key, { waits }) });
    expect(rows.map(({ kind, bucket }) => `${kind} ${bucket}`)).toEqual([
      "invoice waiting",
      "payment waiting",
    ]);
  });

  test("books hold documents of parties that the platform does not know: out of scope, with the reason", () => {
    const site = ground();
    const pair = site.take("bill");
    const facts = { ...site.of("books", pair).facts, party: "POWER CO", number: "77" };
    site.addCopy("books", pair, { mark: null, change: null, facts });
    const report = told(site);
    expect(report.agrees).toBe(true);
    expect(report.cases.find(({ bucket }) => bucket === "out of scope")?.cause?.message).toBe(
      "the platform does not know party POWER CO",
    );
  });

  test("a party that books' documents call by its name is the party of that name, whatever its code", () => {
    const site = ground();
    const isHere = ({ kind }: Holding): boolean => kind === "party";
    const party = site.sides.books.find(isHere) as Holding;
    const name = "Ranch Supply";
    site.sides.books.splice(site.sides.books.indexOf(party), 1, {
      ...party,
      facts: { ...party.facts, words: { ...party.facts.words, name } },
    });
    const pair = site.take("bill");
    const facts = { ...site.of("books", pair).facts, party: name, number: "77" };
    site.addCopy("books", pair, { mark: null, change: null, facts });
    expect(told(site).cases.find(({ number }) => number === "77")?.bucket).toBe("only in the ERP");
  });

  test("a void that was never booked, a void on both and a reissue of its number agree", () => {
    const site = ground();
    const [never, both] = [
      site.take("invoice", ({ began }) => began === "platform"),
      site.take("bill", ({ by }) => by === "mark"),
    ];
    site.remove("books", never);
    site.facts("platform", never, (facts) => ({ ...facts, state: "ended" }));
    for (const side of ["platform", "books"] as const) {
      const before = site.of(side, both);
      const mark = side === "books" ? `${both.platform}-copy` : null;
      site.addCopy(side, both, { mark, facts: before.facts });
      site.facts(side, both, (facts) => ({ ...facts, state: "ended" }));
    }
    const report = told(site);
    expect(report.agrees).toBe(true);
    expect(report.totals.map(({ bucket }) => bucket)).toContain("void");
  });

  test("a document of another month is matched, and told under its own month", () => {
    const site = ground();
    const pair = site.take("invoice");
    for (const side of ["platform", "books"] as const)
      site.facts(side, pair, (facts) => ({
        ...facts,
        days: { ...facts.days, date: "2026-07-03" },
      }));
    const report = told(site);
    expect(report.agrees).toBe(true);
    expect(report.outside).toMatchObject([{ kind: "invoice", bucket: "equal", cases: 1 }]);
  });
});

describe("a reconciliation that cannot be trusted judges nothing", () => {
  test("where a list says another number of records than it showed", () => {
    const lists = [
      { side: "platform", kind: "invoice", what: "open", total: 17, distinct: 16 },
    ] as const;
    const report = told(ground(), { lists });
    expect(report).toMatchObject({ state: "failed", agrees: false, cases: [] });
    expect(report.failures[0]).toMatch(
      /the platform list of invoices \(open\) says 17 records and showed 16/,
    );
  });

  test("where a side shows less than half of what the last run found", () => {
    const previous = [{ side: "books", kind: "invoice", count: 33 }] as const;
    expect(told(ground(), { previous }).failures[0]).toMatch(
      /shows 16 invoices where the last run found 33/,
    );
    expect(told(ground(), { previous: [{ ...previous[0], count: 32 }] }).agrees).toBe(true);
  });

  test("where the cases are not the rows that were read", () => {
    const { sides } = ground();
    const cases = match({ records: sides, links: sides.links });
    const lacking = told(new Ground(sides), { cases: cases.slice(1) });
    expect(lacking.failures[0]).toMatch(/control sums of the rows and of the cases differ/);
    const doubled = told(new Ground(sides), { cases: [...cases, ...cases.slice(0, 1)] });
    expect(doubled.state).toBe("failed");
  });
});

describe("sums", () => {
  test("the bridge leads from the platform's total to the books', and open amounts age by their due date", () => {
    const site = ground();
    for (const pair of [site.take("invoice"), site.take("invoice")])
      site.facts("books", pair, cent);
    site.remove("books", site.take("invoice"));
    const report = told(site, { today: "2026-12-10" });
    const bridge = report.bridges.find(({ kind }) => kind === "invoice");
    const steps = Decimal.sum(
      (bridge?.steps ?? []).map(({ difference }) => Decimal.of(difference)),
    );
    expect(Decimal.of(bridge?.platform ?? "").minus(steps).text).toBe(bridge?.books);
    expect(bridge?.steps.map(({ bucket }) => bucket)).toEqual(["differs", "only on the platform"]);
    for (const age of ["30", "60"] as const)
      expect(report.balances.some(({ platform }) => platform[age] !== "0.00")).toBe(true);
  });

  test("the books' ledger is held against their own documents", () => {
    const ledger = [{ kind: "invoice", party: "A-00001", open: Decimal.of("5") }] as const;
    expect(told(ground(), { ledger }).notices[0]).toMatch(
      /A-00001: the books' ledger has 5.00 receivable/,
    );
  });

  test("over 20 cases and a fifth of a kind alike are one mismatch", () => {
    const site = ground(120);
    for (let n = 0; n < 25; n++) site.facts("books", site.take("invoice"), cent);
    site.remove("books", site.take("bill"));
    expect(told(site).groups.map(({ isStorm, cases }) => [isStorm, cases.length])).toEqual([
      [true, 25],
      [false, 1],
    ]);
  });

  test("sides that swap show what only one has on the other side", () => {
    const site = ground();
    const there = site.take("price", ({ by }) => by === "link");
    site.remove("books", there);
    const swapped = {
      platform: site.sides.books,
      books: site.sides.platform,
      links: site.sides.links.map(({ kind, platformId, erpId }) => ({
        kind,
        platformId: erpId,
        erpId: platformId,
      })),
    };
    const buckets = (sides: Parameters<typeof askedOf>[0]) =>
      reconcile(askedOf(sides, () => null))
        .cases.filter(({ kind }) => kind === "price")
        .map(({ bucket }) => bucket);
    expect(buckets(site.sides)).toContain("only on the platform");
    expect(buckets(swapped)).toContain("only in the ERP");
  });

  test("a report survives JSON whole", () => {
    const report = told(ground());
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  });
});
