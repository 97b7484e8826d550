/** Once a day, what has been kept for long enough goes, in small steps between which everything else goes on. */
import type { Engine } from "./engine.ts";
import { DAY_MS } from "../core/time.ts";

/** How long each is kept, ms; null: for ever. */
interface Keep {
  /** The bytes of requests that a newer version of every document of theirs has replaced. */
  readonly replacedMs: number | null;
  /** Both values of differences that are settled. */
  readonly differencesMs: number | null;
}

/** Not while a start has more urgent work. */
const FIRST_MS = 10 * 60_000;
/** Between two steps that did something, and between two that did nothing. */
const REST_MS = 250;
const GLANCE_MS = 20;

/** Until the signal. */
export async function keepTidy(engine: Engine, keep: Keep, signal: AbortSignal): Promise<void> {
  const { clock } = engine;
  for (let pauseMs = FIRST_MS; !signal.aborted; pauseMs = DAY_MS) {
    await clock.pause(pauseMs, signal);
    if (!signal.aborted) await tidy(engine, keep, signal);
  }
}

/** One pass over the store: first every row is looked at (ADR 0001). @throws StorageError when one is damaged */
export async function tidy(
  { store, clock, note }: Engine,
  { replacedMs, differencesMs }: Keep,
  signal: AbortSignal,
) {
  const gone = { requests: 0, bytes: 0, differences: 0 };
  await store.examine(signal, () => clock.pause(GLANCE_MS, signal));
  const { retention } = store;
  const now = clock.now().wallMs;
  const end = replacedMs === null ? 0 : retention.lastRequest();
  for (let after = 0; after < end && !signal.aborted;) {
    const step = store.transaction(() =>
      retention.removeBytes(after, now - (replacedMs ?? 0), clock.now().wallMs),
    );
    gone.requests += step.requests;
    gone.bytes += step.bytes;
    after = step.upTo;
    await clock.pause(step.requests > 0 ? REST_MS : GLANCE_MS, signal);
  }
  for (let more = differencesMs !== null; more && !signal.aborted;) {
    const count = store.transaction(() => retention.removeSettled(now - (differencesMs ?? 0)));
    gone.differences += count;
    more = count > 0;
    await clock.pause(GLANCE_MS, signal);
  }
  for (let more = replacedMs !== null; more && !signal.aborted;) {
    more = store.transaction(() => retention.removeVersions(now - (replacedMs ?? 0))) > 0;
    await clock.pause(GLANCE_MS, signal);
  }
  if (gone.requests + gone.differences > 0) {
    const detail =
      `the bytes of ${gone.requests} replaced requests (${gone.bytes} bytes) ` +
      `and the values of ${gone.differences} settled differences`;
    store.transaction(() =>
      store.journal.audit(clock.now().wallMs, { event: "retention", detail }),
    );
    note("retention", { ...gone });
  }
  while (!signal.aborted && retention.giveBack()) await clock.pause(REST_MS, signal);
  retention.settle();
  return gone;
}
