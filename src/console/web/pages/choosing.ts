/** Which documents of a group a form is about, and where its answer leads. */
import { OfficeError, type Quarantined, type QuarantineGroup } from "../../../report/office.ts";
import { type Html, html, segment, verbatim } from "../html.ts";
import type { Answer, Asked } from "../route.ts";

export type Shown = QuarantineGroup & { readonly deliveries: readonly Quarantined[] };

/** So many documents are shown. */
export const SHOWN = 50;

/** All of the group where there are several, or one. */
export const which = (
  id: string,
  { id: group, count, deliveries }: Shown,
  all: boolean,
): Html => html`
  <label for="${id}-which">Which</label>
  <select id="${id}-which" name="selector">
    ${all && count > 1 ? html`<option value="${verbatim(group)}">All ${count} of this group</option>` : ""}
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

/**
 * The group that is named in the address, or a delivery of it that was shown.
 * @throws OfficeError when the delivery has left the group meanwhile: nothing else is done instead
 */
export async function selected({ office, params, form }: Asked): Promise<string> {
  const { id, deliveries } = await office.quarantineShow(params["group"] ?? "", SHOWN);
  const selector = form.get("selector") ?? id;
  if (selector === id || deliveries.some(({ delivery }) => delivery === selector)) return selector;
  throw new OfficeError(
    "This document is not in the group any more, and nothing was done.",
    "Load the page again: somebody may have settled it.",
  );
}
