/** The program: its commands, and one run of it. Every error becomes a sentence, the next action and an exit code. */
import { Command, CommanderError } from "commander";
import { exitCodes } from "../core/errors.ts";
import { complain } from "./answer.ts";
import { commandName } from "./command.ts";
import { version } from "../app/process.ts";

type Add = (program: Command) => void;

/** In the order of `--help`. Each is a module of its own, and one run loads the one that it names. */
const COMMANDS: readonly (readonly [names: string, load: () => Promise<Add>])[] = [
  ["init", async () => (await import("./init.ts")).init],
  ["run once worker", async () => (await import("./daemon.ts")).daemonCommands],
  ["now release pause resume accept settle", async () => (await import("./acts.ts")).actCommands],
  ["check", async () => (await import("./doctor.ts")).check],
  ["doctor", async () => (await import("./doctor.ts")).doctor],
  ["status drift trace find month-end", async () => (await import("./asking.ts")).askingCommands],
  ["crossref", async () => (await import("./asking.ts")).crossref],
  ["audit", async () => (await import("./audit.ts")).audit],
  ["map", async () => (await import("./map.ts")).map],
  ["plan", async () => (await import("./map.ts")).plan],
  ["profile", async () => (await import("./profile.ts")).profile],
  ["quarantine", async () => (await import("./acts.ts")).quarantineCommands],
  ["budget", async () => (await import("./budget.ts")).budget],
  ["reconcile", async () => (await import("./compare.ts")).reconcile],
  ["match", async () => (await import("./compare.ts")).match],
  ["backfill", async () => (await import("./compare.ts")).backfill],
  ["evidence", async () => (await import("./audit.ts")).evidence],
  ["quickbooks", async () => (await import("./quickbooks.ts")).quickbooks],
  ["sql", async () => (await import("./sql.ts")).sql],
  ["user", async () => (await import("./user.ts")).user],
  ["alerts", async () => (await import("./alerts.ts")).alerts],
  ["backup restore", async () => (await import("./backup.ts")).backupCommands],
  ["sandbox schema openapi completion demo", async () => (await import("./tools.ts")).toolCommands],
];

/**
 * Runs one command: what it answers is said, and `process.exitCode` set.
 * @param words what stands behind `fuelbridge`
 */
export async function runProgram(words: readonly string[]): Promise<void> {
  try {
    current = await makeProgram(words);
    await current.parseAsync([...words], { from: "user" });
  } catch (error) {
    // Help and version are printed already; help in place of a command is still a usage error.
    if (!(error instanceof CommanderError && SPOKEN.has(error.code))) complainOf(words, error);
    else if (error.exitCode !== 0) process.exitCode = exitCodes.configuration;
  }
}

const SPOKEN = new Set(["commander.help", "commander.helpDisplayed", "commander.version"]);

/** The program of the last run: it names the command of an error that nobody waited for. */
let current = new Command("fuelbridge");

/** Says what is wrong, in our words and without secrets, and sets the exit code. */
export function complainOf(words: readonly string[], error: unknown): void {
  complain(commandName(commandOf(current, words)), words.includes("--json"), error);
}

/** The command that these words name, as far as they do. */
function commandOf(program: Command, words: readonly string[]): Command {
  let command = program;
  for (const word of words)
    command = command.commands.find((candidate) => candidate.name() === word) ?? command;
  return command;
}

const modulesFor = (first: string): readonly (() => Promise<Add>)[] =>
  COMMANDS.filter(([names]) => names.split(" ").includes(first)).map(([, load]) => load);

/**
 * The program with the commands that these words need, parsed by nobody yet: with none for the version, and with all where
 * none is named (help, a typing error), or where all are told.
 */
export async function makeProgram([first = ""]: readonly string[] = []): Promise<Command> {
  const program = new Command("fuelbridge")
    .description("Keeps a fuel distributor's ERP and the fuel-logistics platform in step.")
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: () => {} });
  if (first === "--version" || first === "-V") return program;
  const named = first === "completion" ? [] : modulesFor(first);
  const modules = named.length > 0 ? named : COMMANDS.map(([, load]) => load);
  for (const add of await Promise.all(modules.map((load) => load()))) add(program);
  return program;
}
