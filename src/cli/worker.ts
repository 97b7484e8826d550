import type { Command } from "commander";
import { addCommand, configured } from "./command.ts";
import { calendarOf } from "../core/calendar.ts";
import { loadConfiguration } from "../app/configuration.ts";
import { untilSignal } from "../app/signals.ts";

/** What people should see in a log that shows little. */
const LEVELS: Readonly<Record<string, "warn" | "error">> = {
  "job failed": "error",
  "answer lost": "warn",
  "job refused": "warn",
  "redis can lose jobs": "warn",
  stopped: "warn",
};

/** Standard output is the log, or with `--json` the answer at the end; then the log goes to standard error. */
export function worker(program: Command): void {
  configured(
    addCommand(
      program,
      "worker",
      "sends requests for the daemons that share its API key (queue: bullmq)",
      async (given) => {
        const config = await loadConfiguration(given.file);
        const [{ openLog }, { openPlatform }, { openSharedWorker }, carriers, { systemClock }] =
          await Promise.all([
            import("../log.ts"),
            import("../platform/endpoint.ts"),
            import("../queue/shared.ts"),
            import("../app/carriers.ts"),
            import("../app/clock.ts"),
          ]);
        const { version } = await import("../app/version.ts");
        const to = given.json ? "stderr" : "stdout";
        const log = openLog({ level: config.log.level, secrets: config.secrets, to });
        const clock = systemClock();
        const options = carriers.sharedOptions(config, clock, (message, details) => {
          log[LEVELS[message] ?? "info"](details, message);
        });
        const { exitCode } = await untilSignal(async (signal) => {
          const opened = openSharedWorker(options, (governor) =>
            openPlatform({
              ...config.platform,
              clock,
              version,
              governor,
              dayOf: calendarOf(config.timeZone),
            }),
          );
          try {
            await opened.looked;
            log.info({ redis: options.redis.url }, "fuelbridge works");
            await Promise.race([opened.broken, ended(signal)]);
          } finally {
            await opened.close();
          }
        });
        log.info("fuelbridge has stopped");
        return { data: { stopped: true }, text: "", ...(exitCode === null ? {} : { exitCode }) };
      },
    ),
  );
}

const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
