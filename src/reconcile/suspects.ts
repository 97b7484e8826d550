/** What may be the same and is not proven to be: named beside a one-sided case, never joined to it. */
import { type Holding, type HoldingKind, partyRole } from "../core/holdings.ts";
import { isLive } from "./case.ts";
import { grouped, isMatched, type Node, type Table } from "./groups.ts";
import type { Names } from "./names.ts";

const DAY_MS = 86_400_000;
const NEAR_DAYS = 5;

/**
 * Of a record without partner: those of its kind whose number is the same but for case, blanks and leading zeros; those
 * without partner of the other side with its party and amount within five days; parties of the same name.
 */
export function suspectsOf(
  tables: ReadonlyMap<HoldingKind, Table>,
  names: Names,
): (node: Node) => string[] {
  const indexes = new Map<HoldingKind, ReturnType<typeof indexOf>>();
  return (node) => {
    const { kind } = node.holding;
    const index = indexes.get(kind) ?? indexOf(tables.get(kind) as Table, names);
    indexes.set(kind, index);
    const alike = [
      ...(index.byNumber.get(folded(node.number ?? "")) ?? []),
      ...(index.byName.get(folded(node.holding.facts.words?.name ?? "")) ?? []),
      ...(index.byAmount.get(amountKey(node, names) ?? "") ?? []).filter(
        (other) => other.side !== node.side && isNear(node.holding, other.holding),
      ),
    ];
    const others = new Set(alike.filter(({ group }) => group !== node.group));
    return [...others].map((other) => inWords(other, names));
  };
}

function indexOf({ nodes }: Table, names: Names) {
  const live = nodes.filter(({ holding }) => isLive(holding));
  return {
    byNumber: grouped(live, ({ number }) => folded(number ?? "")),
    byName: grouped(live, ({ holding }) => folded(holding.facts.words?.name ?? "")),
    byAmount: grouped(live, (node) => (isMatched(node) ? null : amountKey(node, names))),
  };
}

/** `INV-0042` and `inv 42` … are one; a number's inner zeros stay. */
const folded = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/\s+/g, "")
    .replaceAll(/(?<!\d)0+(?=\d)/g, "");

function amountKey(node: Node, names: Names): string | null {
  const { money } = node.holding.facts;
  const amount = money?.total ?? money?.amount ?? null;
  const party = names.partyOf(node);
  return amount === null || party === null ? null : `${party} ${amount.plain()}`;
}

function isNear(one: Holding, other: Holding): boolean {
  const [day, another] = [one.facts.days?.date, other.facts.days?.date];
  if (!day || !another) return false;
  return Math.abs(Date.parse(day) - Date.parse(another)) <= NEAR_DAYS * DAY_MS;
}

function inWords({ side, holding }: Node, names: Names): string {
  const { number, days, money, words, party } = holding.facts;
  const parts = [
    names.shown(side, party, partyRole(holding)),
    words?.name,
    (money?.total ?? money?.amount)?.fixed(2),
    days?.date,
  ].filter(Boolean);
  return `${side} ${number ?? holding.id}${parts.length === 0 ? "" : ` (${parts.join(", ")})`}`;
}
