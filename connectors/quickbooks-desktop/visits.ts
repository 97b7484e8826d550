/**
 * What is known of the Web Connector's sessions beyond this process. A ticket is kept as its hash: who reads the store
 * cannot go on with a session. What was handed over is known by the id of its requests, which QuickBooks echoes.
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { Notebook } from "../../src/core/contract.ts";
import type { Presence } from "../../src/core/presence.ts";

const Visit = z.object({
  /** SHA-256 of its ticket. */
  ticket: z.string(),
  /** What was handed over and not answered: the id of its requests. Null: nothing. */
  handed: z.string().nullable(),
  /** When it began, and when something was last handed over or answered; ISO 8601 UTC. */
  begunAt: z.string(),
  heardAt: z.string(),
  /** Null: it is going on, or whoever served it is no more. */
  endedAt: z.string().nullable(),
});
type Visit = z.infer<typeof Visit>;

const NAME = "session";
/** Since when it is expected: what its silence is measured from while it has never called. */
const EXPECTED = "expected";

export class Visits {
  readonly #notebook: Notebook | undefined;
  #visit: Visit | null;

  /** @param notebook left out: what is known ends with this process */
  constructor(notebook: Notebook | undefined) {
    this.#notebook = notebook;
    this.#visit = visitIn(notebook);
  }

  /** When somebody was last here, ISO 8601 UTC; null: never. */
  get lastAt(): string | null {
    return this.#visit?.endedAt ?? this.#visit?.heardAt ?? null;
  }

  /** From now on, unless it was before. @throws StorageError */
  expected(nowMs: number): void {
    if (this.#notebook?.get(EXPECTED) === null) this.#notebook.set(EXPECTED, iso(nowMs));
  }

  /** Null: it was here within `limitMs`, or nobody ever expected it. */
  silence(nowMs: number, limitMs: number): Presence["silence"] {
    const { lastAt } = this;
    const since = lastAt ?? this.#notebook?.get(EXPECTED) ?? null;
    if (since === null || nowMs - Date.parse(since) <= limitMs) return null;
    const hours = Math.round(limitMs / HOUR_MS);
    return {
      since,
      limitMs,
      message: `${lastAt === null ? "The Web Connector has never called, and was expected since" : "The Web Connector was last here at"} ${since}; it is expected at least every ${hours} ${hours === 1 ? "hour" : "hours"} (expectEvery).`,
      next: "On the machine with QuickBooks, look whether the Web Connector runs, shows no error and has Auto-Run ticked; press Update Selected. If that machine is meant to be off for so long, raise expectEvery.",
    };
  }

  /** What was handed over in the session of this process or of one before, and has no answer. */
  get handed(): string | null {
    return this.#visit?.handed ?? null;
  }

  /** It was begun, here or by a process before this one, is not over, and was heard of within `withinMs`. */
  isOpen(ticket: string, nowMs: number, withinMs: number): boolean {
    const visit = this.#visit;
    return (
      visit !== null &&
      visit.endedAt === null &&
      visit.ticket === hashOf(ticket) &&
      Math.abs(nowMs - Date.parse(visit.heardAt)) <= withinMs
    );
  }

  /** Durable when it returns, as what follows. @throws StorageError */
  begun(ticket: string, nowMs: number): void {
    const at = iso(nowMs);
    this.#keep({ ticket: hashOf(ticket), handed: null, begunAt: at, heardAt: at, endedAt: null });
  }

  /** @param id of what is handed over; null: it was answered. @throws StorageError */
  hand(id: string | null, nowMs: number): void {
    if (this.#visit !== null) this.#keep({ ...this.#visit, handed: id, heardAt: iso(nowMs) });
  }

  /** @throws StorageError */
  over(nowMs: number): void {
    if (this.#visit?.endedAt !== null) return;
    this.#keep({ ...this.#visit, handed: null, endedAt: iso(nowMs) });
  }

  #keep(visit: Visit): void {
    this.#notebook?.set(NAME, JSON.stringify(visit));
    this.#visit = visit;
  }
}

function visitIn(notebook: Notebook | undefined): Visit | null {
  const text = notebook?.get(NAME) ?? null;
  return text === null ? null : (Visit.safeParse(JSON.parse(text)).data ?? null);
}

const hashOf = (ticket: string): string => createHash("sha256").update(ticket).digest("hex");
const HOUR_MS = 3_600_000;
const iso = (ms: number): string => new Date(ms).toISOString();
