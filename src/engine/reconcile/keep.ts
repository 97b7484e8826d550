/** What a run leaves in the store: how it ended, the differences that are known, and which flows agree. */
import { Decimal } from "../../core/decimal.ts";
import type { Difference } from "../../core/holdings.ts";
import { holdingKindOf } from "../../core/kinds.ts";
import { arrivedAfterAll, moved } from "../deliver.ts";
import { type Compared, digestOf, settleDifferences } from "../delivered.ts";
import { audit, endpointOf, type Engine, type Flow } from "../engine.ts";
import { agreeing, type Bucket, isOpen } from "../../reconcile/case.ts";
import type { Report } from "../../reconcile/report.ts";
import type { CaseRow } from "../../reconcile/rows.ts";
import type { DifferenceRow, Found } from "../../store/reconciliation.ts";
import type { StoredRequest } from "../../store/requests.ts";
import { markWalked, platformWalks, takeLate } from "./late.ts";
import {
  type Audit,
  type Question,
  type Reconciled,
  reconcileSides,
  scopeOf,
} from "./reconcile.ts";
import { carriesRole, sideOf } from "./told.ts";

export interface Kept {
  readonly report: Report;
  /** Deliveries that have become possible by it: flows look at what they have pending. */
  readonly stirred: boolean;
}

/**
 * A reconciliation whose run the store keeps. A process that ends meanwhile leaves a failed run, and the next one begins
 * anew: nothing was judged. `settles`: confirmed differences go to a person, undecided requests are settled, and records
 * that were committed late are taken in. @throws SourceUnavailable when a side cannot be read whole
 */
export async function keptReconciliation(
  engine: Engine,
  audit: Audit,
  question: Question,
  settles: boolean,
  signal: AbortSignal,
): Promise<Kept> {
  const { store, clock } = engine;
  const at = (): number => clock.now().wallMs;
  const sweep = store.transaction(() =>
    store.sweeps.begin(scopeOf(question), question.askedBy, at()),
  );
  const spent = audit.spent();
  const requests = (): number => Math.max(audit.spent() - spent, 0);
  const walks = platformWalks(engine);
  let reconciled: Reconciled;
  try {
    reconciled = await reconcileSides(engine, audit, question, signal);
  } catch (error) {
    const detail = (error as Error).message;
    const failed = { state: "failed", counts: null, agrees: null, detail, unasked: null } as const;
    const ended = { sweep, requests: requests(), endedMs: at(), ...failed };
    store.transaction(() => store.sweeps.end(ended));
    throw error;
  }
  const { report, told, walked } = reconciled;
  const settled = store.transaction(() => {
    const counts = report.controls.map(({ side, kind, count }) => ({ side, kind, count }));
    store.sweeps.end({
      sweep,
      state: report.state,
      endedMs: at(),
      counts: JSON.stringify(counts),
      agrees: report.agrees ? 1 : 0,
      detail: report.failures[0] ?? null,
      unasked: JSON.stringify(report.unasked),
      requests: requests(),
    });
    if (report.state === "failed") return 0;
    const earlier = earlierOf(engine, report);
    const seen = keepDifferences(engine, report, sweep, at());
    for (const flow of engine.flows) keepAgreement(engine, flow, report, at());
    if (!settles) return 0;
    const opened = new Set(seen.flatMap(({ row, known }) => (isConfirmed(known) ? [row] : [])));
    for (const { row, known } of seen)
      if (opened.has(row)) store.sweeps.setState(known.difference, "open");
    settleCases(engine, report, opened);
    return settleUndecided(engine, report, earlier);
  });
  const late = settles && report.state === "done" ? takeLate(engine, told) : 0;
  if (settles && report.state === "done")
    store.transaction(() =>
      markWalked(engine, audit, { walks, kinds: walked, period: question.period }),
    );
  return { report, stirred: settled + late > 0 };
}

/** What the last run left about the cases of this one. */
function earlierOf({ store }: Engine, { cases }: Report): Map<CaseRow, DifferenceRow> {
  const found = new Map<CaseRow, DifferenceRow>();
  for (const row of cases) {
    if (agreeing.has(row.bucket)) continue;
    const known = store.sweeps.find(row.kind, row.key);
    if (known !== null) found.set(row, known);
  }
  return found;
}

function keepDifferences(
  { store }: Engine,
  report: Report,
  sweep: number,
  at: number,
): { readonly row: CaseRow; readonly known: DifferenceRow }[] {
  const { sweeps } = store;
  const judged = new Set(report.strength.map(({ kind }) => kind as string));
  // What is in no case any more is on neither side.
  const cleared = new Map(
    sweeps
      .standing()
      .filter(({ kind }) => judged.has(kind))
      .map((row) => [`${row.kind} ${row.key}`, row]),
  );
  const wrong = report.cases.filter(({ bucket }) => !agreeing.has(bucket));
  for (const { kind, key } of wrong) cleared.delete(`${kind} ${key}`);
  for (const { difference } of cleared.values()) sweeps.setState(difference, "cleared");
  return wrong.map((row) => ({ row, known: sweeps.see(foundIn(row), sweep, at) }));
}

function foundIn(row: CaseRow): Found {
  const { kind, key, bucket, digest, number, cause } = row;
  return {
    kind,
    key,
    bucket,
    digest: digest ?? "",
    number,
    code: cause?.code ?? bucket,
    cause: cause?.message ?? bucket,
    next: cause?.next ?? "",
    row: JSON.stringify(row),
  };
}

/** Every case that began on the side which the flow reads. */
function keepAgreement({ store }: Engine, flow: Flow, { cases }: Report, at: number): void {
  const kind = holdingKindOf(flow.mapping.kind);
  const own = cases.filter((row) => row.kind === kind && row.began === sideOf(flow));
  if (own.length === 0 || own.some(isOpen)) return;
  const isMoney = kind !== "party" && kind !== "price";
  const equal = own.filter(({ bucket }) => bucket === "equal");
  const sum = Decimal.sum(equal.map(({ amount }) => Decimal.of(amount.platform))).fixed(2);
  store.sweeps.agreed(flow.flow, equal.length, isMoney ? sum : null, at);
}

// What follows from a run of the daemon's own: a difference that a second run confirms goes to a person, and back when
// both sides agree again; a request of which nobody could tell whether it arrived is settled by what both sides show.

/** The settling time of the slowest sink: a write shows after it. */
export const SETTLE_MS = 15 * 60_000;
/** How long the platform keeps a key whose outcome is unknown (specification part 4, W5), and clocks that differ. */
const KEY_MS = 25 * 3_600_000;

export const telling: ReadonlySet<Bucket> = new Set([
  "twice",
  "differs",
  "only there",
  "only here",
]);

/** Is a difference that was seen before still the same, long enough after? */
const isConfirmed = ({ state, bucket, firstMs, lastMs }: DifferenceRow): boolean =>
  state === "seen" && telling.has(bucket as Bucket) && lastMs - firstMs >= SETTLE_MS;

/** `opened`: cases that are confirmed differences now. Inside a transaction. */
function settleCases(engine: Engine, { cases }: Report, opened: ReadonlySet<CaseRow>): void {
  const { store } = engine;
  for (const flow of engine.flows) {
    const kind = holdingKindOf(flow.mapping.kind);
    const told = new Set(store.disagreements.ofFlow(flow.flow, "reconciliation", MANY));
    const compared = cases.flatMap((row): Compared[] => {
      if (row.kind !== kind || row.began !== sideOf(flow)) return [];
      const records = row.records[row.began].filter((record) => carriesRole(flow, record));
      const isTold = records.some(({ id }) => told.has(id));
      if (!opened.has(row) && !(isTold && row.bucket !== "waiting")) return [];
      const link = records
        .map(({ id }) => store.links.find(flow.mapping.kind, flow.side, id))
        .find((found) => found !== null);
      const fault = row.cause?.code === "partly-paid" ? row.cause : null;
      return link ? [{ link, differences: differencesOf(row), fault }] : [];
    });
    const opening = settleDifferences(engine, flow, compared, "reconciliation");
    if (opening > 0) engine.note("differs", { flow: flow.name, documents: opening });
  }
}

const MANY = 100_000;

/**
 * A person resolves what a run or a list has told of a record: the difference is accepted with the values that the last
 * run saw. Not with others than those that the person was told: then it is told anew. Inside a transaction.
 */
export function acceptResolved(
  { store }: Engine,
  flow: Flow,
  told: { readonly record: number; readonly recordId: string; readonly delivery: number },
): void {
  const { disagreements, links, sweeps } = store;
  const { kind } = flow.mapping;
  const held = holdingKindOf(kind);
  const ofRun = disagreements.find(told.record, "reconciliation");
  const ofList = disagreements.find(told.record, "list");
  const own = [ofRun, ofList].find((one) => one?.delivery === told.delivery) ?? null;
  const link = own === null ? null : links.find(kind, flow.side, told.recordId);
  if (own === null || link === null || held === null) return;
  const keys = [`platform:${link.platformId}`, `books:${link.erpId}`].flatMap((key) =>
    held === "party" ? [key, key.replace(":", `:${kind} `)] : [key],
  );
  for (const key of keys) {
    const known = sweeps.find(held, key);
    if (known === null || known.state === "cleared" || known.row === null) continue;
    const isAsTold = own !== ofRun || digestOf(differencesOf(JSON.parse(known.row))) === own.digest;
    if (isAsTold) sweeps.setState(known.difference, "accepted");
  }
}

/** Toward the side that received it. */
function differencesOf({ bucket, began, differences }: CaseRow): Difference[] {
  if (agreeing.has(bucket)) return [];
  if (bucket === "only there" || bucket === "only here" || differences.length === 0)
    return [{ field: "record", expected: "one", held: bucket === "twice" ? "several" : "none" }];
  return differences.map(({ field, platform, books }) =>
    began === "platform"
      ? { field, expected: platform, held: books }
      : { field, expected: books, held: platform },
  );
}

/** What a request that waits for a person turned out to be. Null: both sides contradict each other, or not yet known. */
type Outcome = "arrived" | "absent" | null;

/**
 * `earlier`: what the last run left about a case. Inside a transaction; how many were settled. A document that is not
 * there in two runs after the key's day goes again under its next key, and is looked for before that.
 */
function settleUndecided(
  engine: Engine,
  report: Report,
  earlier: ReadonlyMap<CaseRow, DifferenceRow>,
): number {
  const { store, clock } = engine;
  let settled = 0;
  for (const flow of engine.flows)
    for (const request of store.requests.open(flow.flow)) {
      const carried = store.requests.carried(request.request);
      const [one] = carried;
      if (request.machine.state !== "manual" || one === undefined || carried.length > 1) continue;
      const row = report.cases.find(
        ({ kind, began, records }) =>
          kind === holdingKindOf(flow.mapping.kind) &&
          began === sideOf(flow) &&
          records[began].some((record) => record.id === one.recordId && carriesRole(flow, record)),
      );
      if (row === undefined) continue;
      const outcome = outcomeOf(engine, flow, request, { report, row, earlier: earlier.get(row) });
      if (outcome === null) continue;
      settled++;
      if (outcome === "arrived") {
        const [other] = row.records[row.began === "platform" ? "books" : "platform"];
        const detail = `both sides show it alike at ${report.at} (reconciliation)`;
        arrivedAfterAll(engine, flow, request, [other?.id ?? null], detail);
        continue;
      }
      const detail = `"${endpointOf(flow.to)}" does not have it at ${iso(earlier.get(row)?.lastMs)} and at ${report.at}, more than a day after it was last sent: it goes again under its next key`;
      const at = clock.now();
      moved(engine, flow, request, { type: "decision", at, decision: "cancel" }, detail);
      audit(engine, flow, "absent", detail, { delivery: one.delivery });
      for (const { delivery } of carried) store.deliveries.reopen(delivery);
    }
  return settled;
}

const iso = (ms = 0): string => new Date(ms).toISOString();

function outcomeOf(
  { store, dayOf }: Engine,
  { mapping }: Flow,
  { machine, request }: StoredRequest,
  known: { report: Report; row: CaseRow; earlier: DifferenceRow | undefined },
): Outcome {
  const { report, row, earlier } = known;
  const sentMs = store.sweeps.lastSentMs(request);
  // Never sent: another document has its number. A conflict: somebody else's bytes went under our key.
  if (machine.firstSentWallMs === null || sentMs === null || machine.conflict) return null;
  const there = row.records[row.began === "platform" ? "books" : "platform"];
  if (there.length > 0) {
    const isAlike = row.differences.every(({ field }) => PROGRESS.has(field));
    return there.length === 1 && row.bucket !== "twice" && isAlike ? "arrived" : null;
  }
  const isInReach =
    report.period === null || dayOf(iso(machine.firstSentWallMs)) >= report.period.from;
  const before = earlier?.digest === row.digest ? earlier.lastMs : null;
  const isTwice =
    before !== null && before >= sentMs + KEY_MS && Date.parse(report.at) - before >= SETTLE_MS;
  // A party that shows no code of ours may be this one.
  const mayHide =
    holdingKindOf(mapping.kind) === "party" &&
    report.cases.some(
      ({ kind, records }) =>
        kind === "party" &&
        records.books.length === 0 &&
        records.platform.some(({ number }) => number === null),
    );
  return isInReach && isTwice && !mayHide && row.suspects.length === 0 ? "absent" : null;
}

/** A document may have come further since it was sent. */
const PROGRESS: ReadonlySet<string> = new Set(["state", "money.open", "days.paid"]);
