/** What is wrong with a configuration: every problem with its place, the bad value, and what would be right. */
import { ConfigurationError } from "../core/errors.ts";

export interface Complaint {
  /** `"ten" is not a duration`: the end of a sentence that begins with the setting. */
  readonly message: string;
  readonly remedy: string;
}

export type Path = readonly PropertyKey[];

export interface Problem extends Complaint {
  readonly line: number;
  readonly column: number;
  /** `flows.orders.every`; empty for the file as a whole. */
  readonly setting: string;
  /** Where it is another file than the configuration: a table. */
  readonly file?: string;
}

export class InvalidConfiguration extends ConfigurationError {
  readonly file: string;
  readonly problems: readonly Problem[];

  constructor(file: string, found: readonly Problem[]) {
    const problems = found.toSorted(
      (a, b) =>
        (a.file ?? "").localeCompare(b.file ?? "") || a.line - b.line || a.column - b.column,
    );
    super(
      `${file} has ${problems.length === 1 ? "a problem" : `${problems.length} problems`}:\n` +
        problems.map((problem) => describe(file, problem)).join("\n"),
      "Correct this, then look again with `fuelbridge check`.",
    );
    this.file = file;
    this.problems = problems;
  }
}

function describe(configuration: string, problem: Problem): string {
  const { file = configuration, line, column, setting, message, remedy } = problem;
  return `${file}:${line}:${column} ${setting === "" ? "" : `${setting}: `}${message}.\n    ${remedy}`;
}

export const settingOf = (path: Path): string => path.map(String).join(".");

/** A value as people wrote it, cut to what fits a line; without the credentials that an address may carry. */
export function shown(value: unknown): string {
  const text = (JSON.stringify(value) ?? String(value)).replace(/\/\/[^/\s"]*@/g, "//[secret]@");
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** The candidate that was probably meant: two letters differ, in long words a third of them. */
function closest(word: string, candidates: Iterable<string>): string | null {
  let best: string | null = null;
  let least = Infinity;
  for (const candidate of candidates) {
    const distance = edits(word.toLowerCase(), candidate.toLowerCase());
    if (
      distance >= least ||
      distance > Math.max(candidate.length > 3 ? 2 : 1, candidate.length / 3)
    )
      continue;
    least = distance;
    best = candidate;
  }
  return best;
}

/** `Did you mean "every"?`, or all that could be meant. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const one = closest(word, candidates);
  if (one !== null) return `Did you mean "${one}"?`;
  return candidates.length === 0
    ? "There is none to choose from."
    : `Right would be ${candidates.length > 1 ? "one of " : ""}${candidates.join(", ")}.`;
}

/** Levenshtein distance. */
function edits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** `ENOENT`, or the message of an error that has no such code. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}
