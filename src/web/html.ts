/**
 * HTML as tagged templates. Every text that enters a page is escaped and made visible here, so no page can forget it:
 * control and direction marks are shown by their code, and what is very long is cut.
 */
import { html as escaped, raw } from "hono/html";

export type Html = ReturnType<typeof raw>;
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

/** A path with a query; values are encoded, and empty ones are left out. */
export function address(path: string, query: Readonly<Record<string, string | null>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== "");
  const text = new URLSearchParams(given as [string, string][]).toString().replaceAll("*", "%2A");
  return text === "" ? path : `${path}?${text}`;
}

export const segment = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);

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
  return cut.replace(UNSEEN, (mark) =>
    mark === "\r" ? "" : `[U+${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`,
  );
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
