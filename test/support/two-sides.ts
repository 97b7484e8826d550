/** Two sides that agree, as holdings: what reconciliation is tried and measured with. */
import { Decimal } from "../../src/core/decimal.ts";
import type { Facts, Holding, HoldingKind } from "../../src/core/holdings.ts";
import type { Case, Link, Side, Told } from "../../src/reconcile/case.ts";

const d = (digits: string): Decimal => Decimal.of(digits);
const at = (number: number): string => String(number).padStart(5, "0");

/** How a pair of records proves to be one. */
export const proofs = ["mark", "link", "number"] as const;
export type ProvedBy = (typeof proofs)[number];

export interface Pair {
  readonly kind: HoldingKind;
  readonly platform: string;
  readonly books: string;
  readonly by: ProvedBy;
  /** The side where it began. */
  readonly began: Side;
  /** Invoices and bills: has it payments? */
  readonly isPaid: boolean;
}

export interface TwoSides {
  readonly platform: Holding[];
  readonly books: Holding[];
  links: Link[];
  readonly pairs: readonly Pair[];
}

const PRODUCTS = ["ULSD", "REG", "PREM", "DYED"];

/**
 * `size` invoices, half as many bills, orders and tickets, payments for every second of them, a party for every eight, prices. Records carry
 * a mark, or the store links them, or only their numbers agree; every tenth invoice began in the books.
 */
export function twoSides(size: number): TwoSides {
  const sides: TwoSides & { pairs: Pair[] } = { platform: [], books: [], links: [], pairs: [] };
  const parties = Math.max(4, Math.ceil(size / 8));
  for (let n = 0; n < parties; n++) add(sides, "party", n, partyFacts(n), "books");
  for (let n = 0; n < 12; n++) add(sides, "price", n, priceFacts(n), "books");
  for (let n = 0; n < size; n++) addDocument(sides, "invoice", n, parties);
  for (let n = 0; n < size / 2; n++) addDocument(sides, "bill", n, parties);
  for (const kind of ["order", "ticket"] as const)
    for (let n = 0; n < size / 2; n++)
      add(sides, kind, n, goodsFacts(kind, n, parties), "platform");
  return sides;
}

function addDocument(
  sides: TwoSides & { pairs: Pair[] },
  kind: "invoice" | "bill",
  n: number,
  parties: number,
): void {
  const isPaid = n % 2 === 0;
  const facts = documentFacts(kind, n, parties, isPaid);
  const began = kind === "invoice" && n % 10 === 9 ? "books" : "platform";
  add(sides, kind, n, facts, began, isPaid);
  if (!isPaid) return;
  const halves = n % 4 === 0 ? 2 : 1;
  const total = facts.money?.total ?? Decimal.zero;
  for (let part = 0; part < halves; part++) {
    const first = halves === 1 ? total : d("100.00");
    const amount = part === 0 ? first : total.minus(first);
    const paid = paymentFacts(kind, n, part, facts, amount);
    add(sides, kind === "invoice" ? "payment" : "bill-payment", n * 2 + part, paid, "platform");
  }
}

function add(
  sides: TwoSides & { pairs: Pair[] },
  kind: HoldingKind,
  n: number,
  facts: Facts,
  began: Side,
  isPaid = false,
): void {
  const platform = kind === "party" ? companyOf(codeOf(n)) : `${kind}-p-${at(n)}`;
  const books = kind === "party" ? codeOf(n) : `${kind}-b-${at(n)}`;
  const by = proofs[(n + Math.floor(n / 4)) % 3] as ProvedBy;
  const isMarked = by === "mark" || kind === "party";
  const change = { id: "", version: null, text: "" };
  const marks = isMarked ? (began === "platform" ? { books: platform } : { platform: books }) : {};
  const holding = (side: Side): Holding => ({
    kind,
    id: side === "platform" ? platform : books,
    version: "1",
    mark: (marks as Partial<Record<Side, string>>)[side] ?? null,
    change: side === began ? change : null,
    facts: side === "platform" ? facts : inBooks(facts),
  });
  sides.platform.push(holding("platform"));
  sides.books.push(holding("books"));
  if (by !== "number") sides.links.push({ kind, platformId: platform, erpId: books });
  sides.pairs.push({ kind, platform, books, by, began, isPaid });
}

const codeOf = (n: number): string => `A-${at(n)}`;
const companyOf = (code: string): string => `co-${code}`;

const partyFacts = (n: number): Facts => ({
  number: codeOf(n),
  state: "open",
  words: { name: `Ranch Supply ${n}` },
});

const priceFacts = (n: number): Facts => ({
  number: `T-${Math.floor(n / 4)} ${PRODUCTS[n % 4]}`,
  money: { price: d(`2.${400 + n}137`) },
  words: { unit: "gal", currency: "USD" },
});

const day = (n: number): string => `2026-10-${String((n % 28) + 1).padStart(2, "0")}`;

function documentFacts(
  kind: "invoice" | "bill",
  n: number,
  parties: number,
  isPaid: boolean,
): Facts {
  const [one, other] = [d(`${1000 + (n % 900)}.${10 + (n % 90)}`), d(`${20 + (n % 70)}.05`)];
  const [federal, state] = [d(`${50 + (n % 40)}.12`), d(`${30 + (n % 20)}.08`)];
  const [untaxed, tax] = [one.plus(other), federal.plus(state)];
  const total = untaxed.plus(tax);
  const number = kind === "invoice" ? `FL-${at(n)}` : `V${n % parties}-${at(n)}`;
  return {
    number,
    party: companyOf(codeOf(n % parties)),
    state: isPaid ? "paid" : "open",
    days: { date: day(n), due: `2026-11-${String((n % 28) + 1).padStart(2, "0")}` },
    money: { untaxed, tax, total, open: isPaid ? Decimal.zero : total },
    words: {
      side: kind === "invoice" ? "sale" : "purchase",
      currency: "USD",
      reference: number,
      order: `PO ${n}`,
      notes: null,
    },
    lines: [
      line(PRODUCTS[n % 4] ?? "", one, "500"),
      line(PRODUCTS[(n + 1) % 4] ?? "", other, "10"),
    ],
    taxes: [
      { code: "FEDERAL", amount: federal },
      { code: "STATE", amount: state },
    ],
  };
}

const goodsFacts = (kind: "order" | "ticket", n: number, parties: number): Facts => ({
  number: `${kind === "order" ? "LD" : "DT"}-${at(n)}`,
  party: companyOf(codeOf(n % parties)),
  state: "posted",
  days: { date: day(n) },
  words: { side: "sale", ...(kind === "ticket" ? { reference: `BOL-${at(n)}` } : {}) },
  lines: [
    { ...line(PRODUCTS[n % 4] ?? "", Decimal.zero, `${7_000 + (n % 900)}.25`) },
    { ...line(PRODUCTS[(n + 1) % 4] ?? "", Decimal.zero, "1200") },
  ],
});

const line = (product: string, amount: Decimal, gallons: string) => ({
  product,
  account: `acc ${product}`,
  quantity: d(gallons),
  unit: "gal",
  unitPrice: null,
  amount,
});

const paymentFacts = (
  kind: "invoice" | "bill",
  n: number,
  part: number,
  document: Facts,
  amount: Decimal,
): Facts => ({
  party: document.party ?? null,
  state: "paid",
  days: { date: `2026-10-${String((n % 28) + 1 + part).padStart(2, "0")}` },
  money: { amount },
  words: {
    side: kind === "invoice" ? "sale" : "purchase",
    currency: "USD",
    document: document.number ?? null,
    reference: `ACH ${n}-${part}`,
  },
});

/** The platform's words in the books'; and the other way round. */
const inBooks = (facts: Facts): Facts => translated(facts, "", "erp ", /^co-/);
const onPlatform = (facts: Facts): Facts => translated(facts, "co-", "", /^$/, /^erp /);

function translated(facts: Facts, party: string, code: string, cut: RegExp, cutCode = /^$/): Facts {
  const word = (text: string): string => code + text.replace(cutCode, "");
  return {
    ...facts,
    ...(facts.party ? { party: party + facts.party.replace(cut, "") } : {}),
    ...(facts.lines
      ? {
          lines: facts.lines.map((one) => ({
            ...one,
            product: one.product === null ? null : word(one.product),
            ...(one.account ? { account: word(one.account) } : {}),
          })),
        }
      : {}),
    ...(facts.taxes ? { taxes: facts.taxes.map((tax) => ({ ...tax, code: word(tax.code) })) } : {}),
  };
}

/** As flows map: the record of the side where it began, in the other side's words. */
export function tellOf(pairs: readonly Pair[]): (one: Case) => Told | null {
  const began = new Map(
    pairs.map(({ kind, platform, books, began: side }) => {
      return [`${kind} ${side === "platform" ? platform : books}`, side];
    }),
  );
  return ({ kind, platform, books }) => {
    const isHere = books.find(({ id }) => began.get(`${kind} ${id}`) === "books");
    if (isHere !== undefined) return { began: "books", facts: onPlatform(isHere.facts) };
    const [first] = platform.filter(({ facts }) => facts.state !== "ended").concat(platform);
    return first === undefined ? null : { began: "platform", facts: inBooks(first.facts) };
  };
}
