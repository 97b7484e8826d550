/**
 * Which records of both sides are one thing. Proof joins them, the strongest first: a mark in the record, a link of the
 * store that the records confirm, the natural key. What only looks alike is named beside a case and never joined.
 */
import { Decimal } from "../core/decimal.ts";
import { type Holding, type HoldingKind, holdingKinds } from "../core/holdings.ts";
import {
  both,
  type Case,
  isLive,
  type Link,
  otherSide,
  type Proof,
  type Records,
  type Side,
} from "./case.ts";
import { casesOf } from "./cases.ts";
import {
  type Alias,
  comparedAs,
  distinct,
  type Group,
  grouped,
  isMatched,
  join,
  marked,
  namedIn,
  type Names,
  namesOf,
  type Node,
  Table,
} from "./groups.ts";

interface Matching {
  readonly records: Records;
  readonly links: readonly Link[];
  /**
   * What the other side would call a record, where the sides number a kind differently (a price's terminal and
   * product): its number in the other side's words; null: both use the same.
   */
  readonly alias?: Alias;
}

/** Every record is in exactly one case; cases come in the order of kinds, then as their records were first told. */
export function match({ records, links, alias = () => null }: Matching): Case[] {
  const rows = both((side) => distinct(records[side]));
  const tables = new Map(holdingKinds.map((kind) => [kind, new Table(kind, rows, alias)]));
  const table = (kind: HoldingKind): Table => tables.get(kind) as Table;
  const documents = ["invoice", "bill"] as const;
  for (const kind of ["price", ...documents] as const)
    joinByRecord(table(kind), linksOf(links, kind));
  joinParties(table("party"), linksOf(links, "party"), documents.map(table));
  const names = namesOf(table("party"), links, documents.map(table));
  for (const kind of ["party", "price", ...documents] as const) {
    if (kind !== "party") joinByNumber(table(kind), names);
    joinByLink(table(kind), linksOf(links, kind), isNotContradicted(names));
  }
  for (const [kind, document] of [
    ["payment", "invoice"],
    ["bill-payment", "bill"],
  ] as const) {
    joinByRecord(table(kind), linksOf(links, kind));
    matchPayments(table(kind), table(document), names);
    joinByLink(table(kind), linksOf(links, kind), isNotContradicted(names));
  }
  for (const kind of ["order", "ticket"] as const) {
    joinByRecord(table(kind), linksOf(links, kind));
    joinGoods(table(kind), names);
    joinByLink(table(kind), linksOf(links, kind), isNotContradicted(names));
  }
  return casesOf(tables, links, names);
}

const linksOf = (links: readonly Link[], kind: HoldingKind): Link[] =>
  links.filter((link) => link.kind === kind);

/** What the records prove by themselves, whatever their parties are called. */
function joinByRecord(table: Table, links: readonly Link[]): void {
  joinByMark(table);
  joinByLink(table, links, isNumberEqual);
}

/** A mark is the other side's id, or the number that it was given there. */
function joinByMark(table: Table): void {
  for (const node of table.nodes)
    for (const other of marked(table, node)) join(node, other, "mark");
}

/**
 * Parties: the platform's id in the books, the store's link, then the code. A code that a customer and a supplier of the
 * books have may be two firms: it joins what links and documents leave no choice about. Companies of one code beyond the
 * parties that have it are doubled.
 */
function joinParties(table: Table, links: readonly Link[], documents: readonly Table[]): void {
  for (const node of table.nodes)
    if (node.side === "books") for (const other of marked(table, node)) join(node, other, "mark");
  joinByLink(table, links, isNumberEqual);
  const named = namedIn(documents);
  for (const same of grouped(table.nodes, codeOf).values()) {
    const here = same.filter(({ side }) => side === "books");
    if (new Set(here.map(({ holding }) => holding.role)).size < 2) joinSame(same, "mark");
    else joinShared(same, here, named);
  }
}

/** Of a party, in the books' words. */
const codeOf = ({ side, holding, number }: Node): string | null =>
  side === "platform" ? (holding.mark ?? number) : number;

const left = (nodes: readonly Node[]): Node[] => nodes.filter((node) => !isMatched(node));

/** A code that parties of both roles have. @param named what joined documents call a company (`namedIn`) */
function joinShared(
  same: readonly Node[],
  parties: readonly Node[],
  named: ReadonlyMap<string, ReadonlySet<string>>,
): void {
  const companies = same.filter(({ side, holding }) => side === "platform" && isLive(holding));
  for (const company of left(companies))
    for (const party of left(parties)) {
      const { id, role } = party.holding;
      if (named.get(`${role} ${company.holding.id}`)?.has(id)) join(company, party, "number");
    }
  const [party, another] = left(parties);
  if (another !== undefined) return;
  for (const company of left(companies)) join(party ?? (parties[0] as Node), company, "mark");
}

type Confirmed = (platform: Node, books: Node) => boolean;

function joinByLink(table: Table, links: readonly Link[], isConfirmed: Confirmed): void {
  for (const { platformId, erpId, role = null } of links) {
    const platform = table.find("platform", platformId);
    const books = table.find("books", erpId, role);
    if (platform === undefined || books === undefined) continue;
    const isFree = !isMatched(books) && (role !== null || !isMatched(platform));
    if (isFree && isConfirmed(platform, books)) join(platform, books, "link");
  }
}

const isNumberEqual: Confirmed = (platform, books) =>
  wordsOf(platform).some((word) => wordsOf(books).includes(word));

/**
 * The party is the same; or neither number nor party is shown by both, so that nothing contradicts the link.
 * A price is what was delivered, though it would go elsewhere now: a row of a table decides where.
 */
const isNotContradicted =
  (names: Names): Confirmed =>
  (platform, books) => {
    if (platform.holding.kind === "price") return true;
    const [one, other] = [names.partyOf(platform), names.partyOf(books)];
    if (one !== null && other !== null) return one === other;
    return platform.number === null || books.number === null;
  };

/** What a document is found by: its number, and what it calls the other side's number. */
function wordsOf({ number, holding }: Node): string[] {
  const isDocument = holding.kind === "invoice" || holding.kind === "bill";
  const words = [number, isDocument ? (holding.facts.words?.reference ?? null) : null];
  return words.flatMap((word) =>
    word === null || word === "" ? [] : comparedAs(holding.kind, word),
  );
}

/** The natural key: party and number, as numbers are compared. */
function joinByNumber(table: Table, names: Names): void {
  const hasParty = table.kind === "invoice" || table.kind === "bill";
  const keysOf = (node: Node): string[] => {
    const party = hasParty ? names.partyOf(node) : "";
    if (party === null) return [];
    const [number, reference] = [node.number, node.holding.facts.words?.reference ?? null];
    const isTheirs =
      hasParty &&
      reference !== null &&
      table.byNumber[otherSide(node.side)].has(comparedAs(table.kind, reference));
    return [number, isTheirs ? reference : null].flatMap((word) =>
      word === null || word === "" ? [] : [`${party} ${comparedAs(table.kind, word)}`],
    );
  };
  const keyed = table.nodes.flatMap((node) => keysOf(node).map((key) => ({ node, key })));
  for (const same of grouped(keyed, ({ key }) => key).values())
    if (same.length > 1) joinSame(same.map(({ node }) => node));
}

/**
 * Orders and tickets by party and number. Several loads may share one loading number, so what the books hold of a person is
 * one with the only record of the platform that has no partner. What they have beyond those of the platform doubles the one
 * that has a partner.
 */
function joinGoods({ kind, nodes }: Table, names: Names): void {
  const numbered = grouped(nodes, ({ number }) =>
    number === null || number === "" ? null : comparedAs(kind, number),
  );
  const isOf = (books: Node, platform: Node): boolean => {
    const party = names.partyOf(platform);
    return party === null || party === names.partyOf(books);
  };
  for (const same of numbered.values()) {
    const of = (side: Side): Node[] => same.filter((node) => node.side === side);
    // Live ones first: what has ended joins only what is left.
    for (const isMeant of [({ holding }: Node) => isLive(holding), () => true]) {
      const [platform, books] = [of("platform").filter(isMeant), of("books").filter(isMeant)];
      for (const node of left(books).filter(({ holding }) => holding.mark === null)) {
        const [partner, another] = left(platform).filter((other) => isOf(node, other));
        const twins = books.filter((other) => names.partyOf(other) === names.partyOf(node));
        const twin = twins.find(isMatched);
        if (partner !== undefined && another === undefined) join(partner, node, "number");
        else if (isLive(node.holding) && partner === undefined && twin !== undefined)
          if (twins.length > platform.length) join(twin, node, "number");
      }
    }
  }
}

/**
 * Live records without partner are one; a live one of a side that has one already doubles it. An ended record joins
 * only what has no partner: a reissued document is not the void one.
 */
function joinSame(nodes: readonly Node[], by: Proof = "number"): void {
  const live = nodes.filter(({ holding }) => isLive(holding));
  const free = live.filter((node) => !isMatched(node));
  for (const node of free.slice(1)) join(free[0] as Node, node, by);
  for (const [at, node] of live.entries()) {
    const twin = live.slice(0, at).find(({ side }) => side === node.side);
    if (twin !== undefined) join(twin, node, by);
  }
  for (const node of nodes) {
    if (isLive(node.holding) || isMatched(node)) continue;
    const partner = nodes.find((other) => other.side !== node.side && !isMatched(other));
    if (partner !== undefined) join(partner, node, by);
  }
}

// Payments of both sides: by invoice, amount, day and reference; then those that were settled in one lump.

/** Joins payments without partner. Equal payments pair one to one: two with one reference are two. */
function matchPayments(payments: Table, documents: Table, names: Names): void {
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
