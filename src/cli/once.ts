import type { Command } from "commander";
import { exitCodes } from "../core/errors.ts";
import { addCommand, configured } from "./command.ts";
import { loadConfiguration } from "./configuration.ts";
import { load } from "./load.ts";
import { untilSignal } from "./signals.ts";

/** For schedulers of one's own, and for trying out. The log goes to standard error. */
export function once(program: Command): void {
  configured(
    addCommand(program, "once", "every flow, until nothing is left to do", async ({ file }) => {
      const config = await loadConfiguration(file);
      const [{ openLog }, { composeDaemon }] = await Promise.all([
        import("../log.ts"),
        load.compose(),
      ]);
      const log = openLog({ level: config.log.level, secrets: config.secrets, to: "stderr" });
      const { result, exitCode } = await untilSignal(async (signal) => {
        const daemon = await composeDaemon(config, log);
        try {
          return await daemon.once(signal);
        } finally {
          await daemon.close();
        }
      });
      const { inStep } = result;
      return {
        data: { inStep },
        text: inStep ? "In step." : "Not in step: fuelbridge status says what is missing.",
        exitCode: exitCode ?? (inStep ? exitCodes.ok : exitCodes.runtime),
      };
    }),
  );
}
