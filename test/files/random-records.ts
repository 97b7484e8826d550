/** Random records of a profile, for files that are written and read back. */
import * as fc from "fast-check";
import { Decimal } from "../../src/core/decimal.ts";
import { type Encoding, foreignTo } from "../../src/formats/format.ts";
import type { Field, Fields } from "../../src/formats/table/layouts.ts";
import type { Column, Profile } from "../../src/formats/table/profile.ts";

type Values = Readonly<Record<string, unknown>>;

/** What spreadsheets run, what cuts cells and rows, and characters of one to four bytes. */
const CHARACTERS = Array.from("aZ09 =+-@'\"\t\n,;|#éñ€ß\u00a0日本😀𝔘＝");

/** `count` records of a profile, each with what it is known by; they have no character that the encoding has not. */
export function recordsFor(
  profile: Profile,
  encoding: Encoding,
  count: number,
): fc.Arbitrary<Values[]> {
  const isFixed = profile.file === "fixed";
  const bare = profile.quotes === "none" && !isFixed ? `\n${profile.delimiter}` : "";
  const usable = CHARACTERS.filter(
    (one) =>
      foreignTo(one, encoding) === null && !(isFixed && /[\t\n]/.test(one)) && !bare.includes(one),
  );
  const word = (most: number) =>
    fc
      .string({ unit: fc.constantFrom(...usable), minLength: 1, maxLength: Math.min(most, 12) })
      .map((text) => (isFixed ? text.trim() || "x" : text));
  const value = (field: Field, column: Column | undefined): fc.Arbitrary<unknown> => {
    const one = filledValue(field, column, word);
    return field.filled || field.blank === true
      ? one
      : fc.oneof({ weight: 3, arbitrary: one }, { weight: 1, arbitrary: fc.constant(null) });
  };
  const row = (fields: Fields, columns: readonly Column[]) =>
    fc.record(
      Object.fromEntries(
        Object.entries(fields).map(([name, field]) => [
          name,
          value(
            field,
            columns.find((column) => column.name === name),
          ),
        ]),
      ),
    );
  const { layout, head, lists, record } = profile;
  const inherited = typeof record === "object" && "inherits" in record ? record.inherits : [];
  const whole = fc.record({
    ...Object.fromEntries(
      Object.entries(layout.lists).map(([name, fields]) => {
        const columns = lists.find((list) => list.name === name)?.columns ?? [];
        const rows = row(fields, columns).filter((one) =>
          columns.some((column) => !["", null, undefined].includes(one[column.name] as string)),
        );
        return [name, fc.array(rows, { maxLength: 3 })];
      }),
    ),
    // A list of prices without a line says nothing.
    "": row(layout.head, head).filter((one) =>
      Object.keys(layout.head).some((name) => !inherited.includes(name) && one[name] !== null),
    ),
  });
  return fc
    .array(whole, { minLength: count, maxLength: count })
    .map((records) =>
      records.map(({ "": fields, ...rest }, at) =>
        numbered(profile, { ...(fields as Values), ...rest }, at),
      ),
    );
}

function filledValue(
  { type }: Field,
  column: Column | undefined,
  word: (most: number) => fc.Arbitrary<string>,
): fc.Arbitrary<unknown> {
  const values = column?.form.values;
  if (values !== undefined) return fc.constantFrom(...values.values());
  const day = fc
    .integer({ min: 0, max: 36_000 })
    .map((days) => new Date(Date.UTC(2000, 0, 1) + days * 86_400_000).toISOString().slice(0, 10));
  switch (type) {
    case "decimal":
      return fc
        .tuple(units(column), fc.integer({ min: 0, max: 6 }))
        .map(([units, scale]) => decimalOf(units, Math.min(scale, column?.form.implied ?? 6)));
    case "flag":
      return fc.boolean();
    case "date":
    case "day":
      return day;
    case "instant":
      return day.map((one) => `${one}T05:27:37.123456Z`);
    case "text":
      return word(column?.most ?? 40);
  }
}

/** Fixed width has room for few digits. */
function units(column: Column | undefined): fc.Arbitrary<bigint> {
  const most = column?.form.implied === undefined ? 10n ** 9n : 10n ** 5n;
  return fc.bigInt({ min: -most, max: most });
}

function decimalOf(units: bigint, scale: number): Decimal {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, "0");
  const point = digits.length - scale;
  const text = scale === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return Decimal.of(units < 0n ? `-${text}` : text);
}

/** What records are known by is different in each, and the rows of a further file name theirs. */
function numbered({ layout, head, lists, balance }: Profile, record: Values, at: number): Values {
  const keys = ["id", "number", "code", "ticket", "list"].filter((name) => name in layout.head);
  const values: Record<string, unknown> = { ...record };
  for (const key of keys) values[key] = `${key[0]}${at}`;
  if (balance !== undefined) Object.assign(values, balanced(balance, { head, lists }, values));
  for (const { name, part, by, on } of lists)
    if (part !== null)
      values[name] = (record[name] as Values[]).map((row) => ({ ...row, [by]: values[on] }));
  return values;
}

/** With amounts in cents, and a sum that the lists come to: a journal entry that does not balance is not written. */
function balanced(label: string, { head, lists }: Pick<Profile, "head" | "lists">, values: Values) {
  const isAmount = (column: Column): boolean => column.label === label;
  const rounded = lists.map(({ name, columns }) => {
    const own = columns.filter(isAmount).map((column) => column.name);
    const rows = (values[name] as Values[]).map((row) => ({
      ...row,
      ...Object.fromEntries(own.map((one) => [one, (row[one] as Decimal).round(2)])),
    }));
    return { name, rows, sum: rows.flatMap((row) => own.map((one) => row[one] as Decimal)) };
  });
  const total = Decimal.sum(rounded.flatMap(({ sum }) => sum));
  return {
    ...Object.fromEntries(rounded.map(({ name, rows }) => [name, rows])),
    ...Object.fromEntries(head.filter(isAmount).map(({ name }) => [name, total])),
  };
}
