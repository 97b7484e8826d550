/** What people were told is wrong, and the messages about it that no channel has taken yet. */
import type Database from "better-sqlite3";

/** Something that is wrong now and that somebody should know. */
export interface Condition {
  /** Stable while it lasts; another one is another change. */
  readonly key: string;
  /** It is told in quiet hours, too. */
  readonly urgent: boolean;
  readonly title: string;
  readonly detail: string;
  readonly next: string;
}

/** `new` and `over` wait to be told; `told` stands. */
export type AlertState = "new" | "told" | "over";

export interface AlertRow extends Condition {
  readonly state: AlertState;
  /** When it was first seen, and when its state last changed, ms UTC. */
  readonly sinceMs: number;
  readonly changedMs: number;
}

export interface Message {
  readonly message: number;
  readonly channel: string;
  /** The same for all attempts, and on all channels. */
  readonly id: string;
  /** JSON. */
  readonly body: string;
  readonly createdMs: number;
  readonly attempts: number;
}

export function alerts(database: Database.Database) {
  const all = database.prepare<[], Omit<AlertRow, "urgent"> & { urgent: 0 | 1 }>(
    `select condition as key, state, urgent, title, detail, next, since_ms as sinceMs, changed_ms as changedMs
     from alert order by since_ms, condition`,
  );
  const put = database.prepare(
    `insert into alert (condition, state, urgent, title, detail, next, since_ms, changed_ms)
     values (:key, :state, :urgent, :title, :detail, :next, :sinceMs, :changedMs)
     on conflict do update set state = excluded.state, urgent = excluded.urgent, title = excluded.title,
       detail = excluded.detail, next = excluded.next, changed_ms = excluded.changed_ms`,
  );
  const drop = database.prepare("delete from alert where condition = ?");
  const queue = database.prepare(
    `insert into alert_message (channel, id, body, created_ms, next_ms)
     values (:channel, :id, :body, :atMs, :atMs) on conflict do nothing`,
  );
  const due = database.prepare<[number], Message>(
    `select message, channel, id, body, created_ms as createdMs, attempts
     from alert_message where next_ms <= ? order by message`,
  );
  const postpone = database.prepare(
    "update alert_message set attempts = attempts + 1, next_ms = ? where message = ?",
  );
  const done = database.prepare("delete from alert_message where message = ?");

  return {
    all: (): AlertRow[] => all.all().map((row) => ({ ...row, urgent: row.urgent === 1 })),
    /** Inside a transaction, as the next ones. */
    put(row: AlertRow): void {
      put.run({ ...row, urgent: row.urgent ? 1 : 0 });
    },
    drop(key: string): void {
      drop.run(key);
    },
    queue(message: Pick<Message, "channel" | "id" | "body">, atMs: number): void {
      queue.run({ ...message, atMs });
    },
    postpone(message: number, untilMs: number): void {
      postpone.run(untilMs, message);
    },
    done(message: number): void {
      done.run(message);
    },
    /** Messages whose next attempt is due. */
    due: (atMs: number): Message[] => due.all(atMs),
  };
}
