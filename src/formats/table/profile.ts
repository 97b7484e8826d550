/** A profile: where the fields of a layout stand in the files of one ERP. */
import type { CellForm } from "./cells.ts";
import type { TextForm } from "./csv.ts";
import type { ProfileFile } from "./profile-schema.ts";
import type { Field, Layout } from "./layouts/table.ts";

/** Where a field stands, and how it is written there. */
export interface Column {
  /** The field; of a constant that no record has: whatever the profile calls it. */
  readonly name: string;
  /** Null: no record has it. */
  readonly field: Field | null;
  /** By language; the same in all of them under "". */
  readonly labels: Readonly<Record<string, string>> | null;
  /** Without a header: from 0. */
  readonly index: number | null;
  /** Of fixed width: from 0. */
  readonly slice: { readonly from: number; readonly length: number } | null;
  /** No more characters than this are written. */
  readonly most: number | null;
  readonly constant: string | null;
  readonly optional: boolean;
  readonly form: Partial<CellForm>;
}

export interface List {
  readonly name: string;
  /** The part of the export that has its rows; null: they stand among those of the heads. */
  readonly part: string | null;
  readonly on: string;
  readonly by: string;
  /** What the tag column says, and the field whose value makes it so ("": any); null: every row may have some of it. */
  readonly tags: ReadonlyMap<string, string> | null;
  readonly counts: Column | null;
  readonly repeats: readonly Column[];
  readonly columns: readonly Column[];
}

/** A profile whose parts fit each other and its layout. */
export interface Profile extends Pick<
  ProfileFile,
  | "about"
  | "file"
  | "sheet"
  | "encoding"
  | "delimiter"
  | "quotes"
  | "ending"
  | "lineEnd"
  | "header"
  | "otherColumns"
  | "leaveOut"
  | "across"
  | "order"
  | "record"
> {
  readonly layout: Layout;
  readonly languages: Readonly<Record<string, Pick<CellForm, "decimal" | "dates">>>;
  /** Of every cell. */
  readonly form: Pick<CellForm, "empty" | "guarded" | "long">;
  readonly tag: Column | null;
  readonly head: readonly Column[];
  readonly lists: readonly List[];
}

/** The part of an export that its records begin in; the only one of most. */
export const HEADS = "heads";

/** The parts of an export, the first being {@link HEADS}. */
export const partsOf = ({ lists }: Profile): string[] => [
  HEADS,
  ...lists.flatMap(({ part }) => part ?? []),
];

/** How a text with this profile is cut into rows and cells. `delimiter`: in place of the profile's, unless `auto`. */
export const textFormOf = (
  { file, delimiter: own, quotes, header }: Profile,
  delimiter: ProfileFile["delimiter"] = "auto",
): TextForm => ({
  delimiter: file === "fixed" ? null : delimiter === "auto" ? own : delimiter,
  quotes: file !== "fixed" && quotes !== "none",
  header: header === "tags" ? 0 : header,
});

/** With or without an apostrophe before text that a spreadsheet would run, whatever the profile says. */
export const guardedAs = (profile: Profile, guarded: boolean): Profile => ({
  ...profile,
  form: { ...profile.form, guarded },
});
