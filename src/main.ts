/**
 * The door: builds the program, runs one command, and turns every error into a sentence, the next action and an exit
 * code. Commands load what they need themselves, so none waits for what it does not use.
 */
import { Command, CommanderError } from "commander";
import manifest from "../package.json" with { type: "json" };
import { complain } from "./cli/answer.ts";
import { addCommand, commandName } from "./cli/command.ts";
import { load } from "./cli/load.ts";
import { sandbox } from "./cli/sandbox.ts";
import { exitCodes } from "./core/errors.ts";

const program = new Command("fuelbridge")
  .description(manifest.description)
  .version(manifest.version)
  .exitOverride()
  .configureOutput({ outputError: () => {} });

sandbox(program);
addCommand(
  program,
  "demo",
  "everything at once, on this machine, with nothing to set up",
  async (given) => {
    const { runDemo } = await load.demo();
    await runDemo({ json: given.json });
  },
);

const SPOKEN = new Set(["commander.help", "commander.helpDisplayed", "commander.version"]);
const words = process.argv.slice(2);
try {
  await program.parseAsync(process.argv);
} catch (error) {
  // Help and version are printed already; help in place of a command is still a usage error.
  if (!(error instanceof CommanderError && SPOKEN.has(error.code)))
    complain(commandName(commandOf(words)), words.includes("--json"), error);
  else if (error.exitCode !== 0) process.exitCode = exitCodes.configuration;
}

/** The command that these words name, as far as they do. */
function commandOf(words: readonly string[]): Command {
  let command = program;
  for (const word of words)
    command = command.commands.find((candidate) => candidate.name() === word) ?? command;
  return command;
}
