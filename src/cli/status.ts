import type { Command } from "commander";
import type { Status } from "../report/office.ts";
import { ask } from "./ask.ts";
import { factor } from "./budget.ts";
import { addCommand, configured } from "./command.ts";
import { counted, instant, table } from "./table.ts";

export function status(program: Command): void {
  configured(
    addCommand(program, "status", "is anything wrong? what waits?", async ({ file }) => {
      const data = await ask(file, (office) => office.status());
      return { data, text: inWords(data) };
    }),
  );
}

function inWords(status: Status): string {
  const { daemon, requests } = status;
  return [
    `${status.company} (${status.environment}): ${status.healthy ? "all is well" : "needs attention"}`,
    daemon === null
      ? "The daemon does not run."
      : `The daemon runs since ${instant(daemon.startedAt)} (process ${daemon.pid}).`,
    ...month(requests),
    "",
    flows(status),
    ...status.stops.flatMap(({ breaker, scope, since, message, next }) => [
      "",
      `STOPPED ${breaker} ${scope} since ${instant(since)}: ${message}`,
      `  ${next}`,
    ]),
    ...status.flows.flatMap(({ name, lastError }) =>
      lastError === null ? [] : ["", `${name}: ${lastError.message}`, `  ${lastError.next}`],
    ),
    ...(status.flows.some(({ quarantined }) => quarantined > 0)
      ? ["", "Deliveries wait for a person: fuelbridge quarantine list"]
      : []),
  ].join("\n");
}

function month({ month, used, perMonth, stretch }: Status["requests"]): string[] {
  const all = `${used} of ${counted(perMonth, "request")} to the platform are used in ${month}.`;
  if (used >= perMonth)
    return [all, "Nothing is sent before the month turns, or platform.budget.perMonth is raised."];
  if (stretch <= 1) return [all];
  return [all, `It is polled ${factor(stretch)} times more seldom than configured, to last.`];
}

const flows = (status: Status): string =>
  table(
    ["FLOW", "STATE", "NEXT", "RECEIVED", "DELIVERED", "PENDING", "QUARANTINED", "CLOSED"],
    status.flows.map((flow) => [
      flow.name,
      flow.state,
      instant(flow.nextDueAt),
      String(flow.received),
      String(flow.delivered),
      String(flow.pending),
      String(flow.quarantined),
      // Rightly not delivered, settled by hand, or replaced: nothing is left to do about them.
      String(flow.skipped + flow.echoes + flow.resolved + flow.superseded),
    ]),
  );
