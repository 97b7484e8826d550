/** Forms of the console. */
import type { Act, Form } from "../views/acts.ts";
import { address, type Blocks, type Html, link, segment } from "../views/blocks.ts";
import { href, html, verbatim } from "../views/html.ts";
import type { Asked } from "./route.ts";
import { atLeast, type Role, roles } from "./users.ts";

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
      ${button}: only for ${listed(needed)}. You are logged in as ${role}.
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

/** `accountants and operators` */
export const listed = (needed: Role): string =>
  roles
    .filter((role) => atLeast(role, needed))
    .map((role) => `${role}s`)
    .join(", ")
    .replace(/, (?!.*, )/, " and ");

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

/** A value that is asked for, by the name that is the end of its id where none is given. */
export const field = (
  id: string,
  label: string,
  attributes: Readonly<Record<string, string | number | boolean>> = {},
): Html =>
  html`<label for="${id}"
    >${label}
    <input
      ${Object.entries({
        id,
        name: nameOf(id),
        maxlength: 1000,
        autocomplete: "off",
        ...attributes,
      }).map(([name, value]) =>
        typeof value === "boolean"
          ? value && html`${name} `
          : html`${name}="${verbatim(String(value))}" `,
      )}
  /></label>`;

/** Two days, as a form asks for a period. */
export const periodFields = (
  prefix: string,
  { from, to }: { readonly from?: string; readonly to?: string },
  required = false,
): Html =>
  html`${field(`${prefix}from`, "From", { type: "date", value: from ?? "", required })}
  ${field(`${prefix}to`, "To", { type: "date", value: to ?? "", required })}`;

const nameOf = (id: string): string => id.slice(id.lastIndexOf("-") + 1);

/** One of several. `options`: value and name of each. */
export const choice = (
  id: string,
  label: string,
  options: readonly (readonly [value: string, name: string])[],
  chosen = "",
): Html =>
  html`<label for="${id}"
    >${label}
    <select id="${id}" name="${nameOf(id)}">
      ${options.map(
        ([value, name]) =>
          html`<option value="${verbatim(value)}" ${value === chosen ? verbatim("selected") : ""}>
            ${name.slice(0, 160)}
          </option>`,
      )}
    </select></label
  >`;

/** For the next page of a list. */
export const further = (path: string, query: Readonly<Record<string, string | null>>): Blocks =>
  query["before"] !== null && {
    is: "line",
    kind: "buttons",
    text: link(address(path, query), "Older ones"),
  };
