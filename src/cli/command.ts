/** The shape that every command shares: its options, and the way it answers. */
import type { Command } from "commander";
import { thisUser } from "../store/user.ts";
import { type Answer, say } from "./answer.ts";

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
type Work = (given: Given) => Promise<Answer | void>;

/** Adds a command with the options that all have, which reads the configuration. */
export const addCommand = (
  parent: Command,
  usage: string,
  description: string,
  work: Work,
): Command =>
  addBareCommand(parent, usage, description, work).option(
    "--config <file>",
    `the configuration (default: $FUELBRIDGE_CONFIG or ${DEFAULT_CONFIG})`,
  );

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
      const answer = await work({
        args: this.args,
        options,
        json: json === true,
        file,
        named: config ?? null,
      });
      if (answer) say(commandName(this), json === true, answer);
    });
}

/** `quarantine list`: the words between `fuelbridge` and the arguments. */
export function commandName(command: Command): string {
  const names: string[] = [];
  for (let at = command; at.parent !== null; at = at.parent) names.unshift(at.name());
  return names.join(" ");
}

const DEFAULT_CONFIG = "config/fuelbridge.yaml";

/** Who decides, for the audit: who called sudo, where somebody did. The service's user runs their command for them. */
export const thisPerson = (): string => process.env["SUDO_USER"] || thisUser();
