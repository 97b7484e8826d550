/** Which documents of a group a form is about, and where its answer leads. */
import { OfficeError, type ShownGroup } from "../../office/answers.ts";
import { type Html, html, segment, verbatim } from "../html.ts";
import { number, plural } from "../parts.ts";
import type { Answer, Asked } from "../route.ts";

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

/** From so many on it takes long enough to be asked about. A round is 200 (engine/freeze.ts). */
export const MANY = 200;

export const ROUNDS =
  "They go out in rounds, within the requests of each minute; newer documents of the flow wait behind them.";
