import type { Command } from "commander";
import { stretchText } from "./budget.ts";
import { addCommand, configured } from "./command.ts";
import { loadConfiguration } from "../app/configuration.ts";
import { load } from "./load.ts";
import { openProgress } from "../app/progress.ts";
import { untilSignal } from "../app/signals.ts";

/** Standard output is the log, or with `--json` the answer at the end; then the log goes to standard error. */
export function run(program: Command): void {
  configured(
    addCommand(
      program,
      "run",
      "the daemon: keeps both sides in step until stopped",
      async (given) => {
        const config = await loadConfiguration(given.file);
        const [{ openLog }, { startServices }, { composeDaemon }, { planOf }] = await Promise.all([
          import("../log.ts"),
          import("../app/services.ts"),
          load.compose(),
          load.plan(),
        ]);
        const to = given.json ? "stderr" : "stdout";
        const line = openProgress(process.stderr);
        const { level } = config.log;
        const log = openLog({ level, secrets: config.secrets, to, aside: line.clear });
        const { exitCode } = await untilSignal(async (signal) => {
          const daemon = await composeDaemon(config, log, line);
          try {
            const services = await startServices(config, daemon, log);
            // What `budget plan` refuses is run all the same, slowed.
            const { lists, forecast } = await daemon.office.budget();
            const assumed = { writesPerDay: 0, documents: null, lists };
            const { fault } = planOf(config, assumed, Date.now());
            if (fault !== null)
              log.warn({ next: fault.next, thisMonth: stretchText(forecast) }, fault.message);
            const { port, monitor, web } = services;
            log.info({ port, monitor, flows: config.flows.length }, "fuelbridge runs");
            if (web !== null) log.info({ url: web }, "the console listens");
            try {
              await daemon.run(signal);
            } finally {
              await services.close();
            }
          } finally {
            line.clear();
            await daemon.close();
          }
        });
        log.info("fuelbridge has stopped");
        return { data: { stopped: true }, text: "", ...(exitCode === null ? {} : { exitCode }) };
      },
    ),
  );
}
