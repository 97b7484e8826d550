/**
 * What a page or a command shows, as plain data. A builder makes the blocks of an office's answer; text.ts shows them on a
 * terminal, html.ts in the console. Each says by itself how it looks there; what only one of the two has says so.
 */
import type { raw } from "hono/html";
import { Decimal } from "../core/decimal.ts";
import { inCents, money as moneyText } from "../core/text.ts";
import { MONTHS } from "../core/time.ts";

/** Markup of the console: a form, a picture. A terminal has none of it. */
export type Html = ReturnType<typeof raw>;

type Medium = "page" | "terminal";
export type Tone = "good" | "bad" | "wait" | "off";

/** A text in a line, a cell or a heading. What is null, false or empty is left out; parts of an array follow each other. */
export type Inline = string | number | null | false | undefined | Html | Word | readonly Inline[];

type Word =
  /** ISO 8601 UTC; null: never. `exact`: with year, second and time zone. */
  | { readonly is: "instant"; readonly at: string | null; readonly exact: boolean }
  /** How long ago, or in how long; a terminal shows the instant. `due`: one that has passed is late. */
  | { readonly is: "ago"; readonly at: string | null; readonly due: boolean }
  /** An amount or another figure: grouped on the page, bare digits on a terminal. */
  | { readonly is: "figure"; readonly page: string; readonly terminal: string }
  /** `to`: a path of the console. */
  | { readonly is: "link"; readonly to: string; readonly text: Inline }
  | { readonly is: "strong" | "small"; readonly text: Inline }
  /** `whole`: not broken at the end of a line where it is short. */
  | { readonly is: "whole" | "code"; readonly text: string }
  | { readonly is: "mark"; readonly tone: Tone; readonly text: string }
  | { readonly is: "each"; readonly page: Inline; readonly terminal: Inline };

/** Blocks one below the other; null and false are left out. */
export type Blocks = Block | Html | null | false | readonly Blocks[];

export type Block =
  | { readonly is: "heading"; readonly level: 1 | 2; readonly text: Inline; readonly id?: string }
  | {
      readonly is: "line";
      readonly text: Inline;
      readonly kind?: "quiet" | "status" | "buttons";
    }
  /** One of several things: what it is, and what belongs to it. */
  | { readonly is: "entry"; readonly head: Inline; readonly details: readonly Inline[] }
  | { readonly is: "list"; readonly items: readonly Inline[] }
  | { readonly is: "facts"; readonly rows: readonly (readonly [name: string, value: Inline])[] }
  | Table
  /** With a title each table in it has its caption on a terminal, too. Nothing where it has nothing to show. */
  | { readonly is: "section"; readonly title: string | null; readonly blocks: Blocks }
  | { readonly is: "notice"; readonly tone: Tone; readonly blocks: Blocks }
  /** `id`: where links of the console lead to. */
  | { readonly is: "card"; readonly id?: string; readonly blocks: Blocks }
  /** Shown on demand; a terminal leaves it out. */
  | {
      readonly is: "folded";
      readonly summary: Inline;
      readonly blocks: Blocks;
      /** It looks as a button, for what is to be done is in it. */
      readonly isAct?: true;
      /** On paper it is open. */
      readonly isOnPaper?: true;
    }
  /** It asks its page for itself again; without a script it is as it was loaded. */
  | {
      readonly is: "live";
      readonly id: string;
      readonly path: string;
      readonly seconds: number;
      readonly blocks: Blocks;
    }
  /** Beside each other where there is room. */
  | { readonly is: "beside"; readonly blocks: readonly Blocks[] }
  | { readonly is: "only"; readonly medium: Medium; readonly blocks: Blocks };

export interface Table {
  readonly is: "table";
  readonly caption: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Inline[])[];
  /** What is said where it has no rows; null: nothing. */
  readonly empty: string | null;
}

interface Column {
  readonly title: string;
  /** It has numbers or amounts. */
  readonly right: boolean;
  readonly medium: Medium | null;
}

/** A column: its title, what it shows of a row (null: nothing), and where alone it is shown. */
type ColumnOf<Row> = readonly [title: string, of: (row: Row) => Inline, medium?: Medium];

/** Does it show anything? */
export function says(text: Inline, medium: Medium): boolean {
  if (Array.isArray(text)) return text.some((one: Inline) => says(one, medium));
  if (typeof text === "object" && text !== null && "is" in text && text.is === "each")
    return says(text[medium], medium);
  return text !== null && text !== undefined && text !== false && text !== "";
}

/**
 * The first cell of a row is its heading. A column that says nothing in any row is left out; on a page also one that is only
 * empty there.
 */
export function table<Row>(
  caption: string,
  rows: readonly Row[],
  columns: readonly (ColumnOf<Row> | null)[],
  empty: string | null = null,
): Table {
  const cells = columns
    .filter((column) => column !== null)
    .map(([title, of, medium = null]) => ({ title, medium, cells: rows.map(of) }))
    .filter(({ cells }) => rows.length === 0 || cells.some((cell) => cell !== null))
    .flatMap((column) => {
      if (rows.length === 0 || column.cells.some((cell) => says(cell, "page"))) return column;
      return column.medium === "page" ? [] : { ...column, medium: "terminal" as const };
    });
  return {
    is: "table",
    caption,
    columns: cells.map(({ title, medium, cells }) => ({
      title,
      medium,
      right: cells.some(isFigure),
    })),
    rows: rows.map((_, at) => cells.map(({ cells }) => cells[at])),
    empty,
  };
}

/** A number or an amount, by itself, as a link or marked. */
export const isFigure = (cell: Inline): boolean => {
  if (typeof cell !== "object" || cell === null || !("is" in cell)) return typeof cell === "number";
  if (cell.is === "link" || cell.is === "strong" || cell.is === "small") return isFigure(cell.text);
  return cell.is === "figure";
};

/** A text of parts: `` say`since ${at(iso)}` `` */
export const say = (strings: TemplateStringsArray, ...parts: readonly Inline[]): Inline =>
  strings.flatMap((text, at) => [text, parts[at]]);

export const at = (iso: string | null): Word => ({ is: "instant", at: iso, exact: false });
export const exactly = (iso: string): Word => ({ is: "instant", at: iso, exact: true });
export const ago = (iso: string | null): Word => ({ is: "ago", at: iso, due: false });
export const untilDue = (iso: string | null): Word => ({ is: "ago", at: iso, due: true });
export const link = (to: string, text: Inline): Word => ({ is: "link", to, text });
export const strong = (text: Inline): Word => ({ is: "strong", text });
export const small = (text: Inline): Word => ({ is: "small", text });
export const whole = (text: string): Word => ({ is: "whole", text });
export const code = (text: string): Word => ({ is: "code", text });
export const mark = (tone: Tone, text: string): Word => ({ is: "mark", tone, text });
export const each = (page: Inline, terminal: Inline): Word => ({ is: "each", page, terminal });

/** `1 document`, `2 documents` */
export const plural = (count: number, one: string, many = `${one}s`): Inline => [
  count,
  ` ${count === 1 ? one : many}`,
];

export const title = (text: Inline): Block => ({ is: "heading", level: 1, text });
export const heading = (text: Inline, id?: string): Block =>
  id === undefined ? { is: "heading", level: 2, text } : { is: "heading", level: 2, text, id };
export const line = (...text: Inline[]): Block => ({ is: "line", text });
export const quiet = (...text: Inline[]): Block => ({ is: "line", text, kind: "quiet" });
export const buttons = (...text: Inline[]): Block => ({ is: "line", text, kind: "buttons" });
export const entry = (head: Inline, ...details: Inline[]): Block => ({
  is: "entry",
  head,
  details,
});
/** What is to be done; nothing where nothing is. */
export const next = (text: Inline): Inline =>
  text !== "" && [each(strong("Next:"), "next:"), " ", text];
export const list = (items: readonly Inline[]): Block => ({ is: "list", items });
export const facts = (rows: readonly (readonly [name: string, value: Inline])[]): Block => ({
  is: "facts",
  rows,
});
export const section = (title: string | null, ...blocks: Blocks[]): Block => ({
  is: "section",
  title,
  blocks,
});
/** A line with an empty one before it on a terminal. */
export const paragraph = (...text: Inline[]): Block => section(null, line(...text));
export const notice = (tone: Tone, ...blocks: Blocks[]): Block => ({ is: "notice", tone, blocks });
export const card = (...blocks: Blocks[]): Block => ({ is: "card", blocks });
export const folded = (summary: Inline, ...blocks: Blocks[]) =>
  ({ is: "folded", summary, blocks }) as const satisfies Block;
/** Much of what a page is about: folded on a screen, whole on paper. */
export const foldedPart = (summary: Inline, ...blocks: Blocks[]): Block => ({
  ...folded(summary, ...blocks),
  isOnPaper: true,
});
export const act = (button: Inline, ...blocks: Blocks[]): Block => ({
  is: "folded",
  summary: button,
  blocks,
  isAct: true,
});
export const beside = (...blocks: Blocks[]): Block => ({ is: "beside", blocks });
export const live = (id: string, path: string, seconds: number, blocks: Blocks): Block => ({
  is: "live",
  id,
  path,
  seconds,
  blocks,
});
export const onPage = (...blocks: Blocks[]): Block => ({ is: "only", medium: "page", blocks });
export const onTerminal = (...blocks: Blocks[]): Block => ({
  is: "only",
  medium: "terminal",
  blocks,
});

/** With its full stop, so that the next one may follow: messages end without. */
export const sentence = (message: string): string =>
  message === "" || /[.!?…]$/.test(message) ? message : `${message}.`;

export const money = (amount: string, currency: string): Word => ({
  is: "figure",
  page: moneyText(amount, currency),
  terminal: amount,
});

const PRICE = /^(?:money\.price|lines\.\d+\.unitPrice)$/;
const AMOUNT = /^(?:money\.\w+|taxes\..+|lines\.\d+\.amount)$/;

/** @param field as a difference names it (`money.total`) @param value its text; what is no number stays as it is */
export function valueIn(field: string, value: string, currency: string): Inline {
  if (!Decimal.is(value)) return whole(value);
  if (PRICE.test(field)) return money(value, currency);
  return AMOUNT.test(field) ? money(inCents(Decimal.of(value)), currency) : whole(value);
}

/** A path with a query; values are encoded, and empty ones are left out. */
export function address(path: string, query: Readonly<Record<string, string | null>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== "");
  const text = new URLSearchParams(given as [string, string][]).toString().replaceAll("*", "%2A");
  return text === "" ? path : `${path}?${text}`;
}

export const segment = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);

/** A path of the console, its values encoded: `` to`/documents/${id}` `` */
export const to = (strings: TemplateStringsArray, ...values: readonly string[]): string =>
  String.raw({ raw: strings }, ...values.map(segment));

/** `Oct 3, 2026` on the page, of `2026-10-03`. */
export const dayOf = (day: string | null): Inline =>
  day &&
  each(
    whole(`${MONTHS[Number(day.slice(5, 7)) - 1]} ${Number(day.slice(8))}, ${day.slice(0, 4)}`),
    day,
  );

/** `November 2026`, of `2026-11`. */
export const monthName = (month: string): string =>
  new Intl.DateTimeFormat("en-US", { timeZone: "UTC", month: "long", year: "numeric" }).format(
    new Date(`${month}-01T00:00:00Z`),
  );
