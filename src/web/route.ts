/** What a page is asked with and answers. The list of all routes is routes.ts: who may what stands there once. */
import type { Office } from "../office/questions.ts";
import type { Html } from "./html.ts";
import type { Session } from "./sessions.ts";
import type { Compared, Jobs } from "./jobs.ts";
import type { Role } from "./roles.ts";

/** Whose console it is. */
export interface Site {
  readonly company: string;
  readonly environment: "live" | "test";
  /** ISO 4217 */
  readonly currency: string;
  readonly timeZone: string;
}

/** The files of an evidence pack by name. `by`: who asked for the comparison. */
export type Pack = (compared: Compared, by: string) => Promise<Readonly<Record<string, string>>>;

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
  | { readonly title: string; readonly body: Html }
  /** Another page is shown next, with a sentence that says what was done. */
  | { readonly to: string; readonly told: string | null }
  | { readonly file: string; readonly type: string; readonly text: string }
  | { readonly file: string; readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> };

export interface Route {
  /** What is looked at changes nothing; what changes something is a form with a reason. */
  readonly method: "GET" | "POST";
  /** `/needs-you/:group` */
  readonly path: string;
  readonly role: Role;
  answer(asked: Asked): Promise<Answer>;
}

/** Who decides, and why, for the audit. */
export const personOf = ({ session, form }: Asked): { by: string; note: string } => ({
  by: session.user,
  note: (form.get("note") ?? "").trim(),
});
