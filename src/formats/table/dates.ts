/**
 * Days as files write them. A form is made of `yyyy`, `yy` (2000 to 2099), `MM`, `M`, `dd`, `d` and whatever stands
 * between them; what is in brackets may follow and is not read (`yyyy-MM-dd[ HH:mm]`).
 */

interface DateForm {
  /** `YYYY-MM-DD`. @throws RangeError as the end of a sentence */
  readonly read: (cell: string) => string;
  /** In the first form. */
  readonly write: (day: string) => string;
}

const PARTS: Readonly<Record<string, string>> = {
  yyyy: "(?<year>\\d{4})",
  yy: "(?<year>\\d\\d)",
  MM: "(?<month>\\d\\d)",
  M: "(?<month>\\d\\d?)",
  dd: "(?<day>\\d\\d)",
  d: "(?<day>\\d\\d?)",
  HH: "\\d\\d",
  H: "\\d\\d?",
  mm: "\\d\\d",
  ss: "\\d\\d",
};
const TOKEN = /yyyy|yy|MM|M|dd|d|HH|H|mm|ss|\[|\]|[^[\]]/g;

/** Whether a form has a year, a month and a day, each once. */
export function isDateForm(form: string): boolean {
  const tokens = tokensOf(form.replace(/\[[^[\]]*\]$/, ""));
  const count = (pattern: RegExp): number => tokens.filter((one) => pattern.test(one)).length;
  return (
    count(/^y/) === 1 && count(/^M/) === 1 && count(/^d/) === 1 && !/[[\]]/.test(tokens.join(""))
  );
}

const tokensOf = (form: string): string[] => form.match(TOKEN) ?? [];
const made = new Map<string, DateForm>();

/** @throws RangeError from `read`: it is none of these forms, or no day of the calendar */
export function dateForm(forms: readonly string[]): DateForm {
  const key = forms.join("|");
  const known = made.get(key);
  if (known !== undefined) return known;
  const patterns = forms.map(patternOf);
  const called = forms.map((form) => form.replaceAll("M", "m")).join(" or ");
  const [first = "yyyy-MM-dd"] = forms;
  const form: DateForm = {
    read(cell) {
      for (const pattern of patterns) {
        const { year, month = "", day = "" } = pattern.exec(cell)?.groups ?? {};
        if (year !== undefined) return calendar(cell, year, month, day);
      }
      throw new RangeError(`"${cell.slice(0, 60)}" is not a date (${called})`);
    },
    write: (day) => dayIn(first, day),
  };
  made.set(key, form);
  return form;
}

function patternOf(form: string): RegExp {
  const parts = tokensOf(form).map((token) => {
    if (token === "[") return "(?:";
    if (token === "]") return ")?";
    return PARTS[token] ?? token.replace(/[.*+?^${}()|\\/-]/g, String.raw`\$&`);
  });
  return new RegExp(`^${parts.join("")}$`);
}

function calendar(cell: string, year: string, month: string, day: string): string {
  const full = year.length === 2 ? `20${year}` : year;
  // A day that a month does not have is one of the next month.
  const at = new Date(Date.UTC(Number(full), Number(month) - 1, Number(day)));
  const isDay = at.getUTCMonth() === Number(month) - 1 && at.getUTCDate() === Number(day);
  if (Number(full) < 1900 || !isDay) throw new RangeError(`"${cell}" is not a day of the calendar`);
  return `${full}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
}

/** `2026-03-01` in `MM/dd/yyyy` is `03/01/2026`. */
function dayIn(form: string, iso: string): string {
  const [year = "", month = "", day = ""] = iso.split("-");
  if (form.includes("yy") && !form.includes("yyyy") && !year.startsWith("20"))
    throw new RangeError(`${iso} has no two digits for its year`);
  const values: Readonly<Record<string, string>> = {
    yyyy: year,
    yy: year.slice(2),
    MM: month,
    M: month.replace(/^0/, ""),
    dd: day,
    d: day.replace(/^0/, ""),
  };
  return tokensOf(form.replace(/\[[^[\]]*\]$/, ""))
    .map((token) => values[token] ?? token)
    .join("");
}
