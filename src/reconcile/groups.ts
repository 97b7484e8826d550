/** Records of one kind, and the groups that proof joins them into. */
import { type Holding, type HoldingKind, identityOf, type Role } from "../core/holdings.ts";
import { foldedNumber } from "../core/keys.ts";
import { otherSide, type Proof, type Records, type Side } from "./case.ts";

export type Alias = (side: Side, holding: Holding) => string | null;

/** Each record once: the newest version of it, where versions sort; else the one that was told last. */
export function distinct(holdings: readonly Holding[]): Holding[] {
  const newest = new Map<string, Holding>();
  for (const holding of holdings) {
    const key = `${holding.kind} ${identityOf(holding)}`;
    const before = newest.get(key);
    if (before === undefined || (holding.version ?? "") >= (before.version ?? ""))
      newest.set(key, holding);
  }
  return [...newest.values()];
}

/** A record in its group; groups merge. */
export interface Node {
  readonly side: Side;
  readonly holding: Holding;
  /** In the other side's words where they differ. */
  readonly number: string | null;
  group: Group;
}

export interface Group {
  readonly nodes: Node[];
  by: Proof;
}

type ByText = Readonly<Record<Side, ReadonlyMap<string, readonly Node[]>>>;

/** The records of one kind. */
export class Table {
  readonly kind: HoldingKind;
  readonly nodes: readonly Node[];
  readonly #byId: Readonly<Record<Side, ReadonlyMap<string, readonly Node[]>>>;
  readonly byNumber: ByText;
  readonly byMark: ByText;

  constructor(kind: HoldingKind, rows: Records, alias: Alias) {
    const nodesOf = (side: Side): Node[] =>
      rows[side].flatMap((holding) => {
        if (holding.kind !== kind) return [];
        const number = alias(side, holding) ?? holding.facts.number ?? null;
        const node = { side, holding, number } as Node;
        node.group = { nodes: [node], by: null };
        return [node];
      });
    const nodes = { platform: nodesOf("platform"), books: nodesOf("books") };
    this.kind = kind;
    this.nodes = [...nodes.platform, ...nodes.books];
    const byId = (side: Side) => {
      const named = nodes[side].flatMap((node) =>
        [node.holding.id, ...(node.holding.aliases ?? [])].map((id) => ({ id, node })),
      );
      const byEach = new Map<string, Node[]>();
      // An id goes before what another record was called once.
      for (const { id, node } of named.toSorted((one, other) => rankOf(one) - rankOf(other)))
        byEach.set(id, [...(byEach.get(id) ?? []), node]);
      return byEach;
    };
    this.#byId = { platform: byId("platform"), books: byId("books") };
    const by = (keyOf: (node: Node) => string | null): ByText => ({
      platform: grouped(nodes.platform, keyOf),
      books: grouped(nodes.books, keyOf),
    });
    this.byNumber = by(({ number }) => (number === null ? null : comparedAs(kind, number)));
    this.byMark = by(({ holding }) => holding.mark);
  }

  /** The record that a side calls so. @param role of a party; null: whichever it is, unless there are several */
  find(side: Side, id: string, role: Role | null = null): Node | undefined {
    const all = this.#byId[side].get(id) ?? [];
    const ofRole = all.filter(({ holding }) => isOfRole(holding, role));
    const [one, another] = ofRole;
    return another === undefined || one?.holding.role === undefined ? one : undefined;
  }
}

const rankOf = ({ id, node }: { readonly id: string; readonly node: Node }): number =>
  id === node.holding.id ? 0 : 1;

/** Is it a party of this role? One of a list that has all of them is. */
export const isOfRole = ({ role }: Holding, wanted: Role | null): boolean =>
  wanted === null || role === undefined || role === wanted;

/** By a key; what has none is left out. */
export function grouped<T>(
  values: Iterable<T>,
  keyOf: (value: T) => string | null,
): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    if (key === null || key === "") continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}

export function join(one: Node, other: Node, by: Proof): void {
  const [from, to] =
    one.group.nodes.length < other.group.nodes.length
      ? [one.group, other.group]
      : [other.group, one.group];
  if (from === to) return;
  to.by ??= from.by ?? by;
  for (const node of from.nodes) {
    node.group = to;
    to.nodes.push(node);
  }
}

/** Has it a partner on the other side? */
export const isMatched = ({ side, group }: Node): boolean =>
  group.nodes.some((node) => node.side !== side);

/** By what two numbers of a kind are one; codes are told apart by their letters. */
export const comparedAs = (kind: HoldingKind, number: string): string =>
  kind === "party" || kind === "price" ? number : foldedNumber(number);

/** The records that a record's mark names. */
export function marked(table: Table, { side, holding }: Node): readonly Node[] {
  if (holding.mark === null) return [];
  const other = otherSide(side);
  const byId = table.find(other, holding.mark);
  return byId === undefined
    ? (table.byNumber[other].get(comparedAs(table.kind, holding.mark)) ?? [])
    : [byId];
}
