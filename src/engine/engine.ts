/** What the engine works with. It knows the store and the contract of endpoints; nothing of HTTP, files or any ERP. */
import type { Mapping, Sink, Source } from "../core/contract.ts";
import type { Holdings } from "../core/holdings.ts";
import type { SiteRules } from "../core/sites.ts";
import type { Clock } from "../core/time.ts";
import { type After, lengthOf } from "../core/pace.ts";
import { monthAt } from "../core/budget.ts";
import type { Counted, Entry } from "../store/journal.ts";
import type { Side } from "../store/deliveries.ts";
import type { Store } from "../store/store.ts";

/** When a list is not believed. */
export interface ListLimits {
  /** A list that lacks more than this share of what it had is torn, percent. 100: it never is. */
  readonly lostPercent: number;
  /** One of more than so many times what it had waits for a person. */
  readonly growthTimes: number;
}

export const usualLimits: ListLimits = { lostPercent: 20, growthTimes: 10 };

export interface Engine {
  readonly store: Store;
  readonly clock: Clock;
  /** Enters every idempotency key. */
  readonly company: string;
  readonly environment: "live" | "test";
  /** ISO 4217. */
  readonly currency: string;
  /** The calendar day (`YYYY-MM-DD`) of an instant where the company is. */
  readonly dayOf: (instant: string) => string;
  readonly tables: Tables;
  /** All that are configured. */
  readonly flows: readonly Flow[];
  /** What the platform already has of this company; left out: nobody asks. @throws SourceUnavailable */
  readonly knowsUs?: (signal: AbortSignal) => Promise<string | null>;
  /** The day on which fuelbridge works here for the first time, as its configuration says. */
  readonly firstStart?: string | null;
  /** Where several sites share the API key: whose records are whose. Left out: all are ours. */
  readonly sites?: { readonly own: string; readonly rules: SiteRules };
  /** A line for the log and for whoever watches: never a payload. */
  readonly note: (event: string, details: Readonly<Record<string, unknown>>) => void;
  /** Told during long readings, and after every page, round of freezing and answer. */
  readonly progress?: (progress: Progress) => void;
  /** Told when work was done and nothing more is to do just now. */
  readonly rest?: () => void;
  /** How far apart looks at what the platform has are just now; left out: as configured. */
  readonly pace?: Pace;
}

/** Where the work on a flow stands. */
export interface Progress {
  readonly flow: string;
  readonly step: "reading" | "storing" | "delivering";
  /** Records that were read or stored in this step; documents to deliver are counted in the store. */
  readonly count: number | null;
  /** Of the whole step, 0 to 1; null: not known here. */
  readonly share: number | null;
}

export const delivering = (flow: string): Progress => ({
  flow,
  step: "delivering",
  count: null,
  share: null,
});

/** Cross-reference tables, as people maintain them. */
export interface Tables {
  row(table: string, key: string): Readonly<Record<string, string>> | null;
}

/** A mapping put to work by the configuration. */
export interface Flow {
  /** Its row in the store. */
  readonly flow: number;
  readonly name: string;
  /** `platform.invoicesIssued` */
  readonly from: string;
  readonly to: string;
  /** The side its records come from. */
  readonly side: Side;
  readonly mapping: Mapping;
  readonly source: Source;
  readonly sink: Sink;
  /** What its receiver holds: asked before what may be there already is sent (copies.ts). Left out: it cannot tell. */
  readonly holdings?: Pick<Holdings, "strength" | "list" | "expect">;
  readonly schedule: Schedule;
  /** A person is told when it brings nothing for so many ms; infinite: never. Left out: as its source says, else learned. */
  readonly silenceMs?: number;
  readonly paused: boolean;
  /** When a whole list of its source is not believed; left out: as usual. */
  readonly limits?: ListLimits;
  /** `deliver`: a document that looks like another one goes like all others (copies.ts). Left out: it waits for a person. */
  readonly duplicates?: "deliver";
  /** It attaches PDFs to what the flow of this name delivers (delivered.ts); left out: it is a flow of its own. */
  readonly attachesTo?: string;
  /** It writes back for what the flow of this name reads (pull.ts); left out: it is a flow of its own. */
  readonly repliesTo?: string;
}

/** `auto`: looks are as far apart as the month's requests allow, no closer than `leastMs` and no further than `everyMs`. */
export type Schedule =
  | { readonly everyMs: number; readonly auto?: { readonly leastMs: number } }
  | { readonly cron: string; readonly timeZone: string };

/** How far apart the looks of flows at an interval are, as the month's requests allow (office/month.ts). */
export interface Pace {
  /** ms until the next look at the flow's source, after what was seen or done; undefined: its calendar says. */
  intervalMs(flow: Pick<Flow, "name" | "schedule">, after: After): number | undefined;
  /** A look was whole and found so many changes since the one before (ms UTC). Inside a transaction. */
  looked(flow: Flow, look: { fromMs: number; toMs: number; changes: number }): void;
  /** Does the site work at this instant (ms UTC)? */
  isWorked(atMs: number): boolean;
}

/** The endpoint that is no ERP. */
export const PLATFORM = "platform";

export const endpointOf = (name: string): string => name.split(".", 1)[0] as string;

/** Writes down what happened to a flow, or to one of its deliveries. Inside a transaction. */
export const audit = (
  { store, clock }: Pick<Engine, "store" | "clock">,
  { flow }: Pick<Flow, "flow">,
  event: string,
  detail: string,
  about: Pick<Entry, "delivery" | "person"> = {},
): void => store.journal.audit(clock.now().wallMs, { flow, event, detail, ...about });

/** The platform's clock may be ahead of ours by so much; what says that it is from later says nothing of its wait. */
const AHEAD_MS = 60_000;

/**
 * Counts how long changes of the platform had waited when they were stored or delivered, by the time that the platform says
 * of each (`versions`); what a first reading brings has waited for no look. Inside a transaction.
 */
export function countWaits(
  { store, pace }: Pick<Engine, "store" | "pace">,
  { flow, side }: Pick<Flow, "flow" | "side">,
  step: Counted["step"],
  versions: readonly (string | null)[],
  atMs: number,
): void {
  const sinceMs = side === "platform" ? store.flows.doubtfulMs(flow) : null;
  const waits = versions.map((version): Omit<Counted, "step" | "count"> => {
    const changedMs = sinceMs === null || version === null ? NaN : Date.parse(version);
    const isKnown = changedMs > (sinceMs ?? Infinity) && changedMs <= atMs + AHEAD_MS;
    if (!isKnown) return { worked: 0, length: 0 };
    const worked = pace?.isWorked(changedMs) === true ? 1 : 0;
    return { worked, length: lengthOf(atMs - changedMs) };
  });
  const { name: month } = monthAt(atMs);
  for (const those of Map.groupBy(waits, ({ worked, length }) => length * 2 + worked).values()) {
    const [first] = those as [(typeof waits)[number]];
    store.journal.waited(month, flow, { ...first, step, count: those.length });
  }
}

/** The flow `invoices.pdf` beside `invoices`: no configuration can name another one so, and both are paused together. */
export function flowBeside(store: Store, flow: Flow, ending: string, more: Partial<Flow>): Flow {
  const name = `${flow.name}.${ending}`;
  return {
    ...flow,
    flow: store.flows.open(name).flow,
    name,
    silenceMs: Infinity,
    ...more,
    get paused() {
      return flow.paused;
    },
  };
}
