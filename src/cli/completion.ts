/**
 * Completion of commands and options: what can be typed is read off the commander program, so no list is kept by hand. The
 * script of each shell holds every word, so a press of the Tab key starts no process: a table with a line for each word that
 * can follow a command, and a loop that follows the words that were typed down to a command.
 */
import type { Command, Option } from "commander";

/** One word that can follow a command. */
interface Word {
  /** The words of the command after `fuelbridge`, with one space between two; empty for the program itself. */
  readonly path: string;
  /** `list`, `--json`, or `-h` where there is no long form. */
  readonly name: string;
  readonly kind: "command" | "value" | "option";
  /** What follows an option: nothing, a path, one of some values, or text that nobody can complete. */
  readonly takes: "nothing" | "path" | "text" | readonly string[];
  readonly description: string;
}

/** All words of the program and of all its commands that help shows. */
function wordsOf(program: Command): readonly Word[] {
  const visit = (command: Command, path: string): Word[] => {
    const help = command.createHelp();
    const children = help.visibleCommands(command);
    const plain = (kind: Word["kind"], name: string, description: string): Word => ({
      path,
      name,
      kind,
      takes: "nothing",
      description: description.replaceAll(/\s+/g, " "),
    });
    const values = command.registeredArguments[0]?.argChoices ?? [];
    return [
      ...children.map((child) => plain("command", child.name(), child.description())),
      ...values.map((value) => plain("value", value, value)),
      ...help.visibleOptions(command).map((option) => ({
        ...plain("option", option.long ?? option.short ?? "", option.description),
        takes: takenBy(option),
      })),
      ...children
        .filter((child) => child.parent === command && child.name() !== "help")
        .flatMap((child) => visit(child, `${path} ${child.name()}`.trim())),
    ];
  };
  return visit(program, "");
}

function takenBy({ required, optional, flags, argChoices }: Option): Word["takes"] {
  if (!required && !optional) return "nothing";
  return argChoices ?? (/<(?:file|folder|directory)>/i.test(flags) ? "path" : "text");
}

/**
 * What the shells read: lines of five cells, parted by tabs. Command, kind, word, what it takes (values are parted by a
 * blank), description.
 */
const tableOf = (words: readonly Word[]): string =>
  words
    .map(({ path, kind, name, takes, description }) =>
      [
        path || ".",
        kind,
        name,
        typeof takes === "string" ? takes : takes.join(" "),
        description,
      ].join("\t"),
    )
    .join("\n");

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const fishQuoted = (text: string): string => `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
const powershellQuoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const head = (shell: string): string =>
  `# Completion of fuelbridge for ${shell}, written by "fuelbridge completion ${shell}".`;

/** The script of each shell that completes what can be typed. */
export const scripts = {
  bash: (program: Command) => `${head("bash")}
_fuelbridge_words=${quoted(tableOf(wordsOf(program)))}
_fuelbridge() {
  local word at="." path kind name takes rest words="" follows="" i
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do
    while IFS=$'\\t' read -r path kind name rest; do
      [[ "$path|$kind|$name" == "$at|command|$word" ]] && { at="\${at#.}"; at="\${at:+$at }$word"; break; }
    done <<< "$_fuelbridge_words"
  done
  while IFS=$'\\t' read -r path kind name takes rest; do
    [[ "$path" == "$at" ]] || continue
    words+=" $name"
    [[ "$name" == "$previous" && $kind == option ]] && follows="$takes"
  done <<< "$_fuelbridge_words"
  COMPREPLY=()
  case "$follows" in
    text) return ;;
    path) compopt -o default 2>/dev/null; COMPREPLY=($(compgen -f -- "$current")); return ;;
    ""|nothing) ;;
    *) words="$follows" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _fuelbridge fuelbridge
`,

  zsh: (program: Command) => `#compdef fuelbridge
${head("zsh")}
_fuelbridge_words=${quoted(tableOf(wordsOf(program)))}
_fuelbridge() {
  local word at="." line follows=""
  local -a verbs flags cells
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ $'\\n'"$_fuelbridge_words" == *$'\\n'"$at"$'\\t'command$'\\t'"$word"$'\\t'* ]] && { at="\${at#.}"; at="\${at:+$at }$word"; }
  done
  for line in "\${(@f)_fuelbridge_words}"; do
    cells=("\${(@ps:\\t:)line}")
    [[ "$cells[1]" == "$at" ]] || continue
    [[ $cells[2] == option ]] && flags+=("$cells[3]:$cells[5]") || verbs+=("$cells[3]:$cells[5]")
    [[ $cells[2] == option && "$cells[3]" == "\${words[CURRENT-1]}" ]] && follows="$cells[4]"
  done
  case "$follows" in
    text) return ;;
    path) _files; return ;;
    ""|nothing) ;;
    *) compadd \${(s: :)follows}; return ;;
  esac
  _describe -t commands command verbs
  _describe -o -t options option flags
}
if [[ "$funcstack[1]" == _fuelbridge ]]; then _fuelbridge "$@"; else compdef _fuelbridge fuelbridge; fi
`,

  fish: (program: Command) => `${head("fish")}
set -g __fuelbridge_words ${fishQuoted(tableOf(wordsOf(program)))}
function __fuelbridge
    set -l at .
    set -l table (string split \\n -- $__fuelbridge_words)
    set -l typed (commandline -opc)
    for word in $typed[2..-1]
        string match -q -- "$at"\\tcommand\\t"$word"\\t"*" $table; and set at (string trim -- (string replace -r '^\\.$' '' -- $at)" $word")
    end
    for line in $table
        set -l cells (string split \\t -- $line)
        test "$cells[1]" = "$at" -a "$cells[2]" = option -a "$cells[3]" = "$typed[-1]"; or continue
        switch $cells[4]
            case nothing
            case text
                return
            case path
                __fish_complete_path (commandline -ct)
                return
            case '*'
                string split ' ' -- $cells[4]
                return
        end
    end
    for line in $table
        set -l cells (string split \\t -- $line)
        test "$cells[1]" = "$at"; and printf '%s\\t%s\\n' $cells[3] "$cells[5]"
    end
end
complete -c fuelbridge -f -a '(__fuelbridge)'
`,

  powershell: (program: Command) => `${head("powershell")}
Register-ArgumentCompleter -Native -CommandName fuelbridge, fuelbridge.cmd -ScriptBlock {
  param($current, $ast, $cursor)
  $table = ${powershellQuoted(tableOf(wordsOf(program)))} -split '\\n' | ForEach-Object { , ($_ -split '\\t') }
  $typed = @($ast.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { "$_" })
  $at = '.'
  foreach ($word in ($typed | Select-Object -Skip 1)) {
    if ($table | Where-Object { $_[0] -eq $at -and $_[1] -eq 'command' -and $_[2] -eq $word }) { $at = "$at $word".TrimStart('. ') }
  }
  $here = @($table | Where-Object { $_[0] -eq $at })
  $words = $here | ForEach-Object { $_[2] }
  $option = $here | Where-Object { $_[1] -eq 'option' -and $_[2] -eq $typed[-1] -and $_[3] -ne 'nothing' }
  if ($typed.Count -gt 1 -and $option) {
    if ($option[3] -in 'path', 'text') { return }
    $words = $option[3] -split ' '
  }
  $words | Where-Object { $_ -like "$current*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`,
} as const;
