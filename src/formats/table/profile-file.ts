/** The text of a profile into its settings, every mistake with its line and what would fit. */
import { isNode, LineCounter, parseDocument, type Document } from "yaml";
import type { z } from "zod";
import { ConfigurationError } from "../../core/errors.ts";
import { ProfileFile } from "./profile-schema.ts";

export interface ProfileProblem {
  readonly line: number;
  readonly column: number;
  /** `columns.total.dates`; empty for the file as a whole. */
  readonly setting: string;
  /** The end of a sentence that begins with the setting. */
  readonly message: string;
  readonly remedy: string;
}

/** A profile that cannot be used: nothing is read or written with it. */
export class InvalidProfile extends ConfigurationError {
  readonly file: string;
  readonly problems: readonly ProfileProblem[];

  constructor(file: string, problems: readonly ProfileProblem[]) {
    const told = problems.map(
      ({ line, column, setting, message, remedy }) =>
        `${file}:${line}:${column} ${setting === "" ? "" : `${setting}: `}${message}.\n    ${remedy}`,
    );
    super(
      `The profile ${file} cannot be used:\n${told.join("\n")}`,
      "Correct the profile, then try it with `fuelbridge profile try FILE --profile PROFILE`.",
    );
    this.file = file;
    this.problems = problems;
  }
}

/** Settings, and where they stand. */
export interface ParsedProfile {
  readonly settings: ProfileFile;
  /** Collects what is wrong with a setting; a path leads from the top to it. */
  readonly complain: (path: readonly PropertyKey[], message: string, remedy: string) => void;
  /** @throws InvalidProfile when anything was complained of */
  readonly done: () => void;
}

/** @throws InvalidProfile */
export function parseProfileFile(text: string, file: string): ParsedProfile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const problems: ProfileProblem[] = document.errors.map(({ message, pos }) => {
    const { line, col } = lines.linePos(pos[0]);
    const remedy = "Correct the YAML: two blanks for each level, a colon after each name.";
    return { line, column: col, setting: "", message: `is no YAML: ${message}`, remedy };
  });
  const complain = (path: readonly PropertyKey[], message: string, remedy: string): void => {
    const { line, column } = placeOf(document, lines, path);
    problems.push({ line, column, setting: path.map(String).join("."), message, remedy });
  };
  const done = (): void => {
    if (problems.length > 0) throw new InvalidProfile(file, problems);
  };
  done();
  const value: unknown = document.toJS() ?? {};
  const parsed = ProfileFile.safeParse(value);
  if (parsed.success) return { settings: parsed.data, complain, done };
  for (const { path, message, remedy } of parsed.error.issues.flatMap((issue) =>
    explained(issue, []),
  ))
    complain(path, message, remedy);
  throw new InvalidProfile(file, problems);
}

interface Explained {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly remedy: string;
}

type Issue = z.core.$ZodIssue;

/** Of several forms that a setting may have, the one that was meant: it goes deepest, and has fewest faults. */
function explained(issue: Issue, above: readonly PropertyKey[]): Explained[] {
  const path = [...above, ...issue.path];
  if (issue.code === "invalid_union") {
    const branches = issue.errors.filter((branch) => branch.length > 0);
    const meant = branches.toSorted((one, other) => depthOf(other) - depthOf(one))[0];
    if (meant !== undefined && depthOf(meant) > 0)
      return meant.flatMap((inner) => explained(inner, path));
    return [{ path, message: "has none of the forms it may have", remedy: formsOf(issue) }];
  }
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: "is no setting of a profile",
      remedy: `Remove it, or correct its name.${path.length === 0 ? ` Right would be one of ${Object.keys(ProfileFile.shape).join(", ")}.` : ""}`,
    }));
  return [{ path, message: issue.message, remedy: formsOf(issue) }];
}

const depthOf = (issues: readonly z.core.$ZodIssue[]): number =>
  Math.max(...issues.map(({ path, code }) => path.length + (code === "unrecognized_keys" ? 1 : 0)));

function formsOf(issue: Issue): string {
  if (issue.code === "invalid_type" && issue.expected === "string")
    return 'Put the value into quotes: "1".';
  if (issue.code === "invalid_value") return `Right would be one of ${issue.values.join(", ")}.`;
  return "docs/profiles.md has every setting with an example.";
}

/** Of the setting, or of the nearest above it that is written. */
function placeOf(
  document: Document.Parsed,
  lines: LineCounter,
  path: readonly PropertyKey[],
): { line: number; column: number } {
  for (let depth = path.length; depth > 0; depth--) {
    const found = document.getIn(path.slice(0, depth), true);
    if (!isNode(found) || !found.range) continue;
    const { line, col } = lines.linePos(found.range[0]);
    return { line, column: col };
  }
  return { line: 1, column: 1 };
}
