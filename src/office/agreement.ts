/** Do both sides agree, and since when? What the store knows of reconciliations, for `status`. */
import { holdingKindOf } from "../core/kinds.ts";
import type { Engine, Flow } from "../engine/engine.ts";
import type { Auditor } from "../engine/reconcile/auditor.ts";
import { AGAIN, DAEMON, type Nightly } from "../engine/reconcile/nightly.ts";
import { telling } from "../engine/reconcile/keep.ts";
import type { Bucket } from "../reconcile/case.ts";
import type { Unasked } from "../reconcile/report.ts";
import type { CaseRow } from "../reconcile/rows.ts";
import { type DifferenceRow, ENDED, type Found } from "../store/reconciliation.ts";
import { partyOf } from "./about.ts";
import type { Person } from "./asked.ts";
import { OfficeError } from "../core/errors.ts";

/**
 * `nightly`: null when no daemon runs, or it does not reconcile by itself. `auditor`: left out where nobody can be
 * waited for.
 */
export function reconciliationStatus(
  engine: Engine,
  nightly: Nightly | null,
  auditor?: Pick<Auditor, "waiting">,
) {
  const { sweeps } = engine.store;
  const { differences: all, accepted } = knownDifferences(engine);
  const known = all.filter((one) => !clears(one));
  const last = sweeps.lastEnded();
  const done = sweeps.lastDone();
  const pace = nightly?.pace();
  return {
    /** When the daemon last compared both sides whole, ISO 8601 UTC; null: never. */
    lastAt: isoOrNull(done?.endedMs ?? null),
    /** Why the last run ended without an answer; null: it did not. */
    trouble: last?.state === "failed" ? last.detail : null,
    /** Whom a run waits for, since when and until when at most (ISO 8601 UTC); null: nobody. */
    waits: auditor?.waiting ?? null,
    /** What the daemon's last run could not compare, and what to do. What a connector can never tell is not named. */
    notCompared: notComparedIn(engine),
    /** Feeds that could not be read anew for what was committed late; it is tried again within the hour. */
    notWalked: engine.flows.flatMap(({ flow, name, paused }) => {
      const walk = paused ? null : sweeps.deepWalk(flow);
      if (walk === null || walk.failedMs === null) return [];
      const { message, next, walkedMs } = walk;
      return [{ flow: name, since: isoOrNull(walkedMs), message: message ?? "", next: next ?? "" }];
    }),
    /** Null: the daemon does not do it by itself. */
    nextDueAt: isoOrNull(nightly?.dueMs() ?? null),
    /** Nights between two runs, so that they fit into their share of the month; 1: every night. */
    everyNights: pace?.everyNights ?? 1,
    /** The share of the month that would do, percent; null: it suffices. */
    wantsShare: pace?.wantsShare ?? null,
    /** Those that a second run has confirmed, and those `seen` by one; `first` of both. Beside them: `clears`, by themselves. */
    differences: {
      confirmed: known.filter(({ confirmed }) => confirmed).length,
      seen: known.filter(({ confirmed }) => !confirmed).length,
      clears: all.length - known.length,
      accepted: accepted.length,
      first: known
        .slice(0, FIRST_MAX)
        .map(({ kind, number, bucket, cause }) => ({ kind, number, bucket, cause })),
    },
  };
}

/** `kind` left out: all that there is. */
interface NotCompared extends Pick<Unasked, "endpoint" | "why" | "what"> {
  readonly kind?: string;
  readonly next: string;
}

/** By the daemon's own last run; one that a restart ended is made anew. */
function notComparedIn({ store: { sweeps } }: Engine): NotCompared[] {
  const runs = [DAEMON, AGAIN].flatMap((by) => sweeps.lastBy(by) ?? []);
  const [last] = runs.toSorted((one, other) => other.sweep - one.sweep);
  if (last === undefined || last.state === "reading") return [];
  if (last.state === "failed")
    return last.counts === null && last.detail !== ENDED
      ? [{ endpoint: "both sides", why: last.detail ?? "", next: TRIED_AGAIN }]
      : [];
  const unasked = JSON.parse(last.unasked ?? "[]") as Unasked[];
  return unasked.flatMap(({ next, paused, ...one }) =>
    next === undefined || paused === true ? [] : [{ ...one, next }],
  );
}

const TRIED_AGAIN = "It is tried again every hour; see what its message says.";

const FIRST_MAX = 5;

/** A part that the books have received: it is told once all is paid (reconcile/judge.ts). */
const clears = ({ row }: { readonly row: CaseRow }): boolean => row.cause?.code === "partly-paid";

/** What is not settled, from the store. */
export function knownDifferences(engine: Engine) {
  const { sweeps } = engine.store;
  // What waits is settled by itself, and what is with a person is in the quarantine.
  const rows = [...sweeps.inState("open"), ...sweeps.inState("seen")].filter(({ bucket }) =>
    telling.has(bucket as Bucket),
  );
  return {
    lastAt: isoOrNull(sweeps.lastDone()?.endedMs ?? null),
    /** Confirmed ones first, then as they were first seen. */
    differences: rows.map((row) => knownIn(engine, row)),
    /** What a person has accepted as it is, until its values change. */
    accepted: sweeps.inState("accepted").map((row) => knownIn(engine, row)),
  };
}

function knownIn(
  engine: Engine,
  { kind, number, bucket, cause, next, state, firstMs, lastMs, row: text }: DifferenceRow,
) {
  const { flows } = engine;
  const row = JSON.parse(text ?? "null") as CaseRow;
  return {
    kind,
    /** The flow by which a person may accept it; null: it is not theirs to accept, or no flow carries it. */
    flow: flows.find((flow) => mayAccept(flow, { kind, bucket }))?.name ?? null,
    number,
    bucket,
    cause,
    next,
    /** A second run, the settling time later, found it just so. */
    confirmed: state === "open",
    since: new Date(firstMs).toISOString(),
    last: new Date(lastMs).toISOString(),
    /** With both values of every field. */
    row,
    /** What its party is called; null: nobody knows. */
    partyName: partyOf(engine, { party: row?.party ?? null }).name,
  };
}

/** What is there twice stays with those who can take one away. */
const mayAccept = ({ mapping }: Flow, { kind, bucket }: Pick<Found, "kind" | "bucket">): boolean =>
  holdingKindOf(mapping.kind) === kind && telling.has(bucket as Bucket) && bucket !== "twice";

/**
 * A person accepts what differs, as it is: it is told again when its values change. Inside a transaction.
 * @throws OfficeError where no difference of that number is known, or several are
 */
export function differenceAccepted(
  { store, clock }: Engine,
  flow: Flow,
  number: string,
  person: Person,
): void {
  const known = [...store.sweeps.inState("open"), ...store.sweeps.inState("seen")].filter(
    (row) => mayAccept(flow, row) && row.number === number,
  );
  const [one, another] = known;
  if (one === undefined || another !== undefined)
    throw new OfficeError(
      one === undefined
        ? `No difference of ${flow.name} is known as ${number} that a person may accept.`
        : `${known.length} differences of ${flow.name} are known as ${number}.`,
      "`fuelbridge reconcile --last` names what differs; what is in the quarantine is resolved there.",
    );
  store.sweeps.setState(one.difference, "accepted");
  const detail = `${one.kind} ${number}: ${one.cause}`;
  const entry = { flow: flow.flow, event: "difference accepted", detail, person };
  store.journal.audit(clock.now().wallMs, entry);
}

/** By flow. */
export const agreements = ({ store: { sweeps } }: Engine) =>
  new Map(
    sweeps
      .agreements()
      .map(({ flow, atMs, documents, amount }) => [
        flow,
        { at: new Date(atMs).toISOString(), documents, amount },
      ]),
  );

const isoOrNull = (ms: number | null): string | null =>
  ms === null ? null : new Date(ms).toISOString();
