import { resolve } from "node:path";
import type { Command } from "commander";
import { ownerOf } from "../config/config.ts";
import { holderOf } from "../office/remote.ts";
import { StoreInUse } from "../core/errors.ts";
import { restoreStore } from "../store/backup.ts";
import { addCommand, configured, thisPerson } from "./command.ts";
import { loadConfiguration } from "../app/configuration.ts";
import { counted, instant } from "../views/table.ts";

export function restore(program: Command): void {
  configured(
    addCommand(
      program,
      "restore <file>",
      "put a backup in the place of the store; the daemon must be stopped",
      async ({ args: [file = ""], file: configuration, options }) => {
        const config = await loadConfiguration(configuration);
        const { state } = config;
        const holder = await holderOf(state);
        if (holder !== null)
          throw new StoreInUse(
            `The store in ${state} is in use by process ${holder}, so nothing was changed.`,
            "Stop the daemon (`systemctl stop fuelbridge`), then restore.",
          );
        const { copy, aside } = restoreStore({
          folder: state,
          file: resolve(file),
          owner: ownerOf(config),
          by: options["by"] ?? thisPerson(),
          atMs: Date.now(),
        });
        const { counts, until } = copy;
        return {
          data: { state, from: resolve(file), aside, ...copy },
          text: [
            `The store in ${state} is the backup now: ${counted(counts.delivery, "delivery", "deliveries")}${until === null ? "" : `, until ${instant(until)}`}.`,
            ...(aside === null ? [] : [`What was there is kept in ${aside}.`]),
            "",
            "1. Put files that the ERP exported since then back into the export folder.",
            "2. Start the daemon. It reads and looks for everything, and sends nothing.",
            "3. fuelbridge now all, then wait until fuelbridge status shows nothing new.",
            "4. Look at fuelbridge quarantine list, then: fuelbridge release restored",
          ].join("\n"),
        };
      },
    ).option("--by <name>", "who restores it (default: this user)"),
  );
}
