/** What people ask for, and what is meant where they leave something out. */
import { expect, test } from "vitest";
import { comparing } from "./people.ts";
import type { OfficeParts } from "./status.ts";

test.each([
  ["2026-12-01", "2026-11-01"],
  ["2026-12-10", "2026-11-01"],
  ["2026-12-11", "2026-12-01"],
  ["2027-01-03", "2026-12-01"],
])(
  "without days, a comparison of %s begins on %s: a month that has just begun proves little",
  (day, from) => {
    const parts = { auditor: { today: () => day }, flows: [] } as unknown as OfficeParts;
    const asked = { from: null, to: null, flow: null, by: "ann" };
    expect(comparing(parts, asked).question.period).toEqual({ from, to: day });
  },
);
