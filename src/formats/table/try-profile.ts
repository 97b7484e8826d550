/** How files are read with a profile: for the person who writes one. Nothing is moved, stored or delivered. */
import { open } from "node:fs/promises";
import { basename } from "node:path";
import type { Change } from "../../core/contract.ts";
import { Decimal } from "../../core/decimal.ts";
import { parseExact } from "../../core/json.ts";
import { memoryScratch } from "../../core/scratch.ts";
import { ChangedMeanwhile, survey } from "../bytes.ts";
import { FileFault, PartFault } from "./csv.ts";
import type { Fields } from "./layouts/table.ts";
import { HEADS, type Profile } from "./profile.ts";
import { changesOf, type Part, readRecords } from "./records.ts";
import { encodingOf, openSheet } from "./sheets.ts";

/** A row, or a cell of one, that is refused. */
export interface Refusal {
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
export interface ControlTotal {
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
 * `files`: by the part of the export, at least `heads`.
 * @throws PartFault when a file is not what the profile says, SourceUnavailable when one cannot be read
 */
export async function tryProfile(
  profile: Profile,
  files: ReadonlyMap<string, string>,
  shown: number,
): Promise<Trial> {
  const notices: string[] = [];
  const parts = new Map<string, Part>();
  const handles = [];
  try {
    for (const [part, path] of files) {
      const file = basename(path);
      const handle = await open(path);
      handles.push(handle);
      const told = await survey(handle, encodingOf("auto", profile));
      if (told.fallback) notices.push(`${file} is not UTF-8; it is read as Windows-1252.`);
      const surveyed = { name: file, handle, survey: told };
      parts.set(part, { file, sheet: await openSheet(profile, surveyed, "auto", () => {}) });
    }
    return await trialOf(profile, parts, notices, shown);
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
  parts: ReadonlyMap<string, Part>,
  notices: string[],
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
  const { cut, leftOut, ...said } = await readRecords(
    profile,
    parts,
    {
      refused: (id, { file, line, column, value = "", message }) =>
        refuse({ id, file, line, column, value, message }),
    },
    scratch,
  );
  if (cut !== null)
    notices.push(`${cut.file} line ${cut.line} ${cut.reason}: the rest was not read.`);
  const sums = new Sums(profile.layout.head, profile.layout.lists);
  const records: Trial["records"][number][] = [];
  let refused = 0;
  for (let at = 0; at < scratch.count(); at += PAGE)
    for (const change of changesOf(scratch, at, PAGE)) {
      const fault = faultOf(profile, change);
      if (fault !== null) {
        refused++;
        if (!refusals.some(({ id }) => id === change.id)) refuse(fault);
        continue;
      }
      const values = parseExact(change.text) as Values;
      sums.add(values);
      const { id, origin = "" } = change;
      if (records.length < shown) records.push({ id, origin, values });
    }
  const read = scratch.count() - refused;
  return {
    read,
    refused,
    records,
    refusals,
    totals: sums.all(),
    leftOut,
    notices: [...notices, ...said.notices],
  };
}

/** Why a mapping would not get a record, or could not take it; null: it would. */
function faultOf({ layout }: Profile, { id, fault, text, origin = "" }: Change): Refusal | null {
  const of = (column: string, message: string): Refusal => ({
    id,
    file: origin,
    line: 0,
    column,
    value: "",
    message,
  });
  if (fault !== undefined) return of(fault.field ?? "", fault.message);
  const parsed = layout.record.safeParse(parseExact(text));
  const [issue] = parsed.error?.issues ?? [];
  return issue === undefined ? null : of(issue.path.map(String).join("."), issue.message);
}

class Sums {
  readonly #totals = new Map<string, { count: number; sum: Decimal }>();
  readonly #lists: readonly string[];

  constructor(head: Fields, lists: Readonly<Record<string, Fields>>) {
    this.#lists = Object.keys(lists);
    const expect = (prefix: string, fields: Fields): void => {
      for (const [name, { type }] of Object.entries(fields))
        if (type === "decimal") this.#totals.set(prefix + name, { count: 0, sum: Decimal.zero });
    };
    expect("", head);
    for (const [name, fields] of Object.entries(lists)) expect(`${name}.`, fields);
  }

  add(values: Values): void {
    this.#take("", values);
    for (const list of this.#lists)
      for (const row of (values[list] ?? []) as Values[]) this.#take(`${list}.`, row);
  }

  #take(prefix: string, values: Values): void {
    for (const [name, value] of Object.entries(values)) {
      const total = this.#totals.get(prefix + name);
      if (total === undefined || !(value instanceof Decimal)) continue;
      total.count++;
      total.sum = total.sum.plus(value);
    }
  }

  all(): ControlTotal[] {
    return [...this.#totals]
      .filter(([, { count }]) => count > 0)
      .map(([field, total]) => ({ field, ...total }));
  }
}
