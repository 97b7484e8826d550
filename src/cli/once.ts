import type { Command } from "commander";
import { exitCodes } from "../core/errors.ts";
import { addCommand, configured } from "./command.ts";
import { loadConfiguration } from "./configuration.ts";
import { load } from "./load.ts";
import { openProgress } from "./progress.ts";
import { untilSignal } from "./signals.ts";
import { waits } from "./status.ts";

/** For schedulers of one's own, and for trying out. The log goes to standard error. */
export function once(program: Command): void {
  configured(
    addCommand(program, "once", "every flow, until nothing is left to do", async ({ file }) => {
      const config = await loadConfiguration(file);
      const [{ openLog }, { composeDaemon }] = await Promise.all([
        import("../log.ts"),
        load.compose(),
      ]);
      const line = openProgress(process.stderr);
      const { level } = config.log;
      const log = openLog({ level, secrets: config.secrets, to: "stderr", aside: line.clear });
      const { result, exitCode } = await untilSignal(async (signal) => {
        const daemon = await composeDaemon(config, log, line);
        try {
          const { inStep } = await daemon.once(signal);
          const { flows } = await daemon.office.status();
          return { inStep, waiting: flows.filter((flow) => flow.waits !== null) };
        } finally {
          line.clear();
          await daemon.close();
        }
      });
      const { inStep, waiting } = result;
      const said = inStep ? "In step." : "Not in step: fuelbridge status says what is missing.";
      return {
        data: {
          inStep,
          waits: Object.fromEntries(waiting.map(({ name, waits }) => [name, waits])),
        },
        text: [said, ...waits(waiting)].join("\n"),
        exitCode: exitCode ?? (inStep ? exitCodes.ok : exitCodes.runtime),
      };
    }),
  );
}
