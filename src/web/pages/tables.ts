/** Cross-reference tables: what one side calls what the other calls otherwise, and the rows that are missing. */
import type { ShownTable } from "../../office/answers.ts";
import { triedAgain } from "../../views/acts.ts";
import {
  at,
  type Block,
  type Blocks,
  card,
  folded,
  heading,
  line,
  link,
  notice,
  plural,
  quiet,
  say,
  small,
  strong,
  table,
  title,
  to,
} from "../../views/blocks.ts";
import { missingTable } from "../../views/tables.ts";
import { further } from "../parts.ts";
import { type Answer, type Asked, personOf } from "../route.ts";
import { addRowForm } from "./quarantine.ts";

export async function tables(asked: Asked): Promise<Answer> {
  const all = await asked.office.tables();
  const missing = all.reduce((total, one) => total + one.missing.length, 0);
  const body = [
    title("Cross-references"),
    line(
      "A table says what one side calls what the other calls otherwise. Each is a CSV file that a spreadsheet opens too.",
    ),
    missing === 0
      ? notice("good", line(strong("No row is missing."), " No document waits for one."))
      : notice(
          "bad",
          line(
            strong([plural(missing, "row is", "rows are"), " missing"]),
            `, and documents wait for ${missing === 1 ? "it" : "them"}.`,
          ),
        ),
    all.map((one) => cardOf(one, asked)),
  ];
  return { title: "Cross-references", body };
}

const cardOf = (one: ShownTable, asked: Asked): Block =>
  card(
    heading(say`${one.name} ${small(plural(one.rows.length + one.more, "row"))}`),
    quiet(one.file),
    one.faults.length > 0 &&
      line(strong("It cannot be used until this is corrected:"), ` ${one.faults.join("; ")}`),
    { ...missingTable([one]), caption: `Missing in ${one.name}` },
    unused(one),
    folded(
      `Rows of ${one.name}`,
      table(
        `Rows of ${one.name}`,
        one.rows,
        one.columns.map((column, index) => [column, (row) => row[index] ?? ""]),
        "There are none.",
      ),
      one.more > 0 && line(say`and ${one.more} more.`),
    ),
    folded(`Add a row to ${one.name}`, addRowForm(asked, one, null, null)),
  );

function unused({ name, unused: told }: ShownTable): Blocks {
  if (told === null) return null;
  const { since, keys, more } = told;
  if (keys.length === 0) return quiet("Documents have used every row since ", at(since), ".");
  return folded(
    say`${plural(keys.length + more, "row")} of ${name} that no document has used since ${at(since)}`,
    line(
      "Uses are counted since then. A row may still be needed: for a customer who buys once a year, or a flow that is ",
      "paused.",
    ),
    line(keys.join(", "), more > 0 && say`, and ${more} more`),
  );
}

const CELL = "cell.";

/** `group` in the form: whatever waits for the row is retried, whichever flow brought it. */
export async function addRow(asked: Asked): Promise<Answer> {
  const { office, params, form } = asked;
  const person = personOf(asked);
  const cells = [...form].filter(([name]) => name.startsWith(CELL));
  const { table: to, key } = await office.addRow(
    {
      table: params["table"] ?? "",
      cells: Object.fromEntries(cells.map(([name, value]) => [name.slice(CELL.length), value])),
    },
    person,
  );
  const added = `${key} is in ${to} now.`;
  if (!form.has("group")) return { to: "/cross-references", told: added };
  const waiting = (await office.quarantine()).filter(
    ({ lookup }) => lookup?.table === to && lookup.key === key,
  );
  let tried = 0;
  for (const { id } of waiting) tried += (await office.retry(id, false, person)).retried;
  const flows = waiting.map(({ flow }) => flow);
  return { to: "/needs-you", told: [added, " ", await triedAgain(office, tried, flows)] };
}

/* Who did what, when and why. */

export async function audit({ office, query }: Asked): Promise<Answer> {
  const { deeds, next } = await office.deeds(query.get("before") || null);
  const body = [
    title("Audit"),
    line(
      "What people did, the newest first. Nothing here can be changed or removed. What fuelbridge itself did with a ",
      "document stands in that document's life.",
    ),
    table(
      "What people did",
      deeds,
      [
        ["When", (deed) => at(deed.at)],
        ["Who", ({ by }) => by],
        ["What", ({ event }) => event],
        [
          "About",
          ({ document, flow }) =>
            document === null ? flow : link(to`/documents/${document.id}`, document.number),
        ],
        ["Detail", ({ detail }) => detail],
        ["Why", ({ reason }) => reason],
      ],
      "Nobody has done anything yet.",
    ),
    further("/audit", { before: next }),
  ];
  return { title: "Audit", body };
}
