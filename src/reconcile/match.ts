/**
 * Which records of both sides are one thing. Proof joins them, the strongest first: a mark in the record, a link of the
 * store that the records confirm, the natural key. What only looks alike is named beside a case and never joined.
 */
import { Decimal } from "../core/decimal.ts";
import {
  type Holding,
  type HoldingKind,
  holdingKinds,
  identityOf,
  isGoodsHolding,
  partyRole,
  type Role,
} from "../core/holdings.ts";
import {
  both,
  type Case,
  type Contradiction,
  isLive,
  leading,
  type Link,
  otherSide,
  type Proof,
  type Records,
  RESTS_ON,
  type Side,
  sides,
} from "./case.ts";
import {
  type Alias,
  comparedAs,
  distinct,
  type Group,
  grouped,
  isMatched,
  join,
  learnedFrom,
  marked,
  type Names,
  namesOf,
  type Node,
  Table,
} from "./nodes.ts";
import { DAY_MS } from "../core/time.ts";

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
 * Parties: the platform's id in the books, the store's link, what documents of both sides name alike, then the code. Whose
 * code a connection shows is not specified (2.8): it may be the other company's for us, and joins only what nothing else
 * does. A code that a customer and a supplier of the books have may be two firms. Companies of one code beyond the parties
 * that have it are doubled.
 */
function joinParties(table: Table, links: readonly Link[], documents: readonly Table[]): void {
  for (const node of table.nodes)
    if (node.side === "books") for (const other of marked(table, node)) join(node, other, "mark");
  joinByLink(table, [...links, ...learnedFrom(documents)], () => true);
  const byCode = table.nodes.filter((node) => !isElsewhere(node));
  for (const same of grouped(byCode, codeOf).values()) {
    const here = same.filter(({ side }) => side === "books");
    if (new Set(here.map(({ holding }) => holding.role)).size < 2) joinSame(same, "mark");
    else joinShared(same, here);
  }
}

/** Is it joined, and with no party of its code? */
const isElsewhere = (node: Node): boolean =>
  isMatched(node) &&
  node.group.nodes.every((one) => one.side === node.side || codeOf(one) !== codeOf(node));

/** Of a party, in the books' words. */
const codeOf = ({ side, holding, number }: Node): string | null =>
  side === "platform" ? (holding.mark ?? number) : number;

const left = (nodes: readonly Node[]): Node[] => nodes.filter((node) => !isMatched(node));

/** A code that parties of both roles have: it joins what leaves no choice. */
function joinShared(same: readonly Node[], parties: readonly Node[]): void {
  const companies = same.filter(({ side, holding }) => side === "platform" && isLive(holding));
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
  const documentOf = documentsOf(payments, paidIn(documents, names), names);
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

/** What a payment pays, as far as it was read. */
type Paid = (node: Node) => readonly Group[];

/** By the mark of a settlement, which is that of its invoice; else by what the payment's side calls it. */
function paidIn(documents: Table, names: Names): Paid {
  const called = (node: Node, name: string): Group | null => {
    const { side } = node;
    const known = documents.find(side, name);
    if (known !== undefined) return known.group;
    const numbered = documents.byNumber[side].get(comparedAs(documents.kind, name)) ?? [];
    const party = names.partyOf(node);
    const ofParty = groupsOf(numbered.filter((one) => names.partyOf(one) === party));
    const [group, another] = ofParty.length > 0 ? ofParty : groupsOf(numbered);
    return another === undefined ? (group ?? null) : null;
  };
  return (node) => {
    const { pays, facts } = node.holding;
    const [settled] = marked(documents, node);
    if (settled !== undefined) return [settled.group];
    const { document = null } = facts.words ?? {};
    const each = pays ?? (document === null ? [] : [document]);
    return [...new Set(each.flatMap((name) => called(node, name) ?? []))];
  };
}

/** The invoice of a payment as one text on both sides: its case where both were read, else party and number. */
function documentsOf(payments: Table, paid: Paid, names: Names): (node: Node) => string | null {
  const ids = new Map<Group, string>();
  const idOf = (group: Group): string => {
    const id = ids.get(group) ?? `case ${ids.size}`;
    ids.set(group, id);
    return id;
  };
  return (node) => {
    const [group, another] = paid(node);
    if (group !== undefined) return another === undefined ? idOf(group) : null;
    const number = node.holding.facts.words?.document ?? null;
    return number === null ? null : `${names.partyOf(node) ?? ""} ${number} ${payments.kind}`;
  };
}

const groupsOf = (nodes: readonly Node[]): Group[] => [...new Set(nodes.map(({ group }) => group))];

// Groups of records as cases, with what contradicts them and what only looks alike.

type Tables = ReadonlyMap<HoldingKind, Table>;

function casesOf(tables: Tables, links: readonly Link[], names: Names): Case[] {
  const claims = claimsOf(tables, links);
  const suspects = suspectsOf(tables, names);
  return holdingKinds.flatMap((kind) => {
    const table = tables.get(kind) as Table;
    const groups = new Set(table.nodes.map(({ group }) => group));
    const paid = RESTS_ON[kind] && paidIn(tables.get(RESTS_ON[kind]) as Table, names);
    return [...groups].map((group) => {
      const each = group.nodes.map((node) => paid?.(node) ?? []);
      const pays = each.find(({ length }) => length > 0) ?? [];
      return caseOf(group, pays, table, tables, claims, suspects, names);
    });
  });
}

const ofSide = ({ nodes }: Group, side: Side): Node[] => nodes.filter((node) => node.side === side);

/** {@link Case.key} */
function keyOfGroup(group: Group): string {
  const side = ofSide(group, "platform").length > 0 ? "platform" : "books";
  const [first] = ofSide(group, side)
    .map(({ holding }) => identityOf(holding))
    .toSorted();
  return `${side}:${first}`;
}

function caseOf(
  group: Group,
  pays: readonly Group[],
  table: Table,
  tables: Tables,
  claims: Claims,
  suspects: Suspects,
  names: Names,
): Case {
  const [platform, books] = [ofSide(group, "platform"), ofSide(group, "books")];
  const isOneSided = platform.length === 0 || books.length === 0;
  const nodes = [...platform, ...books];
  const claimed = claims.get(group);
  return {
    kind: table.kind,
    key: keyOfGroup(group),
    pays: pays.map(keyOfGroup),
    platform: platform.map(({ holding }) => holding),
    books: books.map(({ holding }) => holding),
    by: isOneSided ? null : group.by,
    ...partiesOf(group, pays[0] ?? null, names),
    contradictions: isOneSided
      ? []
      : [
          ...(claimed?.contradictions ?? []),
          ...nodes.flatMap((node) => foreignMark(node, table, tables)),
        ],
    suspects: isOneSided
      ? [...new Set([...(claimed?.unproven ?? []), ...nodes.flatMap(suspects.of)])].slice(
          0,
          SUSPECTS_MAX,
        )
      : [],
    isCopy: platform.length === 0 && books.some((node) => suspects.copied(node).length > 0),
    turned: isOneSided ? turnedOf(nodes, tables) : null,
    lost: isOneSided ? (claimed?.lost ?? lostMark(nodes, table, tables)) : null,
  };
}

const SUSPECTS_MAX = 5;

const idOf = ({ holding }: Node): string => holding.id;

/** The record that stands for a side of it. */
const standing = (of: Group | null, side: Side): Holding | undefined =>
  of === null ? undefined : leading(ofSide(of, side).map(({ holding }) => holding));

/** Of the record that stands for each side; of a payment whose books name none, that of what it pays. */
function partiesOf(
  group: Group,
  pays: Group | null,
  names: Names,
): Pick<Case, "parties" | "partyIsShared"> {
  const [there, here] = sides.map((side): Named => {
    const one = standing(group, side);
    if (one === undefined) return [undefined, null];
    return [one.facts.party ?? standing(pays, side)?.facts.party, partyRole(one)];
  }) as [Named, Named];
  return {
    parties: { platform: names.shown("platform", ...there), books: names.shown("books", ...here) },
    partyIsShared: names.isShared("platform", ...there) || names.isShared("books", ...here),
  };
}

type Named = readonly [party: string | null | undefined, role: Role | null];

interface Claim {
  readonly contradictions: Contradiction[];
  /** Partners by links that no record confirms. */
  readonly unproven: string[];
  lost: string | null;
}
type Claims = Map<Group, Claim>;

/** What links say that the groups do not: an end that is elsewhere, or nowhere. */
function claimsOf(tables: Tables, links: readonly Link[]): Claims {
  const claims: Claims = new Map();
  const claimOf = (group: Group): Claim => {
    const claim = claims.get(group) ?? { contradictions: [], unproven: [], lost: null };
    claims.set(group, claim);
    return claim;
  };
  for (const { kind, platformId, erpId, role = null } of links) {
    const table = tables.get(kind) as Table;
    const ends = {
      platform: table.find("platform", platformId),
      books: table.find("books", erpId, role),
    };
    if (ends.platform?.group === ends.books?.group) continue;
    for (const side of ["platform", "books"] as const) {
      const [own, other] = [ends[side], ends[otherSide(side)]];
      if (own === undefined) continue;
      const claim = claimOf(own.group);
      if (other === undefined && !isMatched(own))
        claim.lost = side === "platform" ? erpId : platformId;
      else if (other !== undefined && !isMatched(own))
        claim.unproven.push(`${other.side} ${named(other, other.holding.id)}, by the store's link`);
      else if (isMatched(own)) claim.contradictions.push(linked(ends, { platformId, erpId }));
    }
  }
  return claims;
}

/** Two records of one number are told by their ids. */
function linked(
  ends: Readonly<Partial<Record<Side, Node | undefined>>>,
  { platformId, erpId }: Pick<Link, "platformId" | "erpId">,
): Contradiction {
  const [there, here] = [named(ends.platform, platformId), named(ends.books, erpId)];
  const [platform, books] =
    there === here ? [`${there} (${platformId})`, `${here} (${erpId})`] : [there, here];
  return { platform: `${platform} by the link`, books: `${books} by the link` };
}

const named = (node: Node | undefined, id: string): string =>
  node?.holding.facts.number === undefined ? id : node.holding.facts.number;

/** A mark of a joined record that names none of its partners. */
function foreignMark(node: Node, table: Table, tables: Tables): Contradiction[] {
  const { side, holding, group } = node;
  const named = marked(table, node);
  if (holding.mark === null || named.some((other) => other.group === group)) return [];
  if (isDocumentMark(node, table, tables)) return [];
  if (named.length === 0 && isPeoplesCode(node)) return [];
  const partners = group.nodes.filter((other) => other.side !== side).map(idOf);
  const said = `${holding.mark} by the mark`;
  return side === "books"
    ? [{ platform: partners.join(", "), books: said }]
    : [{ platform: said, books: partners.join(", ") }];
}

/** A settlement in one carries the mark of its invoice. */
function isDocumentMark(node: Node, { kind }: Table, tables: Tables): boolean {
  const documents = RESTS_ON[kind];
  return documents !== undefined && marked(tables.get(documents) as Table, node).length > 0;
}

/**
 * The code that a connection shows may be entered by people on the platform, for a company that has no document yet: it
 * proves nothing of the books. Where the store linked the two, the link tells; where it was delivered, its number.
 */
const isPeoplesCode = ({ side, holding }: Node): boolean =>
  holding.kind === "party" && side === "platform";

function lostMark(nodes: readonly Node[], table: Table, tables: Tables): string | null {
  const lost = nodes.find(
    (node) =>
      node.holding.mark !== null && !isPeoplesCode(node) && !isDocumentMark(node, table, tables),
  );
  return lost?.holding.mark ?? null;
}

const PAIRED: Readonly<Partial<Record<HoldingKind, HoldingKind>>> = {
  invoice: "bill",
  bill: "invoice",
  payment: "bill-payment",
  "bill-payment": "payment",
};

/** The same thing under the paired kind: named by a mark of either, or the very same id. */
function turnedOf(nodes: readonly Node[], tables: Tables): string | null {
  const first = nodes[0] as Node;
  const paired = PAIRED[first.holding.kind];
  if (paired === undefined) return null;
  const table = tables.get(paired) as Table;
  for (const node of nodes) {
    const other =
      marked(table, node)[0] ?? table.byMark[otherSide(node.side)].get(node.holding.id)?.[0];
    if (other !== undefined)
      return `${paired} ${other.holding.facts.number ?? other.holding.id} ${other.side === "books" ? "in the books" : "on the platform"}`;
  }
  return null;
}

// What may be the same and is not proven to be: named beside a one-sided case, never joined to it.

const NEAR_DAYS = 5;

type Suspects = ReturnType<typeof suspectsOf>;

/**
 * Of a record without partner: those of its kind whose number is the same but for case, blanks and leading zeros; those
 * without partner of the other side with its party and amount within five days; parties of the same name; goods that say the
 * same as others that came from the platform.
 */
function suspectsOf(tables: ReadonlyMap<HoldingKind, Table>, names: Names) {
  const indexes = new Map<HoldingKind, ReturnType<typeof indexOf>>();
  const indexFor = ({ holding: { kind } }: Node): ReturnType<typeof indexOf> => {
    const index = indexes.get(kind) ?? indexOf(tables.get(kind) as Table, names);
    indexes.set(kind, index);
    return index;
  };
  /** Goods of the same party, day and lines that both sides have. */
  const copied = (node: Node): Node[] =>
    (indexFor(node).byGoods.get(goodsKey(node) ?? "") ?? []).filter(
      (other) => other.group !== node.group && isMatched(other),
    );
  /** In words. */
  const of = (node: Node): string[] => {
    const index = indexFor(node);
    const alike = [
      ...copied(node),
      ...(index.byNumber.get(folded(node.number ?? "")) ?? []),
      ...(index.byName.get(folded(node.holding.facts.words?.name ?? "")) ?? []),
      ...(index.byAmount.get(amountKey(node, names) ?? "") ?? []).filter(
        (other) => other.side !== node.side && isNear(node.holding, other.holding),
      ),
    ];
    const others = new Set(alike.filter(({ group }) => group !== node.group));
    return [...others].map((other) => inWords(other, names));
  };
  return { of, copied };
}

function indexOf({ nodes }: Table, names: Names) {
  const live = nodes.filter(({ holding }) => isLive(holding));
  return {
    byNumber: grouped(live, ({ number }) => folded(number ?? "")),
    byName: grouped(live, ({ holding }) => folded(holding.facts.words?.name ?? "")),
    byAmount: grouped(live, (node) => (isMatched(node) ? null : amountKey(node, names))),
    byGoods: grouped(live, goodsKey),
  };
}

/** Party, day and lines of goods that have moved or are to; null: nothing tells them from others. */
function goodsKey({ side, holding: { kind, facts } }: Node): string | null {
  const { party, state, days, lines = [] } = facts;
  if (!isGoodsHolding(kind) || state !== "posted" || !party || !days?.date) return null;
  const told = lines.map(({ product, quantity }) => `${product} ${quantity?.plain()}`).toSorted();
  return told.length === 0 ? null : [side, party, days.date, ...told].join("\n");
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
