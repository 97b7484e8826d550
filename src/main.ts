/**
 * The door: runs one command. Commands load what they need themselves, so none waits for what it does not use.
 */
import { complainOf, runProgram } from "./cli/program.ts";

const words = process.argv.slice(2);
// What nobody waited for ends the process as well, in our words and without secrets.
process.on("uncaughtException", (error) => {
  complainOf(words, error);
  process.exit();
});
// A reader that has seen enough (`| head`) is no error.
process.stdout.on("error", () => {});
await runProgram(words);
