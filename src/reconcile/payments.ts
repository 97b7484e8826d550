/** Payments of both sides: by invoice, amount, day and reference; then those that were settled in one lump. */
import { Decimal } from "../core/decimal.ts";
import type { Holding } from "../core/holdings.ts";
import { isLive } from "./case.ts";
import {
  comparedAs,
  type Group,
  grouped,
  isMatched,
  join,
  marked,
  type Node,
  type Table,
} from "./groups.ts";
import type { Names } from "./names.ts";

/** Joins payments without partner. Equal payments pair one to one: two with one reference are two. */
export function matchPayments(payments: Table, documents: Table, names: Names): void {
  const documentOf = documentsOf(payments, documents, names);
  const keyOf = (node: Node): string | null => {
    const { words, days, money } = node.holding.facts;
    const document = documentOf(node);
    if (document === null || !money?.amount) return null;
    return [document, money.amount.plain(), days?.date ?? "", words?.reference ?? ""].join("\n");
  };
  const free = (): Node[] => payments.nodes.filter((node) => isFree(payments, node));
  for (const same of grouped(free(), keyOf).values()) {
    const [platform, books] = bySide(same);
    for (const [at, node] of platform.entries()) {
      const partner = books[at];
      if (partner !== undefined) join(node, partner, "number");
    }
  }
  for (const same of grouped(free(), documentOf).values()) joinLump(same);
}

/** The rest of an invoice, where one payment of one side is the sum of the other side's. */
function joinLump(nodes: readonly Node[]): void {
  const live = nodes.filter(({ holding }) => isLive(holding));
  const [platform, books] = bySide(live);
  const [one, other] = [platform[0], books[0]];
  if (one === undefined || other === undefined || (platform.length > 1 && books.length > 1)) return;
  if (!sumOf(platform).equals(sumOf(books))) return;
  for (const node of live) join(one, node, platform.length === books.length ? "number" : "lump");
}

/** Its own partner is not there to be joined: it has none, and no mark names one. */
const isFree = (payments: Table, node: Node): boolean =>
  !isMatched(node) && marked(payments, node).length === 0;

const bySide = (nodes: readonly Node[]): readonly [Node[], Node[]] => [
  nodes.filter(({ side }) => side === "platform"),
  nodes.filter(({ side }) => side === "books"),
];

const sumOf = (nodes: readonly Node[]): Decimal => totalPaid(nodes.map(({ holding }) => holding));

export const totalPaid = (holdings: readonly Holding[]): Decimal =>
  Decimal.sum(holdings.map(({ facts }) => facts.money?.amount ?? Decimal.zero));

/** The invoice of a payment as one text on both sides: its case where both were read, else party and number. */
function documentsOf(
  payments: Table,
  documents: Table,
  names: Names,
): (node: Node) => string | null {
  const ids = new Map<Group, string>();
  const idOf = (group: Group): string => {
    const id = ids.get(group) ?? `case ${ids.size}`;
    ids.set(group, id);
    return id;
  };
  return (node) => {
    const { side, holding } = node;
    const number = holding.facts.words?.document ?? null;
    const party = names.partyOf(node);
    // A settlement carries the mark of its invoice.
    const settled = holding.mark === null ? undefined : marked(documents, node)[0];
    if (settled !== undefined) return idOf(settled.group);
    if (number === null) return null;
    const numbered = documents.byNumber[side].get(comparedAs(documents.kind, number)) ?? [];
    const groups = groupsOf(numbered);
    const ofParty = groupsOf(numbered.filter((one) => names.partyOf(one) === party));
    const [group, another] = ofParty.length > 0 ? ofParty : groups;
    if (group !== undefined && another === undefined) return idOf(group);
    return `${party ?? ""} ${number} ${payments.kind}`;
  };
}

const groupsOf = (nodes: readonly Node[]): Group[] => [...new Set(nodes.map(({ group }) => group))];
