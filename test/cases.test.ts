/**
 * Every folder `mappings/<format>/cases/<mapping>/<case>` is a test: `input.json` through the mapping
 * `<format>/<mapping>` gives `expected.json` (a document, or a skip) or the fault of `expected-error.json`.
 * `refs.json` has the cross-reference `tables`, and the `counterparts` by `<kind> <id>`.
 */
import { calendarOf } from "../src/core/calendar.ts";
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { mappings } from "../mappings/index.ts";
import type { Mapping, References } from "../src/core/contract.ts";
import { NotMapped, Refused, WaitsFor } from "../src/core/errors.ts";
import { parseExact, stringifyExact } from "../src/core/json.ts";

const root = join(import.meta.dirname, "..");

interface Refs {
  readonly tables?: Record<string, Record<string, Record<string, string>>>;
  readonly counterparts?: Record<string, string>;
}

function referencesOf({ tables = {}, counterparts = {} }: Refs): References {
  const find = (kind: string, id: string) => counterparts[`${kind} ${id}`] ?? null;
  return {
    currency: "USD",
    dayOf: calendarOf("America/Chicago"),
    find,
    counterpart(kind, id) {
      const found = find(kind, id);
      if (found === null) throw new WaitsFor(kind, id);
      return found;
    },
    row(table, key) {
      const row = tables[table]?.[key];
      if (row === undefined) throw new NotMapped(table, key);
      return row;
    },
  };
}

function run(mapping: Mapping, folder: string): unknown {
  const input = mapping.input.parse(parseExact(readFileSync(join(folder, "input.json"), "utf8")));
  const refs = join(folder, "refs.json");
  const references = referencesOf(
    existsSync(refs) ? (JSON.parse(readFileSync(refs, "utf8")) as Refs) : {},
  );
  const out = mapping.map(input, references) as object;
  return parseExact(stringifyExact("skip" in out ? out : mapping.output.parse(out)));
}

const inputs = globSync("mappings/*/cases/*/*/input.json", { cwd: root });
const cases = inputs.map((input) => {
  const folder = dirname(join(root, input));
  const [, format = "", , mapping = ""] = input.split(/[/\\]/);
  return { mapping: `${format}/${mapping}`, name: basename(folder), folder };
});

describe.each([...Map.groupBy(cases, ({ mapping }) => mapping)])("%s", (name, of) => {
  const mapping = mappings.find((candidate) => candidate.name === name);

  test.each(of)("$name", ({ folder }) => {
    if (mapping === undefined) throw new Error(`mappings/index.ts has no ${name}`);
    const expected = join(folder, "expected.json");
    if (existsSync(expected)) {
      expect(run(mapping, folder)).toEqual(parseExact(readFileSync(expected, "utf8")));
      return;
    }
    const fault = JSON.parse(readFileSync(join(folder, "expected-error.json"), "utf8")) as object;
    try {
      run(mapping, folder);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      expect(error.fault).toMatchObject(fault);
      return;
    }
    throw new Error("the mapping refused nothing");
  });
});
