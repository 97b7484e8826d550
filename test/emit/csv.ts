/** The tables that the files connector writes: each kind of document in each shipped profile of it. */
import * as fc from "fast-check";
import { calendarOf } from "../../src/core/time.ts";
import { type DocumentName, documents } from "../../src/formats/documents.ts";
import { bytesOf } from "../../src/formats/format.ts";
import {
  guardedAs,
  openProfile,
  type Profile,
  shippedProfiles,
} from "../../src/formats/table/profile.ts";
import { documentsWriter } from "../../src/formats/table/write.ts";
import { textOf } from "../files/table-round-trip.ts";
import { itemsOfCases } from "./cases.ts";
import { type Emitted, emitted } from "./emitted.ts";
import { recordsFor } from "../files/random-records.ts";

export function* csvFiles(seed: number, count: number): Generator<Emitted> {
  const cases = itemsOfCases();
  for (const name of shippedProfiles()) {
    const profile = openProfile(name, "");
    const kind = profile.layout.name.replace(/^files\./, "");
    if (kind in documents && profile.layout.name !== kind)
      yield* filesOf(
        name,
        profile,
        kind as DocumentName,
        (cases.get(`files.${kind}`) ?? []).map(({ document }) => document),
        seed,
        count,
      );
  }
}

/** What a profile has no room for (a tab where there are no quotes) is no file. */
function* filesOf(
  name: string,
  profile: Profile,
  kind: DocumentName,
  cases: readonly unknown[],
  seed: number,
  count: number,
): Generator<Emitted> {
  const dayOf = calendarOf("America/Chicago");
  const isSafe = profile.quotes !== "none" && profile.file === "csv";
  const guarded = guardedAs(profile, isSafe);
  const write = documentsWriter({ document: kind, profile: guarded, dayOf });
  const file = (called: string, text: () => string): Emitted[] =>
    emitted(`${name}/${called}.${profile.ending}`, () => bytesOf(text(), profile.encoding));
  for (const [at, document] of cases.entries())
    yield* file(`case-${at + 1}`, () => write([document]));
  const records = recordsFor(profile, profile.encoding, 1);
  for (const [at, record] of fc.sample(records, { seed, numRuns: count }).entries())
    yield* file(`random-${at + 1}`, () => textOf(guarded, record));
}
