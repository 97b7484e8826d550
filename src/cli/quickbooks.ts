import type { Command } from "commander";
import type { DesktopConfig } from "../../connectors/quickbooks-desktop/config.ts";
import { ConfigurationError } from "../core/errors.ts";
import { addCommand, configured } from "./command.ts";
import { loadConfiguration } from "./configuration.ts";

/** What only endpoints of QuickBooks need. */
export function quickbooks(program: Command): void {
  const group = program.command("quickbooks").description("what only QuickBooks needs");
  configured(
    addCommand(
      group,
      "qwc",
      "the file that the QuickBooks Web Connector is given: fuelbridge quickbooks qwc > fuelbridge.qwc",
      async ({ file, options }) => {
        const [config, { qwcOf }] = await Promise.all([
          loadConfiguration(file),
          import("../../connectors/quickbooks-desktop/qwc.ts"),
        ]);
        const named = options["endpoint"];
        const all = config.endpoints.filter(
          ({ name, connector }) =>
            connector.name === "quickbooks-desktop" && (named === undefined || name === named),
        );
        const [endpoint, another] = all;
        if (endpoint === undefined || another !== undefined)
          throw new ConfigurationError(
            endpoint === undefined
              ? "No endpoint of this configuration has the connector quickbooks-desktop."
              : "Several endpoints have the connector quickbooks-desktop.",
            "Name the one that is meant with --endpoint, as the configuration calls it.",
          );
        const qwc = qwcOf(endpoint.settings as DesktopConfig);
        return { data: { endpoint: endpoint.name, qwc }, text: qwc.trimEnd() };
      },
    ),
  ).option("--endpoint <name>", "of several, which one");
}
