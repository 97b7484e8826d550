/**
 * What the next run would write, found by the engine itself over a copy of the store: it reads the sources, maps and
 * freezes there, and the sinks refuse to send. Then the copy is removed.
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Config } from "../config/config.ts";
import type { Governor } from "../core/budget.ts";
import { parseExact } from "../core/json.ts";
import type { Engine, Flow } from "../engine/engine.ts";
import { freezeNext } from "../engine/daemon.ts";
import { pull } from "../engine/pull.ts";
import { type ChangedField, changedFields, leavesOf, shownValue } from "../mapping/explain.ts";
import type { Office } from "../office/questions.ts";
import { otherSide } from "../store/deliveries.ts";
import type { StoredRequest } from "../store/requests.ts";
import type { Sent } from "../store/queries.ts";
import { openScratch } from "../store/scratch.ts";
import { openStore, type Store } from "../store/store.ts";
import { systemClock } from "./process.ts";
import { engineOver, plainFlows } from "./compose.ts";
import { openEndpoints } from "./endpoints.ts";

interface DryRunOptions {
  /** This flow alone, also when it is paused; null: all that are not paused. */
  readonly flow: string | null;
  /** Are the sources read? Else it is about what is stored and waits. */
  readonly read: boolean;
}

/** `copy`: a file that {@link Office.backup} made; it is removed. */
export async function dryRun(
  config: Config,
  office: Pick<Office, "admit">,
  copy: string,
  { flow: only, read }: DryRunOptions,
) {
  const folder = mkdtempSync(join(dirname(copy), "plan-"));
  mkdirSync(join(folder, "state"), { mode: 0o700 });
  renameSync(copy, join(folder, "state", "fuelbridge.sqlite"));
  let requests = 0;
  const governor: Governor = {
    async admit() {
      requests++;
      return office.admit();
    },
    learn: () => {},
  };
  const clock = systemClock();
  const store = openStore(join(folder, "state"));
  const { endpoints } = openEndpoints(config, {
    clock,
    governor,
    looking: true,
    remembered: (operation) => store.remembered.of(operation),
    scratch: (bytes) => openScratch(folder, bytes),
    note: () => {},
  });
  try {
    const flows = plainFlows(config, store, endpoints).map(unsent);
    const engine = engineOver(config, store, clock, flows);
    const chosen = flows.filter(({ name, paused }) => (only === null ? !paused : name === only));
    const done: Awaited<ReturnType<typeof planOf>>[] = [];
    for (const flow of chosen) done.push(await planOf(engine, flow, read));
    return {
      flows: done.map(({ plan }) => plan),
      writes: done.flatMap(({ writes }) => writes),
      /** To the platform, for reading. */
      requests,
    };
  } finally {
    for (const endpoint of endpoints.values()) await endpoint.close();
    store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

export type DryRun = Awaited<ReturnType<typeof dryRun>>;
export type FlowPlan = DryRun["flows"][number];
export type Planned = DryRun["writes"][number];

/** Each document by itself, so that all can be frozen; and nothing can leave. */
const unsent = (flow: Flow): Flow => ({
  ...flow,
  sink: {
    ...flow.sink,
    itemsMax: 1,
    freeze: (items) => flow.sink.freeze(items),
    prepare: refused,
    send: refused,
  },
});

async function refused(): Promise<never> {
  throw new TypeError("a plan sends nothing");
}

async function planOf(engine: Engine, flow: Flow, read: boolean) {
  const { store } = engine;
  const before = store.deliveries.counts(flow.flow);
  const pulled = read ? await pull(engine, flow, new AbortController().signal) : null;
  const writes: ReturnType<typeof planned>[] = [];
  for (let after = 0; ;) {
    const sent = new Map(
      store.deliveries
        .pending(flow.flow, after, AT_ONCE)
        .map(({ recordId }) => [recordId, lastSent(store, flow, recordId)]),
    );
    const old = new Set(store.requests.open(flow.flow).map(({ request }) => request));
    const round = freezeNext(engine, flow, after);
    if (round === null) break;
    for (const request of store.requests.open(flow.flow)) {
      if (old.has(request.request)) continue;
      for (const { recordId, number } of store.requests.carried(request.request))
        writes.push(planned(flow, number, request.body, sent.get(recordId) ?? null));
      makeRoom(engine, request);
    }
    // What shares an ordering key with one of these is frozen in the next round.
    after = round.frozen > 0 && round.left > 0 ? after : round.last;
  }
  const after = store.deliveries.counts(flow.flow);
  const more = (state: string): number => (after.get(state) ?? 0) - (before.get(state) ?? 0);
  const plan = {
    flow: flow.name,
    from: flow.from,
    to: flow.to,
    /** New versions that its source told; null: it was not read. */
    read: pulled?.received ?? null,
    /** Why its source could not be read; null: it could, or was not asked. */
    trouble: pulled?.trouble?.message ?? null,
    creates: writes.filter(({ what }) => what === "create").length,
    changes: writes.filter(({ what }) => what === "change").length,
    /** Rightly not written: drafts, our own documents, contents that are delivered already. */
    nothing: more("skipped") + more("echo"),
    /** With a person, or waiting for another document; by cause. */
    quarantined: store.questions
      .quarantine()
      .filter((group) => group.flow === flow.name)
      .map(({ cause, count }) => ({ cause, count })),
  };
  return { plan, writes };
}

/** In the copy it counts as gone, so that what waits for its ordering key is frozen next. */
function makeRoom({ store, clock }: Engine, request: StoredRequest): void {
  const { wallMs } = clock.now();
  const gone = { ...request.machine, state: "cancelled" } as const;
  store.transaction(() => store.requests.move(request, gone, request.key, wallMs));
}

/** As many as {@link freezeNext} looks at. */
const AT_ONCE = 200;

const lastSent = (store: Store, { flow }: Flow, recordId: string): Sent | null =>
  store.samples.named(flow, recordId).find(({ id }) => id === recordId)?.sent ?? null;

/**
 * What would be written. `create`: nothing of it was delivered. `fields`: against what was last delivered, all of it for a new
 * one; null: it went with others and cannot be told apart.
 */
function planned(flow: Flow, number: string, body: string, sent: Sent | null) {
  const fields = sent === null ? newFields(body) : changedFields(sent, body);
  const to = otherSide(flow.side);
  const what: "create" | "change" = sent === null ? "create" : "change";
  return { flow: flow.name, to, number, what, fields };
}

/** All that a new document has; null for bytes that are no JSON. */
function newFields(body: string): ChangedField[] | null {
  try {
    return [...leavesOf(parseExact(body))].map(([field, value]) => ({
      field,
      before: null,
      now: shownValue(value),
    }));
  } catch {
    return null;
  }
}
