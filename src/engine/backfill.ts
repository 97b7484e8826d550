/**
 * A past period, read anew beside the live position, which it never moves (ADR 0020). It has a position of its own,
 * stored with each page, so it goes on where it was after a kill. What a page brings is taken in as any page is: the same
 * version is nothing, an older one does not replace a newer one (`src/store/records.ts`), and what is new is mapped and delivered as usual.
 *
 * It may use a share of the month's requests. Used up, it pauses, says so, and the daemon goes on with it when there are
 * requests again.
 */
import { WAITS_FOR_BUDGET } from "../core/budget.ts";
import type { Change, Rereading } from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import type { Day } from "../core/holdings.ts";
import { parseExact } from "../core/json.ts";
import type { BackfillRow } from "../store/flows.ts";
import { blocked } from "./breakers.ts";
import { audit, endpointOf, type Engine, type Flow, tellSetBack } from "./engine.ts";
import { howToGoOn } from "./schedule.ts";
import { DAY_MS } from "../core/time.ts";

export interface Filling {
  readonly flow: Flow;
  /** Days of the company, both included. */
  readonly from: Day;
  readonly to: Day;
  /** Percent of the month's requests that backfills may use. */
  readonly share: number;
  readonly person: { readonly by: string; readonly note: string };
}

interface Means {
  /** Requests of this month that went to backfills. */
  readonly spent: () => number;
  readonly perMonth: number;
}

/** How long a paused one rests before the daemon tries it again. */
const REST_MS = 3_600_000;
const LOOK_MS = 60_000;

export class Backfills {
  readonly #engine: Engine;
  readonly #means: Means;
  readonly #stop = new AbortController();
  #running: { readonly backfill: number; readonly ended: Promise<BackfillRow> } | null = null;
  #wake: () => void = () => {};
  /** Told when deliveries have become possible. */
  stirred: () => void = () => {};

  constructor(engine: Engine, means: Means) {
    this.#engine = engine;
    this.#means = means;
  }

  /**
   * What it will take, told before it begins. It takes one request, unless an unfinished one goes on.
   * @throws SourceUnavailable when it cannot be done
   */
  async cost({ flow, from, to, share }: Filling) {
    const again = this.#againOf(flow);
    const known = this.#engine.store.backfills.find(flow.name, from, to);
    this.#expectFree(known?.backfill ?? null);
    const records =
      known === null
        ? await again.count(startOf(from), this.#readingOf(flow))
        : known.expected === null
          ? null
          : Math.max(known.expected - known.gone, 0);
    return {
      /** To be gone through: what changed since the first day; null: the source does not say. */
      records,
      /** About; each record of the period that the list shows only in part takes one more. */
      requests: records === null ? null : Math.ceil(records / again.pageSize) + 1,
      /** What the share still allows this month. */
      left: Math.max(this.#allowed(share) - this.#means.spent(), 0),
      /** An unfinished one goes on where it was. */
      goesOn: known !== null,
    };
  }

  /** Until it is done, or paused: the row says why. @throws SourceUnavailable when it cannot be begun */
  async run(filling: Filling, expected: number | null): Promise<BackfillRow> {
    const backfill = this.#entered(filling, expected);
    return this.#running?.ended ?? this.#carryOut(backfill, filling.flow);
  }

  /** Leaves it to {@link keepOn}, which begins at once. @throws SourceUnavailable when it cannot be begun */
  begin(filling: Filling, expected: number | null): void {
    this.#entered(filling, expected);
    this.#wake();
  }

  /** Its row, new or found again; what runs already is left as it is. */
  #entered({ flow, from, to, share, person }: Filling, expected: number | null): number {
    const { store, clock } = this.#engine;
    const again = this.#againOf(flow);
    const known = store.backfills.find(flow.name, from, to);
    this.#expectFree(known?.backfill ?? null);
    if (this.#running !== null) return this.#running.backfill;
    return store.transaction(() => {
      const at = clock.now().wallMs;
      const event = known === null ? "backfill began" : "backfill goes on";
      const detail = `${flow.name}, ${from} to ${to}, at most ${share} % of the month's requests`;
      audit(this.#engine, flow, event, detail, { person });
      if (known !== null) {
        store.backfills.goOn(known.backfill, share, at);
        return known.backfill;
      }
      const position = again.from(startOf(from));
      const fresh = { flow: flow.flow, fromDay: from, toDay: to, position, share, expected };
      return store.backfills.add({ ...fresh, askedBy: person.by }, at);
    });
  }

  /** The newest ones. */
  list(): BackfillRow[] {
    return this.#engine.store.backfills.list(LISTED);
  }

  /** The daemon's: goes on with what was cut off or paused, one after the other, until the signal. */
  async keepOn(signal: AbortSignal): Promise<void> {
    const { clock } = this.#engine;
    while (!signal.aborted) {
      const woken = new AbortController();
      this.#wake = () => woken.abort();
      await this.goOn();
      await clock.pause(LOOK_MS, AbortSignal.any([signal, woken.signal]));
    }
  }

  /** One try of each unfinished one that is due. */
  async goOn(): Promise<void> {
    const { clock, store } = this.#engine;
    for (const row of store.backfills.unfinished()) {
      if (this.#running !== null || this.#stop.signal.aborted) return;
      const flow = this.#engine.flows.find(({ name }) => name === row.flow);
      const sinceMs = clock.now().wallMs - row.changedMs;
      const isDue = row.state === "reading" || sinceMs >= REST_MS || sinceMs < 0;
      if (flow?.source.again === undefined || !isDue) continue;
      // What is paused, and would be at once again, is left alone: it has said why.
      if (row.state === "paused" && this.#hindrance(flow, row) !== null) continue;
      store.transaction(() => store.backfills.goOn(row.backfill, row.share, clock.now().wallMs));
      await this.#carryOut(row.backfill, flow);
    }
  }

  /** Stops what is under way between two pages; it stays unfinished. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running?.ended.catch(() => {});
  }

  #carryOut(backfill: number, flow: Flow): Promise<BackfillRow> {
    const ended = this.#read(backfill, flow).finally(() => {
      this.#running = null;
    });
    this.#running = { backfill, ended };
    return ended;
  }

  async #read(backfill: number, flow: Flow): Promise<BackfillRow> {
    const { store, clock, note } = this.#engine;
    const { backfills } = store;
    const row = backfills.get(backfill);
    const again = this.#againOf(flow);
    let counted = this.#means.spent();
    /** Requests since it was last asked; a new month counts from nothing. */
    const spentSince = (): number => {
      const now = this.#means.spent();
      const since = now >= counted ? now - counted : now;
      counted = now;
      return since;
    };
    const end = (trouble: Trouble | null): BackfillRow => {
      const event = trouble === null ? "backfill done" : "backfill paused";
      store.transaction(() => {
        const at = clock.now().wallMs;
        backfills.spend(backfill, spentSince());
        backfills.end(backfill, trouble, at);
        const { records, received, requests } = backfills.get(backfill);
        const brought = `${records} records of the period, ${received} of them new, ${requests} requests`;
        const why = trouble === null ? "" : `${trouble.message} `;
        const detail = `${flow.name}, ${row.fromDay} to ${row.toDay}: ${why}${brought}`;
        audit(this.#engine, flow, event, detail);
      });
      const result = backfills.get(backfill);
      const { records, received } = result;
      note(event, { flow: flow.name, records, received, ...trouble });
      return result;
    };
    try {
      const held = this.#hindrance(flow, row);
      if (held !== null) return end(held);
      for await (const page of again.read(backfills.position(backfill), this.#readingOf(flow))) {
        const received = store.transaction(() => {
          const at = clock.now().wallMs;
          const own = page.changes.filter((change) => this.#isOf(row, flow, change));
          const taken = store.intake.beside(flow.flow, { ...page, changes: own }, at);
          tellSetBack(this.#engine, flow, taken.news);
          const { position } = page;
          const gone = page.changes.length;
          const brought = { position, gone, records: own.length, received: taken.received };
          backfills.advance(backfill, brought, at);
          backfills.spend(backfill, spentSince());
          return taken.received;
        });
        if (received > 0) this.stirred();
        const trouble = this.#hindrance(flow, row);
        if (trouble !== null) return end(trouble);
      }
      // Stopped with the process: the next one goes on.
      return this.#stop.signal.aborted ? backfills.get(backfill) : end(null);
    } catch (error) {
      if (!(error instanceof SourceUnavailable)) throw store.told(error);
      return end(error);
    }
  }

  /** What keeps it from asking for the next page. */
  #hindrance(flow: Flow, { share }: BackfillRow): Trouble | null {
    if (flow.paused)
      return {
        code: "held",
        message: `The flow ${flow.name} is paused.`,
        next: `${howToGoOn(this.#engine, flow)} The backfill then goes on by itself.`,
      };
    const allowed = this.#allowed(share);
    if (this.#means.spent() >= allowed)
      return {
        code: WAITS_FOR_BUDGET,
        message: `What backfills may use of the month's requests is used up: ${share} % of ${this.#means.perMonth} are ${allowed}.`,
        next: "The daemon goes on with it next month. To go on now, give the command again with a larger --share.",
      };
    return blocked(this.#engine, [endpointOf(flow.from), flow.from]);
  }

  #allowed(share: number): number {
    return Math.floor((this.#means.perMonth * share) / 100);
  }

  #readingOf({ flow }: Flow) {
    const { intake } = this.#engine.store;
    return {
      signal: this.#stop.signal,
      backfill: true as const,
      known: () => null,
      stored: (id: string, version: string) => intake.stored(flow, id, version),
    };
  }

  /** By the day of the document, or by the day of its last change. What cannot be read tells no day: it is taken. */
  #isOf({ fromDay, toDay }: BackfillRow, { mapping }: Flow, change: Change): boolean {
    const { version, fault } = change;
    // Without a version nobody knows which one is older: no source that offers this tells such a record whole.
    if (version === null) return fault !== undefined;
    const { dayOf } = this.#engine;
    const isWithin = (day: string): boolean => day >= fromDay && day <= toDay;
    if (isWithin(dayOf(version))) return true;
    try {
      const record = mapping.input.safeParse(parseExact(change.text));
      if (!record.success) return true;
      const day = mapping.bookedOn?.(record.data, { dayOf }) ?? null;
      return day !== null && isWithin(day);
    } catch {
      return true;
    }
  }

  /** @throws SourceUnavailable when this flow's past cannot be read anew */
  #againOf(flow: Flow): Rereading {
    const { name, source, paused } = flow;
    const { store } = this.#engine;
    const refuse = (why: string, next: string): never => {
      throw new SourceUnavailable(`The past of ${name} cannot be read anew: ${why}.`, { next });
    };
    if (source.again === undefined)
      return refuse(
        source.whole === true
          ? "every look at it reads the whole list"
          : "its source keeps no versions, so an older record could replace a newer one",
        source.whole === true
          ? "Nothing need be done: what the list holds is stored already."
          : "Export the period again, or change the records where they come from.",
      );
    if (paused) return refuse("the flow is paused", howToGoOn(this.#engine, flow));
    if ((store.flows.find(name)?.success_ms ?? null) === null)
      return refuse(
        "it was never read to its end",
        "Its first reading reads everything: wait until `fuelbridge status` shows that it has ended.",
      );
    return source.again;
  }

  /** @throws SourceUnavailable when another one runs */
  #expectFree(backfill: number | null): void {
    if (this.#running === null || this.#running.backfill === backfill) return;
    throw new SourceUnavailable("Another backfill is running.", {
      next: "Wait until it has ended, then give the command again; `fuelbridge backfill` shows it.",
    });
  }
}

type Trouble = { readonly code: string; readonly message: string; readonly next: string };

const LISTED = 20;

/** Before the day begins anywhere; days are told apart by the company's calendar afterwards. */
const startOf = (day: Day): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) - DAY_MS).toISOString();
