/** Parties in one language: the books' code where it is known, by the parties themselves or by the store's links. */
import { isOnBoth, type Judged, type Link, otherSide, type Side } from "./case.ts";
import type { Node, Table } from "./groups.ts";

export interface Names {
  /** Of a document or payment: the same text for the same party on both sides; null: none is shown. */
  partyOf(node: Node): string | null;
  /** For people: the books' code where it is known. */
  shown(side: Side, party: string | null | undefined): string | null;
  /** Do both sides know it? */
  isShared(side: Side, party: string | null | undefined): boolean;
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
  const codes = learnedFrom(documents);
  for (const { kind, platformId, erpId } of links)
    if (kind === "party") codes.set(platformId, erpId);
  const linked = new Set(codes.values());

  const recordOf = (side: Side, party: string): Node | undefined =>
    parties.byId[side].get(party) ?? parties.byNumber[side].get(party)?.[0];

  const shown = (side: Side, party: string | null | undefined): string | null => {
    if (party === null || party === undefined || party === "") return null;
    const record = recordOf(side, party);
    const there = record?.group.nodes.find((node) => node.side === "books");
    if (there !== undefined) return codeOf(there);
    return side === "platform" ? (codes.get(party) ?? `platform ${party}`) : party;
  };
  return {
    shown,
    partyOf: ({ side, holding }) => shown(side, holding.facts.party),
    isShared(side, party) {
      if (party === null || party === undefined || party === "") return false;
      const record = recordOf(side, party);
      if (record !== undefined && record.group.nodes.some((node) => node.side === otherSide(side)))
        return true;
      return side === "platform" ? codes.has(party) : linked.has(party);
    },
  };
}

/** The platform's parties that all joined documents name alike, by the books' codes. */
function learnedFrom(documents: readonly Table[]): Map<string, string> {
  const named = new Map<string, Set<string>>();
  const groups = new Set(documents.flatMap(({ nodes }) => nodes.map(({ group }) => group)));
  for (const { nodes } of groups) {
    const of = (side: Side): string[] =>
      nodes.flatMap((node) => (node.side === side ? (node.holding.facts.party ?? []) : []));
    for (const platform of of("platform"))
      named.set(platform, new Set([...(named.get(platform) ?? []), ...of("books")]));
  }
  const learned = new Map<string, string>();
  for (const [platform, [code, another]] of named)
    if (code !== undefined && another === undefined) learned.set(platform, code);
  return learned;
}

/**
 * The platform's parties in the books' words where documents that both sides have name them alike: a cross-reference table
 * of the mapping knows what no record joins. One that documents name in two ways keeps the platform's name.
 */
export function inBooksWords(judged: readonly Judged[]): readonly Judged[] {
  const named = new Map<string, Set<string>>();
  for (const one of judged) {
    const { platform, books } = one.parties;
    const differs = one.differences.some(({ field }) => field === "party" || field === "record");
    if (!isOnBoth(one) || differs || platform === null || books === null) continue;
    named.set(platform, (named.get(platform) ?? new Set()).add(books));
  }
  return judged.map((one) => {
    const [name, another] = named.get(one.parties.platform ?? "") ?? [];
    if (name === undefined || another !== undefined) return one;
    return { ...one, parties: { ...one.parties, platform: name } };
  });
}

const codeOf = ({ holding }: Node): string => holding.facts.number ?? holding.id;
