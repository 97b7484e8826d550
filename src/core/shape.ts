/**
 * What the records of a list are expected to have, and what they have beside it: a field or a value that the contract does
 * not know, a field that no longer comes. A record that has the fields of an earlier one, as the cutting of the list's text
 * tells (core/json.ts), has what that one had; only the others are parsed for it.
 */

/** `new`: the contract does not know this field; `value`: this value of it; `missing`: it is expected and does not come. */
type DriftWhat = "new" | "value" | "missing";

/** In one record. `field`: its path, `lineItems.unit`; `value`: of `value` only, else empty. */
export interface Sighting {
  readonly what: DriftWhat;
  readonly field: string;
  readonly value: string;
}

/** In the records of a page, by their ids. */
export interface Drift extends Sighting {
  readonly records: readonly string[];
}

/** What an object may have. */
export interface Shape {
  readonly fields: ReadonlyMap<string, Field>;
}

interface Field {
  /** `lineItems.unit` */
  readonly path: string;
  /** A record without it breaks the contract. Others are missed where they came in {@link STEADY} records in a row. */
  readonly isRequired: boolean;
  /** As JSON has them, with their quotes; null: any. */
  readonly values: ReadonlySet<string> | null;
  /** Of the object that it is, or of those in its array; null: nothing is known of them. */
  readonly inner: Shape | null;
}

/** Records in a row in which a field that may be left out has come before it is missed. */
export const STEADY = 200;
const SHOWN_MAX = 80;
/** Of records that differ in their fields, so many are remembered. */
const REMEMBERED_MAX = 10_000;

/** What records of the same fields have. */
interface Known {
  readonly found: readonly Sighting[];
  readonly absent: readonly Field[];
}

/** The records of one list, one after the other. */
export class Lookout {
  readonly #shape: Shape;
  /** Fields anywhere in it that have known values, by name; and the lengths of their names, as bits. */
  readonly enums: readonly { readonly name: string; readonly values: ReadonlySet<string> }[];
  readonly lengths: number;
  readonly #known = new Map<number | string, Known>();
  readonly #absentAt = new Map<Field, number>();
  readonly #gone = new Set<Field>();
  #records = 0;

  constructor(shape: Shape) {
    this.#shape = shape;
    this.enums = [...enumsIn(shape)];
    this.lengths = this.enums.reduce((bits, { name }) => bits | (1 << (name.length & 31)), 0);
  }

  /** @param alike the same for records of the same fields; null: it is not known, and `record` is to be parsed */
  see(alike: number | string | null, record: string): readonly Sighting[] {
    this.#records++;
    const known = alike === null ? undefined : this.#known.get(alike);
    const { found, absent } = known ?? this.#parse(record);
    if (known === undefined && alike !== null) {
      if (this.#known.size >= REMEMBERED_MAX) this.#known.clear();
      this.#known.set(alike, { found, absent });
    }
    if (absent.length === 0) return found;
    return [...found, ...absent.filter((field) => this.#isGone(field)).map(missing)];
  }

  #isGone(field: Field): boolean {
    if (this.#records - (this.#absentAt.get(field) ?? 0) > STEADY) this.#gone.add(field);
    this.#absentAt.set(field, this.#records);
    return this.#gone.has(field);
  }

  #parse(record: string): Known {
    const [found, absent]: [Sighting[], Field[]] = [[], []];
    try {
      compare(this.#shape, JSON.parse(record), "", found, absent);
    } catch {
      // It is told as a record that cannot be read.
    }
    return { found, absent };
  }
}

function* enumsIn({ fields }: Shape): Generator<{ name: string; values: ReadonlySet<string> }> {
  for (const [name, { values, inner }] of fields) {
    if (values !== null) yield { name, values };
    if (inner !== null) yield* enumsIn(inner);
  }
}

const seen = (what: DriftWhat, field: string, value = ""): Sighting => ({
  what,
  field: field.slice(0, SHOWN_MAX),
  value: value.slice(0, SHOWN_MAX),
});
const missing = ({ path }: Field): Sighting => seen("missing", path);

function compare(
  { fields }: Shape,
  value: unknown,
  prefix: string,
  found: Sighting[],
  absent: Field[],
): void {
  if (Array.isArray(value))
    for (const one of value) compare({ fields }, one, prefix, found, absent);
  else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      const field = fields.get(name);
      if (field === undefined) found.push(seen("new", `${prefix}${name}`));
      else if (typeof member === "string" && field.values?.has(JSON.stringify(member)) === false)
        found.push(seen("value", field.path, member));
      else if (field.inner !== null) compare(field.inner, member, `${field.path}.`, found, absent);
    }
    for (const [name, field] of fields)
      if (!Object.hasOwn(value, name)) {
        if (field.isRequired) found.push(missing(field));
        else absent.push(field);
      }
  }
}

/** Of a page: what each of its records, by its id, has. */
export function driftOf(
  records: readonly { readonly id: string; readonly found: readonly Sighting[] }[],
): Drift[] {
  const drift = new Map<string, Sighting & { readonly records: string[] }>();
  for (const { id, found } of records) {
    // A record with ten lines has it once.
    const own = new Map(found.map((one) => [`${one.what} ${one.field} ${one.value}`, one]));
    for (const [key, one] of own) {
      const before = drift.get(key);
      if (before === undefined) drift.set(key, { ...one, records: [id] });
      else before.records.push(id);
    }
  }
  return [...drift.values()];
}
