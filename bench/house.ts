/**
 * How large the house is: code lines by room, files, what one invoice enters on its way from the platform to a file,
 * circles of imports, exports, words. Nothing here has a target: the figures of two commits are compared.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { circlesOf, isProduction, isTest, readSources, type SourceFile } from "./sources.ts";
import { inChild, inFolder, median, root, say, startPlatform, whole } from "./support.ts";

export async function benchHouse(): Promise<void> {
  const all = readSources();
  const production = all.filter(({ path }) => isProduction(path));
  say("house: code lines have neither blanks nor comments alone", "");
  rooms(production);
  const tests = all.filter(({ path }) => isTest(path));
  say(
    "",
    row("production files", production.length),
    row("median raw lines of one", median(production.map(({ raw }) => raw))),
    row("exports", sumOf(production, "exports")),
    row("raw lines of tests", sumOf(tests, "raw")),
    row("files of tests", tests.length),
    "",
  );
  const circles = circlesOf(all);
  say(row("import circles, types counted", circles.length));
  for (const circle of circles) say(`  ${circle.join(" ")}`);
  say("", ...papers(), "");
  await entered();
}

const row = (what: string, value: number): string =>
  `${what.padEnd(34)}${whole(value).padStart(8)}`;

const sumOf = (files: readonly SourceFile[], field: "code" | "raw" | "exports"): number =>
  files.reduce((sum, file) => sum + file[field], 0);

/** Two folders deep: `src/engine`, `connectors/files`; mappings are one room. */
const roomOf = (path: string): string => {
  const [first = "", second = ""] = path.split("/");
  return first === "mappings" || second.includes(".") ? first : `${first}/${second}`;
};

function rooms(files: readonly SourceFile[]): void {
  const line = (room: string, its: readonly SourceFile[]): void =>
    say(`${row(room, sumOf(its, "code"))} lines in ${String(its.length).padStart(3)} files`);
  const byRoom = [...Map.groupBy(files, ({ path }) => roomOf(path))];
  for (const [room, its] of byRoom.toSorted(([one], [other]) => (one < other ? -1 : 1)))
    line(room, its);
  line("all of it", files);
}

function papers(): string[] {
  const text = (name: string): string => readFileSync(join(root, name), "utf8");
  const glossary = /## Words\n([^]*?)\n## /.exec(text("ARCHITECTURE.md"))?.[1] ?? "";
  const rows = glossary.split("\n").filter((line) => line.startsWith("|")).length;
  const adrs = readdirSync(join(root, "docs/adr")).filter((name) => name.endsWith(".md"));
  return [
    // Without the head of the table.
    row("words of the glossary", Math.max(0, rows - 2)),
    row(
      "words of the README",
      text("README.md")
        .split(/\s+/)
        .filter((word) => word !== "").length,
    ),
    row("decisions in docs/adr", adrs.length),
  ];
}

async function entered(): Promise<void> {
  const platform = await startPlatform("empty");
  try {
    await platform.generateInvoices(1);
    const files = await inFolder(async (folder) => {
      mkdirSync(join(folder, "exchange"));
      const path = join(folder, "fuelbridge.yaml");
      writeFileSync(path, configuration(platform.url));
      const env = { FUELBRIDGE_CONFIG: path, FUELBRIDGE_API_KEY: platform.apiKey };
      const its = await inChild<readonly { file: string; functions: number }[]>(
        "house-side.ts",
        env,
      );
      const written = readdirSync(join(folder, "exchange", "invoices"));
      if (written.length !== 1) throw new Error(`it wrote ${written.length} files for one invoice`);
      return its;
    });
    const functions = files.reduce((sum, one) => sum + one.functions, 0);
    say(
      "one invoice from the platform to a file enters, after the start:",
      row("files", files.length),
      row("functions", functions),
    );
    const byRoom = Map.groupBy(files, ({ file }) => roomOf(file));
    for (const [room, its] of [...byRoom].toSorted(
      ([, one], [, other]) => other.length - one.length,
    ))
      say(`  ${String(its.length).padStart(3)} ${room}`);
  } finally {
    await platform.stop();
  }
}

const configuration = (url: string): string => `version: 1
company: bluebonnet
currency: USD
timeZone: America/Chicago
state: ./state
firstStart: ${new Date().toISOString().slice(0, 10)}
platform:
  url: ${url}
  environment: live
  apiKey: \${FUELBRIDGE_API_KEY}
crossReferences: ${join(root, "config/crossref")}
endpoints:
  erp:
    connector: files
    folder: ./exchange
    sinks:
      invoices:
        document: customer-invoices
        folder: invoices
flows:
  invoices-issued:
    mapping: canonical/customer-invoices
    from: platform.invoicesIssued
    to: erp.invoices
    every: 10m
`;
