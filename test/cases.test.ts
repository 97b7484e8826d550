/**
 * Every case of every mapping: `mappings/<format>/cases/<mapping>.json` (src/mapping/cases.ts says how it is written);
 * `mappings/lists`: of records that lists of Tryton tell.
 */
import { globSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tryton } from "../connectors/tryton/index.ts";
import { mappings } from "../mappings/index.ts";
import type { Mapping, Offers } from "../src/core/contract.ts";
import { canonicalOf, type Json, parseExact, stringifyExact } from "../src/core/json.ts";
import { documents } from "../src/formats/documents.ts";
import { layouts } from "../src/formats/table/layouts.ts";
import { readCases, resultOf, runCase } from "../src/mapping/cases.ts";
import { platformOffers } from "../src/platform/parts.ts";
import { written as inNotation } from "../src/sandbox/notation.ts";

const root = join(import.meta.dirname, "..");

const files = globSync("mappings/*/cases/*.json", { cwd: root });
const written = files.map((file) => readCases(join(root, file)));

test.each(files.map((file, at) => ({ file, mapping: written[at]?.mapping ?? "" })))(
  "$file has the cases of the mapping that it is named after",
  ({ file, mapping }) => {
    const [, format = "", , name = ""] = file.split(/[/\\]/);
    expect(`${mapping}.json`).toBe(`${format === "lists" ? "books" : format}/${name}`);
  },
);

describe.each(written)("$mapping", ({ mapping: name, cases }) => {
  test.each(cases)("$name", (one) => {
    expect(runCase(mappingOf(name), one)).toEqual([]);
  });
});

const ofThePlatform = written.flatMap(({ mapping: name, cases }) => {
  const mapping = mappingOf(name);
  return mapping.reads?.startsWith("platform.") === true
    ? cases.map((one) => ({ name: `${name} ${one.name}`, mapping, one }))
    : [];
});

test.each(["padded", "exponent"] as const)(
  "no text or judgement follows how the platform writes a number: %s",
  (numbersWritten) => {
    const notation = { numbersWritten, timesWritten: "utc", idsWritten: "small" } as const;
    const made = ({ mapping, one }: (typeof ofThePlatform)[number], record: Json) =>
      canonicalOf(resultOf(mapping, { ...one, record }));
    const all = (recordOf: (record: Json) => Json) =>
      ofThePlatform.map((given) => `${given.name}: ${made(given, recordOf(given.one.record))}`);
    expect(all((record) => parseExact(inNotation(stringifyExact(record), 0, notation)))).toEqual(
      all((record) => record),
    );
  },
);

function mappingOf(name: string): Mapping {
  const mapping = mappings.find((candidate) => candidate.name === name);
  if (mapping === undefined) throw new Error(`mappings/index.ts has no ${name}`);
  return mapping;
}

/** Where there is no such column, or nothing in it, the mapping has an answer of its own. */
const OPTIONAL = new Set(["sites.ship_to", "products.unit", "customers.name", "vendors.name"]);

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
