/** Records of one kind, and the groups that proof joins them into. */
import type { Holding, HoldingKind } from "../core/holdings.ts";
import { otherSide, type Proof, type Records, type Side } from "./case.ts";

export type Alias = (side: Side, holding: Holding) => string | null;

/** Each record once: the newest version of it, where versions sort; else the one that was told last. */
export function distinct(holdings: readonly Holding[]): Holding[] {
  const newest = new Map<string, Holding>();
  for (const holding of holdings) {
    const key = `${holding.kind} ${holding.id}`;
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
  readonly byId: Readonly<Record<Side, ReadonlyMap<string, Node>>>;
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
      const aliases = nodes[side].flatMap((node) =>
        (node.holding.aliases ?? []).map((alias) => [alias, node] as const),
      );
      return new Map([...aliases, ...nodes[side].map((node) => [node.holding.id, node] as const)]);
    };
    this.byId = { platform: byId("platform"), books: byId("books") };
    const by = (keyOf: (node: Node) => string | null): ByText => ({
      platform: grouped(nodes.platform, keyOf),
      books: grouped(nodes.books, keyOf),
    });
    this.byNumber = by(({ number }) => number);
    this.byMark = by(({ holding }) => holding.mark);
  }
}

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

/** The records that a record's mark names. */
export function marked(table: Table, { side, holding }: Node): readonly Node[] {
  if (holding.mark === null) return [];
  const other = otherSide(side);
  const byId = table.byId[other].get(holding.mark);
  return byId === undefined ? (table.byNumber[other].get(holding.mark) ?? []) : [byId];
}
