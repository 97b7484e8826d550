/**
 * Completion of commands and options: what can be typed is read off the commander program, so no list is kept by hand. The
 * script of each shell holds every word, so a press of the Tab key starts no process; it follows the words that were typed
 * down to a command, and offers what can follow that.
 */
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

type Value = Exclude<Flag["takes"], "nothing">;

export const scripts = { bash, zsh, fish, powershell } as const satisfies Record<
  string,
  (places: readonly Place[]) => string
>;

function bash(places: readonly Place[]): string {
  return `# Completion of fuelbridge for bash, written by "fuelbridge completion bash".
_fuelbridge() {
  local word at="" words="" current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do
    case "\${at:+$at }$word" in
      ${commandPattern(places)}) at="\${at:+$at }$word" ;;
    esac
  done
  COMPREPLY=()
  case "$at" in
${places.map((place) => `    ${quoted(place.path)}) words=${quoted(offered(place).join(" "))} ;;`).join("\n")}
  esac
  case "\${at:+$at }$previous" in
${afterFlags(places, bashAction)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _fuelbridge fuelbridge
`;
}

function bashAction(takes: Value): string {
  if (takes === "path")
    return 'compopt -o default 2>/dev/null; COMPREPLY=($(compgen -f -- "$current")); return';
  return takes === "text" ? "return" : `words=${quoted(takes.join(" "))}`;
}

function zsh(places: readonly Place[]): string {
  return `#compdef fuelbridge
# Completion of fuelbridge for zsh, written by "fuelbridge completion zsh".
_fuelbridge() {
  local word at=""
  local -a verbs flags
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${at:+$at }$word" in
      ${commandPattern(places)}) at="\${at:+$at }$word" ;;
    esac
  done
  case "\${at:+$at }\${words[CURRENT-1]}" in
${afterFlags(places, zshAction)}
  esac
  case "$at" in
${places.map(zshPlace).join("\n")}
  esac
  _describe -t commands command verbs
  _describe -o -t options option flags
}
if [[ "$funcstack[1]" == _fuelbridge ]]; then _fuelbridge "$@"; else compdef _fuelbridge fuelbridge; fi
`;
}

const described = (words: Place["commands"]): string =>
  words.map(({ name, description }) => quoted(`${name}:${oneLine(description)}`)).join(" ");

function zshPlace(place: Place): string {
  const values = place.values.map((name) => ({ name, description: name }));
  return `    ${quoted(place.path)})
      verbs=(${described([...place.commands, ...values])})
      flags=(${described(place.options)})
      ;;`;
}

function zshAction(takes: Value): string {
  if (takes === "path") return "_files; return";
  return takes === "text" ? "return" : `compadd ${takes.join(" ")}; return`;
}

function fish(places: readonly Place[]): string {
  const known = commandsOf(places).map(fishQuoted).join(" ");
  const rules = places.flatMap(({ path, commands, options, values }) => {
    const rule = (rest: string, description: string): string =>
      `complete -c fuelbridge -n ${fishQuoted(`__fuelbridge_at ${fishQuoted(path)}`)} ${rest} -d ${fishQuoted(oneLine(description))}`;
    const flag = ({ name, description, takes }: Flag): string =>
      rule(
        `${name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`}${fishValue(takes)}`,
        description,
      );
    return [
      ...commands.map(({ name, description }) => rule(`-a ${name}`, description)),
      ...values.map((name) => rule(`-a ${name}`, name)),
      ...options.map(flag),
    ];
  });
  return `# Completion of fuelbridge for fish, written by "fuelbridge completion fish".
function __fuelbridge_at
    set -l at ""
    for word in (commandline -opc)[2..-1]
        set -l next (string trim -- "$at $word")
        contains -- $next ${known}; and set at $next
    end
    test "$at" = "$argv[1]"
end
complete -c fuelbridge -f
${rules.join("\n")}
`;
}

function fishValue(takes: Flag["takes"]): string {
  if (takes === "nothing") return "";
  if (takes === "path") return " -r -F";
  return takes === "text" ? " -x" : ` -x -a ${fishQuoted(takes.join(" "))}`;
}

function powershell(places: readonly Place[]): string {
  const values = flagsOf(places).map(
    ({ words, takes }) => `    ${powershellQuoted(words)} = ${powershellValue(takes)}`,
  );
  return `# Completion of fuelbridge for PowerShell, written by "fuelbridge completion powershell".
Register-ArgumentCompleter -Native -CommandName fuelbridge, fuelbridge.cmd -ScriptBlock {
  param($current, $ast, $cursor)
  $after = @{
${places.map((place) => `    ${powershellQuoted(place.path)} = ${powershellList(offered(place))}`).join("\n")}
  }
  $values = @{
${values.join("\n")}
  }
  $typed = @($ast.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { "$_" })
  $at = ''
  foreach ($word in ($typed | Select-Object -Skip 1)) {
    $next = "$at $word".Trim()
    if ($after.ContainsKey($next)) { $at = $next }
  }
  $words = $after[$at]
  $flag = "$at $($typed[-1])".Trim()
  if ($typed.Count -gt 1 -and $values.ContainsKey($flag)) {
    if ($values[$flag] -is [string]) { return }
    $words = $values[$flag]
  }
  $words | Where-Object { $_ -like "$current*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`;
}

const powershellValue = (takes: Value): string =>
  typeof takes === "string" ? powershellQuoted(takes) : powershellList(takes);

/** Every command, as a pattern of a shell's case. */
const commandPattern = (places: readonly Place[]): string =>
  commandsOf(places).map(quoted).join(" | ");

const commandsOf = (places: readonly Place[]): readonly string[] =>
  places.map(({ path }) => path).filter((path) => path !== "");

/** Branches of a shell's case for what follows an option, one branch for each kind of value. */
function afterFlags(places: readonly Place[], action: (takes: Value) => string): string {
  const patterns = Map.groupBy(flagsOf(places), ({ takes }) => action(takes));
  return [...patterns]
    .map(([act, flags]) => `    ${flags.map(({ words }) => quoted(words)).join(" | ")}) ${act} ;;`)
    .join("\n");
}

/** Each option that takes a value, after the words of its command. */
const flagsOf = (places: readonly Place[]): readonly { words: string; takes: Value }[] =>
  places.flatMap(({ path, options }) =>
    options.flatMap(({ name, takes }) =>
      takes === "nothing" ? [] : [{ words: `${path} ${name}`.trim(), takes }],
    ),
  );

/** All that can follow. */
const offered = ({ commands, values, options }: Place): readonly string[] => [
  ...commands.map(({ name }) => name),
  ...values,
  ...options.map(({ name }) => name),
];

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ");
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const fishQuoted = (text: string): string => `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
const powershellQuoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const powershellList = (words: readonly string[]): string =>
  `@(${words.map(powershellQuoted).join(", ")})`;
