/** Parties in one language: the books' code where it is known, by the parties themselves or by the store's links. */
import { partyRole, type Role, roles } from "../core/holdings.ts";
import { isOnBoth, type Judged, type Link, otherSide, type Side } from "./case.ts";
import { isOfRole, type Node, type Table } from "./groups.ts";

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
  const codes = learnedFrom(documents);
  for (const { kind, platformId, erpId, role = null } of links)
    if (kind === "party")
      for (const one of role === null ? roles : [role]) codes.set(keyOf(platformId, one), erpId);
  const linked = new Set(
    [...codes].map(([key, code]) => `${key.slice(0, key.indexOf(" "))} ${code}`),
  );
  const codeFor = (party: string, role: Role | null): string | undefined =>
    role === null
      ? roles.map((one) => codes.get(keyOf(party, one))).find((code) => code !== undefined)
      : codes.get(keyOf(party, role));

  const recordOf = (side: Side, party: string, role: Role | null): Node | undefined =>
    parties.find(side, party, role) ??
    parties.byNumber[side].get(party)?.find(({ holding }) => isOfRole(holding, role));

  const shown: Names["shown"] = (side, party, role) => {
    if (party === null || party === undefined || party === "") return null;
    const record = recordOf(side, party, role);
    const there = record?.group.nodes.find(
      (node) => node.side === "books" && isOfRole(node.holding, role),
    );
    if (there !== undefined) return codeOf(there);
    return side === "platform" ? (codeFor(party, role) ?? `platform ${party}`) : party;
  };
  return {
    shown,
    partyOf: ({ side, holding }) => shown(side, holding.facts.party, partyRole(holding)),
    isShared(side, party, role) {
      if (party === null || party === undefined || party === "") return false;
      const record = recordOf(side, party, role);
      if (record !== undefined && record.group.nodes.some((node) => node.side === otherSide(side)))
        return true;
      if (side === "platform") return codeFor(party, role) !== undefined;
      return (role === null ? roles : [role]).some((one) => linked.has(`${one} ${party}`));
    },
  };
}

const keyOf = (platformId: string, role: Role): string => `${role} ${platformId}`;

/** The platform's parties that all joined documents of a role name alike, by the books' codes. */
function learnedFrom(documents: readonly Table[]): Map<string, string> {
  const learned = new Map<string, string>();
  for (const [key, codes] of namedIn(documents)) {
    const [code, another] = codes;
    if (code !== undefined && another === undefined) learned.set(key, code);
  }
  return learned;
}

/** By {@link keyOf}: what joined documents call a party of the platform in the books. */
export function namedIn(documents: readonly Table[]): Map<string, Set<string>> {
  const named = new Map<string, Set<string>>();
  const groups = new Set(documents.flatMap(({ nodes }) => nodes.map(({ group }) => group)));
  for (const { nodes } of groups) {
    const of = (side: Side): string[] =>
      nodes.flatMap((node) => (node.side === side ? (node.holding.facts.party ?? []) : []));
    const role = nodes.map(({ holding }) => partyRole(holding)).find((one) => one !== null);
    if (role === undefined || role === null) continue;
    for (const platform of of("platform")) {
      const key = keyOf(platform, role);
      named.set(key, new Set([...(named.get(key) ?? []), ...of("books")]));
    }
  }
  return named;
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
