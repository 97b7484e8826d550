/**
 * Tells people when something goes wrong and when it is over: once for each change, also across restarts. What is known
 * as told, and what waits to be sent, is in the store; one transaction moves the first and writes the second.
 */
import type { Clock } from "../core/time.ts";
import type { AlertRow, Condition } from "../store/journal.ts";
import type { Store } from "../store/store.ts";
import { type AlertMessage, type Changes, type Channel, messageOf } from "./channels.ts";

interface AlerterParts {
  readonly store: Pick<Store, "alerts" | "transaction">;
  readonly clock: Clock;
  readonly company: string;
  readonly channels: readonly Channel[];
  readonly conditions: () => Promise<readonly Condition[]>;
  /** How long changes are collected into one message, ms. */
  readonly collectMs: number;
  /** Is the wall clock (ms UTC) in the hours in which only what is urgent is told? */
  readonly isQuiet: (wallMs: number) => boolean;
  readonly note: (event: string, details: Record<string, unknown>) => void;
}

const EVERY_MS = 15_000;
/** After the first failure, doubled for each further one up to the longest. */
const RETRY_MS = 60_000;
const RETRY_LONGEST_MS = 3_600_000;
/** What no channel has taken by then is given up: its conditions stand in `status`. */
const GIVE_UP_MS = 3 * 24 * 3_600_000;

/** Looks and sends until `signal` aborts. It never ends for a failure of its own: it is noted. */
export async function runAlerts(parts: AlerterParts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await lookAndSend(parts).catch((error: unknown) => parts.note("alerts failed", { error }));
    await parts.clock.pause(EVERY_MS, signal);
  }
}

/** One look at what is wrong, and one attempt at each message that is due. */
export async function lookAndSend(parts: AlerterParts): Promise<void> {
  const { store, clock, conditions } = parts;
  const now = await conditions();
  store.transaction(() => {
    const atMs = clock.now().wallMs;
    note(parts, now, atMs);
    tell(parts, atMs);
  });
  await deliver(parts);
}

/** Compares what is wrong now with what is known. What came and went untold leaves nothing. */
function note({ store }: AlerterParts, now: readonly Condition[], atMs: number): void {
  const known = new Map(store.alerts.all().map((row) => [row.key, row]));
  for (const condition of now) {
    const before = known.get(condition.key);
    known.delete(condition.key);
    if (before === undefined)
      store.alerts.put({ ...condition, state: "new", sinceMs: atMs, changedMs: atMs });
    // It is back before anybody was told that it is over.
    else if (before.state === "over") store.alerts.put({ ...before, ...condition, state: "told" });
    else if (differs(before, condition)) store.alerts.put({ ...before, ...condition });
  }
  for (const row of known.values()) {
    if (row.state === "new") store.alerts.drop(row.key);
    else if (row.state === "told") store.alerts.put({ ...row, state: "over", changedMs: atMs });
  }
}

const differs = (row: AlertRow, { title, detail, next, urgent }: Condition): boolean =>
  row.title !== title || row.detail !== detail || row.next !== next || row.urgent !== urgent;

/** Everything that waits goes into one message, once the oldest of it has waited long enough. */
function tell(parts: AlerterParts, atMs: number): void {
  const { store, channels, collectMs, company, isQuiet } = parts;
  const rows = store.alerts.all();
  const waiting = rows.filter(({ state }) => state !== "told");
  const able = isQuiet(atMs) ? waiting.filter(({ urgent }) => urgent) : waiting;
  // A clock that was set back must not silence anybody.
  if (!able.some(({ changedMs }) => Math.abs(atMs - changedMs) >= collectMs)) return;
  const changes: Changes = {
    began: able.filter(({ state }) => state === "new"),
    over: able.filter(({ state }) => state === "over"),
    standing: rows.filter(
      (row) => row.state === "told" || (row.state === "new" && !able.includes(row)),
    ),
  };
  const message = messageOf(company, changes, atMs);
  const body = JSON.stringify(message);
  for (const { name } of channels)
    store.alerts.queue({ channel: name, id: message.id, body, atMs });
  for (const row of changes.began) store.alerts.put({ ...row, state: "told", changedMs: atMs });
  for (const { key } of changes.over) store.alerts.drop(key);
}

async function deliver({ store, clock, channels, note }: AlerterParts): Promise<void> {
  for (const row of store.alerts.due(clock.now().wallMs)) {
    const channel = channels.find(({ name }) => name === row.channel);
    try {
      await channel?.send(JSON.parse(row.body) as AlertMessage);
      store.transaction(() => store.alerts.done(row.message));
    } catch (error) {
      const atMs = clock.now().wallMs;
      const isOver = atMs - row.createdMs >= GIVE_UP_MS;
      note(isOver ? "alert given up" : "alert not sent", { channel: row.channel, error });
      const waitMs = Math.min(RETRY_MS * 2 ** row.attempts, RETRY_LONGEST_MS);
      store.transaction(() =>
        isOver ? store.alerts.done(row.message) : store.alerts.postpone(row.message, atMs + waitMs),
      );
    }
  }
}
