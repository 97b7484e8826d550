/**
 * Whole lists. What is missing in one is there no more, and a person is told of what was delivered of it: no receiver has
 * a way to end it by itself. A list that has lost too much is taken for torn, and nothing is concluded from what it lacks;
 * one that has grown too much is not taken at all. Both wait for a person. @see docs/adr/0014-lists-and-silence.md
 */
import type { Obstacle, Page } from "../core/contract.ts";
import type { Fault } from "../core/fault.ts";
import { sha256 } from "../core/keys.ts";
import { heldLists } from "../core/obstacle.ts";
import { endpointOf, type Engine, type Flow, type ListLimits } from "./engine.ts";

export const usualLimits: ListLimits = { lostPercent: 20, growthTimes: 10 };

/** A small list grows by as much without a word. */
const NEW_MAX = 1_000;
/** Of a list of a few records each one is more than a fifth: so few may go at once, unless none is left. */
const LOST_FEW = 1;
/** What was accepted may have grown by so much since, as a share. */
const LEEWAY = 0.1;
const NAMED = 3;

type Listing = NonNullable<Page["list"]>;

/** The lists of one reading of a flow's source, one after the other. */
export class ListReading {
  readonly #engine: Engine;
  readonly #flow: Flow;
  #had = 0;
  #seen: Seen | null = null;
  #lacking: ReadonlySet<number> = new Set();

  constructor(engine: Engine, flow: Flow) {
    this.#engine = engine;
    this.#flow = flow;
  }

  /** Before a page is stored: why nothing of its list is taken; null: it is taken, or is no list. */
  held({ list }: Page): Obstacle | null {
    if (list === undefined || this.#seen !== null) return null;
    const { store } = this.#engine;
    const { flow, limits = usualLimits } = this.#flow;
    this.#had = store.lists.had(flow);
    const { name, total } = list;
    const { accepted } = store.lists.limit(flow);
    const most = Math.max(this.#had * limits.growthTimes, this.#had + NEW_MAX - 1);
    const isAccepted = accepted !== null && total <= accepted * (1 + LEEWAY);
    if (this.#had === 0 || total <= most || isAccepted) {
      this.#seen = new Seen();
      this.#lacking = new Set(store.lists.standing(flow).map(({ record }) => record));
      return null;
    }
    store.transaction(() => store.lists.hold(flow, total));
    const behind = { count: 0, names: [] };
    return { what: name, fault: grew(this.#flow, list, this.#had), awaited: false, behind };
  }

  /** A record of the page, as the store numbers it. Inside its transaction. */
  readonly see = (record: number): void => {
    if (this.#seen === null) return;
    this.#seen.add(record);
    if (this.#lacking.has(record)) this.#cameBack(record);
  };

  /** After the page is stored, inside its transaction. Returns what a person should be told that is new. */
  stored({ list }: Page, atMs: number): Fault | null {
    const seen = this.#seen;
    if (list === undefined || seen === null || !list.isLast) return null;
    this.#seen = null;
    const { store } = this.#engine;
    const { flow } = this.#flow;
    store.lists.taken(flow);
    if (!list.isComplete) return null;
    const concluded = new Set(
      store.lists.standing(flow).flatMap((row) => (row.concluded === 1 ? [row.record] : [])),
    );
    const lost = store.lists
      .records(flow)
      .filter((record) => !seen.has(record) && !concluded.has(record));
    const isTorn = this.#isTorn(lost.length, list);
    store.lists.forget(flow);
    for (const record of lost) store.lists.lack(flow, record, !isTorn, atMs);
    if (isTorn) return this.#tear(list, lost, atMs);
    store.obstacles.mend(flow, heldLists.shrank);
    tellUnlisted(this.#engine, this.#flow, atMs);
    return null;
  }

  #isTorn(lost: number, { total }: Listing): boolean {
    const { lostPercent } = this.#flow.limits ?? usualLimits;
    if (lost * 100 <= this.#had * lostPercent || lostPercent >= 100) return false;
    return lost > LOST_FEW || total === 0;
  }

  #tear(list: Listing, lost: readonly number[], atMs: number): Fault | null {
    const { store } = this.#engine;
    const { flow } = this.#flow;
    const names = lost.slice(0, NAMED).map((record) => store.lists.idOf(record));
    const fault = shrank(this.#flow, list, { had: this.#had, lost: lost.length, names });
    const since = store.obstacles.mend(flow, heldLists.shrank);
    const id = sha256(fault.message);
    store.obstacles.refuse(flow, { what: list.name, id, fault }, since ?? atMs);
    const isNew = since === null;
    if (isNew) store.journal.audit(atMs, { flow, event: "list torn", detail: fault.message });
    return isNew ? fault : null;
  }

  #cameBack(record: number): void {
    const { store, clock } = this.#engine;
    const { flow } = this.#flow;
    store.lists.back(record);
    const told = store.disagreements.find(record, "list");
    if (told === null) return;
    store.disagreements.close("list", told);
    const { delivery } = told;
    const detail = store.lists.idOf(record);
    store.journal.audit(clock.now().wallMs, { flow, delivery, event: "listed again", detail });
  }
}

/** Everything that was delivered and that the believed list lacks goes to a person. Inside a transaction. Returns how much. */
function tellUnlisted({ store }: Engine, flow: Flow, atMs: number): number {
  const untold = store.lists.untold(flow.flow);
  for (const { record, id, delivery, state, sinceMs } of untold) {
    const fault = unlisted(flow, id, sinceMs);
    const row = { record, delivery, was: state, digest: "unlisted" };
    store.disagreements.open("list", row, fault, atMs);
    const entry = { flow: flow.flow, delivery, event: "no longer listed", detail: id };
    store.journal.audit(atMs, entry);
  }
  return untold.length;
}

/**
 * A person believes the list that was held. Inside a transaction.
 * @returns whether it is taken at the next look (it grew), or what it lacks is told now (it lost); null: none is held
 */
export function acceptList(engine: Engine, flow: Flow, atMs: number): "next" | number | null {
  const { store } = engine;
  if (store.lists.accept(flow.flow)) return "next";
  if (store.obstacles.mend(flow.flow, heldLists.shrank) === null) return null;
  store.lists.conclude(flow.flow);
  return tellUnlisted(engine, flow, atMs);
}

/** Of a record that was delivered and that its newest list lacks. */
export const LEFT_THE_LIST = "left-the-list";

const unlisted = (flow: Flow, id: string, sinceMs: number): Fault => ({
  code: LEFT_THE_LIST,
  message: `"${endpointOf(flow.from)}" no longer has ${id} in its newest list, since ${new Date(sinceMs).toISOString()}; "${endpointOf(flow.to)}" has it still`,
  next: `If it is right, end it in "${endpointOf(flow.to)}" by hand and resolve this. If it is not, put it back into the list: this closes by itself.`,
});

const grew = ({ name: flow }: Flow, { name, total }: Listing, had: number): Fault => ({
  code: heldLists.grew,
  message: `${name} has ${total} records; the list before had ${had}. Nothing of it is taken.`,
  next: `Look at it. If it is right: fuelbridge accept ${flow} --note <text>, or the page Flows. If it is not, move it away and send the right one.`,
});

function shrank(
  { name: flow }: Flow,
  { name, total }: Listing,
  { had, lost, names }: { had: number; lost: number; names: readonly string[] },
): Fault {
  const more = lost > names.length ? `, and ${lost - names.length} more` : "";
  return {
    code: heldLists.shrank,
    message: `${name} has ${total} records and lacks ${lost} of the ${had} that the list had (${names.join(", ")}${more}): it is taken for torn. What it has is read; nothing is concluded from what it lacks.`,
    next: `Send the whole list. If they are really gone: fuelbridge accept ${flow} --note <text>, or the page Flows.`,
  };
}

/** Numbers of records, a bit each: a list may have millions. */
class Seen {
  #bits = new Uint8Array(1_024);

  add(record: number): void {
    const at = record >>> 3;
    if (at >= this.#bits.length) {
      const grown = new Uint8Array(Math.max(this.#bits.length * 2, at + 1));
      grown.set(this.#bits);
      this.#bits = grown;
    }
    this.#bits[at] = (this.#bits[at] ?? 0) | (1 << (record & 7));
  }

  has(record: number): boolean {
    return ((this.#bits[record >>> 3] ?? 0) & (1 << (record & 7))) !== 0;
  }
}
