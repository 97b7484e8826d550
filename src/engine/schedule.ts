/**
 * When a flow is due. The due time is kept in the store, so a flow that became due while nothing ran runs once, at
 * once; the cron library only tells which minutes match. The wall clock may be set at any time: within one process an
 * interval goes by the monotonic clock too, and a stored time that no schedule could have set is not believed.
 */
import { createTask } from "node-cron";
import { LONGEST_MONTH_MS, monthAt } from "../core/budget.ts";
import { parseExact } from "../core/json.ts";
import type { After } from "../core/pace.ts";
import { counted } from "../core/text.ts";
import { clocksOf, later, type Moment } from "../core/time.ts";
import { fateOf } from "../core/contract.ts";
import { OLDEST, type Unended } from "../store/requests.ts";
import type { Store } from "../store/store.ts";
import { endpointOf, type Engine, type Flow, RESTORED, type Schedule } from "./engine.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Each month is longer, also in a zone whose clocks are set within it. */
const LESS_THAN_A_MONTH = 27 * DAY;
/** The 29th of February comes round in eight years at most. */
const FURTHEST_MS = 8 * 366 * 24 * HOUR;

/**
 * The first due time after `afterMs` (ms UTC). A time of the calendar that a change of clocks skips is due at the next
 * minute that exists, and one that comes twice only the first time, unless the expression names every hour. An interval
 * is `intervalMs` long (left out: as configured), but where that is longer than configured it ends with the month.
 */
export function nextDue(schedule: Schedule, afterMs: number, intervalMs?: number): number {
  if ("everyMs" in schedule) {
    const { everyMs } = schedule;
    const longestMs = Math.max(everyMs, monthAt(afterMs).endMs - afterMs);
    return afterMs + Math.min(intervalMs ?? everyMs, longestMs);
  }
  const name = `${schedule.cron} ${schedule.timeZone}`;
  const found = lastFound.get(name) ?? [];
  // Between an instant and the first minute after it there is no other.
  const known = found.find((one) => one.afterMs <= afterMs && afterMs < one.dueMs);
  if (known !== undefined) return known.dueMs;
  const dueMs = minuteAfter(schedule, afterMs);
  lastFound.set(name, [{ afterMs, dueMs }, ...found].slice(0, FOUND_KEPT));
  return dueMs;
}

/** By expression and zone, the newest first: all flows and companies ask for the same nights, the next one and some later ones in turns. */
const lastFound = new Map<string, { readonly afterMs: number; readonly dueMs: number }[]>();
const FOUND_KEPT = 8;

/** The due time of the night so many nights after this one (ms UTC); one in which clocks are set back has an hour more. */
export const nightsAfter = (schedule: Schedule, lastMs: number, nights: number): number =>
  nextDue(schedule, nights === 1 ? lastMs : lastMs + (nights - 1) * DAY + 2 * HOUR);

function minuteAfter(schedule: Extract<Schedule, { cron: string }>, afterMs: number): number {
  const { cron, timeZone } = schedule;
  const matches = matcher(cron, timeZone);
  const onItsDays = matcher(`* * ${daysOf(cron)}`, timeZone);
  const inItsHours = matcher(`* ${cron.split(" ").slice(1).join(" ")}`, timeZone);
  const inItsMonths = matcher(`* * * ${cron.split(" ")[3]} *`, timeZone);
  /** How far on the search may go: months and days of which none is the expression's are passed over whole. */
  const passedOver = (hour: number): number => {
    const isNone = (isMet: typeof onItsDays, ...places: readonly number[]): boolean =>
      places.every((ms) => !isMet(hour + ms));
    if (isNone(inItsMonths, 0, LESS_THAN_A_MONTH - MINUTE)) return LESS_THAN_A_MONTH;
    return isNone(onItsDays, 0, DAY / 2, DAY - MINUTE) ? DAY : 0;
  };
  const first = (Math.floor(afterMs / MINUTE) + 1) * MINUTE;
  for (let hour = first - (first % HOUR); hour < first + FURTHEST_MS; hour += HOUR) {
    const passed = passedOver(hour);
    if (passed > 0) {
      hour += passed - HOUR;
      continue;
    }
    // A day may begin within it: there are zones that are half an hour off.
    const last = hour + HOUR - MINUTE;
    if (!onItsDays(hour) && !onItsDays(last)) continue;
    const change = changeNear(hour, timeZone);
    if (change === null && !inItsHours(hour) && !inItsHours(last)) continue;
    const isDue =
      change === null ? matches : (at: number) => isDueNear(change, schedule, at, matches);
    for (let at = Math.max(hour, first); at < hour + HOUR; at += MINUTE) if (isDue(at)) return at;
  }
  return first + FURTHEST_MS;
}

/** A change of a zone's clocks: the first instant after it, and by how much they were set, ms. */
interface ClockChange {
  readonly atMs: number;
  /** Positive: so much of the calendar was skipped. Negative: so much of it came twice. */
  readonly byMs: number;
}

/** The clocks are set by more than this nowhere (it is an hour, or half of one). */
const LARGEST_CHANGE_MS = 3 * HOUR;

/** The last change that still matters within the hour that begins here; null: there is none. */
function changeNear(hour: number, timeZone: string): ClockChange | null {
  const [from, to] = [hour - LARGEST_CHANGE_MS, hour + HOUR - MINUTE];
  const byMs = offsetAt(to, timeZone) - offsetAt(from, timeZone);
  if (byMs === 0) return null;
  // The first minute with the new offset, by halves.
  let [before, after] = [from, to];
  while (after - before > MINUTE) {
    const middle = before + Math.floor((after - before) / (2 * MINUTE)) * MINUTE;
    if (offsetAt(middle, timeZone) - offsetAt(from, timeZone) === 0) before = middle;
    else after = middle;
  }
  return { atMs: after, byMs };
}

function isDueNear(
  { atMs, byMs }: ClockChange,
  { cron, timeZone }: { readonly cron: string; readonly timeZone: string },
  at: number,
  matches: (atMs: number) => boolean,
): boolean {
  // An expression that names every hour goes by hours that pass, not by what the clock shows.
  if (cron.split(" ")[1]?.startsWith("*") === true) return matches(at);
  if (byMs < 0) return matches(at) && (at < atMs || at >= atMs - byMs);
  if (matches(at) || at !== atMs) return matches(at);
  // The minutes that the calendar does not have, as if the clocks had not been set.
  const first = atMs + offsetAt(atMs - MINUTE, timeZone);
  const skipped = Array.from({ length: byMs / MINUTE }, (_, minute) => minute * MINUTE);
  return skipped.some((ms) => matcher(cron, "UTC")(first + ms));
}

/**
 * The due time that is stored (ms UTC), by both clocks of this process. One that lies further off than the schedule
 * ever waits was stored by a clock that was ahead, or by another schedule: then it is due now.
 */
export function dueFrom(schedule: Schedule, storedMs: number, now: Moment, intervalMs = 0): Moment {
  const mostMs = "everyMs" in schedule ? Math.max(intervalMs, schedule.everyMs) : undefined;
  const longestMs = nextDue(schedule, now.wallMs, mostMs) + MINUTE;
  return later(now, storedMs <= longestMs ? storedMs - now.wallMs : 0);
}

/** How long until then, ms; 0 or less: it is due. An interval is over when either clock says so. */
export function untilDue(schedule: Schedule, due: Moment, now: Moment): number {
  const byWallMs = due.wallMs - now.wallMs;
  return "cron" in schedule ? byWallMs : Math.min(byWallMs, due.monoMs - now.monoMs);
}

/** The due time after the wall clock was set: what is left of an interval stays, a time of the calendar is found anew. */
export function dueAfterJump(schedule: Schedule, due: Moment, now: Moment): Moment {
  if ("cron" in schedule) return dueFrom(schedule, due.wallMs, now);
  return later(now, Math.max(untilDue(schedule, due, now), 0));
}

/** How far apart looks at its source are just now, ms; undefined: as configured. */
export const intervalOf = (
  { pace }: Pick<Engine, "pace">,
  flow: Flow,
  after: After = "nothing",
): number | undefined => (flow.side === "platform" ? pace?.intervalMs(flow, after) : undefined);

/** How often a schedule comes round in 31 days that begin with this instant's month, UTC. */
export function runsPerMonth(schedule: Schedule, atMs: number): number {
  if ("everyMs" in schedule) return Math.ceil(LONGEST_MONTH_MS / schedule.everyMs);
  const { cron, timeZone } = schedule;
  const [minutes, hours] = cron.split(" ");
  const onSomeDay = matcher(`${minutes} ${hours} * * *`, timeZone);
  const onItsDays = matcher(`* * ${daysOf(cron)}`, timeZone);
  const { startMs } = monthAt(atMs);
  const aDay = count(1_440, (minute) => onSomeDay(A_PLAIN_DAY + minute * MINUTE));
  return aDay * count(31, (day) => onItsDays(startMs + (day * 24 + 12) * HOUR));
}

/** One for each expression of the configuration: to read one takes longer than to match a day of minutes. */
const matchers = new Map<string, (atMs: number) => boolean>();

/** Whether an instant, ms UTC, is one of the expression's minutes. */
function matcher(cron: string, timeZone: string): (atMs: number) => boolean {
  const name = `${cron} ${timeZone}`;
  const known = matchers.get(name);
  if (known !== undefined) return known;
  const task = createTask(cron, () => {}, { timezone: timeZone });
  const matches = (atMs: number): boolean => task.match(new Date(atMs));
  matchers.set(name, matches);
  return matches;
}

/** By how much the zone's clocks are ahead of UTC at a full minute, ms. */
function offsetAt(atMs: number, timeZone: string): number {
  const clocks = zones.get(timeZone) ?? clocksOf(timeZone);
  zones.set(timeZone, clocks);
  return clocks(atMs) - atMs;
}

const zones = new Map<string, ReturnType<typeof clocksOf>>();

/** Day of the month, month, day of the week. */
const daysOf = (cron: string): string => cron.split(" ").slice(2).join(" ");

/** No clock on earth changes to or from summer time within the 48 hours around it. */
const A_PLAIN_DAY = Date.UTC(2026, 0, 15);

const count = (length: number, isMet: (at: number) => boolean): number =>
  Array.from({ length }, (_, at) => at).filter(isMet).length;

// What has not gone on for too long, and why: the one answer for `status`, the page Today, alerts and metrics. A document is
// late when it is on its way for longer than its flow's interval and the settling of its receiver.

/** `queue`: others go out before it. `turn`: nothing does, and no stop says why. `waits`: for another document. */
export const lateCodes = [
  "stopped",
  "paused",
  "unknown",
  "put-off",
  "held",
  "queue",
  "turn",
  "waits",
] as const;
export type LateCode = (typeof lateCodes)[number];

/** Documents of one flow that stand still for one reason. */
interface Late {
  readonly code: LateCode;
  readonly count: number;
  /** Of the oldest, ms UTC. */
  readonly sinceMs: number;
  /** Why, and what it waits for: of the oldest. */
  readonly message: string;
  readonly next: string;
  /** It is told already, as a stop or a pause is; or others of the flow go out, and its turn comes. */
  readonly expected: boolean;
}

export interface Asking {
  /** Those that stand. */
  readonly stops: readonly OpenStop[];
  /** Endpoints that call us, are not here, and need not be: what waits for their next call is not late. */
  readonly away: ReadonlySet<string>;
  /** Since when a daemon works on the store, ms UTC; null: none does. */
  readonly worksSinceMs: number | null;
}

/** Nothing is late sooner: a run takes its time. */
const LEAST_MS = 5 * MINUTE;
/** A receiver may put off what it is given for so long before that is told. */
const PUT_OFF_MS = HOUR;
/** A flow that sent something within this time goes on, and so does a process that began within it. */
const MOVES_MS = 15 * MINUTE;

/** A calendar's next two times take long to find where they are rare: they are found once an hour. */
const patience = new WeakMap<Flow, { readonly hour: number; readonly ms: number }>();

/** How long what is on its way in this flow may take before it is late, ms. */
export function patienceOf(engine: Pick<Engine, "clock" | "pace">, flow: Flow): number {
  const now = engine.clock.now().wallMs;
  const hour = Math.floor(now / HOUR);
  const known = patience.get(flow);
  if (known?.hour === hour) return known.ms;
  const ms = reckoned(engine, flow, now);
  patience.set(flow, { hour, ms });
  return ms;
}

function reckoned(engine: Pick<Engine, "pace">, flow: Flow, now: number): number {
  const { schedule, sink } = flow;
  const { settleMs, reads, readGapMs } = sink.policy;
  const intervalMs = intervalOf(engine, flow);
  const due = nextDue(schedule, now, intervalMs);
  const everyMs = nextDue(schedule, due, intervalMs) - due;
  return Math.max(everyMs + settleMs + (reads - 1) * readGapMs, LEAST_MS);
}

/** When a request of a flow last ended, in this process. */
const ended = new WeakMap<Store, Map<number, number>>();

/** A request of the flow has ended. */
export function moves({ store, clock }: Engine, { flow }: Flow): void {
  const known = ended.get(store) ?? new Map<number, number>();
  ended.set(store, known.set(flow, clock.now().wallMs));
}

/** One per reason. Only what is on its way: what is in the quarantine is told there. */
export function lateOf(engine: Engine, flow: Flow, asking: Asking): Late[] {
  const { store, clock } = engine;
  const counts = store.deliveries.counts(flow.flow);
  const isEmpty = (counts.get("pending") ?? 0) + (counts.get("frozen") ?? 0) === 0;
  if (isEmpty || asking.away.has(endpointOf(flow.to))) return [];
  const now = clock.now().wallMs;
  const patienceMs = patienceOf(engine, flow);
  const why = whole(engine, flow, asking);
  const requests = store.underWay
    .unended(flow.flow, now, Math.min(patienceMs, PUT_OFF_MS))
    .map((one) => ({ ...ofRequest(one), sinceMs: one.sinceMs, count: one.documents }))
    .filter(
      ({ code, sinceMs }) =>
        Math.abs(now - sinceMs) >= (code === "put-off" && why === null ? PUT_OFF_MS : patienceMs),
    );
  // Where requests share an ordering key, what is behind one waits for it.
  const [first] = flow.sink.itemsMax > 1 ? requests : [];
  const pending = store.underWay
    .unmapped(flow.flow, now, patienceMs)
    .map(({ text, sinceMs }, at) => ({
      ...(first ?? (at < NAMED ? ofPending(engine, flow, text) : TURN)),
      sinceMs,
      count: 1,
    }));
  // Those behind the oldest are not asked about one by one.
  const behind = pending.length < OLDEST ? 0 : (counts.get("pending") ?? 0) - OLDEST;
  const last = pending.at(-1);
  const all = [
    ...requests,
    ...pending,
    ...(behind > 0 && last !== undefined ? [{ ...last, count: behind }] : []),
  ];
  if (why !== null && all.length > 0) return [summed(all.map((one) => ({ ...one, ...why })))];
  const { worksSinceMs } = asking;
  // What a process before this one sent is not known here.
  const sinceMs = Math.max(
    ended.get(store)?.get(flow.flow) ?? -Infinity,
    worksSinceMs ?? -Infinity,
  );
  const isMoving = now - sinceMs < MOVES_MS;
  return [...Map.groupBy(all, ({ code }) => code).values()].map((alike) => {
    const late = summed(alike);
    return late.code === "turn" ? turnOf(late, isMoving, worksSinceMs !== null) : late;
  });
}

/** So many of those that are pending are asked one by one why. */
const NAMED = 20;

type Delay = Pick<Late, "code" | "message" | "next" | "expected">;

const delay = (code: LateCode, message: string, next: string, expected = false): Delay => ({
  code,
  message,
  next,
  expected,
});

const TURN = delay("turn", "", "");

/** What keeps all of the flow. */
function whole(engine: Engine, flow: Flow, { stops }: Asking): Delay | null {
  if (flow.paused) return delay("paused", "the flow is paused", howToGoOn(engine, flow), true);
  const scopes = [endpointOf(flow.to), flow.sink.operation];
  const stop = stops.find(({ breaker, scope }) => breaker === RESTORED || scopes.includes(scope));
  if (stop === undefined) return null;
  const { message, next } = stopped(stop);
  return delay("stopped", message, next, true);
}

function ofRequest({ state, said }: Unended): Delay {
  if (state === "unknown" || state === "sending")
    return delay(
      "unknown",
      `it was sent, and nobody knows yet whether it arrived: ${said ?? "no answer came"}`,
      "It is looked for by itself and never sent again unread. If this stays, see why the receiver cannot be read.",
    );
  if (said === null) return TURN;
  return delay(
    "put-off",
    `it is tried again and again, and the receiver puts it off: ${said}`,
    "Do at the receiver what it says. It goes on by itself once the receiver takes it.",
  );
}

/** Another document under its number may be a person's. */
function ofPending({ store }: Engine, { mapping }: Flow, text: string): Delay {
  const number = numberOf(mapping, text);
  const live = number === null ? null : store.requests.live(mapping.kind, number);
  if (live?.machine.state !== "manual") return TURN;
  return delay(
    "held",
    `another ${mapping.kind} ${number} waits for a person, who decides about this one, too`,
    `Decide about the other one first: fuelbridge trace ${number}`,
  );
}

function numberOf(mapping: Flow["mapping"], text: string): string | null {
  try {
    const record = mapping.input.safeParse(parseExact(text));
    return record.success ? mapping.number(record.data) : null;
  } catch {
    // What cannot be read is judged when its turn comes.
    return null;
  }
}

function turnOf(late: Late, isMoving: boolean, works: boolean): Late {
  return { ...late, ...(isMoving ? QUEUE : works ? STANDS : NO_DAEMON) };
}

const QUEUE = delay(
  "queue",
  "others of the flow go out before it: its turn comes",
  "Nobody need do anything while they go out.",
  true,
);
const STANDS = delay(
  "turn",
  "nothing of the flow went out for a quarter of an hour, and no stop says why",
  "Look at the log. `fuelbridge now` has the flow try at once; if it stays so, report it.",
);
const NO_DAEMON = delay("turn", "the daemon does not run", "Start it with `fuelbridge run`.");

function summed(alike: readonly (Delay & { sinceMs: number; count: number })[]): Late {
  const oldest = alike.reduce((one, other) => (other.sinceMs < one.sinceMs ? other : one));
  return { ...oldest, count: alike.reduce((sum, { count }) => sum + count, 0) };
}

// Are both sides in step, as far as this store knows, and if not, why: the one answer for `once`, `status` and the demo.

/** One thing that keeps both sides from being in step. What waits for a person in the quarantine is not among them. */
export interface Reason {
  /** Stable: what scripts look for. */
  readonly code: ReasonCode;
  /** Null: it concerns more than one flow. */
  readonly flow: string | null;
  /** How many documents, or whatever else is counted; null: it is not counted. */
  readonly count: number | null;
  readonly message: string;
  /** What to do about it. */
  readonly next: string;
  /** A machine can do nothing about it now: somebody has paused it, or it is not due yet. */
  readonly held: boolean;
}

export type ReasonCode =
  "stopped" | "never-read" | "unread" | "pending" | "paused" | "waits" | "left";

/** One kind of reason, looked for in one flow. */
type Finder = (engine: Engine, flow: Flow) => Omit<Reason, "flow"> | null;

/** Whatever else keeps a flow from being in step is one more of these. */
const finders: readonly Finder[] = [notRead, blockedFiles, pending, paused, waiting];

/** Empty: in step. `stops`: those that stand, by default the store's. */
export function outOfStep(
  engine: Engine,
  flows: readonly Flow[],
  stops: readonly OpenStop[] = engine.store.journal.breakers(),
): Reason[] {
  return [
    ...stops.map((stop) => ({ ...stopped(stop), flow: null })),
    ...flows.flatMap((flow) =>
      finders.flatMap((find) => {
        const reason = find(engine, flow);
        return reason === null ? [] : [{ ...reason, flow: flow.name }];
      }),
    ),
    ...leftFlows(engine).flatMap((flow) => left(engine, flow)),
  ];
}

/** Flows of the store that are configured no more, or by another name. */
export const leftFlows = ({ store, flows }: Engine) =>
  store.flows.all().filter(({ name }) => !flows.some((flow) => flow.name === name));

/** What is open of such a flow, and no other one has brought: whatever waits of it stands in no quarantine and in no table of flows. */
function left(
  { store, flows }: Engine,
  { flow, name, kind }: ReturnType<typeof leftFlows>[number],
): Reason[] {
  const next = `Put the flow back under the name ${name} until nothing of it is open, then take it away.`;
  const told = (count: number, message: string): Reason[] =>
    count === 0 ? [] : [{ ...reason("left", message, next, { count }), flow: name }];
  const isOpen = [...store.deliveries.counts(flow).keys()].some((state) => OPEN.has(state));
  const same = flows.filter(({ mapping }) => mapping.kind === kind).map((one) => one.flow);
  const count = isOpen ? store.deliveries.left(flow, same) : 0;
  const sent = store.requests.openCount(flow);
  return [
    ...told(
      sent,
      `${counted(sent, "request")} may have arrived, and the flow is not configured any more: what has the same numbers waits`,
    ),
    ...told(
      count,
      `${counted(count, "document")} ${count === 1 ? "was" : "were"} not delivered, and the flow is not configured any more`,
    ),
  ];
}
const OPEN: ReadonlySet<string> = new Set(["pending", "quarantined"]);

interface OpenStop {
  readonly breaker: string;
  readonly scope: string;
  readonly message: string;
  readonly next: string;
}

const reason = (
  code: ReasonCode,
  message: string,
  next: string,
  { count = null, held = false }: Partial<Pick<Reason, "count" | "held">> = {},
): Omit<Reason, "flow"> => ({ code, count, message, next, held });

const stopped = ({ breaker, scope, message, next }: OpenStop): Omit<Reason, "flow"> =>
  reason("stopped", `stopped (${breaker}, ${scope}): ${message}`, next);

function notRead({ store }: Engine, { name, paused }: Flow): ReturnType<Finder> {
  const row = store.flows.find(name);
  if (paused) return null;
  if (row === null || row.last_run_ms === null)
    return reason(
      "never-read",
      "its source was never read",
      "Start `fuelbridge run`, or `fuelbridge once`.",
    );
  return row.last_error === null
    ? null
    : reason("unread", row.last_error, row.last_error_next ?? "");
}

/** Something lies there and is not read (a file without rights, or a larger one than its source takes), or was refused. */
function blockedFiles({ store }: Engine, { flow, paused }: Flow): ReturnType<Finder> {
  const [first, ...others] = paused ? [] : store.obstacles.of(flow);
  if (first === undefined) return null;
  const behind = [first, ...others].reduce((sum, { behind: { count } }) => sum + count, 0);
  const alike = others.length === 0 ? "" : `, and ${others.length} more`;
  const waits = behind === 0 ? "" : `; ${behind} behind it ${behind === 1 ? "waits" : "wait"}`;
  const why = `${fateOf({ ...first.fault, ...first })}: ${first.fault.message.replace(/\.$/, "")}`;
  const message = `${first.what} ${why}${alike}${waits}`;
  return reason("unread", message, first.fault.next, { count: others.length + 1 });
}

function pending({ store }: Engine, { flow }: Flow): ReturnType<Finder> {
  const counts = store.deliveries.counts(flow);
  const notSent = counts.get("pending") ?? 0;
  const requests = store.requests.openCount(flow);
  if (notSent + requests === 0) return null;
  const count = notSent + (counts.get("frozen") ?? 0) || requests;
  return reason(
    "pending",
    `${count === 1 ? "1 document is" : `${count} documents are`} not delivered yet`,
    "They go by themselves while `fuelbridge run` works, once nothing named here stops them.",
    { count },
  );
}

/** How a paused flow goes on: as it was paused. What attaches to documents goes on with the flow of these. */
export function howToGoOn({ store }: Engine, { name, attachesTo }: Flow): string {
  const own = attachesTo ?? name;
  const row = store.flows.find(own);
  return row !== null && store.flows.isHeld(row.flow)
    ? `Let it go on: fuelbridge resume ${own} --note <text>.`
    : `Take paused: true from the flow ${own} in the configuration, and start fuelbridge again.`;
}

function paused(engine: Engine, flow: Flow): ReturnType<Finder> {
  if (!flow.paused) return null;
  const next = howToGoOn(engine, flow);
  return reason("paused", "paused: nothing is read or sent", next, { held: true });
}

function waiting({ store }: Engine, { flow }: Flow): ReturnType<Finder> {
  const waits = store.waits.ofFlow(flow);
  if (waits === null) return null;
  const { count, untilMs } = waits;
  const documents = count === 1 ? "1 document waits" : `${count} documents wait`;
  return reason(
    "waits",
    `${documents} for payments, until ${new Date(untilMs).toISOString()} at the latest`,
    "Nobody need do anything: what is not paid by then is settled as one.",
    { count, held: true },
  );
}
