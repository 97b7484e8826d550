/** What stands in `config/`: it loads, and editors can help with it. */
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { connectorsNamed } from "../../connectors/index.ts";
import { mappings } from "../../mappings/index.ts";
import { platformOffers as platform } from "../platform/parts.ts";
import { loadConfig } from "./config.ts";
import { openTables } from "./crossref.ts";
import { jsonSchema } from "./editors.ts";
import { isSecretAt } from "./problems.ts";
import { type JsonSchema, settingsSchema, toJsonSchema } from "./schema.ts";

const connectors = await connectorsNamed();
const SHIPPED = join(import.meta.dirname, "..", "..", "config");
const CONNECTORS = join(SHIPPED, "..", "connectors");
const FILES = readdirSync(SHIPPED).filter((name) => name.endsWith(".yaml"));
const MODELINE = "# yaml-language-server: $schema=./fuelbridge.schema.json\n";
const KEY = "svc_live_0000000000";

test("the schema for editors is the one that the settings have", () => {
  const stored: unknown = JSON.parse(readFileSync(join(SHIPPED, "fuelbridge.schema.json"), "utf8"));
  expect(stored, "write it anew: fuelbridge schema > config/fuelbridge.schema.json").toEqual(
    JSON.parse(JSON.stringify(jsonSchema(connectors, mappings))),
  );
});

/** Where a schema says that there are secrets. */
function secretsIn(schema: JsonSchema, path: readonly string[] = []): (readonly string[])[] {
  if (schema.secret === true) return [path];
  const {
    properties = {},
    items,
    additionalProperties,
    anyOf = [],
    oneOf = [],
    allOf = [],
  } = schema;
  const below = [items, additionalProperties].flatMap((part) =>
    typeof part === "object" ? secretsIn(part, [...path, "0"]) : [],
  );
  const named = Object.entries(properties).flatMap(([name, part]) =>
    secretsIn(part, [...path, name]),
  );
  return [
    ...below,
    ...named,
    ...[...anyOf, ...oneOf, ...allOf].flatMap((part) => secretsIn(part, path)),
  ];
}

test("what the schema for editors calls a secret is treated as one", () => {
  const names = mappings.map(({ name }) => name);
  const all = [settingsSchema(connectors, names), ...connectors.map(({ config }) => config)];
  const secrets = all.flatMap((schema) =>
    secretsIn(toJsonSchema(schema)).map((path) => ({
      path: path.join("."),
      isSecret: isSecretAt(schema, path, undefined),
    })),
  );
  expect(secrets.length).toBeGreaterThan(10);
  expect(secrets.filter(({ isSecret }) => !isSecret)).toEqual([]);
});

test("every folder of a connector is a connector of its name, and in the schema that is shipped", () => {
  const folders = globSync("*/index.ts", { cwd: CONNECTORS }).map((path) => dirname(path));
  expect(connectors.map(({ name }) => name).toSorted()).toEqual(folders.toSorted());
  const schema = readFileSync(join(SHIPPED, "fuelbridge.schema.json"), "utf8");
  for (const name of folders) expect(schema).toContain(`"const": "${name}"`);
});

test.each(FILES)("%s names the schema and loads", (name) => {
  const folder = join(mkdtempSync(join(tmpdir(), "fuelbridge-shipped-")), "config");
  cpSync(SHIPPED, folder, { recursive: true });
  const text = readFileSync(join(SHIPPED, name), "utf8");
  for (const [, path = ""] of text.matchAll(/^ +[a-zA-Z]+: \$\{file:(.+)\}$/gm)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), KEY, { mode: 0o600 });
  }
  const config = loadConfig(join(folder, name), { env: {}, connectors, mappings, platform });
  expect(config.flows.length).toBeGreaterThan(0);
  expect(text.startsWith(MODELINE)).toBe(true);
  expect(
    openTables(config.crossReferences)
      .check()
      .map((table) => table.name),
  ).toContain("items");
});

test("no time that is shipped, and no default, lies between 01:00 and 03:00, where clocks are set", () => {
  const texts = [
    JSON.stringify(jsonSchema(connectors, mappings)),
    ...FILES.map((name) => readFileSync(join(SHIPPED, name), "utf8")),
    ...["README.md", ...docs("docs"), ...docs("packaging")].map((name) =>
      readFileSync(join(SHIPPED, "..", name), "utf8"),
    ),
  ];
  const times = texts.flatMap((text) => [
    ...text.matchAll(/cron"?:(?: |\{"default":)\\?"\S+ (?<hours>\S+) \S+ \S+ \S+"/g),
  ]);
  expect(times.length).toBeGreaterThan(5);
  const hours = times.flatMap(({ groups }) => (groups?.["hours"] ?? "").split(","));
  expect(hours.filter((hour) => /^0?[12]$/.test(hour))).toEqual([]);
});

/** Texts of a folder and those below it. */
const docs = (folder: string): string[] =>
  readdirSync(join(SHIPPED, "..", folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:md|yaml|timer|service|sh)$/.test(name))
    .map((name) => join(folder, name));

test("editors complete connectors and mappings, and take ${...} where a setting is more than any text", () => {
  const schema = JSON.stringify(jsonSchema(connectors, [{ name: "a/b" }]));
  expect(schema).toContain('"const":"files"');
  expect(schema).toContain('"enum":["a/b"]');
  expect(schema).toContain(String.raw`{"type":"string","pattern":"\\$\\{.+\\}"}`);
});
