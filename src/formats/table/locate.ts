/** Where the columns of a profile stand in one file: its header against the profile's labels. */
import { FileFault } from "./csv.ts";
import { type Column, HEADS, type Profile } from "./profile.ts";

export interface TableOptions {
  /** The language of the labels; left out: any that the profile knows. */
  readonly labels?: string | undefined;
  readonly decimal?: "." | "," | undefined;
  /** The columns to be summed, null: all of numbers. Left out: nothing is counted. */
  readonly sums?: readonly string[] | null;
}

interface Located {
  readonly language: string;
  /** -1: the column is not there. */
  readonly indexOf: (column: Column) => number;
  /** How many cells a row has; null: as many as it likes. */
  readonly width: number | null;
  /** The columns of a table with one record per cell. */
  readonly across: readonly { readonly label: string; readonly at: number }[];
}

/** @throws FileFault when columns are missing, unknown or there twice */
export function locate(
  labels: readonly string[],
  profile: Profile,
  part: string,
  options: TableOptions,
): Located {
  const columns = columnsOf(profile, part);
  const languages = languagesOf(profile, columns, options);
  const [language = ""] = languages;
  if (profile.header === "tags") return taggedPlaces(profile, language);
  if (profile.header === 0) {
    const indexes = columns.map(({ index }) => (index ?? -1) + 1);
    const width = profile.file === "fixed" ? null : Math.max(...indexes, 0);
    return { language, indexOf: ({ index }) => index ?? -1, width, across: [] };
  }
  return byLabels(
    labels.map((label) => label.trim()),
    profile,
    columns,
    languages,
  );
}

/** The label of a column in a language; null: it has none. */
export const labelOf = ({ labels }: Column, language: string): string | null =>
  labels?.[language] ?? labels?.[""] ?? null;

/** All columns of a part, each once. */
export function columnsOf({ head, lists, tag }: Profile, part: string): Column[] {
  const own = lists.filter((list) => list.part === (part === HEADS ? null : part));
  return [
    ...(part === HEADS ? [...(tag === null ? [] : [tag]), ...head] : []),
    ...own.flatMap(({ repeats, counts, columns }) => [
      ...repeats,
      ...(counts === null ? [] : [counts]),
      ...columns,
    ]),
  ];
}

/** The languages that every column has a label in, where it has any. @throws FileFault */
function languagesOf(
  profile: Profile,
  columns: readonly Column[],
  { labels }: TableOptions,
): string[] {
  const whole = Object.keys(profile.languages).filter((language) =>
    columns.every((column) => column.labels === null || labelOf(column, language) !== null),
  );
  const wanted = whole.filter((language) => labels === undefined || labels === language);
  if (wanted.length === 0) throw new FileFault(`is of a layout without labels in "${labels}"`);
  return wanted;
}

function byLabels(
  header: readonly string[],
  { otherColumns, across }: Profile,
  columns: readonly Column[],
  languages: readonly string[],
): Located {
  const candidates = languages.map((language) => {
    const labelled = columns.filter(({ labels }) => labels !== null);
    const named = labelled.map((column) => labelOf(column, language) ?? "");
    const needed = labelled
      .filter(({ optional }) => !optional)
      .map((column) => labelOf(column, language) ?? "");
    const missing = [...new Set(needed)].filter((label) => !header.includes(label));
    return { language, missing, others: header.filter((label) => !named.includes(label)) };
  });
  const [best] = candidates.toSorted((a, b) => a.missing.length - b.missing.length);
  const { language = "", missing = [], others = [] } = best ?? {};
  const unknown = otherColumns === "refused" && across === undefined ? others : [];
  if (missing.length > 0 || unknown.length > 0) throw headerFault(language, missing, unknown);
  const crossed =
    across === undefined
      ? []
      : others.filter(
          (label) =>
            label !== "" &&
            !across.except.includes(label) &&
            (across.columns?.includes(label) ?? true),
        );
  const used = new Set([
    ...columns.flatMap((column) => labelOf(column, language) ?? []),
    ...crossed,
  ]);
  const twice = header.find(
    (label, at) => header.indexOf(label) !== at && (otherColumns === "refused" || used.has(label)),
  );
  if (twice !== undefined)
    throw new FileFault(`has the column ${quoted([twice])} twice`, 1, twice.slice(0, LABEL_SHOWN));
  const absent = (across?.columns ?? []).filter((label) => !header.includes(label));
  if (absent.length > 0) throw headerFault(language, absent, []);
  return {
    language,
    indexOf: (column) => header.indexOf(labelOf(column, language) ?? ""),
    width: header.length,
    across: crossed.map((label) => ({ label, at: header.indexOf(label) })),
  };
}

/** The kinds of rows of a file in which each begins with its tag, and their columns in their order. */
function kindsOf({ record, head, lists }: Profile): (readonly [string, readonly Column[]])[] {
  const tag = typeof record === "object" && "tag" in record ? record.tag : "";
  return [
    [tag, head],
    ...lists.flatMap(({ tags, repeats, columns }) =>
      [...(tags?.keys() ?? [])].map((one) => [one, [...repeats, ...columns]] as const),
    ),
  ];
}

/** Where each kind of row has a header of its own: its labels. */
export const headersOf = (profile: Profile, language: string): Map<string, string[]> =>
  profile.header === "tags"
    ? new Map(
        kindsOf(profile).map(([tag, columns]) => [
          tag,
          columns.map((column) => labelOf(column, language) ?? ""),
        ]),
      )
    : new Map();

/** Its tag is the first cell. */
function taggedPlaces(profile: Profile, language: string): Located {
  const places = new Map<Column, number>();
  for (const [, columns] of kindsOf(profile))
    for (const [at, column] of columns.entries()) places.set(column, at + 1);
  return { language, indexOf: (column) => places.get(column) ?? -1, width: null, across: [] };
}

function headerFault(
  language: string,
  missing: readonly string[],
  unknown: readonly string[],
): FileFault {
  const parts = [
    ...(missing.length > 0 ? [`lacks the columns ${quoted(missing)} (labels: ${language})`] : []),
    ...(unknown.length > 0 ? [`has the unknown columns ${quoted(unknown)}`] : []),
  ];
  return new FileFault(parts.join(" and "), 1, missing[0] ?? "");
}

const LABELS_SHOWN = 30;
const LABEL_SHOWN = 60;

function quoted(labels: readonly string[]): string {
  const shown = labels.slice(0, LABELS_SHOWN).map((label) => `"${label.slice(0, LABEL_SHOWN)}"`);
  const more = labels.length - shown.length;
  return `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
