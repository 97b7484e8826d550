/**
 * The door: builds the program, runs one command, and turns every error into a sentence, the next action and an exit
 * code. Commands load what they need themselves, so none waits for what it does not use.
 */
import { Command, CommanderError, Option } from "commander";
import { complain } from "./cli/answer.ts";
import { budget } from "./cli/budget.ts";
import { check } from "./cli/check.ts";
import { addCommand, commandName } from "./cli/command.ts";
import { completion } from "./cli/completion.ts";
import { doctor } from "./cli/doctor.ts";
import { init } from "./cli/init.ts";
import { load } from "./cli/load.ts";
import { map } from "./cli/map.ts";
import { once } from "./cli/once.ts";
import { now } from "./cli/now.ts";
import { find } from "./cli/find.ts";
import { openapi } from "./cli/openapi.ts";
import { pause } from "./cli/pause.ts";
import { profile } from "./cli/profile.ts";
import { quarantine } from "./cli/quarantine.ts";
import { reconcile } from "./cli/reconcile.ts";
import { release } from "./cli/release.ts";
import { run } from "./cli/run.ts";
import { sandbox } from "./cli/sandbox.ts";
import { schema } from "./cli/schema.ts";
import { status } from "./cli/status.ts";
import { trace } from "./cli/trace.ts";
import { user } from "./cli/user.ts";
import { version } from "./cli/version.ts";
import { worker } from "./cli/worker.ts";
import { exitCodes } from "./core/errors.ts";

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
  profile,
  quarantine,
  budget,
  reconcile,
  release,
  pause,
  user,
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

const SPOKEN = new Set(["commander.help", "commander.helpDisplayed", "commander.version"]);
const words = process.argv.slice(2);
// What nobody waited for ends the process as well, in our words and without secrets.
process.on("uncaughtException", (error) => {
  complainOf(error);
  process.exit();
});
// A reader that has seen enough (`| head`) is no error.
process.stdout.on("error", () => {});
try {
  await program.parseAsync(process.argv);
} catch (error) {
  // Help and version are printed already; help in place of a command is still a usage error.
  if (!(error instanceof CommanderError && SPOKEN.has(error.code))) complainOf(error);
  else if (error.exitCode !== 0) process.exitCode = exitCodes.configuration;
}

function complainOf(error: unknown): void {
  complain(commandName(commandOf(words)), words.includes("--json"), error);
}

/** The command that these words name, as far as they do. */
function commandOf(words: readonly string[]): Command {
  let command = program;
  for (const word of words)
    command = command.commands.find((candidate) => candidate.name() === word) ?? command;
  return command;
}
