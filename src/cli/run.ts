import type { Command } from "commander";
import { stretchText } from "./budget.ts";
import { addCommand, configured } from "./command.ts";
import { loadConfiguration } from "./configuration.ts";
import { load } from "./load.ts";
import { openProgress } from "./progress.ts";
import { untilSignal } from "./signals.ts";
import { openWeb } from "./web.ts";

/** Standard output is the log, or with `--json` the answer at the end; then the log goes to standard error. */
export function run(program: Command): void {
  configured(
    addCommand(
      program,
      "run",
      "the daemon: keeps both sides in step until stopped",
      async (given) => {
        const config = await loadConfiguration(given.file);
        const [{ openLog }, { serveAdmin }, { composeDaemon }, { planOf }] = await Promise.all([
          import("../log.ts"),
          import("../console/admin.ts"),
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
            const { port, state, secrets } = { ...config, port: config.console.port };
            const admin = await serveAdmin({ office: daemon.office, port, state, secrets });
            // What `budget plan` refuses is run all the same, slowed.
            const { lists, forecast } = await daemon.office.budget();
            const assumed = { writesPerDay: 0, documents: null, lists };
            const { fault } = planOf(config, assumed, Date.now());
            if (fault !== null)
              log.warn({ next: fault.next, thisMonth: stretchText(forecast) }, fault.message);
            log.info({ port: admin.port, flows: config.flows.length }, "fuelbridge runs");
            try {
              const web = await openWeb(config, daemon.office, (message, details) =>
                log.error(details, message),
              );
              if (web !== null) log.info({ url: web.url }, "the console listens");
              try {
                await daemon.run(signal);
              } finally {
                await web?.close();
              }
            } finally {
              await admin.close();
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
