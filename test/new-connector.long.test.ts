/**
 * `npm run new-connector` in a copy of the repository: what it makes works as it is, and passes every check.
 *
 * @module-tag numbers
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connectorsNamed } from "../connectors/index.ts";

const connectors = await connectorsNamed();
const root = join(import.meta.dirname, "..");
const MINUTES_MS = 20 * 60_000;

/** Everything that is committed, or would be; the dependencies are shared. */
function copyOfRepository(): { readonly copy: string; readonly paths: ReadonlySet<string> } {
  const copy = mkdtempSync(join(tmpdir(), "fuelbridge-connector-"));
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  const told = execFileSync(
    "git",
    ["ls-files", "--cached", "--others", "--exclude-standard", "-z"],
    { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
  );
  const paths = new Set(told.split("\0").filter((one) => one !== ""));
  for (const path of paths) cpSync(join(root, path), join(copy, path));
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return { copy, paths };
}

/** Files of the copy that the repository does not have, or has otherwise. */
const changedIn = (copy: string, paths: ReadonlySet<string>): string[] =>
  globSync("**/*.*", { cwd: copy, exclude: ["node_modules"] }).filter(
    (path) =>
      statSync(join(copy, path)).isFile() &&
      !(paths.has(path) && readFileSync(join(root, path)).equals(readFileSync(join(copy, path)))),
  );

test(
  "a new connector is listed and in the schema, passes its kit, and npm run check is green right after",
  { timeout: MINUTES_MS },
  () => {
    const { copy, paths } = copyOfRepository();
    const run = (command: string, ...words: string[]) => {
      const { status, stdout, stderr } = spawnSync(command, words, { cwd: copy, encoding: "utf8" });
      return { status, told: `${stdout}${stderr}` };
    };
    expect(run("npm", "run", "--silent", "new-connector", "acme")).toMatchObject({ status: 0 });
    const schema = readFileSync(join(copy, "config/fuelbridge.schema.json"), "utf8");
    for (const { name } of [...connectors, { name: "acme" }])
      expect(schema).toContain(`"const": "${name}"`);
    const changed = changedIn(copy, paths);
    expect(changed).toContain("connectors/acme/index.ts");
    const { status, told } = run("npm", "test", "--", "connectors/acme");
    expect(status, told).toBe(0);
    for (const [tool = "", ...words] of checks()) {
      const files = BY_FILE.has(tool) ? changed : [];
      const { status, told } = run("node", "src/launch.mjs", "--tool", tool, ...words, ...files);
      expect(status, `${tool}: ${told}`).toBe(0);
    }
  },
);

/** What these say of the other files, `npm run check` says in the repository itself. */
const BY_FILE = new Set(["oxlint", "prettier"]);

/** The commands of `npm run check` in words, without the folder that all of them take. */
function checks(): string[][] {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: Record<"check:all", string>;
  };
  return scripts["check:all"]
    .split(" && ")
    .map((command) => command.split(" ").filter((word) => word !== "."));
}

test("a name that is taken, or that is no name, is refused with what to do", () => {
  const told = ["files", "Two Words", "import", ""].map((name) => {
    const program = join(root, "packaging/new-connector.ts");
    const { status, stderr } = spawnSync(process.execPath, [program, name], { encoding: "utf8" });
    return `${status} ${stderr}`;
  });
  expect(told).toEqual([
    expect.stringMatching(/^2 new-connector: connectors\/files exists already\. Choose another/),
    expect.stringMatching(/^2 new-connector: "Two Words" is no name for a connector\. Say npm run/),
    expect.stringMatching(/^2 new-connector: "import" is a word of JavaScript\. Choose another/),
    expect.stringMatching(/^2 new-connector: "" is no name for a connector\. Say npm run/),
  ]);
});
