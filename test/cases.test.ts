/**
 * Every case of every mapping: `mappings/<format>/cases/<mapping>.json` holds a base and what each case changes of it
 * (src/mapping/cases.ts). A folder `mappings/<format>/cases/<mapping>/<case>` is the older form of one case:
 * `input.json` gives `expected.json` (a document, or a skip) or the fault of `expected-error.json`; `refs.json` has the
 * cross-reference `tables`, and the `counterparts` by `<kind> <id>`.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { documents } from "../connectors/files/documents.ts";
import { layouts } from "../connectors/files/layouts/index.ts";
import { tryton } from "../connectors/tryton/index.ts";
import { mappings } from "../mappings/index.ts";
import type { Mapping, Offers } from "../src/core/contract.ts";
import { Refused } from "../src/core/errors.ts";
import { parseExact, stringifyExact } from "../src/core/json.ts";
import { type Cases, readCases, referencesOf, runCase } from "../src/mapping/cases.ts";
import { platformOffers } from "../src/platform/parts.ts";

const root = join(import.meta.dirname, "..");

const files = globSync("mappings/*/cases/*.json", { cwd: root });
const written = files.map((file) => readCases(join(root, file)));

test.each(files.map((file, at) => ({ file, mapping: written[at]?.mapping ?? "" })))(
  "$file has the cases of the mapping that it is named after",
  ({ file, mapping }) => {
    const [, format = "", , name = ""] = file.split(/[/\\]/);
    expect(`${mapping}.json`).toBe(`${format}/${name}`);
  },
);

describe.each(written)("$mapping", ({ mapping: name, cases }: Cases) => {
  test.each(cases)("$name", (one) => {
    expect(runCase(mappingOf(name), one)).toEqual([]);
  });
});

function mappingOf(name: string): Mapping {
  const mapping = mappings.find((candidate) => candidate.name === name);
  if (mapping === undefined) throw new Error(`mappings/index.ts has no ${name}`);
  return mapping;
}

interface Refs {
  readonly tables?: Record<string, Record<string, Record<string, string>>>;
  readonly counterparts?: Record<string, string>;
}

const SITE = { currency: "USD", timeZone: "America/Chicago" };

function run(mapping: Mapping, folder: string, read = (_cell: string): void => {}): unknown {
  const input = mapping.input.parse(parseExact(readFileSync(join(folder, "input.json"), "utf8")));
  const refs = join(folder, "refs.json");
  const { tables = {}, counterparts = {} } = existsSync(refs)
    ? (JSON.parse(readFileSync(refs, "utf8")) as Refs)
    : {};
  const out = mapping.map(input, referencesOf({ ...SITE, tables, counterparts }, read)) as object;
  return parseExact(stringifyExact("skip" in out ? out : mapping.output.parse(out)));
}

const inputs = globSync("mappings/*/cases/*/*/input.json", { cwd: root });
const cases = inputs.map((input) => {
  const folder = dirname(join(root, input));
  const [, format = "", , mapping = ""] = input.split(/[/\\]/);
  return { mapping: `${format}/${mapping}`, name: basename(folder), folder };
});

describe.each([...Map.groupBy(cases, ({ mapping }) => mapping)])("%s", (name, of) => {
  const mapping = mappingOf(name);

  test.each(of)("$name", ({ folder }) => {
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

/** Where there is no such column, or nothing in it, the mapping has an answer of its own. */
const OPTIONAL = new Set(["products.unit", "customers.name", "vendors.name"]);

test("a mapping names the columns that it looks things up in, and looks them up", () => {
  const named = mappings.map(({ name, tables = {} }): [string, string[]] => [
    name,
    Object.entries(tables).flatMap(([table, [, ...columns]]) =>
      columns.map((column) => `${table}.${column}`),
    ),
  ]);
  const looked = mappings.map((mapping): [string, string[]] => [
    mapping.name,
    [...cellsOf(mapping)].filter((cell) => !OPTIONAL.has(cell)),
  ]);
  const sorted = (all: [string, string[]][]) =>
    all.map(([name, cells]) => [name, cells.toSorted()]);
  expect(sorted(named)).toEqual(sorted(looked));
});

/** Every cell that the mapping looks at in its cases. */
function cellsOf(mapping: Mapping): Set<string> {
  const read = new Set<string>();
  for (const { mapping: name, cases } of written)
    if (name === mapping.name)
      for (const one of cases) runCase(mapping, one, (cell) => read.add(cell));
  for (const { folder } of cases.filter((one) => one.mapping === mapping.name))
    try {
      run(mapping, folder, (cell) => read.add(cell));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    }
  return read;
}

test("a mapping says what it reads and writes, and some connector or the platform offers that", () => {
  const offered = [
    ...Object.keys(documents).map((name) => `files.${name}`),
    ...layouts.map(({ name }) => name),
    ...[platformOffers, tryton.offers({} as never, "/")]
      .flatMap(Object.values)
      .flatMap((parts) => Object.values(parts as Offers["sources"]).map(({ form }) => form)),
  ];
  for (const { name, reads, writes } of mappings)
    for (const form of [reads, writes]) expect(offered, name).toContain(form);
});
