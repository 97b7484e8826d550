/**
 * `npm run emit -- --connector files --format csv|idoc|x12 --out DIR [--seed N] [--count N]`: every file that a connector can write,
 * for others to validate: of all cases, and of random documents.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { formats } from "./formats.ts";

const { values } = parseArgs({
  options: {
    connector: { type: "string", default: "files" },
    format: { type: "string", default: "csv" },
    out: { type: "string" },
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "500" },
  },
});
const emitter = formats[values.format];
const [seed, count] = [Number(values.seed), Number(values.count)];
if (
  values.connector !== "files" ||
  emitter === undefined ||
  values.out === undefined ||
  !Number.isInteger(seed) ||
  !Number.isInteger(count)
) {
  process.stderr.write(
    `Usage: npm run emit -- --connector files --format ${Object.keys(formats).join("|")} --out DIR [--seed NUMBER] [--count NUMBER]\n`,
  );
  process.exitCode = 2;
} else {
  const folder = join(values.out, values.format);
  let written = 0;
  for (const { path, bytes } of emitter(seed, count)) {
    const to = join(folder, path);
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, bytes);
    written++;
  }
  process.stdout.write(`${written} files are in ${folder} (seed ${seed}).\n`);
}
