/** The program: its commands, and one run of it. Every error becomes a sentence, the next action and an exit code. */
import { Command, CommanderError, Option } from "commander";
import { exitCodes } from "../core/errors.ts";
import { complain } from "./answer.ts";
import { alerts } from "./alerts.ts";
import { audit } from "./audit.ts";
import { backfill } from "./backfill.ts";
import { backup } from "./backup.ts";
import { budget } from "./budget.ts";
import { check } from "./check.ts";
import { addCommand, commandName } from "./command.ts";
import { completion } from "./completion.ts";
import { doctor } from "./doctor.ts";
import { evidence } from "./evidence.ts";
import { find } from "./find.ts";
import { init } from "./init.ts";
import { load } from "./load.ts";
import { map } from "./map.ts";
import { once } from "./once.ts";
import { now } from "./now.ts";
import { openapi } from "./openapi.ts";
import { pause } from "./pause.ts";
import { plan } from "./plan.ts";
import { profile } from "./profile.ts";
import { quarantine } from "./quarantine.ts";
import { quickbooks } from "./quickbooks.ts";
import { reconcile } from "./reconcile.ts";
import { release } from "./release.ts";
import { restore } from "./restore.ts";
import { run } from "./run.ts";
import { sandbox } from "./sandbox.ts";
import { schema } from "./schema.ts";
import { status } from "./status.ts";
import { trace } from "./trace.ts";
import { user } from "./user.ts";
import { version } from "./version.ts";
import { worker } from "./worker.ts";

/**
 * Runs one command: what it answers is said, and `process.exitCode` set.
 * @param words what stands behind `fuelbridge`
 */
export async function runProgram(words: readonly string[]): Promise<void> {
  try {
    await makeProgram().parseAsync([...words], { from: "user" });
  } catch (error) {
    // Help and version are printed already; help in place of a command is still a usage error.
    if (!(error instanceof CommanderError && SPOKEN.has(error.code))) complainOf(words, error);
    else if (error.exitCode !== 0) process.exitCode = exitCodes.configuration;
  }
}

const SPOKEN = new Set(["commander.help", "commander.helpDisplayed", "commander.version"]);

/** Says what is wrong, in our words and without secrets, and sets the exit code. */
export function complainOf(words: readonly string[], error: unknown): void {
  complain(commandName(commandOf(makeProgram(), words)), words.includes("--json"), error);
}

/** The command that these words name, as far as they do. */
function commandOf(program: Command, words: readonly string[]): Command {
  let command = program;
  for (const word of words)
    command = command.commands.find((candidate) => candidate.name() === word) ?? command;
  return command;
}

/** All commands, parsed by nobody yet. */
export function makeProgram(): Command {
  const program = new Command("fuelbridge")
    .description("Keeps a fuel distributor's ERP and the fuel-logistics platform in step.")
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: () => {} });

  for (const add of [
    init,
    run,
    worker,
    once,
    now,
    check,
    doctor,
    status,
    trace,
    find,
    map,
    plan,
    profile,
    quarantine,
    budget,
    reconcile,
    evidence,
    quickbooks,
    release,
    pause,
    backfill,
    user,
    audit,
    alerts,
    backup,
    restore,
    sandbox,
    schema,
    openapi,
    completion,
  ])
    add(program);
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
  return program;
}
