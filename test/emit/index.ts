/**
 * `npm run emit -- --connector files --format csv --out DIR [--seed N] [--count N]`: every file that a connector can write,
 * for others to validate: of all cases, and of random documents. Other connectors have one format each:
 * `--connector quickbooks-online --out DIR`.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { connectors, formats } from "./formats.ts";

const { values } = parseArgs({
  options: {
    connector: { type: "string", default: "files" },
    format: { type: "string", default: "csv" },
    out: { type: "string" },
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "500" },
  },
});
const isFiles = values.connector === "files";
const emitter = isFiles ? formats[values.format] : connectors[values.connector];
const [seed, count] = [Number(values.seed), Number(values.count)];
if (
  emitter === undefined ||
  values.out === undefined ||
  !Number.isInteger(seed) ||
  !Number.isInteger(count)
) {
  process.stderr.write(
    `Usage: npm run emit -- --connector files --format ${Object.keys(formats).join("|")} --out DIR [--seed NUMBER] [--count NUMBER]\n` +
      `       npm run emit -- --connector ${Object.keys(connectors).join("|")} --out DIR [--seed NUMBER] [--count NUMBER]\n`,
  );
  process.exitCode = 2;
} else {
  const folder = join(values.out, isFiles ? values.format : values.connector);
  let written = 0;
  for (const { path, bytes } of await emitter(seed, count)) {
    const to = join(folder, path);
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, bytes);
    written++;
  }
  process.stdout.write(`${written} files are in ${folder} (seed ${seed}).\n`);
}
