import { randomBytes } from "node:crypto";
import { text as textOf } from "node:stream/consumers";
import { type Command, Option } from "commander";
import type { Config } from "../config/config.ts";
import { type Role, roles } from "../web/users.ts";
import type { Users } from "../web/users.ts";
import type { DoneElsewhere } from "../office/asked.ts";
import { askOf } from "../app/ask.ts";
import { addCommand, type Given, thisPerson } from "./command.ts";
import { loadConfiguration } from "../app/configuration.ts";
import { instant, table } from "../views/text.ts";

export function user(program: Command): void {
  const parent = program.command("user").description("who may log in to the web console");
  addCommand(
    parent,
    "list",
    "everybody, with their roles",
    async ({ file }) => {
      const { users } = await usersIn(file);
      const all = users.list().map(({ name, role, since }) => ({ name, role, since }));
      const rows = all.map(({ name, role, since }) => [name, role, instant(since)]);
      const text = rows.length === 0 ? NOBODY : table(["NAME", "ROLE", "SINCE"], rows);
      return { data: { users: all }, text };
    },
    "each",
  );
  changing(parent, "add <name>", "let somebody log in", async (given, users) => {
    const [name = ""] = given.args;
    const role = given.options["role"] as Role;
    const { password, shown } = await passwordOf(given);
    await users.add(name, role, password);
    return {
      deed: "user added",
      told: `${name}, ${role}`,
      data: { name, role, ...shown },
      text: `${name} may log in as ${role}.`,
    };
  }).addOption(
    new Option(
      "--role <role>",
      "viewer looks, clerk adds rows and notes, accountant decides, operator may do all",
    )
      .choices(roles)
      .default("viewer"),
  );
  changing(parent, "passwd <name>", "give somebody another password", async (given, users) => {
    const [name = ""] = given.args;
    const { password, shown } = await passwordOf(given);
    await users.setPassword(name, password);
    const text = `${name} has a new password.`;
    return { deed: "password changed", told: name, data: { name, ...shown }, text };
  });
  changing(parent, "remove <name>", "let somebody log in no more", async (given, users) => {
    const [name = ""] = given.args;
    users.remove(name);
    return { deed: "user removed", told: name, data: { name }, text: `${name} is out.` };
  });
}

const NOBODY = "Nobody can log in yet: fuelbridge user add NAME --role operator";

interface Done {
  readonly deed: DoneElsewhere;
  /** Whom it was about. */
  readonly told: string;
  readonly data: { readonly name: string; readonly password?: string };
  readonly text: string;
}

/** It is written down who did it, and why. */
function changing(
  parent: Command,
  usage: string,
  description: string,
  work: (given: Given, users: Users) => Promise<Done>,
): Command {
  const command = addCommand(parent, usage, description, async (given) => {
    const { config, users } = await usersIn(given.file);
    const { deed, told, data, text } = await work(given, users);
    const { note } = given.options;
    const person = { by: thisPerson(), note: note === undefined ? told : `${told}: ${note}` };
    await askOf(config, (office) => office.wasDone(deed, person));
    const secret =
      data.password === undefined ? "" : `\nThe password, shown once: ${data.password}`;
    return { data, text: text + secret };
  }).option("--note <text>", "why; it is kept in the audit");
  if (!usage.startsWith("remove"))
    command.option("--generate", "make a password and show it once (default: read a line)");
  return command;
}

async function usersIn(file: string): Promise<{ config: Config; users: Users }> {
  const config = await loadConfiguration(file);
  const { openUsers } = await import("../web/users.ts");
  return { config, users: openUsers(config.state, () => new Date()) };
}

/** Made here, or one line of standard input: never an argument, which other users of the machine could see. */
async function passwordOf({ options }: Given) {
  if (options["generate"] !== undefined) {
    const password = randomBytes(15).toString("base64url");
    return { password, shown: { password } };
  }
  if (process.stdin.isTTY) return { password: await typed(), shown: {} };
  const [line = ""] = (await textOf(process.stdin)).split(/\r?\n/, 1);
  return { password: line, shown: {} };
}

/** Without being shown. */
async function typed(): Promise<string> {
  const [{ createInterface }, { Writable }] = await Promise.all([
    import("node:readline/promises"),
    import("node:stream"),
  ]);
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  process.stderr.write("Password, at least 12 characters: ");
  try {
    return await lines.question("");
  } finally {
    process.stderr.write("\n");
    lines.close();
  }
}
