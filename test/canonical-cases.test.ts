/** Every folder in `mappings/canonical/cases/<mapping>/` is a record, and what must become of it. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { mappings } from "../mappings/index.ts";
import type { References } from "../src/core/contract.ts";
import { NotMapped, Refused, WaitsFor } from "../src/core/errors.ts";
import { parseExact, stringifyExact } from "../src/core/json.ts";

const root = new URL("../mappings/canonical/cases/", import.meta.url);
const read = (url: URL): string => readFileSync(url, "utf8");

interface Refs {
  readonly tables: Record<string, Record<string, Record<string, string>>>;
  readonly counterparts: Record<string, string>;
}

const referencesOf = ({ tables, counterparts }: Refs): References => ({
  find: (kind, id) => counterparts[`${kind} ${id}`] ?? null,
  counterpart(kind, id) {
    const other = counterparts[`${kind} ${id}`];
    if (other === undefined) throw new WaitsFor(kind, id);
    return other;
  },
  row(table, key) {
    const row = tables[table]?.[key];
    if (row === undefined) throw new NotMapped(table, key);
    return row;
  },
});

describe.each(readdirSync(root))("canonical/%s", (name) => {
  const mapping = mappings.find((candidate) => candidate.name === `canonical/${name}`);

  test.each(readdirSync(new URL(`${name}/`, root)))("%s", (title) => {
    if (mapping === undefined) throw new Error(`no mapping canonical/${name}`);
    const folder = new URL(`${name}/${title}/`, root);
    const record = mapping.input.parse(parseExact(read(new URL("input.json", folder))));
    const references = referencesOf(JSON.parse(read(new URL("refs.json", folder))));
    const refusal = new URL("expected-error.json", folder);
    if (existsSync(refusal)) {
      const map = () => mapping.map(record, references);
      expect(map).toThrow(Refused);
      expect(map).toThrow(
        expect.objectContaining({ fault: expect.objectContaining(JSON.parse(read(refusal))) }),
      );
      return;
    }
    const out = mapping.map(record, references) as object;
    if (!("skip" in out)) mapping.output.parse(out);
    const expected = parseExact(read(new URL("expected.json", folder)));
    expect(stringifyExact(out)).toBe(stringifyExact(expected));
  });
});
