/** What stands still for too long, per flow: on its way (engine/late.ts), or in the quarantine for another document. */
import type { Engine, Flow } from "../engine/engine.ts";
import { type Asking, lateOf, patienceOf } from "../engine/late.ts";
import type { Group } from "./groups.ts";
import type { LateDocuments } from "./office.ts";

const DAY_MS = 24 * 3_600_000;

/** Waits that no flow ends: for a payer nobody waits in vain, and a draft is looked at once a day. */
const OWN_PATIENCE: Readonly<Record<string, number>> = {
  "partly-paid": Infinity,
  "draft-at-receiver": DAY_MS,
};

/** Of the flow of this name. `quarantine`: all groups. */
export function lateIn(
  engine: Engine,
  quarantine: readonly Group[],
  asking: Asking,
): (flow: string) => LateDocuments[] {
  const { flows } = engine;
  const clearing = quarantine.filter(({ shown }) => shown.helps.includes("wait"));
  return (name) => {
    const flow = flows.find((one) => one.name === name);
    if (flow === undefined) return [];
    return [
      ...lateOf(engine, flow, asking).map(({ sinceMs, ...late }) => ({
        ...late,
        since: new Date(sinceMs).toISOString(),
      })),
      ...clearing
        .filter((group) => group.shown.flow === name)
        .flatMap((group) => waits(engine, flow, group)),
    ];
  };
}

/** It clears by itself, and has not for longer than what it waits for takes to be read and delivered. */
function waits(engine: Engine, flow: Flow, { shown, causes }: Group): LateDocuments[] {
  const { code, count, since, cause, next, ageMs } = shown;
  const { flows } = engine;
  // Whatever it waits for comes by one of them.
  const patienceMs =
    OWN_PATIENCE[code] ??
    patienceOf(engine, flow) +
      Math.max(...flows.filter(({ paused }) => !paused).map((one) => patienceOf(engine, one)), 0);
  if (ageMs <= patienceMs) return [];
  const expected =
    causes.length > 0 && causes.slice(0, ASKED_MAX).every((one) => isSeenTo(engine, one));
  return [{ code: "waits", count, since, message: cause, next, expected }];
}

/** So many awaited documents are looked for. */
const ASKED_MAX = 50;

/** What is awaited is on its way or a person's: it is told itself. */
const isSeenTo = (
  { flows, store }: Engine,
  { awaitsKind, awaitsId }: Group["causes"][number],
): boolean =>
  awaitsId !== null &&
  flows.some((flow) => {
    if (flow.mapping.kind !== awaitsKind || flow.paused) return false;
    const record = store.openRecords.newest(flow.flow, awaitsId);
    return record !== null && record.skipped === null && record.closed === null;
  });
