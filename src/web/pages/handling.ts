/** Which documents of a group a form is about, who sees to them, what is known of them, and the correction of a field. */
import { OfficeError, type ShownCorrection, type ShownGroup } from "../../office/answers.ts";
import { type Html, html, segment, verbatim } from "../html.ts";
import { at, changing, number, plural, table } from "../parts.ts";
import { type Answer, type Asked, personOf } from "../route.ts";

/** A group, and one page of its documents, the oldest first. */
export interface Shown extends ShownGroup {
  /** Documents before this page. */
  readonly skip: number;
}

/** So many documents are on a page. */
export const SHOWN = 50;

/** `skip`: as the page or the form says. @throws OfficeError when there is no such group */
export async function shownGroup({ office, params }: Asked, skip: string | null): Promise<Shown> {
  const skipped = /^\d{1,7}$/.test(skip ?? "") ? Number(skip) : 0;
  return {
    ...(await office.quarantineShow(params["group"] ?? "", SHOWN, skipped)),
    skip: skipped,
  };
}

/** All of the group where there are several, or one. */
export const which = (
  id: string,
  { id: group, count, deliveries, skip }: Shown,
  all: boolean,
): Html => html`
  <input type="hidden" name="skip" value="${skip}" />
  <label for="${id}-which">Which</label>
  <select id="${id}-which" name="selector">
    ${all && count > 1 ? html`<option value="${verbatim(group)}">All ${number(count)} of this group</option>` : ""}
    ${deliveries.map(
      ({ delivery, summary }) =>
        html`<option value="${verbatim(delivery)}">${summary.slice(0, 160)}</option>`,
    )}
  </select>
`;

export const backTo = async (asked: Asked, told: string): Promise<Answer> => {
  const id = asked.params["group"] ?? "";
  const isLeft = (await asked.office.quarantine()).some((one) => one.id === id);
  return { to: isLeft ? `/needs-you/${segment(id)}` : "/needs-you", told };
};

/** What a form is about: a group or a delivery, and the flow of both. */
interface Chosen {
  readonly selector: string;
  readonly flow: string;
}

/**
 * The group that is named in the address, or a delivery of it that was shown.
 * @throws OfficeError when the delivery has left the group meanwhile: nothing else is done instead
 */
export async function selected(asked: Asked): Promise<Chosen> {
  const { form } = asked;
  const { id, flow, deliveries } = await shownGroup(asked, form.get("skip"));
  const selector = form.get("selector") ?? id;
  if (selector === id || deliveries.some(({ delivery }) => delivery === selector))
    return { selector, flow };
  throw new OfficeError(
    "This document is not in the group any more, or is on another page of it now: nothing was done.",
    "Load the page again: somebody may have settled it, or one before it.",
  );
}

/** What becomes of documents that are tried again, as things stand. `flows`: theirs. */
export async function triedAgain(
  { office }: Asked,
  count: number,
  flows: readonly string[],
): Promise<string> {
  const { flows: all, stops } = await office.status();
  const documents = plural(count, "document");
  const paused = all.filter(({ name, state }) => flows.includes(name) && state === "paused");
  if (paused.length > 0)
    return `${documents} will be tried again once somebody lets ${paused.map(({ name }) => name).join(" and ")} go on: it is paused.`;
  if (stops.length > 0)
    return `${documents} will be tried again once nothing is stopped that they need; Today says what is.`;
  return count < MANY
    ? `${documents} will be tried again now.`
    : `${documents} will be tried again, the oldest first. ${ROUNDS} Today says how many are on the way.`;
}

/** From so many on it takes long enough to be asked about. A round is 200 (engine/daemon.ts). */
export const MANY = 200;

export const ROUNDS =
  "They go out in rounds, within the requests of each minute; newer documents of the flow wait behind them.";

/** What people know and did about the documents of a group; nothing where nobody did. */
export function known({ deliveries }: Shown, asked: Asked): Html {
  const notes = deliveries.flatMap(({ number, notes }) =>
    notes.map((note) => [number, at(note.at, asked), note.who, note.text]),
  );
  const corrections = deliveries.flatMap(({ number, corrections }) =>
    corrections.map((one) => [number, ...correctedCells(one, asked)]),
  );
  return html`${
    corrections.length === 0
      ? ""
      : table(
          "Corrected here, until a newer version comes",
          ["Document", ...CORRECTED],
          corrections,
        )
  }
  ${notes.length === 0 ? "" : table("Notes", ["Document", "When", "Who", "Note"], notes)}`;
}

const CORRECTED = ["Field", "Received", "Corrected to", "Who, when", "Reason"];

const correctedCells = (
  { field, was, value, by, reason, at: when }: ShownCorrection,
  asked: Asked,
): (Html | string)[] => [
  field,
  was ?? "(empty)",
  value === "" ? "(empty)" : value,
  html`${by}, ${at(when, asked)}`,
  reason,
];

/** For the page of one document. */
export const correctionsOf = (rows: readonly ShownCorrection[], asked: Asked): Html =>
  rows.length === 0
    ? html``
    : html`<h2>Corrected here</h2>
        <p class="quiet">
          What was received stays as it is. A correction ends when a newer version comes.
        </p>
        ${table(
          "Fields that people corrected",
          CORRECTED,
          rows.map((one) => correctedCells(one, asked)),
        )}`;

/** The forms, folded: they are for some documents only. */
export function handlingForms(asked: Asked, shown: Shown): Html {
  const to = `/needs-you/${segment(shown.id)}`;
  const correctable = shown.deliveries.filter((one) => one.correctable.length > 0);
  return html`${
      correctable.length === 0
        ? ""
        : html`<details>
            <summary>Correct a field of one document</summary>
            <p>
              For codes, names and dates. Amounts, quantities and document numbers are corrected
              where they come from.
            </p>
            ${changing(asked, {
              id: "edit",
              action: `${to}/edit`,
              button: "Correct and try again",
              role: "accountant",
              fields: correctionFields({ ...shown, deliveries: correctable }),
              hint: "How do you know?",
            })}
          </details>`
    }
    <details>
      <summary>Who sees to it</summary>
      ${changing(asked, {
        id: "assign",
        action: `${to}/assign`,
        button: "Assign",
        role: "accountant",
        fields: html`${which("assign", shown, true)}
          <label for="assign-to">Who <small>(Leave empty for nobody.)</small></label>
          <input id="assign-to" name="to" maxlength="200" autocomplete="off" />`,
      })}
    </details>
    <details>
      <summary>Add a note</summary>
      ${changing(asked, {
        id: "remark",
        action: `${to}/note`,
        button: "Add the note",
        role: "accountant",
        fields: which("remark", shown, true),
        label: "Note",
        hint: "What do you know?",
      })}
    </details>`;
}

function correctionFields(shown: Shown): Html {
  const values = new Map(
    shown.deliveries
      .toReversed()
      .flatMap(({ correctable }) => correctable.map(({ field, value }) => [field, value] as const)),
  );
  return html`${which("edit", shown, false)}
    <div class="fields">
      <label for="edit-field"
        >Field
        <input
          id="edit-field"
          name="field"
          list="edit-fields"
          required
          maxlength="200"
          autocomplete="off"
      /></label>
      <label for="edit-value"
        >Right value <input id="edit-value" name="value" maxlength="1000" autocomplete="off"
      /></label>
    </div>
    <datalist id="edit-fields">
      ${[...values].map(
        ([field, value]) => html`<option value="${verbatim(field)}">${value.slice(0, 80)}</option>`,
      )}
    </datalist>`;
}

/** Corrected, and tried again where that can help now. */
export async function edit(asked: Asked): Promise<Answer> {
  const { office, form } = asked;
  const person = personOf(asked);
  const editing = { field: (form.get("field") ?? "").trim(), value: form.get("value") ?? "" };
  const { selector, flow } = await selected(asked);
  const { delivery, field, value, still } = await office.edit(selector, editing, person);
  const told = `${field} is "${value}" now.`;
  if (still !== null) return backTo(asked, `${told} It cannot go out yet: ${still}`);
  await office.retry(delivery, false, person);
  return backTo(asked, `${told} ${await triedAgain(asked, 1, [flow])}`);
}

export async function assign(asked: Asked): Promise<Answer> {
  const to = (asked.form.get("to") ?? "").trim();
  const assignment = { ...personOf(asked), to: to === "" ? null : to };
  const { selector } = await selected(asked);
  const { assigned } = await asked.office.assign(selector, assignment);
  const whose = to === "" ? "assigned to nobody" : `assigned to ${to}`;
  return backTo(asked, `${plural(assigned, "document")} ${whose}.`);
}

export async function remark(asked: Asked): Promise<Answer> {
  const { selector } = await selected(asked);
  const { noted } = await asked.office.remark(selector, personOf(asked));
  return backTo(asked, `Noted on ${plural(noted, "document")}.`);
}
