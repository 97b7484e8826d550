import type { Command } from "commander";
import type { QuarantineGroup, Quarantined } from "../report/office.ts";
import { ask } from "./ask.ts";
import { addCommand, configured, thisUser } from "./command.ts";
import { counted, instant, table } from "./table.ts";

const SELECTOR = "a group's id, a delivery's number in the list, or all";

export function quarantine(program: Command): void {
  const parent = program.command("quarantine").description("deliveries that need a person");
  configured(
    addCommand(parent, "list", "grouped by cause", async ({ file }) => {
      const groups = await ask(file, (office) => office.quarantine());
      return { data: { groups }, text: listInWords(groups) };
    }),
  );
  configured(
    addCommand(parent, "show <group>", "one group with its deliveries", async (given) => {
      const [id = ""] = given.args;
      const data = await ask(given.file, (office) => office.quarantineShow(id));
      return { data, text: groupInWords(data) };
    }),
  );
  configured(
    addCommand(parent, "retry <selector>", `map and deliver again: ${SELECTOR}`, async (given) => {
      const [selector = ""] = given.args;
      const data = await ask(given.file, (office) => office.retry(selector));
      return {
        data,
        text: `${counted(data.retried, "delivery", "deliveries")} will be tried again.`,
      };
    }),
  );
  configured(
    addCommand(parent, "resolve <selector>", `settled by hand: ${SELECTOR}`, async (given) => {
      const [selector = ""] = given.args;
      const { note = "", by = thisUser(), receiverId } = given.options;
      const decision = { by, note, ...(receiverId === undefined ? {} : { receiverId }) };
      const data = await ask(given.file, (office) => office.resolve(selector, decision));
      return { data, text: `${counted(data.resolved, "delivery", "deliveries")} closed.` };
    })
      .requiredOption("--note <text>", "how it was settled; it is kept")
      .option("--receiver-id <id>", "where it was found at the receiver: both sides are linked")
      .option("--by <name>", "who settled it (default: this user)"),
  );
}

function listInWords(groups: readonly QuarantineGroup[]): string {
  if (groups.length === 0) return "Nothing is in quarantine.";
  const rows = groups.map(({ id, flow, count, since, cause }) => [
    id,
    flow,
    String(count),
    instant(since),
    cause,
  ]);
  return `${table(["GROUP", "FLOW", "COUNT", "SINCE", "CAUSE"], rows)}\n\nWhat to do: fuelbridge quarantine show GROUP`;
}

function groupInWords(
  group: QuarantineGroup & { readonly deliveries: readonly Quarantined[] },
): string {
  const rows = group.deliveries.map((delivery) => [
    delivery.delivery,
    delivery.number,
    delivery.recordId,
    delivery.field ?? "-",
    delivery.origin ?? "-",
    instant(delivery.since),
  ]);
  return [
    `${group.flow}: ${group.cause} (${group.code})`,
    `  ${group.next}`,
    "",
    table(["DELIVERY", "NUMBER", "RECORD", "FIELD", "ORIGIN", "SINCE"], rows),
    "",
    `Then: fuelbridge quarantine retry ${group.id}`,
    `  or: fuelbridge quarantine resolve ${group.id} --note "how it was settled"`,
    "For one of them only, write its number under DELIVERY in place of the group.",
  ].join("\n");
}
