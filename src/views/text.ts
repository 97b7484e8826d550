/** Blocks on a terminal: lines, tables in columns, an empty line before each section. */
import type { Block, Blocks, Inline, Table } from "./blocks.ts";
import { instant, table } from "./table.ts";

export function asText(blocks: Blocks): string {
  const lines = linesOf(blocks, false);
  return lines.join("\n").replace(/^\n+/, "");
}

/** `isTitled`: in a section with a title, where tables have their captions. */
function linesOf(blocks: Blocks, isTitled: boolean): string[] {
  if (blocks === null || blocks === false) return [];
  if (Array.isArray(blocks)) return blocks.flatMap((one: Blocks) => linesOf(one, isTitled));
  return "is" in (blocks as object) ? blockLines(blocks as Block, isTitled) : [];
}

function blockLines(block: Block, isTitled: boolean): string[] {
  switch (block.is) {
    case "heading":
      return [...(block.level === 1 ? [] : [""]), inLine(block.text)];
    case "line":
      return inLine(block.text).split("\n");
    case "entry":
      return [
        inLine(block.head),
        ...block.details
          .map(inLine)
          .filter((detail) => detail !== "")
          .flatMap((detail) => detail.split("\n").map((line) => `  ${line}`)),
      ];
    case "list":
      return block.items.map((item) => `  ${inLine(item)}`);
    case "facts":
      return block.rows.map(([name, value]) => `${name}: ${inLine(value)}`);
    case "table":
      return tableLines(block, isTitled);
    case "section": {
      const lines = linesOf(block.blocks, block.title !== null);
      if (lines.length === 0) return [];
      return block.title === null ? ["", ...lines] : ["", block.title, ...lines];
    }
    case "card":
      return ["", ...linesOf(block.blocks, isTitled)];
    case "notice":
    case "live":
    case "beside":
      return linesOf(block.blocks, isTitled);
    case "only":
      return block.medium === "terminal" ? linesOf(block.blocks, isTitled) : [];
    case "folded":
      return [];
  }
}

function tableLines({ caption, columns, rows, empty }: Table, isTitled: boolean): string[] {
  if (rows.length === 0) return empty === null ? [] : [empty];
  const shown = columns.map(({ medium }) => medium !== "page");
  const text = table(
    columns.filter((_, at) => shown[at]).map(({ title }) => title.toUpperCase()),
    rows.map((row) => row.filter((_, at) => shown[at]).map((cell) => inLine(cell) || "-")),
  );
  return isTitled ? [`${caption}:`, text] : [text];
}

/** A text as a terminal shows it. */
export function inLine(text: Inline): string {
  if (text === null || text === false || text === undefined) return "";
  if (typeof text === "string" || typeof text === "number") return String(text);
  if (Array.isArray(text)) return text.map((one: Inline) => inLine(one)).join("");
  if (!("is" in (text as object))) return "";
  const word = text as Extract<Inline, { readonly is: string }>;
  if ("at" in word) return instant(word.at);
  if ("terminal" in word) return inLine(word.terminal);
  return word.is === "code" ? `\`${inLine(word.text)}\`` : inLine(word.text);
}
