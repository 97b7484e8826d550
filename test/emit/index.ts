/**
 * `npm run emit -- --connector files --format csv --out DIR [--seed N] [--count N]`: every file that a connector can write,
 * for others to validate: of all cases, and of random documents.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { type Emitted, formats } from "./formats.ts";
import { desktopRequests } from "./quickbooks-desktop.ts";

const { values } = parseArgs({
  options: {
    connector: { type: "string", default: "files" },
    format: { type: "string", default: "csv" },
    out: { type: "string" },
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "500" },
  },
});
const [seed, count] = [Number(values.seed), Number(values.count)];
const { connector, format, out } = values;
const emitter = connector === "files" ? formats[format] : undefined;
const isDesktop = connector === "quickbooks-desktop";
if (
  (emitter === undefined && !isDesktop) ||
  out === undefined ||
  !Number.isInteger(seed) ||
  !Number.isInteger(count)
) {
  process.stderr.write(
    `Usage: npm run emit -- --connector files --format ${Object.keys(formats).join("|")} --out DIR [--seed NUMBER] [--count NUMBER]\n` +
      "       npm run emit -- --connector quickbooks-desktop --out DIR [--seed NUMBER] [--count NUMBER]\n",
  );
  process.exitCode = 2;
} else {
  const files = emitter?.(seed, count) ?? (await desktopRequests(seed, count));
  write(files, join(out, isDesktop ? connector : format));
}

function write(files: Iterable<Emitted>, folder: string): void {
  let written = 0;
  for (const { path, bytes } of files) {
    const to = join(folder, path);
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, bytes);
    written++;
  }
  process.stdout.write(`${written} files are in ${folder} (seed ${seed}).\n`);
}
