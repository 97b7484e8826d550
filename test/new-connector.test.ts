/** What `npm run new-connector` does to the list of connectors, and that no connector can be missing in silence. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { enlisted } from "../packaging/new-connector.ts";

const connectorsFolder = join(import.meta.dirname, "..", "connectors");
const LIST = readFileSync(join(connectorsFolder, "index.ts"), "utf8");

const listOf = (...connectors: readonly (readonly [id: string, folder: string])[]): string =>
  [
    "/** The list. */",
    'import type { Connector } from "../src/core/contract.ts";',
    ...connectors.map(([id, folder]) => `import { ${id} } from "./${folder}/index.ts";`),
    "",
    `export const connectors: readonly Connector[] = [${connectors.map(([id]) => id).join(", ")}];`,
    "",
  ].join("\n");

test.each([
  ["acme", "acme"],
  ["middle-of-it", "middleOfIt"],
  ["zebra", "zebra"],
] as const)("a connector %s is added to the list, and none is lost", (name, id) => {
  const before: [string, string][] = [
    ["example", "example"],
    ["quickbooksOnline", "quickbooks-online"],
    ["tryton", "tryton"],
  ];
  const after = [...before, [id, name] as [string, string]].toSorted(([, a], [, b]) =>
    a < b ? -1 : 1,
  );
  expect(enlisted(listOf(...before), name)).toBe(listOf(...after));
});

test("the list as it is keeps every line but that of the elements", () => {
  const grown = enlisted(LIST, "acme");
  for (const line of LIST.split("\n").filter((one) => one.startsWith("import ")))
    expect(grown).toContain(line);
  const elements = /= \[([^\]]*)\]/;
  const names = (text: string): string[] =>
    (elements.exec(text)?.[1] ?? "").split(",").flatMap((one) => one.trim() || []);
  expect(names(grown)).toEqual(["acme", ...names(LIST)]);
});

test("a list that cannot be read to its end is refused before anything is written", () => {
  const ids = /imports example, odd and lists example/;
  const unlisted = listOf(["example", "example"]).replace(
    "\n\n",
    '\nimport { odd } from "./odd/index.ts";\n\n',
  );
  expect(() => enlisted(unlisted, "acme")).toThrow(ids);
  expect(() => enlisted(unlisted.replace("[example]", "[example, unknown]"), "acme")).toThrow(
    /lists example, unknown/,
  );
  expect(() => enlisted("export const connectors = [];", "acme")).toThrow(/imports no connector/);
});
