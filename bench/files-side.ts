/**
 * One side of the comparison in a process of its own: csv-parse streams the rows of a file and keeps none; or the files
 * connector reads it as the engine does: hashed, decoded, typed, checked for keys that are there twice, in pages.
 */
import { createReadStream } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parse } from "csv-parse";
import { report } from "./usage.ts";
import { files } from "../connectors/files/index.ts";
import { openScratch } from "../src/store/scratch.ts";
import { surroundingsIn } from "../test/support/surroundings.ts";

const { FUELBRIDGE_SIDE: side = "", FUELBRIDGE_FILE: path = "" } = process.env;

async function csvParse(): Promise<number> {
  let rows = -1;
  for await (const _ of createReadStream(path).pipe(parse())) rows++;
  return rows;
}

async function fuelbridge(): Promise<number> {
  const folder = dirname(path);
  const source = {
    layout: "books.prices",
    profile: "canonical/rack-prices",
    pick: basename(path),
  };
  const endpoint = files.open(
    files.config.parse({ folder: ".", settleMs: 0, sources: { prices: source } }),
    surroundingsIn(folder, { scratch: (bytes) => openScratch(join(folder, "state"), bytes) }),
  );
  let records = 0;
  const { signal } = new AbortController();
  const pages = endpoint.sources["prices"]?.read(null, {
    signal,
    known: () => null,
    stored: () => false,
  });
  for await (const { changes } of pages ?? [])
    records += changes.filter(({ fault }) => fault === undefined).length;
  return records;
}

await report(() => (side === "csv-parse" ? csvParse() : fuelbridge()));
