/** What a page is asked with and answers, by whom, and the comparisons that are being made. The list of all routes is routes.ts. */
import { randomUUID } from "node:crypto";
import type { Context } from "hono";
import type { Scrub } from "../config/scrub.ts";
import { FuelbridgeError, SourceUnavailable, OfficeError } from "../core/errors.ts";
import type { AuditHead, Reconciling } from "../office/asked.ts";
import type { Office } from "../office/questions.ts";
import type { Report } from "../reconcile/report.ts";
import type { Blocks, Inline } from "../views/blocks.ts";
import type { Attempts, Session, Sessions } from "./sessions.ts";
import type { Role, Users } from "./users.ts";

interface Compared {
  readonly report: Report;
  /** The newest entry of the audit just after it. */
  readonly audit: AuditHead | null;
}

export interface Job {
  readonly id: string;
  readonly asked: Reconciling;
  readonly startedMs: number;
  /** About so many to the platform. */
  readonly requests: number;
  state:
    | { readonly is: "running" }
    | ({ readonly is: "done" } & Compared)
    | { readonly is: "failed"; readonly message: string; readonly next: string };
}

/** The newest ones are kept, in memory: a report can be made again. */
const KEPT = 5;

/** Reconciliations that somebody asked for in the console: they take as long as their requests do. */
export class Jobs {
  readonly #jobs = new Map<string, Job>();

  list(): readonly Job[] {
    return [...this.#jobs.values()].toReversed();
  }

  find(id: string): Job | null {
    return this.#jobs.get(id) ?? null;
  }

  /** `failed`: what a failure is told as. */
  start(
    about: Pick<Job, "asked" | "startedMs" | "requests">,
    work: Promise<Compared>,
    failed: (error: unknown) => { message: string; next: string },
  ): Job {
    const job: Job = { id: randomUUID(), ...about, state: { is: "running" } };
    this.#jobs.set(job.id, job);
    const [oldest] = this.#jobs.keys();
    if (this.#jobs.size > KEPT && oldest !== undefined) this.#jobs.delete(oldest);
    work.then(
      (compared) => (job.state = { is: "done", ...compared }),
      (error: unknown) => (job.state = { is: "failed", ...failed(error) }),
    );
    return job;
  }
}

/** Whose console it is. */
export interface Site {
  readonly company: string;
  readonly environment: "live" | "test";
  /** ISO 4217 */
  readonly currency: string;
  readonly timeZone: string;
  /** The consoles of all companies of the installation, this one's among them. Left out: it has one company. */
  readonly beside?: readonly Beside[];
}

export interface Beside {
  readonly name: string;
  readonly url: string;
}

/** The files of an evidence pack by name. `by`: who asked for the comparison. */
type Pack = (compared: Compared, by: string) => Promise<Readonly<Record<string, string>>>;

export interface Asked {
  readonly office: Office;
  readonly site: Site;
  readonly jobs: Jobs;
  readonly pack: Pack;
  readonly session: Session;
  readonly role: Role;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Of a form; empty for a page that is looked at. */
  readonly form: URLSearchParams;
  readonly params: Readonly<Record<string, string>>;
  readonly nowMs: number;
}

export type Answer =
  | { readonly title: string; readonly body: Blocks }
  /** Another page is shown next, with a sentence that says what was done. */
  | { readonly to: string; readonly told: Inline | null }
  | { readonly file: string; readonly type: string; readonly text: string }
  | { readonly file: string; readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> };

export const csvFile = (name: string, text: string): Answer => ({
  file: `${name}.csv`,
  type: "text/csv",
  text,
});

export interface Route {
  /** What is looked at changes nothing; what changes something is a form with a reason. */
  readonly method: "GET" | "POST";
  /** `/needs-you/:group` */
  readonly path: string;
  readonly role: Role;
  answer(asked: Asked): Promise<Answer>;
}

export interface AppParts {
  readonly office: Office;
  readonly site: Site;
  readonly pack: Pack;
  readonly users: Users;
  /** Values that no page may show. */
  readonly secrets: readonly string[];
  /** The wall clock, and one that never goes back, ms. */
  readonly clock: { now(): { wallMs: number; monoMs: number } };
  /** A line for the log: what failed, never a form. */
  readonly note: (message: string, details: Readonly<Record<string, unknown>>) => void;
  /** That it listens on. */
  readonly port: number;
  /** Cookies are for TLS only. */
  readonly isSecure: boolean;
}

/** `remote`: the address that a request came from; the listener knows its socket. */
export type Env = { Bindings: { readonly remote: string } };
export type Call = Context<Env>;

/** What the pieces of the console share. */
export interface Shared extends AppParts {
  readonly sessions: Sessions;
  readonly attempts: Attempts;
  readonly jobs: Jobs;
  readonly scrub: Scrub;
  readonly cookie: string;
}

/** Who decides, and why, for the audit. */
export const personOf = ({ session, form }: Asked): { by: string; note: string } => ({
  by: session.user,
  note: (form.get("note") ?? "").trim(),
});

/** What a person is told in place of a page. */
export interface Told {
  readonly status: 403 | 404 | 422 | 500 | 503;
  readonly message: string;
  readonly next: string;
  /** It is a mistake in fuelbridge: nobody has said why. */
  readonly isOurs?: true;
}

export function toldOf(error: unknown): Told {
  const { message, next } = error as FuelbridgeError;
  if (error instanceof OfficeError) return { status: 422, message, next };
  if (error instanceof SourceUnavailable) return { status: 503, message, next };
  if (error instanceof FuelbridgeError) return { status: 500, message, next };
  return {
    status: 500,
    message: error instanceof Error ? message : String(error),
    next: "This is a mistake in fuelbridge. Please report it with the text above; the daemon's log says more.",
    isOurs: true,
  };
}
