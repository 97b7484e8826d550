/** Which documents of a group a form is about, and where its answer leads. */
import type { Quarantined, QuarantineGroup } from "../../../report/office.ts";
import { type Html, html, segment, verbatim } from "../html.ts";
import type { Answer, Asked } from "../route.ts";

export type Shown = QuarantineGroup & { readonly deliveries: readonly Quarantined[] };

/** So many documents are shown. */
export const SHOWN = 200;

/** All of the group where there are several, or one. */
export const which = (id: string, { id: group, deliveries }: Shown, all: boolean): Html => html`
  <label for="${id}-which">Which</label>
  <select id="${id}-which" name="selector">
    ${all && deliveries.length > 1 ? html`<option value="${verbatim(group)}">All ${deliveries.length} of this group</option>` : ""}
    ${deliveries
      .slice(0, SHOWN)
      .map(
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

/** A group that is named in the address, or a delivery of it. */
export async function selected({ office, params, form }: Asked): Promise<string> {
  const { id, deliveries } = await office.quarantineShow(params["group"] ?? "");
  const selector = form.get("selector") ?? id;
  return deliveries.some(({ delivery }) => delivery === selector) ? selector : id;
}
