import type { Command } from "commander";
import {
  type Edited,
  OfficeError,
  type Quarantined,
  type QuarantineGroup,
} from "../office/answers.ts";
import type { Editing } from "../office/asked.ts";
import { ask } from "../app/ask.ts";
import { addCommand, explained, personIn, thisPerson } from "./command.ts";
import type { Action } from "../office/remedies.ts";
import { age, counted, instant, table } from "../views/table.ts";

const SELECTOR = "a group's id, a delivery's number in the list, or all";

export function quarantine(program: Command): void {
  const parent = program.command("quarantine").description("deliveries that need a person");
  addCommand(parent, "list", "grouped by cause", async ({ file }) => {
    const groups = await ask(file, (office) => office.quarantine());
    return { data: { groups }, text: listInWords(groups) };
  });
  addCommand(parent, "show <group>", "one group with its deliveries", async (given) => {
    const [id = ""] = given.args;
    const data = await ask(given.file, (office) => office.quarantineShow(id));
    return { data, text: groupInWords(data) };
  });
  const retry = addCommand(
    parent,
    "retry <selector>",
    `map and deliver again: ${SELECTOR}`,
    async (given) => {
      const [selector = ""] = given.args;
      const anyway = given.options["anyway"] !== undefined;
      const data = await ask(given.file, (office) =>
        office.retry(selector, anyway, personIn(given.options)),
      );
      return { data, text: retriedInWords(data) };
    },
  ).option("--anyway", "also what a retry does not help: after an update of fuelbridge");
  explained(retry);
  addCommand(parent, "resolve <selector>", `settled by hand: ${SELECTOR}`, async (given) => {
    const [selector = ""] = given.args;
    const { note = "", by = thisPerson(), receiverId, amount } = given.options;
    const there = receiverId === undefined ? {} : { receiverId };
    const decision = { by, note, ...there, ...(amount === undefined ? {} : { amount }) };
    const data = await ask(given.file, (office) => office.resolve(selector, decision));
    return { data, text: `${counted(data.resolved, "delivery", "deliveries")} closed.` };
  })
    .requiredOption("--note <text>", "how it was settled; it is kept")
    .option("--receiver-id <id>", "where it was found at the receiver: both sides are linked")
    .option("--amount <amount>", "what it comes to there, where that is another amount")
    .option("--by <name>", "who settled it (default: this user)");
  handling(parent);
}

function handling(parent: Command): void {
  addCommand(
    parent,
    "edit <delivery> <correction>",
    "correct a field of one document, FIELD=VALUE, beside what was received",
    async (given) => {
      const [delivery = "", correction = ""] = given.args;
      const editing = editingOf(correction);
      const data = await ask(given.file, (office) =>
        office.edit(delivery, editing, personIn(given.options)),
      );
      return { data, text: editedInWords(data) };
    },
  )
    .requiredOption("--note <text>", "why; it is kept")
    .option("--by <name>", "who corrects it (default: this user)");
  addCommand(parent, "assign <selector>", `who sees to it: ${SELECTOR}`, async (given) => {
    const [selector = ""] = given.args;
    const { to = null, by = thisPerson(), note = "assigned" } = given.options;
    const assignment = { to, by, note };
    const data = await ask(given.file, (office) => office.assign(selector, assignment));
    const told = counted(data.assigned, "delivery is", "deliveries are");
    return { data, text: `${told} ${to === null ? "nobody's now" : `now ${to}'s`}.` };
  })
    .option("--to <name>", "who; left out: nobody any more")
    .option("--note <text>", "why; it is kept")
    .option("--by <name>", "who assigns it (default: this user)");
  addCommand(
    parent,
    "note <selector> <text>",
    `write what you know: ${SELECTOR}`,
    async (given) => {
      const [selector = "", note = ""] = given.args;
      const remark = { by: given.options["by"] ?? thisPerson(), note };
      const data = await ask(given.file, (office) => office.remark(selector, remark));
      return { data, text: `Noted on ${counted(data.noted, "delivery", "deliveries")}.` };
    },
  ).option("--by <name>", "who writes it (default: this user)");
}

/** @throws OfficeError when there is no field before the first `=` */
function editingOf(correction: string): Editing {
  const at = correction.indexOf("=");
  if (at > 0) return { field: correction.slice(0, at).trim(), value: correction.slice(at + 1) };
  throw new OfficeError(
    `"${correction}" names no field with its value.`,
    `Write it as FIELD=VALUE, for example lines.1.product=ULSD: fuelbridge quarantine edit 17 lines.1.product=ULSD --note "the terminal's code"`,
  );
}

const editedInWords = ({ delivery, field, was, value, still }: Edited): string =>
  [
    `${field} is "${value}" now; it was "${was}". What was received stays as it is.`,
    "The correction holds until a newer version of the document comes.",
    still === null
      ? `To map and deliver it: fuelbridge quarantine retry ${delivery}`
      : `It cannot go out yet: ${still}`,
  ].join("\n");

function retriedInWords({ retried, left }: Record<"retried" | "left", number>): string {
  const tried = `${counted(retried, "delivery", "deliveries")} will be tried again.`;
  if (left === 0) return tried;
  return `${tried}\n${left} stay in quarantine: a retry does not help them. What does: fuelbridge quarantine list`;
}

function listInWords(groups: readonly QuarantineGroup[]): string {
  if (groups.length === 0) return "Nothing is in quarantine.";
  const rows = groups.map(({ id, flow, count, ageMs, cause }) => [
    id,
    flow,
    String(count),
    age(ageMs),
    cause,
  ]);
  return `${table(["GROUP", "FLOW", "COUNT", "AGE", "CAUSE"], rows)}\n\nEach document of a group, and what to do: fuelbridge quarantine show GROUP`;
}

type Shown = QuarantineGroup & { readonly deliveries: readonly Quarantined[] };

function groupInWords(group: Shown): string {
  return [
    `${group.flow}: ${group.cause} (${group.code})`,
    `  ${group.next}`,
    "",
    deliveriesInWords(group),
    ...group.deliveries.flatMap(({ delivery, notes }) =>
      notes.map(({ at, who, text }) => `${delivery}, ${who} at ${instant(at)}: ${text}`),
    ),
    ...group.deliveries.flatMap(({ delivery, corrections }) =>
      corrections.map(
        ({ at, by, field, was, value, reason }) =>
          `${delivery}, ${by} at ${instant(at)} corrected ${field} from "${was ?? ""}" to "${value}": ${reason}`,
      ),
    ),
    "",
    ...group.helps.map((action) => HELP[action](group)),
    ...(!group.helps.includes("retry") &&
    group.deliveries.some(({ corrections }) => corrections.length > 0)
      ? [`To map and deliver what was corrected: fuelbridge quarantine retry ${group.id}`]
      : []),
    ...(group.helps.includes("correct") &&
    group.deliveries.some(({ correctable }) => correctable.length > 0)
      ? [`To correct a field here: fuelbridge quarantine edit DELIVERY FIELD=VALUE --note "why"`]
      : []),
    ...(group.deliveries.length > 1
      ? ["For one of them only, write its number under DELIVERY in place of the group."]
      : []),
  ].join("\n");
}

/** A column that says nothing in any row is left out. */
function deliveriesInWords({ cause, deliveries }: Shown): string {
  const columns: readonly (readonly [title: string, of: (one: Quarantined) => string | null])[] = [
    ["DELIVERY", ({ delivery }) => delivery],
    ["NUMBER", ({ name, number }) => name ?? number],
    ["PARTY", ({ party }) => party],
    ["AMOUNT", ({ amount, currency }) => (amount === null ? null : `${amount} ${currency}`)],
    ["WAITS FOR", ({ awaits }) => awaits],
    // Of many documents that differ alike: what differs in each.
    ["FIELD", ({ field }) => field],
    ["AGE", ({ ageMs }) => age(ageMs)],
    ["ASSIGNED TO", ({ assignee }) => assignee],
    ["FROM", ({ origin, version }) => origin ?? version],
    // Where the group's sentence leaves the values out.
    ["CAUSE", (one) => (one.awaits !== null || one.cause === cause ? null : one.cause)],
  ];
  const told = columns.filter(([, of]) => deliveries.some((one) => of(one) !== null));
  return table(
    told.map(([title]) => title),
    deliveries.map((one) => told.map(([, of]) => of(one) ?? "-")),
  );
}

const HELP: Readonly<Record<Action, (group: QuarantineGroup) => string>> = {
  correct: () => "Once it is corrected where it comes from, it is taken by itself.",
  wait: () => "It clears by itself.",
  retry: ({ id }) => `To map and deliver it again: fuelbridge quarantine retry ${id}`,
  link: () =>
    `If it is at the receiver: fuelbridge quarantine resolve DELIVERY --receiver-id ID --note "found there"`,
  "link-amount": () =>
    `To accept its amount at the receiver: fuelbridge quarantine resolve DELIVERY --receiver-id ID --amount AMOUNT --note "who accepted it"`,
  resolve: ({ id }) =>
    `If it is settled by hand: fuelbridge quarantine resolve ${id} --note "how it was settled"`,
};
