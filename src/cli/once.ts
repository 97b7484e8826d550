import type { Command } from "commander";
import { exitCodes } from "../core/errors.ts";
import type { Reason } from "../engine/in-step.ts";
import { addCommand, configured } from "./command.ts";
import { loadConfiguration } from "../app/configuration.ts";
import { load } from "./load.ts";
import { openProgress } from "../app/progress.ts";
import { untilSignal } from "../app/signals.ts";
import { counted } from "../views/table.ts";

/** For schedulers of one's own, and for trying out. The log goes to standard error. */
export function once(program: Command): void {
  configured(
    addCommand(program, "once", "every flow, until nothing is left to do", async ({ file }) => {
      const config = await loadConfiguration(file);
      const [{ openLog }, { composeDaemon }, { answering }] = await Promise.all([
        import("../log.ts"),
        load.compose(),
        import("../app/ask.ts"),
      ]);
      const line = openProgress(process.stderr);
      const { level } = config.log;
      const log = openLog({ level, secrets: config.secrets, to: "stderr", aside: line.clear });
      const { result, exitCode } = await untilSignal(async (signal) => {
        const daemon = await composeDaemon(config, log, line);
        try {
          await answering(config, daemon.office, "once", () => daemon.once(signal));
          return await daemon.office.status();
        } finally {
          line.clear();
          await daemon.close();
        }
      });
      const { outOfStep, flows, quarantine } = result;
      const quarantined = quarantine.reduce((sum, { count }) => sum + count, 0);
      const waiting = flows.flatMap(({ name, waits }) => (waits === null ? [] : [[name, waits]]));
      // What is paused, or not due yet, was not to be done.
      const isDone = outOfStep.every(({ held }) => held);
      return {
        data: {
          inStep: outOfStep.length === 0,
          outOfStep,
          quarantined,
          waits: Object.fromEntries(waiting) as object,
        },
        text: inWords(outOfStep, quarantined),
        exitCode: exitCode ?? (isDone ? exitCodes.ok : exitCodes.runtime),
      };
    }),
  );
}

/** What is in quarantine keeps nothing else from being in step, and is told wherever it is not. */
function inWords(reasons: readonly Reason[], quarantined: number): string {
  const people = `${counted(quarantined, "document")} in quarantine: fuelbridge quarantine list`;
  if (reasons.length === 0) return quarantined === 0 ? "In step." : `In step, but for ${people}`;
  const isDone = reasons.every(({ held }) => held);
  return [
    isDone ? "Nothing is left to do now, but both sides are not in step:" : "Not in step:",
    ...reasons.flatMap(({ flow, message, next }) => [
      `  ${flow === null ? "" : `${flow}: `}${message}`,
      `    ${next}`,
    ]),
    ...(quarantined === 0 ? [] : [`  Beside that, ${people}`]),
  ].join("\n");
}
