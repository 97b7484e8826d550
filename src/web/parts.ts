/** Pieces that several pages have. */
import { Decimal } from "../core/decimal.ts";
import { inCents, money } from "../office/about.ts";
import { address, href, type Html, html, segment, verbatim } from "./html.ts";
import type { Asked, Site } from "./route.ts";
import { atLeast, type Role } from "./users.ts";

export { money } from "../office/about.ts";

/** A table whose first cell in each row is its heading. `empty`: what is said where it has no rows. */
export function table(
  caption: string,
  columns: readonly (string | { readonly title: string; readonly right: true })[],
  rows: readonly (readonly (Html | string | number)[])[],
  empty = "There are none.",
): Html {
  if (rows.length === 0) return html`<p class="quiet">${empty}</p>`;
  const titles = columns.map((column) => (typeof column === "string" ? column : column.title));
  const side = (at: number): string => (typeof columns[at] === "string" ? "" : "right");
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${titles.map((title, at) => html`<th scope="col" class="${side(at)}">${title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${row.map((cell, at) =>
                at === 0
                  ? html`<th scope="row">${cell}</th>`
                  : html`<td class="${side(at)}" data-title="${titles[at]}">${cell}</td>`,
              )}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

export const right = (title: string) => ({ title, right: true }) as const;

interface Form {
  /** Unique in its page. */
  readonly id: string;
  readonly action: string;
  readonly button: string;
  readonly role: Role;
  readonly fields?: Html;
  /** What is asked for: a reason, unless it is said otherwise. */
  readonly label?: string;
  /** What a reason could be. */
  readonly hint?: string;
}

/** A form that changes something: it asks for a reason. Who may not send it is told so. */
export function changing(
  { session, role }: Pick<Asked, "session" | "role">,
  { id, action, button, role: needed, fields, label = "Reason", hint = "Why?" }: Form,
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

export const token = ({ csrf }: Pick<Asked["session"], "csrf">): Html =>
  html`<input type="hidden" name="csrf" value="${verbatim(csrf)}" />`;

export const link = (to: string, text: string | Html): Html =>
  html`<a href="${href(to)}">${text}</a>`;

/** For the next page of a list. */
export const further = (path: string, query: Readonly<Record<string, string | null>>): Html =>
  query["before"] === null
    ? html``
    : html`<nav aria-label="Pages">${link(address(path, query), "Older ones")}</nav>`;

/** `Nov 22, 13:31` where the company is; the year where it is another one. */
export function at(iso: string | null, { site, nowMs }: Pick<Asked, "site" | "nowMs">): Html {
  if (iso === null) return html`<span class="quiet">never</span>`;
  const isThisYear = iso.slice(0, 4) === new Date(nowMs).toISOString().slice(0, 4);
  return time(iso, site, isThisYear ? {} : { year: "numeric" });
}

/** `Nov 22, 2026, 13:31:05 CST`: where seconds count, and on paper. */
export const exactly = (iso: string, { site }: Pick<Asked, "site">): Html =>
  time(iso, site, { year: "numeric", second: "2-digit", timeZoneName: "short" });

const time = (iso: string, { timeZone }: Site, more: Intl.DateTimeFormatOptions): Html =>
  html`<time datetime="${iso}"
    >${new Intl.DateTimeFormat("en-US", {
      timeZone,
      month: "short",
      day: "numeric",
      hour: "2-digit",
      minute: "2-digit",
      hourCycle: "h23",
      ...more,
    }).format(new Date(iso))}</time
  >`;

/** `November 2026`, of `2026-11`. */
export const monthName = (month: string): string =>
  new Intl.DateTimeFormat("en-US", { timeZone: "UTC", month: "long", year: "numeric" }).format(
    new Date(`${month}-01T00:00:00Z`),
  );

/** `November 24` in UTC, which the month's requests are counted in. */
export const dayName = (iso: string): string =>
  new Intl.DateTimeFormat("en-US", { timeZone: "UTC", month: "long", day: "numeric" }).format(
    new Date(iso),
  );

/** Where a flow stands on the page Flows. */
export const flowAnchor = (name: string): string => `flow-${segment(name)}`;

/** When a flow looks next: `in 8 minutes`; `due 2 hours ago` where it should have begun. */
export function untilDue(iso: string | null, asked: Pick<Asked, "nowMs">): string {
  const lateMs = iso === null ? -1 : asked.nowMs - Date.parse(iso);
  if (lateMs >= 60_000) return `due ${ago(iso, asked)}`;
  return lateMs >= 0 ? "now" : ago(iso, asked);
}

/** `3 minutes ago`, `in 2 hours` */
export function ago(iso: string | null, { nowMs }: Pick<Asked, "nowMs">): string {
  if (iso === null) return "never";
  const ms = nowMs - Date.parse(iso);
  const [unit, unitMs] = UNITS.find(([, least]) => Math.abs(ms) >= least) ?? ["second", 1_000];
  const count = Math.floor(Math.abs(ms) / unitMs);
  if (unit === "second") return ms < 0 ? "in a moment" : "just now";
  const length = plural(count, unit);
  return ms < 0 ? `in ${length}` : `${length} ago`;
}

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** With its full stop, so that the next one may follow: messages end without. */
export const sentence = (message: string): string =>
  message === "" || /[.!?…]$/.test(message) ? message : `${message}.`;

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`;

/** `12,345` */
export const number = (count: number): string =>
  Math.round(count)
    .toString()
    .replace(/\B(?=(?:\d{3})+$)/g, ",");

/** A short value that is not broken at the end of a line: an amount, a number, a day. */
export const whole = (text: string): Html =>
  html`<span class="${text.length > WHOLE_MAX ? "" : "whole"}">${text}</span>`;

const WHOLE_MAX = 24;

/** A word with a sign before it, so that no colour is needed to read it. */
export const mark = (kind: "good" | "bad" | "wait" | "off", text: string): Html =>
  html`<span class="mark ${kind}"><span aria-hidden="true">${SIGNS[kind]}</span> ${text}</span>`;

const SIGNS = { good: "✓", bad: "!", wait: "…", off: "–" } as const;

export const facts = (rows: readonly (readonly [string, Html | string | number | null])[]): Html =>
  html`<dl class="facts">
    ${rows
      .filter(([, value]) => value !== null && value !== "")
      .map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
  </dl>`;

const PRICE = /^(?:money\.price|lines\.\d+\.unitPrice)$/;
const AMOUNT = /^(?:money\.\w+|taxes\..+|lines\.\d+\.amount)$/;

/** @param field as a difference names it (`money.total`) @param value its text; what is no number stays as it is */
export function valueIn(field: string, value: string, currency: string): string {
  if (!Decimal.is(value)) return value;
  if (PRICE.test(field)) return money(value, currency);
  return AMOUNT.test(field) ? money(inCents(Decimal.of(value)), currency) : value;
}
