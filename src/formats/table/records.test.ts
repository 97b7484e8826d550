import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { memoryScratch } from "../../core/scratch.ts";
import { FileFault, PartFault } from "../format.ts";
import { HEADS, openProfile, type Profile } from "./profile.ts";
import { changesOf, readRecords } from "./records.ts";
import { Sheet } from "./text.ts";
import { COMMAS, specimenProfiles } from "../../../test/files/specimens.ts";
import { numbers, runs } from "../../../test/support/runs.ts";

const LINE_FEED = 0x0a;

/** In pieces of `size` characters. */
async function* piecesOf(bytes: Buffer, size: number): AsyncGenerator<string> {
  const text = new TextDecoder().decode(bytes, { stream: true });
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

async function read(profile: Profile, bytes: Buffer, size = 1e6) {
  const sheet = await Sheet.open(piecesOf(bytes, size), COMMAS);
  const scratch = memoryScratch();
  const parts = new Map([[HEADS, { file: "it.csv", sheet }]]);
  const { cut } = await readRecords(profile, parts, {}, scratch);
  const changes = changesOf(scratch, 0, scratch.count());
  return { cut, records: changes.map(({ id, text, fault }) => (fault ? `fault of ${id}` : text)) };
}

const begin = (name: string, length: number): Buffer =>
  readFileSync(new URL(`../../../test/data/tryton-export/${name}`, import.meta.url)).subarray(
    0,
    length,
  );

/** Only a cut that falls exactly on a line end cannot be seen. */
test.for([
  ["customers.csv", "tryton-export/customers"],
  ["price-lists.csv", "tryton-export/price-lists"],
  ["supplier-invoices.csv", "tryton-export/supplier-invoices"],
] as const)(
  "%s cut at any byte gives whole records and says so",
  numbers,
  async ([name, layout]) => {
    const profile = specimenProfiles.get(layout) ?? openProfile(layout, "");
    const bytes = begin(name, 2600);
    const whole = (await read(profile, begin(name, 1e6))).records;
    for (let end = 1; end < bytes.length; end += runs(7, 1)) {
      if (bytes[end - 1] === LINE_FEED) continue;
      try {
        const { cut, records } = await read(
          profile,
          bytes.subarray(0, end),
          end % 10 === 0 ? 300 : 1e6,
        );
        expect(records).toEqual(whole.slice(0, records.length));
        expect(cut).not.toBeNull();
      } catch (error) {
        const fault = error instanceof PartFault ? error.fault : error;
        expect(fault).toBeInstanceOf(FileFault);
      }
    }
  },
);
