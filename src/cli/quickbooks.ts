/** What a person does once to bring fuelbridge and QuickBooks together. */
import type { Command } from "commander";
import type { DesktopConfig } from "../../connectors/quickbooks-desktop/config.ts";
import type { QuickbooksOnlineConfig } from "../../connectors/quickbooks-online/config.ts";
import type { Config, EndpointConfig } from "../config/config.ts";
import { ConfigurationError } from "../core/errors.ts";
import type { Answer } from "./answer.ts";
import { addCommand, type Given } from "./command.ts";
import { loadConfiguration } from "../app/configuration.ts";

export function quickbooks(program: Command): void {
  const group = program.command("quickbooks").description("what only QuickBooks needs");
  addCommand(
    group,
    "qwc",
    "the file that the QuickBooks Web Connector is given: fuelbridge quickbooks qwc > fuelbridge.qwc",
    async (asked) => {
      const { endpoint } = await endpointOf(asked, "quickbooks-desktop");
      const { qwcOf } = await import("../../connectors/quickbooks-desktop/service.ts");
      const qwc = qwcOf(endpoint.settings as DesktopConfig);
      return { data: { endpoint: endpoint.name, qwc }, text: qwc.trimEnd() };
    },
  ).option("--endpoint <name>", "of several, which one");
  addCommand(
    group,
    "authorise",
    "sign in at Intuit, so that fuelbridge may ask QuickBooks Online (once, and when doctor says so)",
    async (asked) => {
      const { endpoint, folder } = await endpointOf(asked, "quickbooks-online");
      return authorise(endpoint, folder);
    },
  ).option("--endpoint <name>", "of several, which one");
}

/** The one that is meant, with the folder of its configuration. @throws ConfigurationError */
async function endpointOf({ file, options }: Given, connector: string) {
  const { endpoints, folder }: Config = await loadConfiguration(file);
  const named = options["endpoint"];
  const [endpoint, another] = endpoints.filter(
    (one) => one.connector.name === connector && (named === undefined || one.name === named),
  );
  if (endpoint === undefined || another !== undefined)
    throw new ConfigurationError(
      endpoint === undefined
        ? `${file} has no endpoint${named === undefined ? "" : ` ${named}`} of the connector ${connector}.`
        : `${file} has several endpoints of the connector ${connector}.`,
      "Name the one that is meant with --endpoint, as the configuration calls it.",
    );
  return { endpoint, folder };
}

/** A person lets fuelbridge into a company of QuickBooks Online. @throws EnvironmentError */
async function authorise({ name, settings }: EndpointConfig, folder: string): Promise<Answer> {
  const config = settings as QuickbooksOnlineConfig;
  const { authoriseBy, beginAuthorising } =
    await import("../../connectors/quickbooks-online/tokens.ts");
  const { systemClock } = await import("../app/process.ts");
  const system = systemClock();
  const clock = { now: () => new Date(), pause: (ms: number) => system.pause(ms) };
  const begun = beginAuthorising(config, folder, clock);
  process.stderr.write(
    `Open this address in a browser, sign in as an administrator and choose the company:\n\n${begun.address}\n\n`,
  );
  const stored = await begun.finish(await pasted());
  const { day } = authoriseBy(stored, clock.now());
  return {
    data: { endpoint: name, company: stored.company, until: day },
    text: `fuelbridge may ask company ${stored.company} (endpoint ${name}), without use until ${day}.\n`,
  };
}

/** Whatever page the browser ends at, or none; empty where nobody can type. */
async function pasted(): Promise<string> {
  const { createInterface } = await import("node:readline");
  process.stderr.write("Then paste the whole address that the browser shows at the end: ");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const { value = "" } = await lines[Symbol.asyncIterator]().next();
  lines.close();
  return value;
}
