/**
 * `npm run new-connector NAME`: a connector called NAME that works, as a copy of `connectors/example` with its tests, the
 * line in the list of connectors, and the schema of the configuration. docs/connectors.md says how to go on.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, globSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Script } from "node:vm";

const root = join(import.meta.dirname, "..");
const connectors = join(root, "connectors");
const PATTERN = "connectors/example";
const LIST = join(connectors, "index.ts");
const SCHEMA = "config/fuelbridge.schema.json";

const [name = ""] = process.argv.slice(2);
const trouble = troubleWith(name);
if (trouble === null) create();
else {
  process.stderr.write(`new-connector: ${trouble}\n`);
  process.exitCode = 2;
}

/** Null: a connector may be called so. */
function troubleWith(name: string): string | null {
  const usage = "Say npm run new-connector NAME, with a name of small letters and digits.";
  if (!/^[a-z][a-z0-9]{1,30}$/.test(name)) return `"${name}" is no name for a connector. ${usage}`;
  if (!isIdentifier(name)) return `"${name}" is a word of JavaScript. Choose another name.`;
  return existsSync(join(connectors, name))
    ? `connectors/${name} exists already. Choose another name, or remove that folder.`
    : null;
}

function isIdentifier(name: string): boolean {
  try {
    return new Script(`const ${name} = 1;`) instanceof Script;
  } catch {
    return false;
  }
}

function create(): void {
  const folder = join(connectors, name);
  cpSync(join(root, PATTERN), folder, { recursive: true });
  const title = `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
  for (const path of globSync(`${folder}/**/*.*`)) {
    const text = readFileSync(path, "utf8")
      .replaceAll(/\bexample\b/g, name)
      .replaceAll(/\bExample/g, title);
    writeFileSync(path, text);
    renameSync(path, join(dirname(path), basename(path).replace(/^example\b/, name)));
  }
  enlist();
  const schema = execFileSync(process.execPath, ["src/launch.mjs", "schema"], {
    cwd: root,
    encoding: "utf8",
  });
  writeFileSync(join(root, SCHEMA), schema);
  const prettier = join(root, "node_modules/.bin/prettier");
  const changed = [SCHEMA, "connectors/index.ts", `connectors/${name}`];
  execFileSync(prettier, ["--write", "--log-level", "warn", ...changed], { cwd: root });
  process.stdout.write(
    `connectors/${name} is made, and is in connectors/index.ts and ${SCHEMA}.\n` +
      `Next: npm run check, npm test -- connectors/${name}, then docs/connectors.md from step 2.\n`,
  );
}

/** Adds it to the list of connectors, in the order of their names. */
function enlist(): void {
  const text = readFileSync(LIST, "utf8");
  const names = [...text.matchAll(/^import \{ (\w+) \} from "\.\/\w+\/index\.ts";$/gm)].map(
    ([, one = ""]) => one,
  );
  const all = [...names, name].toSorted();
  const imports = all.map((one) => `import { ${one} } from "./${one}/index.ts";`).join("\n");
  const [first = ""] = text.match(/^import \{ \w+ \} from "\.\//m) ?? [];
  const head = text.slice(0, text.indexOf(first));
  const list = `export const connectors: readonly Connector[] = [${all.join(", ")}];`;
  writeFileSync(LIST, `${head}${imports}\n\n${list}\n`);
}
