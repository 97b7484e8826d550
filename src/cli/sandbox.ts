import { type Command, InvalidArgumentError } from "commander";
import { addCommand } from "./command.ts";
import { load } from "./load.ts";

/** Standard output belongs to the sandbox: one line of JSON when it accepts requests, and nothing else. */
export function sandbox(program: Command): void {
  addCommand(
    program,
    "sandbox",
    "the platform as a local server, to try things on",
    async (given) => {
      const { port = "0", host = "", db = "", scenario = "" } = given.options;
      const { runSandbox } = await load.sandbox();
      await runSandbox({ port: Number(port), host, db, scenario });
    },
  )
    .option("--port <port>", "0 takes a free one", portNumber, "0")
    .option("--host <address>", "a loopback address", "127.0.0.1")
    .option("--db <file>", "where it keeps its state", ":memory:")
    .option(
      "--scenario <name>",
      "what it holds at the start: empty, conformance, demo",
      "conformance",
    );
}

function portNumber(text: string): string {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError("A port is a number from 0 to 65535.");
  return text;
}
