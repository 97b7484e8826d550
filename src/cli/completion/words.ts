/** What can be typed after `fuelbridge`: read off the commander program, so no list is kept by hand. */
import type { Command, Option } from "commander";

/** What can follow one command, for example `quarantine list`. */
export interface Place {
  /** The words of the command after `fuelbridge`, with one space between two; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly Flag[];
  /** The values of its first argument, where they are known. */
  readonly values: readonly string[];
}

export interface Word {
  readonly name: string;
  readonly description: string;
}

export interface Flag {
  /** `--json`, or `-h` where there is no long form. */
  readonly name: string;
  readonly description: string;
  /** What follows: nothing, a path, one of these values, or text that nobody can complete. */
  readonly takes: "nothing" | "path" | "text" | readonly string[];
}

/** The program and all its commands that help shows, each with what can follow it. */
export function placesOf(program: Command): readonly Place[] {
  const visit = (command: Command, path: string): Place[] => {
    const help = command.createHelp();
    const children = help.visibleCommands(command);
    const commands = children.map((child) => ({
      name: child.name(),
      description: child.description(),
    }));
    const options = help.visibleOptions(command).map(flagOf);
    const values = command.registeredArguments[0]?.argChoices ?? [];
    const below = children
      .filter((child) => child.parent === command && child.name() !== "help")
      .flatMap((child) => visit(child, `${path} ${child.name()}`.trim()));
    return [{ path, commands, options, values }, ...below];
  };
  return visit(program, "");
}

function flagOf(option: Option): Flag {
  const name = option.long ?? option.short ?? "";
  const { description, argChoices } = option;
  if (!option.required && !option.optional) return { name, description, takes: "nothing" };
  const isPath = /<(?:file|folder|directory)>/i.test(option.flags);
  return { name, description, takes: argChoices ?? (isPath ? "path" : "text") };
}
