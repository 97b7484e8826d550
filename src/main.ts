/**
 * The door: builds the program, runs one command, and turns every error into a sentence, the next action and an exit
 * code. Commands load what they need themselves, so none waits for what it does not use.
 */
import { CommanderError } from "commander";
import { complain } from "./cli/answer.ts";
import { commandName } from "./cli/command.ts";
import { commandOf, makeProgram } from "./cli/program.ts";
import { exitCodes } from "./core/errors.ts";

const program = makeProgram();
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
  complain(commandName(commandOf(program, words)), words.includes("--json"), error);
}
