/** The program: its commands, and one run of it. Every error becomes a sentence, the next action and an exit code. */
import { Command, CommanderError, Option } from "commander";
import { exitCodes } from "../core/errors.ts";
import { complain } from "./answer.ts";
import { addCommand, commandName } from "./command.ts";
import { load } from "./load.ts";
import { version } from "../app/version.ts";

type Add = (program: Command) => void;

/** In the order of `--help`. Each is a module of its own, and one run loads the one that it names. */
const COMMANDS: Readonly<Record<string, () => Promise<Add>>> = {
  init: async () => (await import("./init.ts")).init,
  run: async () => (await import("./run.ts")).run,
  worker: async () => (await import("./worker.ts")).worker,
  once: async () => (await import("./once.ts")).once,
  now: async () => (await import("./now.ts")).now,
  check: async () => (await import("./check.ts")).check,
  doctor: async () => (await import("./doctor.ts")).doctor,
  status: async () => (await import("./status.ts")).status,
  trace: async () => (await import("./trace.ts")).trace,
  find: async () => (await import("./find.ts")).find,
  map: async () => (await import("./map.ts")).map,
  plan: async () => (await import("./plan.ts")).plan,
  profile: async () => (await import("./profile.ts")).profile,
  quarantine: async () => (await import("./quarantine.ts")).quarantine,
  budget: async () => (await import("./budget.ts")).budget,
  reconcile: async () => (await import("./reconcile.ts")).reconcile,
  evidence: async () => (await import("./evidence.ts")).evidence,
  quickbooks: async () => (await import("./quickbooks.ts")).quickbooks,
  release: async () => (await import("./release.ts")).release,
  pause: async () => (await import("./pause.ts")).pause,
  settle: async () => (await import("./settle.ts")).settle,
  backfill: async () => (await import("./backfill.ts")).backfill,
  user: async () => (await import("./user.ts")).user,
  audit: async () => (await import("./audit.ts")).audit,
  alerts: async () => (await import("./alerts.ts")).alerts,
  backup: async () => (await import("./backup.ts")).backup,
  restore: async () => (await import("./restore.ts")).restore,
  sandbox: async () => (await import("./sandbox.ts")).sandbox,
  schema: async () => (await import("./schema.ts")).schema,
  openapi: async () => (await import("./openapi.ts")).openapi,
  completion: async () => (await import("./completion.ts")).completion,
  demo: async () => demo,
};

/**
 * Runs one command: what it answers is said, and `process.exitCode` set.
 * @param words what stands behind `fuelbridge`
 */
export async function runProgram(words: readonly string[]): Promise<void> {
  try {
    current = await makeProgram(namesIn(words));
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

/** The commands that these words need: all where none is named (help, a typing error), or where all are told. */
function namesIn([first = ""]: readonly string[]): readonly string[] {
  if (first === "--version" || first === "-V") return [];
  return first !== "completion" && Object.hasOwn(COMMANDS, first) ? [first] : Object.keys(COMMANDS);
}

/** The program with the commands of these names, all by default; parsed by nobody yet. */
export async function makeProgram(
  names: readonly string[] = Object.keys(COMMANDS),
): Promise<Command> {
  const program = new Command("fuelbridge")
    .description("Keeps a fuel distributor's ERP and the fuel-logistics platform in step.")
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: () => {} });
  const modules = names.flatMap((name) => COMMANDS[name] ?? []);
  for (const add of await Promise.all(modules.map((module) => module()))) add(program);
  return program;
}

function demo(program: Command): void {
  addCommand(
    program,
    "demo",
    "everything at once, on this machine, with nothing to set up",
    async (given) => {
      const { runDemo } = await load.demo();
      const { once, play, erp } = given.options;
      return runDemo({
        json: given.json,
        once: once !== undefined,
        play: play !== undefined,
        erp: erp === "sftp" ? "sftp" : "files",
      });
    },
  )
    .option("--once", "stop when both sides are in step")
    .addOption(
      new Option(
        "--erp <where>",
        "where the ERP's folder is: here, or behind OpenSSH on this machine",
      )
        .choices(["files", "sftp"])
        .default("files"),
    )
    .option("--play", "then have both sides pay, void and correct, and show what becomes of it");
}
