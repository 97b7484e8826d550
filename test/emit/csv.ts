/** The tables that the files connector writes: each kind of document in each shipped profile of it. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { bytesOf } from "../../connectors/files/bytes.ts";
import { type DocumentName, documents } from "../../connectors/files/documents.ts";
import { guardedAs, type Profile } from "../../connectors/files/profile.ts";
import { openProfile, shippedProfiles } from "../../connectors/files/profile-open.ts";
import { recordsFor } from "../../connectors/files/random.fixture.ts";
import { writeDocuments, writeRecords } from "../../connectors/files/write.ts";
import { mappings } from "../../mappings/index.ts";
import { calendarOf } from "../../src/core/calendar.ts";
import { Refused } from "../../src/core/errors.ts";
import { readCases } from "../../src/mapping/cases.ts";
import type { Emitted } from "./formats.ts";

const CASES = join(import.meta.dirname, "../../mappings/canonical/cases");

export function* csvFiles(seed: number, count: number): Generator<Emitted> {
  const cases = documentsOfCases();
  for (const name of shippedProfiles()) {
    const profile = openProfile(name, "");
    const kind = profile.layout.name.replace(/^files\./, "");
    if (kind in documents && profile.layout.name !== kind)
      yield* filesOf(name, profile, kind as DocumentName, cases.get(kind) ?? [], seed, count);
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
  const writing = { profile, spreadsheetSafe: isSafe, dayOf };
  const file = (called: string, text: () => string): Emitted[] => {
    try {
      const bytes = bytesOf(text(), profile.encoding);
      return [{ path: `${name}/${called}.${profile.ending}`, bytes }];
    } catch (error) {
      if (error instanceof Refused) return [];
      throw error;
    }
  };
  for (const [at, document] of cases.entries())
    yield* file(`case-${at + 1}`, () => writeDocuments(kind, [document], writing));
  const records = recordsFor(profile, profile.encoding, 1);
  for (const [at, record] of fc.sample(records, { seed, numRuns: count }).entries())
    yield* file(`random-${at + 1}`, () => writeRecords(guardedAs(profile, isSafe), record));
}

/** The documents that cases of mappings expect, by the kind that a sink writes. */
function documentsOfCases(): Map<string, unknown[]> {
  const kinds = new Map<string, unknown[]>();
  for (const name of readdirSync(CASES)) {
    const { mapping, cases } = readCases(join(CASES, name));
    const kind = mappings.find((one) => one.name === mapping)?.writes?.replace(/^files\./, "");
    for (const { expected } of cases)
      if (kind !== undefined && "document" in expected)
        kinds.set(kind, [...(kinds.get(kind) ?? []), expected.document]);
  }
  return kinds;
}
