/**
 * Orders of both sides: how links call them, which of those that books show may be the one of a document, and what an ERP
 * adds so that goods.ts can plan them.
 */
import type { Day, Facts, FactLine, Scope } from "../core/holdings.ts";
import { spellingsOf } from "../core/keys.ts";
import {
  PLAIN_ENTRY,
  type Call,
  type GoodsAdapter,
  type GoodsPage,
  type Capabilities,
  type Entry,
  type Step,
  type StepTo,
  type Desired,
} from "./port.ts";
import type { OrderDocument } from "./documents.ts";
import { orRefused } from "./facts.ts";
import { goodsLine } from "./goods.ts";
import { markOf } from "./marks.ts";

type Side = OrderDocument["type"];
const SIDES = ["sale", "purchase"] as const;

/** An order as books show it. */
export interface BookedOrder<Native> {
  readonly side: Side;
  /** Of the database: a name for as long as there is no number. */
  readonly id: string;
  /** That the books gave it; null: they have given none yet. */
  readonly number: string | null;
  /** How far it is, in the ERP's own word. */
  readonly state: string;
  readonly status: "draft" | "posted" | "cancelled";
  /** The platform's id of it; null: a person entered it. */
  readonly mark: string | null;
  /** The platform's number. */
  readonly reference: string | null;
  readonly party: string;
  /** `YYYY-MM-DD`; null: it has none yet. */
  readonly date: Day | null;
  readonly lines: readonly FactLine[];
  /** See {@link GoodsEntry.stranger}. */
  readonly stranger?: string;
  /** See {@link GoodsEntry.open}. */
  readonly open?: boolean;
  readonly native: Native;
}

/** What is looked for: everything that one of these names. */
export interface OrderNames {
  readonly marks: readonly string[];
  readonly references: readonly string[];
  readonly numbers: readonly string[];
  readonly ids: readonly string[];
  /** Days of those that are looked for by their mark: where books cannot be asked for marks, all of a day are read. */
  readonly days: readonly string[];
}

/** What an ERP adds. Every method @throws Refused, a fault of the ERP. */
export interface OrderDesk<Native> {
  /** Where its mark is, for people: `its comment`. */
  readonly markedIn: string;
  /** Left out: drafts, which are confirmed. */
  readonly can?: Capabilities;
  /** The record that these books keep of it. Left out: all that it says. @throws Refused when they cannot keep it */
  kept?(document: OrderDocument): Facts;
  search(
    side: Side,
    names: OrderNames,
    signal: AbortSignal,
  ): Promise<readonly BookedOrder<Native>[]>;
  /** Everything of a side in the scope, in pages; the position of a page resumes after it. */
  list(
    side: Side,
    scope: Scope,
    from: string | null,
    signal: AbortSignal,
  ): AsyncIterable<GoodsPage<BookedOrder<Native>>>;
  /** Of a posted one: a step that was begun, and is to be taken again, is not complete. */
  isUnfinished(order: BookedOrder<Native>): Promise<boolean>;
  /** Its database id. */
  create(desired: Desired<"order">, call: Call): Promise<string>;
  /** Writes its number alone anew, however far it is. Left out: a step to `amended` does, while its lines can be changed. */
  renumber?(desired: Desired<"order">, native: Native, call: Call): Promise<void>;
  /** It may be taken again after anything. `amended`: its number and its lines are written anew. */
  step(to: StepTo, step: Step<"order", Native>, call: Call): Promise<void>;
}

const CAPABILITIES: Capabilities = {
  has: ["draft", "posted", "cancelled"],
  byUs: "posted",
  amend: { lines: "draft" },
  atomic: 1,
  numbered: "per-party",
};

export const orderAdapter = <Native>(desk: OrderDesk<Native>): GoodsAdapter<"order", Native> => ({
  can: desk.can ?? CAPABILITIES,
  expected: (documents) => orRefused(documents, async (one) => desk.kept?.(one) ?? factsOf(one)),
  async locate(desired, { signal }) {
    const all: Entry<Native>[] = [];
    for (const one of desired)
      for (const side of SIDES) all.push(...(await locate(desk, side, one, signal)));
    return all;
  },
  async create(desired, call) {
    const ids: string[] = [];
    for (const one of desired)
      ids.push(`${one.document.type} #${await desk.create(one, call)} ${markOf(one.mark)}`);
    return ids;
  },
  async apply(to, steps, call) {
    for (const one of steps)
      if (to === "amended" && desk.renumber && one.differences.every(isNumber))
        await desk.renumber(one.desired, one.entry.native, call);
      else await desk.step(to, one, call);
  },
  async get(ids, { signal }) {
    const all: Entry<Native>[] = [];
    for (const side of SIDES) {
      const asked = ids.flatMap((id) => orderIn(id) ?? []).filter((name) => name.side === side);
      const names = { marks: [], references: [], days: [], ...namesIn(asked) };
      for (const row of await desk.search(side, names, signal)) all.push(heldOf(desk, row));
    }
    return all;
  },
  async named(numbers, signal) {
    const all: Entry<Native>[] = [];
    const references = numbers.flatMap(spellingsOf);
    for (const side of SIDES) {
      const names = { marks: [], references, numbers: [], ids: [], days: [] };
      for (const row of await desk.search(side, names, signal)) all.push(heldOf(desk, row));
    }
    return all;
  },
  async *list(scope, from, signal) {
    const [, begun = SIDES[0], after = ""] = /^(sale|purchase) (.*)$/s.exec(from ?? "") ?? [];
    for (const side of SIDES.slice(SIDES.indexOf(begun as Side))) {
      const start = side === begun && after !== "" ? after : null;
      for await (const { rows, position } of desk.list(side, scope, start, signal))
        yield {
          entries: rows.map((row) => heldOf(desk, row)),
          position: `${side} ${position}`,
        };
    }
  },
});

/** What has its number was confirmed: one that is open again is of books set back to before that. */
function heldOf<Native>(desk: OrderDesk<Native>, row: BookedOrder<Native>): Entry<Native> {
  const one = entryOf(desk, row);
  return one.status === "draft" ? { ...one, id: one.aliases?.[0] ?? null } : one;
}

const isNumber = ({ field }: { readonly field: string }): boolean => field === "number";

const factsOf = ({ type, number, lines }: OrderDocument): Facts => ({
  number,
  words: { side: type },
  lines: lines.map(({ product, quantity, unit, unitPrice }) =>
    goodsLine({ product, quantity, unit, unitPrice }),
  ),
});

/**
 * What has its mark or its reference, and what its link names; of the other side too. What a person entered before us has
 * no mark; another document's is not its own, though books that were restored have given it our number.
 */
async function locate<Native>(
  desk: OrderDesk<Native>,
  side: Side,
  { document, mark, binding }: Desired<"order">,
  signal: AbortSignal,
): Promise<Entry<Native>[]> {
  const isOwn = side === document.type;
  const named = binding === null ? null : orderIn(binding);
  const called = named?.side === side && (isOwn || named.platformId === null) ? named : null;
  const names = {
    marks: [mark],
    references: spellingsOf(document.number),
    days: isOwn && document.date !== null ? [document.date] : [],
    ...namesIn(called ? [called] : []),
  };
  const found: Entry<Native>[] = [];
  for (const order of await desk.search(side, names, signal)) {
    const { id, number, status } = order;
    const bound = number === null ? id === called?.id : number === called?.number;
    const isEntered = bound || (isOwn && status !== "cancelled");
    if (order.mark !== mark && (order.mark !== null || !isEntered)) continue;
    const unfinished = isOwn && status === "posted" && (await desk.isUnfinished(order));
    found.push(
      entryOf(desk, order, {
        unfinished,
        bound: isOwn && bound && number !== null,
        owner: mark,
      }),
    );
  }
  return found;
}

/** What the id of an order says. */
export interface OrderName {
  readonly side: Side;
  /** Null for a draft. */
  readonly number: string | null;
  /** Of a draft: its database id. */
  readonly id: string | null;
  /** The platform's id that the order has; null where a person entered it, and in ids that had no mark yet. */
  readonly platformId: string | null;
}

/**
 * `sale 12 platform:0b6f…`, `purchase #5 platform:…`. In books that were restored a number is given again, and a
 * database id too: only with the mark it is the same order. Null: no id of ours.
 */
export function orderIn(name: string): OrderName | null {
  const [, side, id = null, number = null, platformId = null] =
    /^(sale|purchase) (?:#([\w-]+)|(\S+))(?: platform:(\S+))?$/.exec(name) ?? [];
  return side === undefined ? null : { side: side as Side, number, id, platformId };
}

const namesIn = (names: readonly OrderName[]): Pick<OrderNames, "numbers" | "ids"> => ({
  numbers: names.flatMap(({ number }) => number ?? []),
  ids: names.flatMap(({ id }) => id ?? []),
});

/** `sale 12`, `purchase #5` (a draft has no number): both sides count from 1, and a name must be of one of them. */
function entryOf<Native>(
  { markedIn, renumber }: Pick<OrderDesk<Native>, "markedIn" | "renumber">,
  order: BookedOrder<Native>,
  { unfinished = false, bound = false, owner = "" } = {},
): Entry<Native> {
  const { side, id, number, state, status, mark, reference, party, lines, native } = order;
  const { stranger, open, date } = order;
  const called = `${side} ${number ?? `#${id}`}`;
  const marked = (name: string): string[] =>
    mark === null ? [name] : [name, `${name} ${markOf(mark)}`];
  return {
    ...PLAIN_ENTRY,
    id: marked(called).at(-1) ?? called,
    aliases: [...marked(`${side} #${id}`), ...(status === "draft" ? [] : marked(called))],
    mark,
    number: reference,
    party,
    status,
    unfinished,
    facts: {
      ...(reference === null ? {} : { number: reference }),
      party,
      days: { date },
      words: { side },
      lines,
    },
    goods: {
      called,
      state,
      told: `${called} ${state}`,
      bound,
      ...(stranger === undefined ? {} : { stranger }),
      ...(open === undefined ? {} : { open }),
      renumbers: renumber !== undefined,
      unmarking: `${markOf(mark ?? owner)} out of ${markedIn}`,
    },
    native,
  };
}
