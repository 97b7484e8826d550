/**
 * `npm run new-connector` in a copy of the repository: what it makes works as it is, and passes every check.
 *
 * @module-tag numbers
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const root = join(import.meta.dirname, "..");
const MINUTES_MS = 20 * 60_000;

/** Everything that is committed, or would be; the dependencies are shared. */
function copyOfRepository(): string {
  const copy = mkdtempSync(join(tmpdir(), "fuelbridge-connector-"));
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  const told = execFileSync(
    "git",
    ["ls-files", "--cached", "--others", "--exclude-standard", "-z"],
    { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
  );
  for (const path of told.split("\0").filter((one) => one !== ""))
    cpSync(join(root, path), join(copy, path));
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}

test(
  "a new connector is listed and in the schema, passes its kit, and npm run check is green right after",
  { timeout: MINUTES_MS },
  () => {
    const copy = copyOfRepository();
    const run = (...words: string[]) => {
      const { status, stdout, stderr } = spawnSync("npm", ["run", "--silent", ...words], {
        cwd: copy,
        encoding: "utf8",
      });
      return { status, told: `${stdout}${stderr}` };
    };
    expect(run("new-connector", "acme")).toMatchObject({ status: 0 });
    expect(readFileSync(join(copy, "connectors/index.ts"), "utf8")).toContain("[acme, example,");
    const schema = readFileSync(join(copy, "config/fuelbridge.schema.json"), "utf8");
    expect(schema).toContain('"const": "acme"');
    for (const words of [["test", "--", "connectors/acme"], ["check"]]) {
      const { status, told } = run(...words);
      expect(status, told).toBe(0);
    }
  },
);

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
