/** Each script is read by its own shell, which is then asked what it would offer. */
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Argument, Command, Option } from "commander";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";
import { scripts } from "./completion.ts";

const has = (shell: string): boolean => spawnSync(shell, ["-c", "true"]).status === 0;

/** A program with all that a command can have; descriptions hold what shells treat as special. */
function program(): Command {
  const fuelbridge = new Command("fuelbridge").version("1.0.0");
  fuelbridge.command("run").description("it's the $daemon: `runs`").option("--config <file>", "f");
  fuelbridge.command("hidden", { hidden: true });
  const quarantine = fuelbridge.command("quarantine").description("what waits");
  quarantine.command("list").option("--json", "one line");
  quarantine
    .command("resolve")
    .option("--note <text>", "how")
    .addOption(new Option("--as <end>", "which end").choices(["linked", "absent"]));
  fuelbridge
    .command("completion")
    .addArgument(new Argument("<shell>").choices(["bash", "powershell"]));
  return fuelbridge;
}

const shells = {
  bash: {
    command: "bash",
    ask: (script: string, words: readonly string[]) => [
      "--norc",
      "-c",
      `source ${script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _fuelbridge; printf '%s\\n' "\${COMPREPLY[@]}"`,
      "bash",
      ...words,
    ],
  },
  // The completion system works on a terminal's line only, so its two last functions print instead.
  zsh: {
    command: "zsh",
    ask: (script: string, words: readonly string[]) => [
      "-f",
      "-c",
      `compdef() { }
       _describe() { print -l -- "\${(@)\${(@P)@[-1]}%%:*}" }
       compadd() { print -l -- "$@" }
       _files() { print -l *(N) }
       source ${script}; words=("$@"); CURRENT=$#; _fuelbridge`,
      "zsh",
      ...words,
    ],
  },
  fish: {
    command: "fish",
    ask: (script: string, words: readonly string[]) => [
      "--no-config",
      "-c",
      `source ${script}; complete -C '${words.join(" ")}'`,
    ],
  },
} as const;

for (const [name, { command, ask }] of Object.entries(shells))
  test.skipIf(!has(command))(`${name} offers commands, options and values where they stand`, () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "site.yaml"), "");
    const script = join(folder, "script");
    writeFileSync(script, scripts[name as keyof typeof shells](program()));
    const all = (...words: string[]): string[] =>
      execFileSync(command, ask(script, ["fuelbridge", ...words]), {
        encoding: "utf8",
        cwd: folder,
        env: { PATH: process.env["PATH"], HOME: folder },
      })
        .split("\n")
        .map((line) => line.split("\t", 1)[0] as string)
        .filter((word) => word !== "")
        .toSorted();
    const offered = (...words: string[]): string[] =>
      all(...words).filter((word) => !word.startsWith("-"));

    expect(offered("")).toEqual(["completion", "help", "quarantine", "run"]);
    expect(offered("quarantine", "")).toEqual(["help", "list", "resolve"]);
    expect(offered("completion", "")).toEqual(["bash", "powershell"]);
    expect(offered("quarantine", "resolve", "--as", "")).toEqual(["absent", "linked"]);
    expect(offered("quarantine", "resolve", "--note", "")).toEqual([]);
    expect(offered("run", "--config", "")).toContain("site.yaml");
    expect(all("quarantine", "list", "--")).toEqual(["--help", "--json"]);
  });
