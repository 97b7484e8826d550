/** Forms of the console. */
import type { Act, Form } from "../views/acts.ts";
import { address, type Blocks, type Html, link, segment } from "../views/blocks.ts";
import { href, html, verbatim } from "../views/html.ts";
import type { Asked } from "./route.ts";
import { atLeast } from "./users.ts";

interface Sent extends Omit<Form, "path"> {
  /** Unique in its page. */
  readonly id: string;
  readonly action: string;
  readonly fields?: Html;
}

/** A form that changes something: it asks for a reason. Who may not send it is told so. */
export function changing(
  { session, role }: Pick<Asked, "session" | "role">,
  { id, action, button, role: needed, fields, label = "Reason", hint = "Why?" }: Sent,
): Html {
  if (!atLeast(role, needed))
    return html`<p class="quiet">
      ${button}: only for ${needed === "accountant" ? "accountants and operators" : "operators"}.
      You are logged in as ${role}.
    </p>`;
  return html`<form method="post" action="${href(action)}" class="change">
    ${token(session)} ${fields ?? ""}
    <label for="${id}-note">${label} <small>(${hint} It is kept.)</small></label>
    <div class="line">
      <input id="${id}-note" name="note" required maxlength="500" autocomplete="off" />
      <button type="submit">${button}</button>
    </div>
  </form>`;
}

/** The form of an act. `of`: what its address names. */
export const formOf = (
  asked: Pick<Asked, "session" | "role">,
  { form }: Act,
  of: string,
  more: Partial<Sent> = {},
): Html =>
  changing(asked, {
    id: `${form.path.split("/").at(-1)}-${segment(of)}`,
    action: form.path.replace(/:\w+/, () => segment(of)),
    ...form,
    ...more,
  });

/** Values of a form that nobody types. */
export const hidden = (values: Readonly<Record<string, string | number>>): Html =>
  html`${Object.entries(values).map(([name, value]) => html`<input type="hidden" name="${name}" value="${verbatim(String(value))}" />`)}`;

export const token = ({ csrf }: Pick<Asked["session"], "csrf">): Html => hidden({ csrf });

/** A text that is asked for. `list`: the id of what may be chosen from. */
export const field = (
  id: string,
  name: string,
  label: string,
  required = true,
  list: string | null = null,
): Html =>
  html`<label for="${id}">${label}</label>
    <input
      id="${id}"
      name="${name}"
      maxlength="1000"
      autocomplete="off"
      ${required ? "required" : ""}
      ${list === null ? "" : html`list="${list}"`}
    />`;

/** For the next page of a list. */
export const further = (path: string, query: Readonly<Record<string, string | null>>): Blocks =>
  query["before"] !== null && {
    is: "line",
    kind: "buttons",
    text: link(address(path, query), "Older ones"),
  };
