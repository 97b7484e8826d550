/** What a person does once to bring fuelbridge and QuickBooks together. */
import type { Command } from "commander";
import type { DesktopConfig } from "../../connectors/quickbooks-desktop/config.ts";
import type { QuickbooksOnlineConfig } from "../../connectors/quickbooks-online/config.ts";
import type { Config } from "../config/config.ts";
import { ConfigurationError } from "../core/errors.ts";
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
      const { authorise } = await import("./authorise.ts");
      const settings = endpoint.settings as QuickbooksOnlineConfig;
      return authorise(endpoint.name, settings, folder);
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
