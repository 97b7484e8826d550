/**
 * The door: runs one command. Commands load what they need themselves, so none waits for what it does not use.
 */
import { registerHooks } from "node:module";
import { extname } from "node:path";

/** By the ending of a module of ours. */
const FORMATS: Readonly<Record<string, string>> = { ".ts": "module-typescript", ".js": "module" };
const root = new URL("..", import.meta.url).href;
const PACKAGES = "node_modules/";
/** A quarter of all modules that a command loads. */
const ZOD = `${PACKAGES}zod/`;

/** undici does without it, and it takes a twentieth of a command that asks somebody (src/transport/http.ts). */
const UNUSED = "HTTP/2 is not spoken";

/** Of a module that another one of its package names by its whole path; undefined: Node looks for it. */
function formatOf(name: string, from: string, isRequired: boolean): string | undefined {
  const ending = name.startsWith(".") ? extname(name) : "";
  if (from.startsWith(root) && !from.includes(PACKAGES, root.length)) return FORMATS[ending];
  if (ending !== ".js" || !from.endsWith(".js") || !from.includes(PACKAGES)) return undefined;
  if (isRequired) return "commonjs";
  return from.includes(ZOD) ? "module" : undefined;
}

// What Node looks for in folders and manifests takes a tenth of a start, or more.
registerHooks({
  resolve(name, { parentURL: from = "", conditions, ...context }, next) {
    const format = formatOf(name, from, conditions.includes("require"));
    if (name === "node:http2" && from.includes(`${PACKAGES}undici/`)) throw new Error(UNUSED);
    if (format === undefined) return next(name, { parentURL: from, conditions, ...context });
    // Its messages in other languages, which nobody here reads, are half of its modules.
    const isOfAll = from.includes(ZOD) && name === "../locales/index.js";
    const path = isOfAll ? "../locales/en.js" : name;
    return { url: new URL(path, from).href, format, shortCircuit: true };
  },
});
const { complainOf, runProgram } = await import("./cli/program.ts");

const words = process.argv.slice(2);
// What nobody waited for ends the process as well, in our words and without secrets.
process.on("uncaughtException", (error) => {
  complainOf(words, error);
  process.exit();
});
// A reader that has seen enough (`| head`) is no error.
process.stdout.on("error", () => {});
await runProgram(words);
