/**
 * What a command says when it is done: text for people, or with `--json` one envelope on standard output. Consumers of
 * the envelope ignore fields they do not know; none is ever renamed.
 */
import { CommanderError } from "commander";
import type { Config } from "../config/config.ts";
import type { Problem } from "../config/problems.ts";
import { aboutMachine, exitCodes, FuelbridgeError } from "../core/errors.ts";
import { scrubbed } from "../app/configuration.ts";

export interface Answer {
  /** Becomes `data` of the envelope. */
  readonly data: unknown;
  readonly text: string;
  readonly exitCode?: number;
}

type Envelope =
  | { readonly ok: true; readonly command: string; readonly data: unknown }
  | { readonly ok: false; readonly command: string; readonly error: Complaint };

interface Complaint {
  /** Stable: what scripts look for. */
  readonly code: string;
  readonly message: string;
  readonly next: string;
  /** Of a configuration: each with its place. */
  readonly problems?: readonly Problem[];
}

export function say(command: string, json: boolean, answer: Answer): void {
  const envelope: Envelope = { ok: true, command, data: answer.data ?? null };
  process.stdout.write(scrubbed(json ? `${JSON.stringify(envelope)}\n` : withNewline(answer.text)));
  process.exitCode = answer.exitCode ?? exitCodes.ok;
}

/** What each company answers, all at once; of one alone it is the answer itself. */
export async function ofEach(
  command: string,
  configs: readonly Config[],
  work: (config: Config) => Promise<Answer>,
): Promise<Answer> {
  const [only] = configs;
  if (configs.length === 1 && only !== undefined) return work(only);
  const settled = await Promise.allSettled(configs.map(work));
  return together(command, new Map(settled.map((one, at) => [configs[at]?.name ?? "", one])));
}

/** What several companies answered, each under its name, or why it did not; the exit code is the worst. */
export function together(
  command: string,
  answers: ReadonlyMap<string, PromiseSettledResult<Answer>>,
): Answer {
  const each = [...answers].map(([name, settled]) => {
    if (settled.status === "fulfilled") {
      const { data, text, exitCode = exitCodes.ok } = settled.value;
      return { name, text, exitCode, told: { ok: true, data: data ?? null } };
    }
    const { exitCode, ...error } = explain(settled.reason, command);
    const text = `${error.message}\n${indented(error.next)}`;
    return { name, text, exitCode, told: { ok: false, error } };
  });
  return {
    data: { companies: Object.fromEntries(each.map(({ name, told }) => [name, told])) },
    text: each.map(({ name, text }) => `== ${name} ==\n${withNewline(text)}`).join("\n"),
    exitCode: Math.max(...each.map(({ exitCode }) => exitCode)),
  };
}

export function complain(command: string, json: boolean, error: unknown): void {
  const { exitCode, ...complaint } = explain(error, command);
  const envelope: Envelope = { ok: false, command, error: complaint };
  if (json) process.stdout.write(`${JSON.stringify(envelope)}\n`);
  else process.stderr.write(`fuelbridge: ${complaint.message}\n${indented(complaint.next)}\n`);
  process.exitCode = exitCode;
}

function explain(error: unknown, command: string): Complaint & { exitCode: number } {
  const message = scrubbed(error instanceof Error ? error.message : String(error));
  if (error instanceof FuelbridgeError) {
    const { code, next, exitCode } = error;
    const problems = "problems" in error ? { problems: error.problems as readonly Problem[] } : {};
    return { code, message, next: scrubbed(next), exitCode, ...problems };
  }
  if (error instanceof CommanderError)
    return {
      code: "usage",
      message: message.replace(/^error: /, ""),
      next: `"${["fuelbridge", command, "--help"].filter(Boolean).join(" ")}" lists what can be given.`,
      exitCode: exitCodes.configuration,
    };
  const system = systemFault(error);
  if (system !== null) return { ...system, message };
  if (hasNext(error))
    return { code: "refused", message, next: scrubbed(error.next), exitCode: exitCodes.runtime };
  return {
    code: "unexpected",
    message: error instanceof Error && error.stack ? scrubbed(error.stack) : message,
    next: "This is a mistake in fuelbridge. Please report it with the text above.",
    exitCode: exitCodes.runtime,
  };
}

/** What a file system or the database refused where nobody expected it: still no fault of ours. */
function systemFault(error: unknown): (Omit<Complaint, "message"> & { exitCode: number }) | null {
  const { code = "" } = error as { code?: unknown };
  if (!(error instanceof Error) || typeof code !== "string") return null;
  const known = Object.entries(SYSTEM).find(([codes]) => new RegExp(`^(${codes})`).test(code));
  if (known === undefined) return null;
  const [, fault] = known;
  const next = fault.exitCode === exitCodes.environment ? aboutMachine(code) : undefined;
  return { ...fault, next: next ?? fault.next };
}

const SYSTEM: Readonly<Record<string, Omit<Complaint, "message"> & { exitCode: number }>> = {
  "EACCES$|EPERM$|EROFS$|EMFILE$|ENFILE$|ENOMEM$|EAGAIN$": {
    code: "environment",
    next: "Give the user of this command that right, or give the command as the user that runs fuelbridge.",
    exitCode: exitCodes.environment,
  },
  "ENOENT$|EISDIR$|ENOTDIR$": {
    code: "environment",
    next: "Name a file that is there.",
    exitCode: exitCodes.environment,
  },
  "ENOSPC$|EDQUOT$|EFBIG$|EIO$|SQLITE_(FULL|IOERR|READONLY|CANTOPEN)": {
    code: "storage",
    next: "Check free space, the rights of the files, and the disk, then start again: nothing that was confirmed is lost.",
    exitCode: exitCodes.storage,
  },
};

/** An OfficeError or SourceUnavailable: it says itself what to do. */
const hasNext = (error: unknown): error is Error & { next: string } =>
  error instanceof Error && "next" in error && typeof error.next === "string";

const indented = (text: string): string => `  ${text.replaceAll("\n", "\n  ")}`;
const withNewline = (text: string): string =>
  text === "" || text.endsWith("\n") ? text : `${text}\n`;
