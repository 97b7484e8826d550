/** What needs a person: groups by cause, each with what it means, what to do, and only what can help. */
import { counted } from "../../core/text.ts";
import { OfficeError } from "../../core/errors.ts";
import type { QuarantineGroup, ShownGroup, ShownTable } from "../../office/answers.ts";
import { acts, type Given, MANY, ROUNDS, triedAgain } from "../../views/acts.ts";
import {
  act,
  address,
  type Blocks,
  buttons,
  facts,
  folded,
  heading,
  type Html,
  line,
  link,
  next,
  notice,
  quiet,
  title,
  to,
  at,
  type Block,
  card,
  plural,
  say,
  small,
  strong,
  table,
} from "../../views/blocks.ts";
import { html, verbatim } from "../../views/html.ts";
import {
  deliveriesTable,
  documentsIn,
  groupsView,
  knownView,
  parted,
  missingTable,
  stepName,
} from "../../views/documents.ts";
import { changing, choice, field, formOf, hidden, listed, further } from "../parts.ts";
import { type Answer, type Asked, personOf } from "../route.ts";
import { atLeast } from "../users.ts";

export async function needsYou(asked: Asked): Promise<Answer> {
  const { office, query } = asked;
  const flow = query.get("flow");
  const groups = (await office.quarantine()).filter((one) => flow === null || one.flow === flow);
  return {
    title: `Needs you: ${counted(documentsIn(parted(groups)[0]), "document")}`,
    body: [
      title("Needs you"),
      flow !== null && line(`Only the flow ${flow}. `, link("/needs-you", "All flows")),
      groups.length > 0 &&
        quiet(
          link(address("/documents/csv", { state: "quarantined", flow }), "CSV of these documents"),
        ),
      groupsView(groups, await buttonsFor(asked, groups)),
    ],
  };
}

/** What helps most with a group, on its card; null: nothing is to be done here. */
async function buttonsFor(asked: Asked, groups: readonly QuarantineGroup[]) {
  const isMissing = groups.some(({ lookup }) => lookup !== null);
  const tables = isMissing ? await asked.office.tables() : [];
  return (group: QuarantineGroup): Blocks => {
    const { id, lookup, helps, count } = group;
    const missing = tables.find(({ name }) => name === lookup?.table);
    if (missing !== undefined && lookup !== null)
      return act(`Add the row ${lookup.key}`, addRowForm(asked, missing, lookup.key, id));
    if (helps.includes("link") && count === 1)
      return act("It is booked as …", formOf(asked, acts.link, id, { fields: receiverId(id) }));
    if (helps.includes("retry") && !helps.includes("link"))
      return act("Retry", formOf(asked, acts.retry, id));
    if (helps.includes("correct") && !helps.includes("wait"))
      return buttons(link(to`/needs-you/${id}`, count === 1 ? "See what to correct" : "See all"));
    return helps.length === 1 && act("Close", formOf(asked, acts.resolve, id));
  };
}

const receiverId = (id: string): Html =>
  field(`link-${id}-receiverId`, "Its id at the receiver", { required: true });

/** A group, and one page of its documents, the oldest first. */
interface Shown extends ShownGroup {
  /** Documents before this page. */
  readonly skip: number;
}

/** So many documents are on a page. */
const SHOWN = 50;

/** `skip`: as the page or the form says. @throws OfficeError when there is no such group */
async function shownGroup(
  { office, params }: Asked,
  skip: string | null | undefined,
): Promise<Shown> {
  const skipped = /^\d{1,7}$/.test(skip ?? "") ? Number(skip) : 0;
  return {
    ...(await office.quarantineShow(params["group"] ?? "", SHOWN, skipped)),
    skip: skipped,
  };
}

/**
 * What the form of a group is about: the group that is named in the address, or a delivery of it that was shown.
 * @throws OfficeError when the delivery has left the group meanwhile: nothing else is done instead
 */
export async function selectedIn(asked: Asked, { skip, selector }: Given): Promise<string> {
  const { id, deliveries } = await shownGroup(asked, skip);
  const chosen = selector ?? id;
  if (chosen === id || deliveries.some(({ delivery }) => delivery === chosen)) return chosen;
  throw new OfficeError(
    "This document is not in the group any more, or is on another page of it now: nothing was done.",
    "Load the page again: somebody may have settled it, or one before it.",
  );
}

export async function group(asked: Asked): Promise<Answer> {
  const { office } = asked;
  const shown = await shownGroup(asked, asked.query.get("skip"));
  const { id, lookup, count, skip, deliveries } = shown;
  const tables = lookup === null ? [] : await office.tables();
  const missing = tables.find(({ name }) => name === lookup?.table);
  const isClearing = shown.helps.includes("wait");
  const body = [
    line(link("/needs-you", "Needs you")),
    title(shown.title),
    notice(isClearing ? "wait" : "bad", line(shown.accountant), line(next(shown.next))),
    missing !== undefined &&
      lookup !== null && [
        heading("Add the missing row"),
        addRowForm(asked, missing, lookup.key, id),
      ],
    actions(asked, shown),
    heading("Documents"),
    deliveriesTable(
      shown,
      count <= SHOWN
        ? "Documents of this group"
        : `Documents ${skip + 1} to ${skip + deliveries.length} of ${count}, the oldest first`,
    ),
    count > SHOWN &&
      buttons(
        skip > 0 && link(pageOf(id, Math.max(skip - SHOWN, 0)), "The ones before"),
        " ",
        skip + SHOWN < count && link(pageOf(id, skip + SHOWN), "The next ones"),
      ),
    knownView(shown),
    heading("Other things to do"),
    otherThings(asked, shown),
    folded(
      "For the person who runs fuelbridge",
      line(shown.operator),
      facts([
        ["Cause", shown.cause],
        ["Code", shown.code],
        ["Flow", shown.flow],
        ["Group", id],
      ]),
    ),
  ];
  return { title: shown.title, body };
}

const pageOf = (id: string, skip: number): string =>
  address(to`/needs-you/${id}`, { skip: skip === 0 ? null : String(skip) });

/** Only what can help. */
function actions(asked: Asked, shown: Shown): Blocks {
  const { id, helps, count, deliveries } = shown;
  const isCorrected = deliveries.some(({ corrections }) => corrections.length > 0);
  return [
    (helps.includes("retry") || isCorrected) && [
      heading("Try again"),
      count >= MANY && line(ROUNDS),
      formOf(asked, acts.retry, id, { fields: which("retry", shown, true) }),
    ],
    (helps.includes("link") || helps.includes("link-amount")) && [
      heading("It is there already"),
      line("You looked at the receiver and found it: close it with its id there. Nothing is sent."),
      formOf(asked, acts.link, id, {
        fields: html`${which("link", shown, false)} ${receiverId("one")}
        ${helps.includes("link-amount") ? amountThere : ""}`,
      }),
    ],
    isToClose(shown) && [heading("Close it"), closing(asked, shown)],
  ];
}

/** Nobody links two amounts by the way: the one at the receiver is named. */
const amountThere = field("link-amount", "Its amount at the receiver, which you accept", {
  required: true,
});

/** Closing it is the next step where nothing else helps; elsewhere it would only be taken for that. */
const isToClose = ({ helps }: Shown): boolean => helps.includes("resolve") && helps.length === 1;

const closing = (asked: Asked, shown: Shown): Blocks => [
  line("Nothing is sent for it any more. Say how it was settled."),
  formOf(asked, acts.resolve, shown.id, { fields: which("resolve", shown, true) }),
];

/** Folded, for they are for some documents only. A person who may do none of them is told so, unfolded. */
function otherThings(asked: Asked, shown: Shown): Blocks {
  if (!atLeast(asked.role, "clerk"))
    return quiet(
      `To close, correct or assign documents and to add notes: only for ${listed("clerk")}. `,
      `You are logged in as ${asked.role}.`,
    );
  const correctable = shown.deliveries.filter((one) => one.correctable.length > 0);
  return [
    shown.helps.includes("resolve") &&
      !isToClose(shown) &&
      folded("Close it: it was settled by hand", closing(asked, shown)),
    correctable.length > 0 &&
      folded(
        "Correct a field of one document",
        line(
          "For codes, names and dates. Amounts, quantities and document numbers are corrected where they come from.",
        ),
        formOf(asked, acts.edit, shown.id, {
          fields: correctionFields({ ...shown, deliveries: correctable }),
        }),
      ),
    folded(
      "Who sees to it",
      formOf(asked, acts.assign, shown.id, {
        fields: html`${which("assign", shown, true)}
        ${field("assign-to", "Who (leave empty for nobody)")}`,
      }),
    ),
    folded(
      "Add a note",
      formOf(asked, acts.note, shown.id, { fields: which("note", shown, true) }),
    ),
  ];
}

/** All of the group where there are several, or one. */
const which = (
  id: string,
  { id: group, count, deliveries, skip }: Shown,
  all: boolean,
): Html => html`
  ${hidden({ skip })}
  ${choice(`${id}-selector`, "Which", [
    ...(all && count > 1 ? [[group, `All ${count} of this group`] as const] : []),
    ...deliveries.map(({ delivery, summary }) => [delivery, summary] as const),
  ])}
`;

function correctionFields(shown: Shown): Html {
  const values = new Map(
    shown.deliveries
      .toReversed()
      .flatMap(({ correctable }) => correctable.map(({ field, value }) => [field, value] as const)),
  );
  return html`${which("edit", shown, false)}
    ${field("edit-field", "Field", { required: true, list: "edit-fields" })}
    ${field("edit-value", "Right value")}
    <datalist id="edit-fields">
      ${[...values].map(
        ([field, value]) => html`<option value="${verbatim(field)}">${value.slice(0, 80)}</option>`,
      )}
    </datalist>`;
}

/** `group`: retried with it; null: the row alone. */
function addRowForm(
  asked: Asked,
  { name, columns }: Pick<ShownTable, "name" | "columns">,
  key: string | null,
  group: string | null,
): Html {
  const id = `row-${name}-${group ?? "new"}`;
  return changing(asked, {
    id,
    action: to`/cross-references/${name}`,
    button: group === null ? "Add the row" : "Add the row and retry",
    role: "clerk",
    hint: "Who said so?",
    fields: html`${group === null ? "" : hidden({ group })}
      <div class="fields">
        ${columns.map(
          (column, at) =>
            html`<label for="${id}-${at}"
              >${column}${at === 0 ? " (the key)" : ""}
              <input
                id="${id}-${at}"
                name="cell.${verbatim(column)}"
                maxlength="200"
                autocomplete="off"
                ${at === 0 && key !== null ? html`value="${verbatim(key)}" readonly` : ""}
                ${at < 2 ? "required" : ""}
            /></label>`,
        )}
      </div>`,
  });
}

/* Cross-reference tables: what one side calls what the other calls otherwise, and the rows that are missing. */

export async function tables(asked: Asked): Promise<Answer> {
  const all = await asked.office.tables();
  // Documents of several flows may wait for one row.
  const missing = new Set(
    all.flatMap(({ name, missing }) => missing.map(({ key }) => `${name} ${key}`)),
  ).size;
  const body = [
    title("Cross-references"),
    line(
      "Each table has the platform's names beside the codes of the ERP. It is a CSV file that a spreadsheet opens, too.",
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
        ["What", ({ event }) => stepName(event)],
        [
          "About",
          ({ document, flow }) =>
            document === null ? flow : link(to`/documents/${document.id}`, document.number),
        ],
        ["Detail", ({ detail }) => detail || null],
        ["Why", ({ reason }) => reason],
      ],
      "Nobody has done anything yet.",
    ),
    further("/audit", { before: next }),
  ];
  return { title: "Audit", body };
}
