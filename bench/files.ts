/**
 * Rows a second of a CSV of 200,000 rows, and the memory that it takes: csv-parse alone, and the files connector with a
 * shipped profile, in turns and each in a fresh process. Prices are read by the connector alone, as many records as rows;
 * tickets (bench/documents.ts) are pulled into the store. Then bills as IDocs, beside fast-xml-parser's builder.
 */
import { join } from "node:path";
import { table } from "../src/views/text.ts";
import { benchDocuments, type Round } from "./documents.ts";
import type { Side } from "./pull.ts";
import { inChild, inFolder, median, say, verdict, whole, writePieces } from "./support.ts";

const ROWS = 200_000;
/** Bills with eight lines each. */
const IDOCS = 5_000;
const MAX_MB = 200;
const LEAST = 0.5;
/** As the launcher starts the daemon (src/launch.mjs). */
const FLAGS = ["--max-semi-space-size=4", "--heap-growing-percent=100"];
const ENV = { MALLOC_ARENA_MAX: "2" };

export async function benchFiles(rounds: number): Promise<void> {
  say("", `files: ${whole(ROWS)} rows, seconds of CPU (peak MB)`);
  const rows: Pair[] = [];
  const documents: Round[] = [];
  for (let at = 0; at < rounds; at++) {
    const both = await inFolder(async (folder) => {
      const path = join(folder, "prices.csv");
      await writePieces(path, prices());
      const run = (side: string) =>
        inChild<Side>(
          "files-side.ts",
          { FUELBRIDGE_SIDE: side, FUELBRIDGE_FILE: path, ...ENV },
          FLAGS,
        );
      return { bare: await run("csv-parse"), ours: await run("fuelbridge") };
    });
    for (const [side, { records }] of Object.entries(both))
      if (records !== ROWS) throw new Error(`${side} read ${records} of ${ROWS} rows`);
    rows.push(both);
    say(`  prices: csv-parse ${shown(both.bare)}   the connector alone ${shown(both.ours)}`);
    const round = await benchDocuments(ROWS, FLAGS, ENV);
    documents.push(round);
    const { bare, pulled, mapped } = round;
    say(
      `  tickets: csv-parse ${shown(bare)}   stored ${shown(pulled)}   mapped and frozen, too ${shown(mapped)}`,
    );
  }
  const sides = [
    compared("prices, read by the connector alone", rows),
    compared("tickets, pulled into the store", documents.map(beside("pulled"))),
    compared("tickets, mapped and frozen, too", documents.map(beside("mapped"))),
  ];
  say(
    "",
    table(["FILES", "SPEED OF CSV-PARSE ALONE", "TARGET", "", "PEAK MB", "TARGET", ""], sides),
  );
}

const beside =
  (side: "pulled" | "mapped") =>
  (round: Round): Pair => ({ bare: round.bare, ours: round[side] });

interface Pair {
  readonly bare: Side;
  readonly ours: Side;
}

function compared(what: string, rows: readonly Pair[]): string[] {
  const ratio = median(rows.map(({ bare, ours }) => bare.cpuSeconds / ours.cpuSeconds));
  const peakMb = Math.max(...rows.map(({ ours }) => ours.peakMb));
  const speed = [ratio.toFixed(2), `>= ${LEAST}`, verdict(ratio >= LEAST)];
  return [what, ...speed, whole(peakMb), `< ${MAX_MB}`, verdict(peakMb < MAX_MB)];
}

/** Documents a second as IDocs: fast-xml-parser's builder of trees that are ready, and ours of bills. */
export async function benchIdoc(rounds: number): Promise<void> {
  say("", `files: ${whole(IDOCS)} bills as IDocs, seconds of CPU (peak MB)`);
  const ratios: number[] = [];
  for (let at = 0; at < rounds; at++) {
    const run = (side: string) =>
      inChild<Side>("idoc-side.ts", {
        FUELBRIDGE_SIDE: side,
        FUELBRIDGE_DOCUMENTS: String(IDOCS),
      });
    const both = { builder: await run("builder"), ours: await run("fuelbridge") };
    for (const [side, { records }] of Object.entries(both))
      if (records !== IDOCS) throw new Error(`${side} wrote ${records} of ${IDOCS} documents`);
    ratios.push(both.builder.cpuSeconds / both.ours.cpuSeconds);
    say(`  fast-xml-parser ${shown(both.builder)}   fuelbridge ${shown(both.ours)}`);
  }
  const ratio = median(ratios);
  say(
    "",
    table(
      ["IDOC", "FIGURE", "TARGET", ""],
      [["speed of its builder alone", ratio.toFixed(2), ">= 1", verdict(ratio >= 1)]],
    ),
  );
}

const shown = ({ cpuSeconds, peakMb }: Side): string =>
  `${cpuSeconds.toFixed(2)} (${whole(peakMb)})`;

/** Rows as a supplier's list has them, some cells quoted; every row another terminal and product. */
function* prices(): Generator<string> {
  yield "terminal_id,product,price,unit,effective_at,supplier,brand,source\r\n";
  for (let at = 0; at < ROWS; at++) {
    const terminal = `T-${String(at % 100).padStart(2, "0")}-TX-${1000 + Math.floor(at / 100)}`;
    yield `${terminal},ULSD${at % 7},2.${1000 + (at % 9000)},gal,,"Gulf Coast Refining, LLC",Unbranded,price desk\r\n`;
  }
}
