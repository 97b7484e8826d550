/** Groups of records as cases, with what contradicts them and what only looks alike. */
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
  type Case,
  type Contradiction,
  isLive,
  leading,
  type Link,
  otherSide,
  type Side,
} from "./case.ts";
import {
  type Group,
  grouped,
  isMatched,
  marked,
  type Names,
  type Node,
  type Table,
} from "./groups.ts";

type Tables = ReadonlyMap<HoldingKind, Table>;

export function casesOf(tables: Tables, links: readonly Link[], names: Names): Case[] {
  const claims = claimsOf(tables, links);
  const suspects = suspectsOf(tables, names);
  return holdingKinds.flatMap((kind) => {
    const table = tables.get(kind) as Table;
    const groups = new Set(table.nodes.map(({ group }) => group));
    return [...groups].map((group) => caseOf(group, table, tables, claims, suspects, names));
  });
}

function caseOf(
  group: Group,
  table: Table,
  tables: Tables,
  claims: Claims,
  suspects: Suspects,
  names: Names,
): Case {
  const of = (side: Side): Node[] => group.nodes.filter((node) => node.side === side);
  const [platform, books] = [of("platform"), of("books")];
  const isOneSided = platform.length === 0 || books.length === 0;
  const nodes = [...platform, ...books];
  const side = platform.length > 0 ? "platform" : "books";
  const claimed = claims.get(group);
  return {
    kind: table.kind,
    key: `${side}:${
      of(side)
        .map(({ holding }) => identityOf(holding))
        .toSorted()[0]
    }`,
    platform: platform.map(({ holding }) => holding),
    books: books.map(({ holding }) => holding),
    by: isOneSided ? null : group.by,
    ...partiesOf(platform, books, names),
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

/** Of the record that stands for each side. */
function partiesOf(
  platform: readonly Node[],
  books: readonly Node[],
  names: Names,
): Pick<Case, "parties" | "partyIsShared"> {
  const [there, here] = [platform, books].map((nodes) => {
    const one = leading(nodes.map(({ holding }) => holding));
    return [one?.facts.party, one === undefined ? null : partyRole(one)] as const;
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
  const documents = kind === "payment" ? "invoice" : kind === "bill-payment" ? "bill" : null;
  return documents !== null && marked(tables.get(documents) as Table, node).length > 0;
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

const DAY_MS = 86_400_000;
const NEAR_DAYS = 5;

interface Suspects {
  /** In words. */
  readonly of: (node: Node) => string[];
  /** Goods of the same party, day and lines that both sides have. */
  readonly copied: (node: Node) => Node[];
}

/**
 * Of a record without partner: those of its kind whose number is the same but for case, blanks and leading zeros; those
 * without partner of the other side with its party and amount within five days; parties of the same name; goods that say the
 * same as others that came from the platform.
 */
function suspectsOf(tables: ReadonlyMap<HoldingKind, Table>, names: Names): Suspects {
  const indexes = new Map<HoldingKind, ReturnType<typeof indexOf>>();
  const indexFor = ({ holding: { kind } }: Node): ReturnType<typeof indexOf> => {
    const index = indexes.get(kind) ?? indexOf(tables.get(kind) as Table, names);
    indexes.set(kind, index);
    return index;
  };
  const copied = (node: Node): Node[] =>
    (indexFor(node).byGoods.get(goodsKey(node) ?? "") ?? []).filter(
      (other) => other.group !== node.group && isMatched(other),
    );
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
