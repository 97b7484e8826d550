/**
 * `npm run new-connector NAME`: a connector called NAME that works, as a copy of `connectors/example` with its tests, and the
 * schema of the configuration. docs/connectors.md says how to go on.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, globSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Script } from "node:vm";

const root = join(import.meta.dirname, "..");
const connectors = join(root, "connectors");
const PATTERN = "connectors/example";
const SCHEMA = "config/fuelbridge.schema.json";

function main(name: string): void {
  const trouble = troubleWith(name);
  if (trouble === null) return create(name);
  process.stderr.write(`new-connector: ${trouble}\n`);
  process.exitCode = 2;
}

/** Null: a connector may be called so. */
function troubleWith(name: string): string | null {
  const usage = "Say npm run new-connector NAME, with a name of small letters, digits and hyphens.";
  if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name) || !/^.{2,31}$/.test(name))
    return `"${name}" is no name for a connector. ${usage}`;
  if (!isIdentifier(identifierOf(name)))
    return `"${name}" is a word of JavaScript. Choose another name.`;
  return existsSync(join(connectors, name))
    ? `connectors/${name} exists already. Choose another name, or remove that folder.`
    : null;
}

/** `business-central` as code calls it: `businessCentral`. */
const identifierOf = (name: string): string =>
  name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());

function isIdentifier(name: string): boolean {
  try {
    return new Script(`const ${name} = 1;`) instanceof Script;
  } catch {
    return false;
  }
}

function create(name: string): void {
  const folder = join(connectors, name);
  cpSync(join(root, PATTERN), folder, { recursive: true });
  const id = identifierOf(name);
  const title = `${id.slice(0, 1).toUpperCase()}${id.slice(1)}`;
  for (const path of globSync(`${folder}/**/*.*`)) {
    const text = readFileSync(path, "utf8")
      .replaceAll(NAMED, name)
      .replaceAll(/\bexample\b/g, path.endsWith(".ts") ? id : name)
      .replaceAll(/\bExample/g, title);
    writeFileSync(path, text);
    renameSync(path, join(dirname(path), basename(path).replace(/^example\b/, name)));
  }
  const schema = execFileSync(process.execPath, ["src/launch.mjs", "schema"], {
    cwd: root,
    encoding: "utf8",
  });
  writeFileSync(join(root, SCHEMA), schema);
  const prettier = join(root, "node_modules/.bin/prettier");
  const changed = [SCHEMA, `connectors/${name}`];
  execFileSync(prettier, ["--write", "--log-level", "warn", ...changed], { cwd: root });
  process.stdout.write(
    `connectors/${name} is made, and is in ${SCHEMA}.\n` +
      `Next: npm run check, npm test -- connectors/${name}, then docs/connectors.md from step 2.\n`,
  );
}

/** In code too: the name of the connector, and of its files. */
const NAMED = /(?<=["`]|\.\/)example(?=["`]|\.(?:fixture|test)\b)/g;

if (import.meta.main) main(process.argv[2] ?? "");
