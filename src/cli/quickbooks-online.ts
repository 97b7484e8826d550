/** `fuelbridge quickbooks authorise`: a person lets fuelbridge into a company of QuickBooks Online. */
import type { Command } from "commander";
import { ConfigurationError } from "../core/errors.ts";
import { addCommand, configured } from "./command.ts";

const WAIT_MS = 10 * 60_000;

export function quickbooksOnline(program: Command): void {
  const group =
    program.commands.find((one) => one.name() === "quickbooks") ??
    program.command("quickbooks").description("QuickBooks: what a person does once");
  configured(
    addCommand(
      group,
      "authorise",
      "sign in at Intuit, so that fuelbridge may ask QuickBooks Online (once, and when doctor says so)",
      async ({ options, file }) => authorise(file, options["endpoint"]),
    ),
  ).option("--endpoint <name>", "of several, which one");
}

/** @throws ConfigurationError, EnvironmentError */
async function authorise(file: string, name: string | undefined) {
  const [{ loadConfiguration }, { QuickbooksOnlineConfig }, authorising, { authoriseBy }] =
    await Promise.all([
      import("./configuration.ts"),
      import("../../connectors/quickbooks-online/config.ts"),
      import("../../connectors/quickbooks-online/authorise.ts"),
      import("../../connectors/quickbooks-online/tokens.ts"),
    ]);
  const { endpoints, folder } = await loadConfiguration(file);
  const online = endpoints.filter(({ connector }) => connector.name === "quickbooks-online");
  const chosen = name === undefined ? online : online.filter((one) => one.name === name);
  const [endpoint, another] = chosen;
  if (endpoint === undefined || another !== undefined)
    throw new ConfigurationError(
      endpoint === undefined
        ? `${file} has no endpoint${name === undefined ? "" : ` ${name}`} of the connector quickbooks-online.`
        : `${file} has several endpoints of the connector quickbooks-online.`,
      "Name the one that is meant with --endpoint, as the configuration calls it.",
    );
  const config = QuickbooksOnlineConfig.parse(endpoint.settings);
  const clock = {
    now: () => new Date(),
    pause: (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms)),
  };
  const begun = authorising.beginAuthorising(config, folder, clock);
  process.stderr.write(
    `Open this address in a browser, sign in as an administrator and choose the company:\n\n${begun.address}\n\n`,
  );
  const stored = authorising.isLoopback(config)
    ? await authorising.redirectedHere(config, begun, AbortSignal.timeout(WAIT_MS))
    : await begun.finish(await pasted());
  const { day } = authoriseBy(stored, clock.now());
  return {
    data: { endpoint: endpoint.name, company: stored.company, until: day },
    text: `fuelbridge may ask company ${stored.company} (endpoint ${endpoint.name}), without use until ${day}.\n`,
  };
}

/** Where the redirect address is on another machine. */
async function pasted(): Promise<string> {
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question("Then paste the whole address that the browser shows at the end: ");
  } finally {
    lines.close();
  }
}
