/** How files are read with a profile: for the person who writes one. Nothing is moved, stored or delivered. */
import { open } from "node:fs/promises";
import { basename } from "node:path";
import type { Change } from "../../core/contract.ts";
import { Decimal } from "../../core/decimal.ts";
import { parseExact } from "../../core/json.ts";
import { memoryScratch } from "../../core/scratch.ts";
import { ChangedMeanwhile, FileFault, PartFault, survey } from "../format.ts";
import { HEADS, type Profile } from "./profile.ts";
import { changesOf, encodingOf, readExport, type SurveyedFile } from "./records.ts";

/** A row, or a cell of one, that is refused. */
interface Refusal {
  readonly id: string;
  readonly file: string;
  /** 0: it is about the whole record. */
  readonly line: number;
  /** Empty: the whole row. */
  readonly column: string;
  readonly value: string;
  readonly message: string;
}

/** A sum over all records that were read, so that people can compare it with what they have. */
interface ControlTotal {
  /** `total`, `lines.gallons` */
  readonly field: string;
  readonly count: number;
  readonly sum: Decimal;
}

export interface Trial {
  /** How many records were read whole, and how many refused. */
  readonly read: number;
  readonly refused: number;
  /** Records as they would be delivered, at most as many as were asked for. */
  readonly records: readonly {
    readonly id: string;
    readonly origin: string;
    readonly values: Values;
  }[];
  /** At most {@link REFUSALS}. */
  readonly refusals: readonly Refusal[];
  readonly totals: readonly ControlTotal[];
  /** Rows that the profile leaves out. */
  readonly leftOut: number;
  readonly notices: readonly string[];
}

export type Values = Readonly<Record<string, unknown>>;

/** No more refused cells are listed; all are counted. */
const REFUSALS = 1_000;
const PAGE = 1_000;

/**
 * `files`: paths by the part of the export, at least `heads`. They are read as the files of a source are.
 * @throws PartFault when a file is not what the profile says, what the file system throws
 */
export async function tryProfile(
  profile: Profile,
  files: ReadonlyMap<string, string>,
  shown: number,
): Promise<Trial> {
  const opened = new Map<string, SurveyedFile>();
  const handles = [];
  try {
    for (const [part, path] of files) {
      const handle = await open(path);
      handles.push(handle);
      const told = await survey(handle, encodingOf("auto", profile));
      opened.set(part, { name: basename(path), handle, survey: told });
    }
    return await trialOf(profile, opened, shown);
  } catch (error) {
    if (error instanceof ChangedMeanwhile)
      throw new PartFault(HEADS, new FileFault("was written to while it was read"));
    throw error;
  } finally {
    for (const handle of handles) await handle.close();
  }
}

async function trialOf(
  profile: Profile,
  files: ReadonlyMap<string, SurveyedFile>,
  shown: number,
): Promise<Trial> {
  const scratch = memoryScratch();
  const refusals: Refusal[] = [];
  // Two fields may stand in one column.
  const refuse = (one: Refusal): void => {
    const isTold = refusals.some(
      ({ line, column, message }) =>
        line === one.line && column === one.column && message === one.message,
    );
    if (!isTold && refusals.length < REFUSALS) refusals.push(one);
  };
  const refused = (id: string, problem: Omit<Refusal, "id" | "value"> & { value?: string }): void =>
    refuse({ value: "", ...problem, id });
  const { cut, leftOut, notices } = await readExport(profile, files, { refused }, scratch);
  const totals = new Map<string, ControlTotal>();
  const records: Trial["records"][number][] = [];
  let refusedCount = 0;
  for (let at = 0; at < scratch.count(); at += PAGE)
    for (const change of changesOf(scratch, at, PAGE)) {
      const { id, origin = "" } = change;
      const fault = faultOf(profile, change);
      if (fault !== null) {
        refusedCount++;
        if (!refusals.some((one) => one.id === id))
          refuse({ ...fault, id, file: origin, line: 0, value: "" });
        continue;
      }
      const values = parseExact(change.text) as Values;
      addTotals(totals, "", values);
      if (records.length < shown) records.push({ id, origin, values });
    }
  const cutNotice = cut && `${cut.file} line ${cut.line} ${cut.reason}: the rest was not read.`;
  return {
    read: scratch.count() - refusedCount,
    refused: refusedCount,
    records,
    refusals,
    totals: [...totals.values()],
    leftOut,
    notices: [...(cutNotice === null ? [] : [cutNotice]), ...notices],
  };
}

/** Why a mapping would not get a record, or could not take it; null: it would. */
function faultOf(
  { layout }: Profile,
  { fault, text }: Change,
): Pick<Refusal, "column" | "message"> | null {
  if (fault !== undefined) return { column: fault.field ?? "", message: fault.message };
  const [issue] = layout.record.safeParse(parseExact(text)).error?.issues ?? [];
  return issue === undefined
    ? null
    : { column: issue.path.map(String).join("."), message: issue.message };
}

/** Every number of a record, and of the rows of its lists. */
function addTotals(totals: Map<string, ControlTotal>, prefix: string, values: Values): void {
  for (const [name, value] of Object.entries(values)) {
    const field = prefix + name;
    if (Array.isArray(value))
      for (const row of value as Values[]) addTotals(totals, `${field}.`, row);
    if (!(value instanceof Decimal)) continue;
    const { count, sum } = totals.get(field) ?? { count: 0, sum: Decimal.zero };
    totals.set(field, { field, count: count + 1, sum: sum.plus(value) });
  }
}
