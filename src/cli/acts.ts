/** What people do, as commands: each is a row of the table of acts; and the quarantine, which much of it is about. */
import type { Command } from "commander";
import { ask } from "../app/ask.ts";
import { type Act, acts } from "../views/acts.ts";
import { inLine } from "../views/text.ts";
import { groupsView, groupView } from "../views/documents.ts";
import { question } from "./asking.ts";
import { addCommand, thisPerson } from "./command.ts";

const QUARANTINE = "quarantine ";

/** `quarantine`: its groups, and what is done about them. */
export function quarantineCommands(program: Command): void {
  const parent = program.command("quarantine").description("deliveries that need a person");
  question(
    parent,
    "list",
    "grouped by cause",
    async (office) => ({ groups: await office.quarantine() }),
    ({ groups }) => groupsView(groups),
  );
  question(
    parent,
    "show <group>",
    "one group with its deliveries",
    (office, { args: [id = ""] }) => office.quarantineShow(id),
    groupView,
  );
  for (const act of Object.values<Act>(acts))
    if (act.usage?.startsWith(QUARANTINE))
      actCommand(parent, act, act.usage.slice(QUARANTINE.length));
}

/** `now`, `release`, `pause`, `resume`, `accept` and `settle`. */
export function actCommands(program: Command): void {
  for (const act of Object.values<Act>(acts))
    if (act.usage !== null && !act.usage.startsWith(QUARANTINE))
      actCommand(program, act, act.usage);
}

function actCommand(parent: Command, act: Act, usage: string) {
  const { about, formerly, options = [], reason, work } = act;
  const names = [...usage.matchAll(/[<[](\w+)/g)].map(([, name = ""]) => name);
  const command = addCommand(parent, usage, about, async (given) => {
    const args = Object.fromEntries(names.map((name, at) => [name, given.args[at]]));
    const { by = thisPerson(), note = reason?.usual ?? "" } = given.options;
    const { data, told } = await ask(given.file, (office) =>
      work(office, { ...given.options, ...args }, { by, note }),
    );
    return { data, text: inLine(told) };
  });
  if (formerly !== undefined) command.alias(formerly);
  for (const [flags, description] of options) command.option(flags, description);
  if (reason !== null)
    if (reason.usual === undefined) command.requiredOption("--note <text>", reason.says);
    else command.option("--note <text>", reason.says);
  command.option("--by <name>", "who decided it (default: this user)");
}
