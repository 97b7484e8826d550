/** The shape that every command shares: its options, and the way it answers. */
import { type Command, InvalidArgumentError } from "commander";
import { thisUser } from "../store/user.ts";
import { companiesOf } from "../app/configuration.ts";
import { ConfigurationError } from "../core/errors.ts";
import { type Answer, say, together } from "./answer.ts";

export interface Given {
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, string | undefined>>;
  readonly json: boolean;
  /** The configuration file to read. */
  readonly file: string;
  /** The same where `--config` names it; null: it is the usual one. */
  readonly named: string | null;
}

/** What a command does: it answers, or returns nothing when it has spoken itself. */
type Work = (given: Given, command: string) => Promise<Answer | void>;

/**
 * How a command goes about several companies: `each` in turn, whose answers are told together; `all` in its own way; of
 * `one`, which must be named; `none`: it is about no company that there is.
 */
type Companies = "one" | "each" | "all" | "none";

/** Adds a command with the options that all have, which reads the configuration. */
export function addCommand(
  parent: Command,
  usage: string,
  description: string,
  work: Work,
  companies: Companies | ((given: Given) => Companies) = "one",
): Command {
  const command = addBareCommand(parent, usage, description, (given, name) => {
    const over = typeof companies === "string" ? companies : companies(given);
    return over === "none" ? work(given, name) : overCompanies(given, name, work, over);
  }).option(
    "--config <file>",
    `the configuration (default: $FUELBRIDGE_CONFIG or ${DEFAULT_CONFIG})`,
  );
  return companies === "none"
    ? command
    : command.option("--company <name>", "one company, where the configuration has several");
}

async function overCompanies(
  { options: { company, ...options }, ...rest }: Given,
  command: string,
  work: Work,
  companies: Companies,
): Promise<Answer | void> {
  const file = company === undefined ? rest.file : `${rest.file}#${company}`;
  const given = { ...rest, options, file };
  const names = companies === "all" ? [] : await companiesOf(file);
  if (names.length === 0) return work(given, command);
  if (companies === "one")
    throw new ConfigurationError(
      `${file} has several companies, and this is about one.`,
      `Name it with --company: ${names.join(", ")}.`,
    );
  const answers = new Map<string, PromiseSettledResult<Answer>>();
  for (const name of names) {
    const [answer] = await Promise.allSettled([
      work({ ...given, file: `${file}#${name}` }, command),
    ]);
    answers.set(name, answer as PromiseSettledResult<Answer>);
  }
  return together(command, answers);
}

/** For spreadsheets, an answer is about one company. */
export const oneIfCsv = ({ options }: Given): Companies =>
  options["csv"] === undefined ? "each" : "one";

/** The same, of one that reads no configuration. */
export function addBareCommand(
  parent: Command,
  usage: string,
  description: string,
  work: Work,
): Command {
  return parent
    .command(usage)
    .description(description)
    .option("--json", "answer with one line of JSON")
    .action(async function (this: Command) {
      const { json, config, ...options } = this.opts<{ json?: boolean; config?: string }>();
      const file = config ?? (process.env.FUELBRIDGE_CONFIG || DEFAULT_CONFIG);
      const name = commandName(this);
      const given = { args: this.args, options, json: json === true, file, named: config ?? null };
      const answer = await work(given, name);
      if (answer) say(name, json === true, answer);
    });
}

/** `quarantine list`: the words between `fuelbridge` and the arguments. */
export function commandName(command: Command): string {
  const names: string[] = [];
  for (let at = command; at.parent !== null; at = at.parent) names.unshift(at.name());
  return names.join(" ");
}

const RECORDS_MAX = 10_000;

/** How many records an option says. `such`: for example. @throws ConfigurationError */
export function recordsGiven(
  option: string,
  text: string,
  { least, such }: { readonly least: number; readonly such: number },
): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= least && count <= RECORDS_MAX) return count;
  throw new ConfigurationError(
    `--${option} ${text} is no number of records.`,
    `Give a whole number from ${least} to ${RECORDS_MAX}, for example --${option} ${such}.`,
  );
}

/** An option that is a whole number up to `most`; `otherwise`: what is said of another. */
export const wholeUpTo =
  (most: number, otherwise: string) =>
  (text: string): string => {
    if (/^\d{1,7}$/.test(text) && Number(text) <= most) return text;
    throw new InvalidArgumentError(otherwise);
  };

const DEFAULT_CONFIG = "config/fuelbridge.yaml";

/** Who decides, for the audit: who called sudo, where somebody did. The service's user runs their command for them. */
export const thisPerson = (): string => process.env["SUDO_USER"] || thisUser();
