/**
 * The door: runs one command. Commands load what they need themselves, so none waits for what it does not use.
 */
import { registerHooks } from "node:module";
import { extname } from "node:path";

/** By the ending of a module of ours. */
const FORMATS: Readonly<Record<string, string>> = { ".ts": "module-typescript", ".js": "module" };
const root = new URL("..", import.meta.url).href;

// Our modules name each other by whole paths: what Node looks for in folders and manifests takes a tenth of a start.
registerHooks({
  resolve(name, context, next) {
    const { parentURL: from = "" } = context;
    const isOurs = from.startsWith(root) && !from.includes("node_modules/", root.length);
    const format = isOurs && name.startsWith(".") ? FORMATS[extname(name)] : undefined;
    if (format === undefined) return next(name, context);
    return { url: new URL(name, from).href, format, shortCircuit: true };
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
