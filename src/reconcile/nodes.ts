/** Records of one kind, the groups that proof joins them into, and what both sides call their parties. Pure. */
import {
  type Holding,
  type HoldingKind,
  identityOf,
  partyRole,
  type Role,
  roles,
} from "../core/holdings.ts";
import { push } from "../core/groups.ts";
import { foldedNumber } from "../core/keys.ts";
import { both, type Link, otherSide, type Proof, type Records, type Side } from "./case.ts";

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
  readonly #byId: ByText;
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
    const nodes = both(nodesOf);
    this.kind = kind;
    this.nodes = [...nodes.platform, ...nodes.books];
    this.#byId = both((side) => {
      const named = nodes[side].flatMap((node) =>
        [node.holding.id, ...(node.holding.aliases ?? [])].map((id) => ({ id, node })),
      );
      const byEach = new Map<string, Node[]>();
      // An id goes before what another record was called once.
      for (const { id, node } of named.toSorted((one, other) => rankOf(one) - rankOf(other)))
        push(byEach, id, node);
      return byEach;
    });
    const by = (keyOf: (node: Node) => string | null): ByText =>
      both((side) => grouped(nodes[side], keyOf));
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
const isOfRole = ({ role }: Holding, wanted: Role | null): boolean =>
  wanted === null || role === undefined || role === wanted;

/** By a key; what has none is left out. */
export function grouped<T>(
  values: Iterable<T>,
  keyOf: (value: T) => string | null,
): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    if (key !== null && key !== "") push(groups, key, value);
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

// Parties in one language: the books' code where it is known, by the parties themselves or by the store's links.

type Party = string | null | undefined;

/** A code is a party's together with what the party is to us. Role null: it is not known. */
export interface Names {
  /** Of a document or payment: the same text for the same party on both sides; null: none is shown. */
  partyOf(node: Node): string | null;
  /** For people: the books' code where it is known. */
  shown(side: Side, party: Party, role: Role | null): string | null;
  /** Do both sides know it? */
  isShared(side: Side, party: Party, role: Role | null): boolean;
}

/**
 * Parties must be joined before the first question. `documents`: what is joined of them tells the names that only a
 * cross-reference table of the mapping knows.
 */
export function namesOf(
  parties: Table,
  links: readonly Link[],
  documents: readonly Table[] = [],
): Names {
  const codes = new Map<string, string>();
  // Books may call a party by a name in their documents, and by a code in their list: both are it.
  const linked = new Set<string>();
  for (const { kind, platformId, erpId, role = null } of [...learnedFrom(documents), ...links])
    if (kind === "party")
      for (const one of role === null ? roles : [role]) {
        codes.set(keyOf(platformId, one), erpId);
        linked.add(`${one} ${erpId}`);
      }
  const codeFor = (party: string, role: Role | null): string | undefined =>
    role === null
      ? roles.map((one) => codes.get(keyOf(party, one))).find((code) => code !== undefined)
      : codes.get(keyOf(party, role));

  const recordOf = (side: Side, party: string, role: Role | null): Node | undefined =>
    parties.find(side, party, role) ??
    parties.byNumber[side].get(party)?.find(({ holding }) => isOfRole(holding, role));

  const byName = both((side) =>
    grouped(
      parties.nodes.filter((node) => node.side === side),
      ({ holding }) => holding.facts.words?.name ?? null,
    ),
  );
  const named = (side: Side, party: string, role: Role | null): Node | undefined => {
    const [one, another] = (byName[side].get(party) ?? []).filter(({ holding }) =>
      isOfRole(holding, role),
    );
    return another === undefined ? one : undefined;
  };

  const shown: Names["shown"] = (side, party, role) => {
    if (party === null || party === undefined || party === "") return null;
    const record = recordOf(side, party, role);
    const there = record?.group.nodes.find(
      (node) => node.side === "books" && isOfRole(node.holding, role),
    );
    if (there !== undefined) return there.holding.facts.number ?? there.holding.id;
    return side === "platform" ? (codeFor(party, role) ?? `platform ${party}`) : party;
  };
  return {
    shown,
    partyOf: ({ side, holding }) => shown(side, holding.facts.party, partyRole(holding)),
    isShared(side, party, role) {
      if (party === null || party === undefined || party === "") return false;
      const record = recordOf(side, party, role) ?? named(side, party, role);
      if (record !== undefined && isMatched(record)) return true;
      if (side === "platform") return codeFor(party, role) !== undefined;
      return (role === null ? roles : [role]).some((one) => linked.has(`${one} ${party}`));
    },
  };
}

const keyOf = (platformId: string, role: Role): string => `${role} ${platformId}`;

/** The platform's parties that all joined documents of a role name alike, by the books' codes. */
export function learnedFrom(documents: readonly Table[]): Link[] {
  const groups = new Set(documents.flatMap(({ nodes }) => nodes.map(({ group }) => group)));
  const told = [...groups].flatMap(({ nodes }): Required<Link>[] => {
    const of = (side: Side): string[] =>
      nodes.flatMap((node) => (node.side === side ? (node.holding.facts.party ?? []) : []));
    const role = nodes.map(({ holding }) => partyRole(holding)).find((one) => one !== null);
    if (role === undefined) return [];
    return of("platform").flatMap((platformId) =>
      of("books").map((erpId) => ({ kind: "party", platformId, erpId, role })),
    );
  });
  const same = grouped(told, ({ platformId, role }) => keyOf(platformId, role));
  return [...same.values()].flatMap(([first, ...others]) =>
    first && others.every(({ erpId }) => erpId === first.erpId) ? [first] : [],
  );
}
