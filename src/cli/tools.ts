/** Commands that read no configuration: the sandbox, the demo, and what editors, programs and shells are given. */
import { Argument, type Command, Option } from "commander";
import { configurationSchema } from "../app/configuration.ts";
import { addBareCommand, wholeUpTo } from "./command.ts";

const portNumber = wholeUpTo(65_535, "A port is a number from 0 to 65535.");
const wholeNumber = wholeUpTo(999_999, "A number from 0 to 999999.");
const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;

export function toolCommands(program: Command): void {
  // Standard output belongs to the sandbox: one line of JSON when it accepts requests, and nothing else.
  addBareCommand(
    program,
    "sandbox",
    "the platform as a local server, to try things on",
    async ({ options }) => {
      const { port = "0", host = "", db = "", scenario = "", truth = "" } = options;
      const { faults = "0", seed = "1" } = options;
      const { runSandbox } = await import("../sandbox/server.ts");
      const month = { faults: Number(faults), seed: Number(seed) };
      await runSandbox({ port: Number(port), host, db, scenario, month, truth });
    },
  )
    .option("--port <port>", "0 takes a free one", portNumber, "0")
    .option("--host <address>", "a loopback address", "127.0.0.1")
    .option("--db <file>", "where it keeps its state", ":memory:")
    .option(
      "--scenario <name>",
      "what it holds at the start: empty, conformance, demo, month",
      "conformance",
    )
    .option("--faults <number>", "month: so many errors are planted", wholeNumber, "0")
    .option("--seed <number>", "month: which ones, and where", wholeNumber, "1")
    .option("--truth <file>", "month: where it is written what was planted", "month-truth.json");
  addBareCommand(
    program,
    "schema",
    "the JSON Schema of the configuration, for editors",
    async ({ named }) => printed(await configurationSchema(named)),
  ).option("--config <file>", "with the site's own mappings that this configuration names");
  addBareCommand(program, "openapi", "the platform's API as OpenAPI 3.1", async ({ options }) => {
    if (options["markdown"] === undefined)
      return printed((await import("../platform/contract/openapi.ts")).openApi());
    const text = (await import("../platform/parts.ts")).referencePage();
    return { data: { markdown: text }, text };
  }).option("--markdown", "as the page of tables that is docs/platform-api.md");
  addBareCommand(
    program,
    "completion",
    "a script that completes commands and options",
    async ({ args }) => {
      const { scripts } = await import("./completion.ts");
      const shell = args[0] as (typeof SHELLS)[number];
      const script = scripts[shell](program);
      return { data: { shell, script }, text: script };
    },
  ).addArgument(new Argument("<shell>", "the shell that reads it").choices(SHELLS));
  addBareCommand(
    program,
    "demo",
    "everything at once, on this machine, with nothing to set up",
    async ({ json, options: { once, play, erp } }) => {
      const { runDemo } = await import("../demo/demo.ts");
      const where = erp === "sftp" ? "sftp" : "files";
      return runDemo({ json, once: once !== undefined, play: play !== undefined, erp: where });
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
    .option(
      "--play",
      "then have both sides pay, void and correct, and people settle the rest, until they agree",
    );
}

/** For a file: what `--json` has, on lines of its own. */
export const printed = (data: object) => ({ data, text: JSON.stringify(data, null, 2) });
