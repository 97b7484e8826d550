/** One message about all that changed: the same content as JSON and as text. */
import { createHash } from "node:crypto";
import type { AlertRow } from "../store/journal.ts";

export interface AlertMessage {
  /** The same for every attempt: receivers can tell a repetition by it. */
  readonly id: string;
  readonly company: string;
  /** ISO 8601 UTC. */
  readonly at: string;
  /** `trouble`: something is wrong. `ok`: nothing is any more. `test`: somebody tries the channel. */
  readonly status: "trouble" | "ok" | "test";
  readonly subject: string;
  readonly began: readonly Said[];
  readonly over: readonly Said[];
  /** What was told before and is still so. */
  readonly standing: readonly Said[];
}

interface Said {
  readonly title: string;
  readonly detail: string;
  readonly next: string;
  /** ISO 8601 UTC. */
  readonly since: string;
}

export interface Changes {
  readonly began: readonly AlertRow[];
  readonly over: readonly AlertRow[];
  readonly standing: readonly AlertRow[];
}

export function messageOf(company: string, changes: Changes, atMs: number): AlertMessage {
  const { began, over, standing } = changes;
  const at = new Date(atMs).toISOString();
  const isOk = began.length + standing.length === 0;
  const keys = [...began, ...over].map(({ key, state, changedMs }) => [key, state, changedMs]);
  const digest = createHash("sha256")
    .update(JSON.stringify([company, keys]))
    .digest("hex");
  return {
    id: digest.slice(0, 32),
    company,
    at,
    status: isOk ? "ok" : "trouble",
    subject: `fuelbridge ${company}: ${subjectOf(changes, isOk)}`,
    began: began.map(said),
    over: over.map(said),
    standing: standing.map(said),
  };
}

export const testMessage = (company: string, atMs: number, id: string): AlertMessage => ({
  id,
  company,
  at: new Date(atMs).toISOString(),
  status: "test",
  subject: `fuelbridge ${company}: test of the alerts`,
  began: [],
  over: [],
  standing: [],
});

const said = ({ title, detail, next, sinceMs }: AlertRow): Said => ({
  title,
  detail,
  next,
  since: new Date(sinceMs).toISOString(),
});

function subjectOf({ began, over, standing }: Changes, isOk: boolean): string {
  if (isOk) return "in step again";
  const [first] = began;
  if (first === undefined) return `${over.length} settled, ${standing.length} left`;
  const more = began.length - 1;
  return more === 0 ? first.title : `${first.title}, and ${more} more`;
}

const TEST =
  "Somebody tries whether messages of fuelbridge arrive here. They do. Nothing need be done.";

/** For people: what began, what is over, what stands. */
export function asText({ status, company, at, began, over, standing }: AlertMessage): string {
  return [
    ...(status === "test" ? [TEST, ""] : []),
    ...part("WRONG SINCE THE LAST MESSAGE", began, true),
    ...part("OVER", over, false),
    ...part("STILL WRONG", standing, false),
    ...(status === "ok" ? ["Nothing is wrong any more.", ""] : []),
    `${company}, ${at}`,
    "",
  ].join("\n");
}

/** `full`: with what was found and what to do. */
function part(title: string, rows: readonly Said[], full: boolean): string[] {
  if (rows.length === 0) return [];
  const lines = rows.flatMap(({ title, detail, next, since }) => [
    `- ${title}`,
    ...(full ? [`  ${detail.replaceAll("\n", "\n  ")}`, `  Next: ${next}`] : []),
    `  since ${since}`,
  ]);
  return [title, ...lines, ""];
}
