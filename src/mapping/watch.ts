/** Watches a mapping at work: which values it read, and where from. A mapping is pure, so watching changes nothing. */
import { namedDay } from "../core/time.ts";
import type { References } from "../core/contract.ts";
import { Decimal } from "../core/decimal.ts";

/** A value that a mapping read. */
export interface Read {
  readonly of: "record" | "options" | "table" | "other";
  /** The table's name; else empty. */
  readonly table: string;
  /** Where it stands there: `lines[0].product`, the column of a cell; of a day the path of the instant. */
  readonly path: string;
  /** For people, and read by nothing: `lines[0].product`, `items.csv, row ULSD, column item`, `option company`. */
  readonly from: string;
  readonly value: unknown;
  /** Taken over with all that stood beside it (`{ ...record }`), so that nobody knows whether it was looked at. */
  readonly copied: boolean;
}

export interface Watch {
  readonly reads: Read[];
  /** The value, which tells what is read of it. */
  readonly watched: <Value>(value: Value, of: "record" | "options") => Value;
  readonly references: (references: References) => References;
}

export function watch(): Watch {
  const reads: Read[] = [];
  /** The property that was described last: one that is read right after is copied (`{ ...record }`). */
  let described = "";

  const note = (from: string, value: unknown, where: Partial<Read> = {}): void => {
    reads.push({ of: "other", table: "", path: "", copied: false, ...where, from, value });
  };

  function watched<Value>(value: Value, of: "record" | "options", path = ""): Value {
    if (!isPlain(value)) return value;
    // A copy: what a schema has frozen could not be watched.
    const open = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Value &
      object;
    return new Proxy(open, {
      getOwnPropertyDescriptor(target, key) {
        described = `${path}/${String(key)}`;
        return Reflect.getOwnPropertyDescriptor(target, key);
      },
      get(target, key) {
        const inside = Reflect.get(target, key) as unknown;
        const isElement = Array.isArray(target) && !/^\d+$/.test(String(key));
        if (typeof key === "symbol" || isElement || typeof inside === "function") return inside;
        const at = Array.isArray(target)
          ? `${path}[${key}]`
          : `${path}${path === "" ? "" : "."}${key}`;
        const copied = described === `${path}/${key}`;
        described = "";
        if (isPlain(inside)) return watched(inside, of, at);
        note(of === "options" ? `option ${at}` : at, inside, { of, path: at, copied });
        return inside;
      },
    });
  }

  const link = (kind: string, id: string, value: string | null): void =>
    note(`link of ${kind} ${id}`, value);

  return {
    reads,
    watched: (value, of) => watched(value, of),
    references: (given) => ({
      ...given,
      get currency() {
        note("currency of the configuration", given.currency);
        return given.currency;
      },
      dayOf(instant) {
        const day = given.dayOf(instant);
        const source = reads.findLast(
          ({ value }) =>
            value === instant || (typeof value === "string" && namedDay(value) === instant),
        );
        note(`day of ${source?.from ?? instant}`, day, { path: source?.path ?? "" });
        return day;
      },
      find(kind, id) {
        const found = given.find(kind, id);
        link(kind, id, found);
        return found;
      },
      counterpart(kind, id) {
        const found = given.counterpart(kind, id);
        link(kind, id, found);
        return found;
      },
      row(table, key) {
        const row = given.row(table, key);
        return new Proxy(row, {
          get(cells, column) {
            const value = cells[String(column)];
            const path = String(column);
            note(`${table}.csv, row ${key}, column ${path}`, value, { of: "table", table, path });
            return value;
          },
        });
      },
    }),
  };
}

/** What has members of its own: a group or a list. A Decimal is one value. */
export const isPlain = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !(value instanceof Decimal);
