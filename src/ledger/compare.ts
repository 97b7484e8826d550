/**
 * The comparison: what a version maps to, beside what is held. Delivery plans from it, verification and reconciliation
 * report it, and a configuration's `ignore` filters it here and nowhere else.
 */
import { distinctly, inCents } from "../core/text.ts";
import { Decimal } from "../core/decimal.ts";
import { sameNumber } from "../core/keys.ts";
import {
  type Difference,
  type FactLine,
  type Facts,
  type FactTax,
  type HoldingKind,
  isProgress,
} from "../core/holdings.ts";
import type { GoodsKind } from "./port.ts";

/** Fields that a configuration may leave out of the comparison: text for people. Everything else always counts. */
export const ignorable = ["notes", "order", "name", "address", "lines.text"] as const;
type Ignorable = (typeof ignorable)[number];
export type Ignore = Readonly<Partial<Record<HoldingKind, readonly Ignorable[]>>>;

/**
 * `content`: what a document says. `progress`: how far it has come (state, what is open, when it was paid), which
 * delivery brings about step by step.
 */
type Group = "content" | "progress";

/** A ticket is called a shipment where it is written. */
type ComparedKind = HoldingKind | GoodsKind;

const DOCUMENT =
  "number party side state days.date days.due days.paid money.untaxed money.tax money.total money.open currency reference order notes";
const PAYMENT =
  "number party side state days.date money.amount currency document check reference notes";
const SHIPMENT = "number party side state days.date reference";

/** Every field of {@link Facts} that a kind has, in the order in which they are told. Lines and taxes are compared besides. */
const FIELDS: Readonly<Record<ComparedKind, string>> = {
  invoice: DOCUMENT,
  bill: DOCUMENT,
  payment: PAYMENT,
  "bill-payment": PAYMENT,
  party: "number state name address",
  price: "number money.price unit currency",
  order: "number party side state",
  ticket: SHIPMENT,
  shipment: SHIPMENT,
};

/** Undefined: not shown. */
function valueOf(facts: Facts, field: string): Value | undefined {
  const [group = "", name = ""] = field.split(".");
  if (group === "days" || group === "money")
    return (facts[group] as Readonly<Record<string, Value>> | undefined)?.[name];
  if (field === "number" || field === "party" || field === "state") return facts[field];
  return (facts.words as Readonly<Record<string, string | null>> | undefined)?.[field];
}

/** Numbers of goods are written as people like: those that are read as one do not differ. */
const isAlike = (kind: ComparedKind, field: string, ours: Value, theirs: Value): boolean =>
  field === "number" && GOODS.has(kind)
    ? sameNumber(String(ours), String(theirs))
    : isSame(ours, theirs);
const GOODS: ReadonlySet<ComparedKind> = new Set(["order", "ticket", "shipment"]);

/**
 * Every field that both show and that differs, in the order of the table; then lines, then taxes. Amounts are equal by
 * value, text by its letters, an empty text is none.
 */
export function compare(
  kind: ComparedKind,
  expected: Facts,
  held: Facts,
  { group, ignore = [] }: { readonly group?: Group; readonly ignore?: readonly string[] } = {},
): Difference[] {
  const differences = FIELDS[kind].split(" ").flatMap((field): Difference[] => {
    if (group !== undefined && (group === "progress") !== isProgress({ field })) return [];
    const [ours, theirs] = [valueOf(expected, field), valueOf(held, field)];
    if (ours === undefined || theirs === undefined) return [];
    return isAlike(kind, field, ours, theirs) ? [] : [differenceIn(field, ours, theirs)];
  });
  if (group !== "progress") {
    if (expected.lines !== undefined && held.lines !== undefined)
      differences.push(...compareLines(expected.lines, held.lines, ignore));
    if (expected.taxes !== undefined && held.taxes !== undefined)
      differences.push(...compareTaxes(expected.taxes, held.taxes));
  }
  return differences.filter(({ field }) => !ignore.includes(field));
}

/** A cause for people: one line per field, `payer: books A-1038, platform A-1001`. */
export function inWords(
  kind: HoldingKind,
  { field, expected, held }: Difference,
  sides: { readonly expected: string; readonly held: string },
): string {
  const [should, is] = distinctly(expected, held);
  return `${labelOf(kind, field)}: ${sides.held} ${is}, ${sides.expected} ${should}`;
}

/** Lines that a cause shows. */
const SHOWN = 12;

/** Each difference on a line of its own, and how many more there are. @param books what people call the books */
export function inLines(kind: HoldingKind, all: readonly Difference[], books: string): string {
  const sides = { expected: "platform", held: books };
  const more = all.length - SHOWN;
  return [
    ...all.slice(0, SHOWN).map((one) => inWords(kind, one, sides)),
    ...(more > 0 ? [`and ${more} more`] : []),
  ].join("\n");
}

/** What people call a field: `payer`, `due date`, `line 2 amount`. */
export function labelOf(kind: HoldingKind, field: string): string {
  if (field === "party") return PARTIES[kind] ?? "party";
  const line = /^lines\.(\d+)(?:\.(\w+))?$/.exec(field);
  if (line !== null) return `line ${line[1]}${line[2] === undefined ? "" : ` ${wordsOf(line[2])}`}`;
  const tax = /^taxes\.(.+?)(?:\.(base))?$/.exec(field);
  if (tax !== null) return `tax ${tax[1]}${tax[2] === undefined ? "" : " base"}`;
  return LABELS[field] ?? field.replace(/^(?:days|money)\./, "");
}

const PARTIES: Readonly<Partial<Record<HoldingKind, string>>> = {
  invoice: "payer",
  payment: "payer",
  bill: "issuer",
  "bill-payment": "issuer",
};
const LABELS: Readonly<Record<string, string>> = {
  "days.due": "due date",
  "days.paid": "paid on",
  "days.date": "date",
  "money.untaxed": "subtotal",
  order: "PO and contract",
  document: "invoice",
  check: "check number",
  record: "record",
};

/** The field of what cannot be compared whole: another matter than records that are there twice or not at all (`record`). */
export const UNTOLD = "comparison";
const wordsOf = (field: string): string => (field === "unitPrice" ? "unit price" : field);

/** As a multiset: first those that are equal in all that both show, then the rest in order. */
function compareLines(
  expected: readonly FactLine[],
  held: readonly FactLine[],
  ignore: readonly string[],
): Difference[] {
  const parts = LINE_PARTS.filter((name) => !ignore.includes(`lines.${name}`));
  const differsIn = (ours: FactLine, theirs: FactLine): typeof parts =>
    parts.filter((name) => {
      const [one, other] = [ours[name], theirs[name]];
      return one !== undefined && other !== undefined && !isSame(one, other);
    });
  const left = [...held];
  const rest = [...expected.entries()].filter(([, ours]) => {
    const at = left.findIndex((theirs) => differsIn(ours, theirs).length === 0);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  const differences = rest.flatMap(([at, ours]): Difference[] => {
    const theirs = left.shift();
    const field = `lines.${at + 1}`;
    if (theirs === undefined) return [{ field, expected: lineInWords(ours), held: NONE }];
    return differsIn(ours, theirs).map((name) =>
      differenceIn(`${field}.${name}`, ours[name] ?? null, theirs[name] ?? null),
    );
  });
  return [
    ...differences,
    ...left.map((theirs, at) => ({
      field: `lines.${expected.length + at + 1}`,
      expected: NONE,
      held: lineInWords(theirs),
    })),
  ];
}

const LINE_PARTS = [
  "product",
  "account",
  "quantity",
  "unit",
  "unitPrice",
  "amount",
  "text",
  "dimensions",
] as const satisfies readonly (keyof FactLine)[];

/** A line of goods comes to nothing: its quantity tells it. */
const lineInWords = ({ product, text, amount, quantity, unit }: FactLine): string => {
  const isGoods = amount.sign === 0 && quantity !== null;
  const comesTo = isGoods ? [quantity.plain(), unit] : [inCents(amount)];
  return [product ?? text ?? "a line", ...comesTo].filter((word) => word !== null).join(" ");
};

/** Sums per code, and per text where both sides have one: a side may split one tax over lines. */
function compareTaxes(expected: readonly FactTax[], held: readonly FactTax[]): Difference[] {
  const haveTexts = [...expected, ...held].every(({ text }) => text !== undefined);
  const nameOf = ({ code, text }: FactTax): string => (haveTexts ? `${code} ${text}` : code);
  const names = [...new Set([...expected, ...held].map(nameOf))];
  return names.flatMap((name, at): Difference[] => {
    const [ours, theirs] = [expected, held].map((taxes) =>
      taxes.filter((tax) => nameOf(tax) === name),
    ) as [FactTax[], FactTax[]];
    const field = `taxes.${apart(name, names.toSpliced(at, 1))}`;
    const amounts = differing(field, sumOf(ours, "amount"), sumOf(theirs, "amount"));
    const hasBases = [...ours, ...theirs].every(({ base }) => base !== undefined);
    const isOnBoth = ours.length > 0 && theirs.length > 0;
    const bases =
      hasBases && isOnBoth
        ? differing(`${field}.base`, sumOf(ours, "base"), sumOf(theirs, "base"))
        : [];
    return [...amounts, ...bases];
  });
}

const sumOf = (taxes: readonly FactTax[], of: "amount" | "base"): Decimal | null =>
  taxes.length === 0 ? null : Decimal.sum(taxes.map((tax) => tax[of] ?? Decimal.zero));

const differing = (field: string, ours: Decimal | null, theirs: Decimal | null): Difference[] =>
  isSame(ours, theirs) ? [] : [differenceIn(field, ours, theirs)];

export function isSame(one: Value, other: Value): boolean {
  if (one instanceof Decimal && other instanceof Decimal) return one.equals(other);
  return (one === "" ? null : one) === (other === "" ? null : other);
}

/** As it is, unless one of the others looks like it. */
function apart(name: string, others: readonly string[]): string {
  const shown = others.map((other) => distinctly(name, other)[0]);
  return shown.find((text) => text !== name) ?? name;
}

/** What a side shows of a field; null: nothing. */
export type Value = string | Decimal | null;

/** Two values that are not the same, as people tell them apart. */
export function differenceIn(field: string, ours: Value, theirs: Value): Difference {
  const [one, other] = [shown(ours), shown(theirs)];
  // Somebody has written the word.
  const isWord = one === other && one === NONE;
  const [expected, held] = isWord ? [quoted(ours), quoted(theirs)] : distinctly(one, other);
  return { field, expected, held };
}

const NONE = "none";
const shown = (value: Value): string =>
  value === null || value === "" ? NONE : value instanceof Decimal ? inCents(value) : value;
const quoted = (value: Value): string => (value === NONE ? `"${NONE}"` : shown(value));
