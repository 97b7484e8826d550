/**
 * Thousands of IDocs of each message before both checkers: of form (they are read back, and every field has SAP's length and
 * kind) and of business (what inbound processing demands).
 *
 * @module-tag numbers
 */
import { expect, test } from "vitest";
import { brokenRules } from "../../../test/files/idoc-rules.ts";
import { runs } from "../../../test/support/runs.ts";
import { idocFiles } from "../../../test/emit/idoc.ts";
import { type SegmentName, segments } from "./segments.ts";
import { idocsIn, overlong, type Read } from "./read.ts";

/** Of each message. */
const COUNT = runs(0, 2_000, 10_000);

const every = (read: Read): Read[] => [read, ...read.below.flatMap(every)];

test(`${COUNT} INVOIC, ORDERS, DESADV and SHPCON have SAP's form and break no rule of its inbound processing`, () => {
  const counts: Record<string, number> = {};
  for (
    let seed = 1;
    Object.keys(counts).length < 4 || Math.min(...Object.values(counts)) < COUNT;
    seed++
  )
    for (const { path, bytes } of idocFiles(seed, 500)) {
      const [idoc] = idocsIn(bytes, path);
      const all = [idoc?.control, ...(idoc?.records ?? [])].flatMap((one) =>
        one ? every(one) : [],
      );
      const unknown = all.filter(({ name }) => !Object.hasOwn(segments, name));
      expect(unknown.map(({ name }) => name)).toEqual([]);
      const long = all.flatMap((one) => overlong(one, one.name as SegmentName));
      const broken = [...long, ...brokenRules(bytes.toString())];
      if (broken.length > 0) expect.fail(`seed ${seed} ${path}: ${broken.join("; ")}`);
      const message = idoc?.control.fields["MESTYP"] ?? "";
      counts[message] = (counts[message] ?? 0) + 1;
    }
  expect(Math.min(...Object.values(counts))).toBeGreaterThanOrEqual(COUNT);
}, 600_000);
