/**
 * Blocks as HTML of the console. Every text that enters a page is escaped and made visible here, so no page can forget it:
 * control and direction marks are shown by their code, and what is very long is cut.
 */
import { html as escaped, raw } from "hono/html";
import { codePoint } from "../core/text.ts";
import {
  type Block,
  type Blocks,
  type Html,
  type Inline,
  says,
  type Table,
  type Tone,
} from "./blocks.ts";

import { JUMP_MS, MINUTE_MS } from "../core/time.ts";
import { AGES, SECOND } from "./text.ts";

type Part = Html | string | number | boolean | null | undefined | readonly Part[];

/** So many characters of a text are shown. */
const SHOWN_MAX = 2_000;
/** Of a request's bytes and of a record. */
const BYTES_MAX = 100_000;

/** Texts are escaped; `null`, `undefined` and booleans are left out. */
export const html = (strings: TemplateStringsArray, ...values: readonly Part[]): Html =>
  escaped(strings, ...values.map((value) => safe(value, SHOWN_MAX))) as Html;

/** Bytes as they were, in a box that scrolls and can be reached by keyboard. */
export const bytes = (text: string, label: string): Html =>
  html`<pre tabindex="0" aria-label="${label}">${raw(escapedText(visible(text, BYTES_MAX)))}</pre>`;

/** A value in a form: the same characters, escaped; it is sent back. */
export const verbatim = (text: string): Html => raw(escapedText(text));

/** Only addresses of this console: a path with its query. Everything else, `javascript:` above all, becomes `#`. */
export const href = (address: string): Html =>
  verbatim(/^\/(?![/\\])[\w\-./~%?=&+:@,]*(?:#[\w\-.~%]*)?$/.test(address) ? address : "#");

/** Another console, as the configuration names it: its origin alone. */
export const hrefTo = (origin: string): Html =>
  verbatim(/^https?:\/\/[\w\-.:[\]]+$/.test(origin) ? `${origin}/` : "#");

function safe(value: Part, most: number): unknown {
  if (typeof value === "string") return visible(value, most);
  return Array.isArray(value) ? value.map((one: Part) => safe(one, most)) : value;
}

/** Marks that a browser acts on and nobody sees: controls, direction, joiners, line separators, byte order. */
const UNSEEN =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/g;

function visible(text: string, most: number): string {
  const cut = text.length > most ? `${text.slice(0, most)} … (${text.length - most} more)` : text;
  return cut.replace(UNSEEN, (mark) => (mark === "\r" ? "" : `[${codePoint(mark)}]`));
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escapedText = (text: string): string =>
  text.replace(/[&<>"']/g, (sign) => ESCAPES[sign] ?? sign);

/** Where and when a page is read. `nowMs`: ms UTC. */
interface Reading {
  readonly site: { readonly timeZone: string };
  readonly nowMs: number;
}

export function asHtml(blocks: Blocks, reading: Reading): Html {
  if (blocks === null || blocks === false) return html``;
  if (Array.isArray(blocks)) return html`${blocks.map((one: Blocks) => asHtml(one, reading))}`;
  return "is" in (blocks as object) ? blockHtml(blocks as Block, reading) : (blocks as Html);
}

function blockHtml(block: Block, reading: Reading): Html {
  const words = (text: Inline): Html => inPage(text, reading);
  const inside = (blocks: Blocks): Html => asHtml(blocks, reading);
  switch (block.is) {
    case "heading":
      return block.level === 1
        ? html`<h1>${words(block.text)}</h1>`
        : html`<h2 ${block.id === undefined ? "" : html`id="${block.id}"`}>
            ${words(block.text)}
          </h2>`;
    case "line":
      return block.kind === "status"
        ? html`<p role="status">${words(block.text)}</p>`
        : html`<p class="${block.kind ?? ""}">${words(block.text)}</p>`;
    case "entry":
      return html`<div class="entry">
        <div>${words(block.head)}</div>
        ${block.details.map((detail) => (detail ? html`<div>${words(detail)}</div>` : ""))}
      </div>`;
    case "list":
      return html`<ul>
        ${block.items.map((item) => html`<li>${words(item)}</li>`)}
      </ul>`;
    case "facts":
      return html`<dl class="facts">
        ${block.rows
          .filter(([, value]) => value !== null && value !== false && value !== "")
          .map(
            ([name, value]) =>
              html`<div>
                <dt>${name}</dt>
                <dd>${words(value)}</dd>
              </div>`,
          )}
      </dl>`;
    case "table":
      return tableHtml(block, words);
    case "section": {
      const body = inside(block.blocks);
      if (String(body).trim() === "") return body;
      return html`${block.title === null ? "" : html`<h2>${block.title}</h2>`} ${body}`;
    }
    case "notice":
      return html`<section class="banner ${block.tone}">${inside(block.blocks)}</section>`;
    case "card":
      return html`<article class="card" ${block.id === undefined ? "" : html`id="${block.id}"`}>
        ${inside(block.blocks)}
      </article>`;
    case "folded":
      return html`<details class="${block.isAct ? "act" : block.isOnPaper ? "paper" : ""}">
        <summary>${words(block.summary)}</summary>
        ${inside(block.blocks)}
      </details>`;
    case "beside":
      return html`<div class="both">
        ${block.blocks.map((one) => html`<div>${inside(one)}</div>`)}
      </div>`;
    case "live":
      // Whoever is in it by keyboard stays where they are.
      return html`<div
        id="${block.id}"
        hx-get="${href(block.path)}"
        hx-trigger="every ${block.seconds}s"
        hx-select="#${block.id}"
        hx-target="#${block.id}"
        hx-swap="outerMorph"
      >
        ${inside(block.blocks)}
      </div>`;
    case "only":
      return block.medium === "page" ? inside(block.blocks) : html``;
  }
}

function tableHtml({ caption, columns, rows, empty }: Table, words: (text: Inline) => Html): Html {
  if (rows.length === 0) return empty === null ? html`` : html`<p class="quiet">${empty}</p>`;
  const shown = columns.flatMap(({ medium, title, right }, at) =>
    medium === "terminal" ? [] : [{ at, title, side: right ? "right" : "" }],
  );
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${shown.map(({ title, side }) => html`<th scope="col" class="${side}">${title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${shown.map(({ at, title, side }, index) => {
                const told = row[at];
                const cell = words(told ?? "–");
                const name = says(told, "page") ? side : `${side} none`;
                return index === 0
                  ? html`<th scope="row">${cell}</th>`
                  : html`<td class="${name}" data-title="${title}">${cell}</td>`;
              })}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

export function inPage(text: Inline, reading: Reading): Html {
  if (text === null || text === false || text === undefined) return html``;
  if (typeof text === "number") return html`${number(text)}`;
  if (typeof text === "string") return html`${text}`;
  if (Array.isArray(text)) return html`${text.map((one: Inline) => inPage(one, reading))}`;
  if (!("is" in (text as object))) return text as unknown as Html;
  const word = text as Extract<Inline, { readonly is: string }>;
  switch (word.is) {
    case "instant":
      return timeHtml(word.at, word.exact, reading);
    case "ago":
      return html`<span title="${word.at ?? ""}"
        >${word.due ? untilDue(word.at, reading) : ago(word.at, reading)}</span
      >`;
    case "figure":
      return wholeHtml(word.page);
    case "link":
      return html`<a href="${href(word.to)}">${inPage(word.text, reading)}</a>`;
    case "strong":
      return html`<strong>${inPage(word.text, reading)}</strong>`;
    case "small":
      return html`<small>${inPage(word.text, reading)}</small>`;
    case "code":
      return html`<code>${word.text}</code>`;
    case "whole":
      return wholeHtml(word.text);
    case "mark":
      return html`<span class="mark ${word.tone}"
        ><span aria-hidden="true">${SIGNS[word.tone]}</span> ${word.text}</span
      >`;
    case "each":
      return inPage(word.page, reading);
  }
}

/** A word with a sign before it, so that no colour is needed to read it. */
const SIGNS: Readonly<Record<Tone, string>> = { good: "✓", bad: "!", wait: "…", off: "–" };

const WHOLE_MAX = 24;

/** A short value that is not broken at the end of a line: an amount, a number, a day. */
const wholeHtml = (text: string): Html =>
  html`<span class="${text.length > WHOLE_MAX ? "" : "whole"}">${text}</span>`;

/** `Nov 22, 13:31` where the company is, and the year where it is another one; exactly `Nov 22, 2026, 13:31:05 CST`. */
function timeHtml(iso: string | null, exact: boolean, { site, nowMs }: Reading): Html {
  if (iso === null) return html`<span class="quiet">never</span>`;
  const isThisYear = iso.slice(0, 4) === new Date(nowMs).toISOString().slice(0, 4);
  const text = new Intl.DateTimeFormat("en-US", {
    timeZone: site.timeZone,
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    ...(isThisYear && !exact ? {} : { year: "numeric" }),
    ...(exact ? { second: "2-digit", timeZoneName: "short" } : {}),
  }).format(new Date(iso));
  return html`<time datetime="${iso}">${text}</time>`;
}

/** `3 minutes ago`. What was written down by a clock that was ahead has no age that anybody knows. */
function ago(iso: string | null, { nowMs }: Reading): string {
  if (iso === null) return "never";
  const ms = nowMs - Date.parse(iso);
  if (ms <= -JUMP_MS) return "at an unknown time";
  return ms < MINUTE_MS ? "just now" : `${lengthOf(ms)} ago`;
}

/** Of at least a minute. */
function lengthOf(ms: number): string {
  const [unit, unitMs] = AGES.find(([, least]) => ms >= least) ?? SECOND;
  const count = Math.floor(ms / unitMs);
  return `${number(count)} ${unit}${count === 1 ? "" : "s"}`;
}

/** When a flow looks next: `in 8 minutes`; `due 2 hours ago` where it should have begun. */
function untilDue(iso: string | null, reading: Reading): string {
  if (iso === null) return "never";
  const lateMs = reading.nowMs - Date.parse(iso);
  if (lateMs >= MINUTE_MS) return `due ${ago(iso, reading)}`;
  if (lateMs >= 0) return "now";
  return -lateMs < MINUTE_MS ? "in a moment" : `in ${lengthOf(-lateMs)}`;
}

/** `12,345` */
const number = (count: number): string =>
  Math.round(count)
    .toString()
    .replace(/\B(?=(?:\d{3})+$)/g, ",");
