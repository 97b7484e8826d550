/** Reads `t*.csv` of a folder as terminals, and prints what came of it and the most memory. */
import { files } from "../../connectors/files/index.ts";
import { surroundingsIn } from "../support/surroundings.ts";

const [, , folder = ""] = process.argv;
const source = { layout: "plain/terminals", pick: "t*.csv" };
const endpoint = files.open(
  files.config.parse({ folder: ".", settleMs: 0, sources: { it: source } }),
  surroundingsIn(folder),
);
const good: string[] = [];
const bad: string[] = [];
const left: string[] = [];
const reading = {
  signal: new AbortController().signal,
  known: () => null,
  stored: () => false,
  hindered: ({ what }: { readonly what: string }) => void left.push(what),
};
for await (const { changes } of endpoint.sources["it"]?.read(null, reading) ?? [])
  for (const { id, fault } of changes) (fault === undefined ? good : bad).push(id);
const peakMb = process.resourceUsage().maxRSS / 1024;
process.stdout.write(JSON.stringify({ good, bad, left, peakMb }));
