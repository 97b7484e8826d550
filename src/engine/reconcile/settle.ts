/**
 * What follows from a run of the daemon's own: a difference that a second run confirms goes to a person, and back when
 * both sides agree again; a request of which nobody could tell whether it arrived is settled by what both sides show.
 */
import { holdingKindOf } from "../../core/kinds.ts";
import type { Difference } from "../../core/holdings.ts";
import { agreeing, type Bucket } from "../../reconcile/case.ts";
import type { Report } from "../../reconcile/report.ts";
import type { CaseRow } from "../../reconcile/rows.ts";
import type { StoredRequest } from "../../store/requests.ts";
import type { DifferenceRow } from "../../store/reconciliation.ts";
import { arrivedAfterAll, moved } from "../deliver.ts";
import { type Compared, digestOf, settleDifferences } from "../delivered.ts";
import { endpointOf, type Engine, type Flow } from "../engine.ts";
import { carriesRole, sideOf } from "./told.ts";

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
export const isConfirmed = ({ state, bucket, firstMs, lastMs }: DifferenceRow): boolean =>
  state === "seen" && telling.has(bucket as Bucket) && lastMs - firstMs >= SETTLE_MS;

/** `opened`: cases that are confirmed differences now. Inside a transaction. */
export function settleCases(engine: Engine, { cases }: Report, opened: ReadonlySet<CaseRow>): void {
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
export function settleUndecided(
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
      const entry = { flow: flow.flow, delivery: one.delivery, event: "absent", detail };
      store.journal.audit(at.wallMs, entry);
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
