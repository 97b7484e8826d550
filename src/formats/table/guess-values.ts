/** What the cells of a column look like: how its writer writes numbers and days. */
import { dateForm } from "./dates.ts";

export interface Pattern {
  readonly kind: "empty" | "decimal" | "date" | "text";
  /** Of numbers: the sign that they have; null: none has one. */
  readonly sign: "." | "," | null;
  /** Of days: every form that fits all of them, the likeliest first. */
  readonly forms: readonly string[];
  /** Some of its cells, as they stand. */
  readonly samples: readonly string[];
}

const FORMS = [
  "yyyy-MM-dd",
  "MM/dd/yyyy",
  "dd/MM/yyyy",
  "dd.MM.yyyy",
  "yyyy/MM/dd",
  "yyyyMMdd",
  "MM-dd-yyyy",
  "dd-MM-yyyy",
  "M/d/yyyy",
  "d/M/yyyy",
  "d.M.yyyy",
  "MM/dd/yy",
  "dd.MM.yy",
  "M/d/yy",
];
const ENDS = ["", "[ HH:mm]", "[ HH:mm:ss]", "[ H:mm]"];
const SAMPLES = 3;

/** `cells`: of one column. */
export function lookOf(cells: readonly string[]): Pattern {
  const filled = cells.map((cell) => cell.trim()).filter((cell) => cell !== "");
  const samples = [...new Set(filled)].slice(0, SAMPLES);
  if (filled.length === 0) return { kind: "empty", sign: null, forms: [], samples };
  const forms = formsOf(filled);
  if (forms.length > 0) return { kind: "date", sign: null, forms, samples };
  const sign = signOf(filled);
  return sign === undefined
    ? { kind: "text", sign: null, forms: [], samples }
    : { kind: "decimal", sign, forms: [], samples };
}

function formsOf(cells: readonly string[]): string[] {
  for (const end of ENDS) {
    const fitting = FORMS.map((form) => form + end).filter((form) => {
      const { read } = dateForm([form]);
      return cells.every((cell) => {
        try {
          return read(cell) !== "";
        } catch {
          return false;
        }
      });
    });
    if (fitting.length > 0) return fitting;
  }
  return [];
}

/** Undefined: they are no numbers. Codes with leading zeros are none. */
function signOf(cells: readonly string[]): "." | "," | null | undefined {
  if (cells.every((cell) => /^-?(?:0|[1-9]\d*)$/.test(cell))) return null;
  if (cells.every((cell) => /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(cell))) return ".";
  if (cells.every((cell) => /^-?(?:0|[1-9]\d*)(?:,\d+)?$/.test(cell))) return ",";
  return undefined;
}
