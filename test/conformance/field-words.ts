/** The words that field-limits.test.ts describes fields with. */
import { expect, it } from "vitest";
import { nowhere } from "./samples.ts";
import { type Answer, chars, invalid, type Row, times } from "./support.ts";

/** Field (`lines.0.rate` for a nested one), what the specification says of it, values it takes, values it refuses. */
export type Limit = readonly [
  field: string,
  says: string,
  good: readonly unknown[],
  bad: readonly unknown[],
];

/** Stands for a missing field. */
export const absent = Symbol("absent");

export const text = (
  field: string,
  max: number,
  extra: { nullable?: true; required?: true } = {},
): Limit => [
  field,
  `string max ${max}${extra.nullable ? ", nullable" : ""}${extra.required ? ", required" : ""}`,
  [chars(max), "é", ...(extra.nullable ? [null] : []), ...(extra.required ? [] : [absent])],
  [
    chars(max + 1),
    7,
    {},
    ...(extra.nullable ? [] : [null]),
    ...(extra.required ? [absent, ""] : []),
  ],
];
export const nullable = { nullable: true } as const;
export const required = { required: true } as const;
/** A text that may be left out and may not be null, as far as anything is said. */
export const optional = (field: string, max: number): Limit => [
  field,
  `string max ${max}`,
  [chars(max), "", absent],
  [chars(max + 1), 1],
];
export const number = (
  field: string,
  says: string,
  good: readonly unknown[],
  bad: readonly unknown[],
): Limit => [field, says, good, [...bad, "1", true]];
export const oneOf = (field: string, values: readonly string[], wrong = "other"): Limit => [
  field,
  values.join(", "),
  [...values, absent],
  [
    wrong,
    "",
    1,
    values[0]?.toUpperCase() === values[0] ? values[0]?.toLowerCase() : values[0]?.toUpperCase(),
    null,
  ],
];
export const time = (field: string, nullable = true): Limit => [
  field,
  `timestamp${nullable ? ", nullable" : ""}`,
  ["2026-07-01T08:00:00Z", "2026-07-01T08:00:00.123+02:00", absent, ...(nullable ? [null] : [])],
  [
    "2026-07-01",
    "2026-07-01T08:00:00",
    "2026-02-30T00:00:00Z",
    "tomorrow",
    1,
    ...(nullable ? [] : [null]),
  ],
];
export const reference = (field: string, id: string, nullable = true): Limit => [
  field,
  `uuid${nullable ? ", nullable" : ""}; reading: of a record that exists`,
  [id, absent, ...(nullable ? [null] : [])],
  ["4711", "", 1, nowhere, ...(nullable ? [] : [null])],
];
export const latitude = (field: string, extra: readonly unknown[] = []): Limit =>
  number(field, "-90..90", [-90, 90, 0, absent, ...extra], [-90.000001, 90.000001]);
export const longitude = (field: string, extra: readonly unknown[] = []): Limit =>
  number(field, "-180..180", [-180, 180, 0, absent, ...extra], [-180.000001, 180.000001]);
export const list = (field: string, item: unknown, min: number, max: number): Limit => [
  field,
  `${min} to ${max} items`,
  [times(Math.max(min, 1), () => item), times(max, () => item)],
  [times(max + 1, () => item), item, "none", ...(min === 0 ? [] : [[]])],
];

/** A deep copy of `body` with the field set; `$name` stands for an id known at run time. */
function withField(
  body: Row,
  field: string,
  value: unknown,
  known: Readonly<Record<string, string>>,
): Row {
  const copy = structuredClone(body);
  const path = field.split(".");
  const last = path.pop() ?? "";
  const holder = path.reduce((at, step) => at[step] as Row, copy);
  if (value === absent) delete holder[last];
  else holder[last] = value;
  return JSON.parse(
    JSON.stringify(copy).replaceAll(/\$(\w+)/g, (_, name: string) => known[name] ?? ""),
  ) as Row;
}

const show = (value: unknown): string =>
  value === absent ? "absent" : (JSON.stringify(value) ?? "undefined").slice(0, 60);

type Send = (method: "POST" | "PUT", path: string, body: Row) => Promise<Answer>;

/** Tests that send a body with every value of every field of a table, good and bad. */
export const limitsOf =
  (send: Send, known: () => Readonly<Record<string, string>>) =>
  (method: "POST" | "PUT", path: () => string, base: Row, table: readonly Limit[]): void => {
    it.each(table)("%s: %s", async (field, _says, good, bad) => {
      for (const value of good) {
        const answer = await send(method, path(), withField(base, field, value, known()));
        expect(answer.status, `${field} = ${show(value)}: ${answer.text}`).toBeLessThan(300);
      }
      for (const value of bad) {
        const answer = await send(method, path(), withField(base, field, value, known()));
        expect(answer, `${field} = ${show(value)} is refused`).toMatchObject(invalid);
      }
    });
  };
