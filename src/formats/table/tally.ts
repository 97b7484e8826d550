/** Control totals of a file: how many rows it has, and the sums of its columns of numbers as they stand there. */
import { Decimal } from "../../core/decimal.ts";
import { type CellForm, readCell } from "./cells.ts";
import type { Block, Table } from "./table-reader.ts";

interface Summed {
  readonly find: (cells: readonly string[]) => string;
  readonly form: CellForm;
  /** Whether a row has it. */
  readonly isOn: (cells: readonly string[]) => boolean;
}

export class Tally {
  rows = 0;
  readonly sums = new Map<string, Decimal>();
  /** The first cell of a column that is no number, by the column. */
  readonly unreadable = new Map<string, { readonly line: number; readonly message: string }>();
  readonly #columns: ReadonlyMap<string, readonly Summed[]>;

  /** `wanted`: labels, where there is no header the names of fields; null: all columns of numbers. */
  constructor(table: Table, wanted: readonly string[] | null) {
    const columns = summedIn(table);
    this.#columns = new Map(
      (wanted ?? [...columns.keys()]).flatMap((name) => {
        const found = columns.get(name);
        return found === undefined ? [] : [[name, found]];
      }),
    );
    for (const name of this.#columns.keys()) this.sums.set(name, Decimal.zero);
  }

  take(line: number, cells: readonly string[]): void {
    this.rows++;
    for (const [name, places] of this.#columns) {
      const place = places.find(({ isOn }) => isOn(cells));
      if (place === undefined) continue;
      try {
        const value = readCell("decimal", place.find(cells), place.form);
        if (value instanceof Decimal)
          this.sums.set(name, (this.sums.get(name) ?? Decimal.zero).plus(value));
      } catch (error) {
        const { message } = error as RangeError;
        if (!this.unreadable.has(name)) this.unreadable.set(name, { line, message });
      }
    }
  }
}

/** The columns of numbers that a profile reads, by label. Rows of several kinds may each have one of a name. */
function summedIn(table: Table): Map<string, Summed[]> {
  const { record } = table.profile;
  const tag = typeof record === "object" && "tag" in record ? record.tag : null;
  const columns = new Map<string, Summed[]>();
  const add = (label: string, summed: Summed): void =>
    void columns.set(label, [...(columns.get(label) ?? []), summed]);
  const addAll = ({ places }: Block, isOn: Summed["isOn"]): void => {
    for (const { label, type, find, form } of places)
      if (type === "decimal") add(label, { find, form, isOn });
  };
  addAll(table.head, (cells) => tag === null || table.tag?.(cells) === tag);
  for (const { tags, ...list } of table.lists)
    addAll(list, (cells) => tags === null || tags.has(table.tag?.(cells) ?? ""));
  for (const { label, find, form } of table.across) add(label, { find, form, isOn: () => true });
  return columns;
}
