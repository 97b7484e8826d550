/**
 * The client as a program of somebody else's gets it: from the tarball that `npm pack` makes, with its types.
 *
 * @module-tag numbers
 */
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { usePlatform } from "./platform/support.ts";
import { tempFolder } from "./support/folder.ts";

const root = join(import.meta.dirname, "..");
const platform = usePlatform("conformance");

const tsc = (folder: string, ...args: readonly string[]): string =>
  execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), ...args], {
    cwd: folder,
    encoding: "utf8",
  });

/** A folder with the package installed in it; its dependencies are those of this checkout. */
function installed(): string {
  const folder = tempFolder();
  const whole = join(folder, "package");
  mkdirSync(whole);
  for (const file of ["package.json", "LICENSE", "README.md"])
    cpSync(join(root, file), join(whole, file));
  const dist = join(whole, "dist");
  tsc(root, "-p", "tsconfig.types.json", "--emitDeclarationOnly", "false", "--outDir", dist);
  const options = { cwd: whole, encoding: "utf8", shell: process.platform === "win32" } as const;
  execFileSync("npm", ["pack", "--silent", "--offline", "--pack-destination", folder], options);
  const [tarball = ""] = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  const modules = join(folder, "app", "node_modules");
  mkdirSync(modules, { recursive: true });
  execFileSync("tar", ["-xzf", join(folder, tarball), "-C", modules]);
  cpSync(join(modules, "package"), join(modules, "fuelbridge"), { recursive: true });
  for (const name of [...Object.keys(manifest.dependencies), "@types"]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  }
  return join(folder, "app");
}

const PROGRAM = `import { client, Decimal, PlatformError } from "fuelbridge/client";

const [url = "", apiKey = ""] = process.argv.slice(2);
const platform = client({ url, apiKey });
const ids: string[] = [];
for await (const { data } of platform.pages("listOrders"))
  for (const { id, lines = [] } of data)
    if (lines.every(({ quantity, gallons }) => (quantity ?? gallons) instanceof Decimal)) ids.push(id);
// @ts-expect-error: an id is text, and the types say so
const known = (await platform.listOrders()).data.map(({ id }) => id.toFixed);
const missing = await platform.getOrder({ id: "99999999-9999-4999-8999-999999999999" }).catch((error: unknown) => error);
console.log(JSON.stringify({ ids, known: known.length, status: missing instanceof PlatformError ? missing.status : null }));
await platform.close();
`;

const CONFIG = {
  compilerOptions: {
    target: "ES2024",
    module: "NodeNext",
    strict: true,
    types: ["node"],
    outDir: "out",
  },
  files: ["program.ts"],
};

test("a program that imports fuelbridge/client from the tarball compiles, and lists the orders", async () => {
  const app = installed();
  writeFileSync(join(app, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(app, "program.ts"), PROGRAM);
  writeFileSync(join(app, "tsconfig.json"), JSON.stringify(CONFIG));
  expect(tsc(app, "-p", ".")).toBe("");
  const args = [
    join(app, "out", "program.js"),
    platform.urls().baseUrl,
    platform.secret("supplier"),
  ];
  const said = await output(args);
  const orders = await platform.control.stored("orders", "supplier");
  expect(orders.length).toBeGreaterThan(0);
  const { ids, status } = JSON.parse(said) as { ids: string[]; status: number };
  expect(ids.toSorted()).toEqual(orders.map(({ id }) => String(id)).toSorted());
  expect(status).toBe(404);
}, 600_000);

/** The sandbox runs in this process, so the program must not hold it up. */
async function output(args: readonly string[]): Promise<string> {
  const program = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const chunks: Buffer[] = [];
  for await (const chunk of program.stdout) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
