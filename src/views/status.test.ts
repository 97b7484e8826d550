import { expect, test } from "vitest";
import { statusText } from "./status.ts";
import { STATUS } from "./status.fixture.ts";

const [group] = STATUS.quarantine as [(typeof STATUS.quarantine)[number]];

test("status names what needs a person, by cause and age, with the command that shows the documents", () => {
  const said = statusText(STATUS);
  expect(said).toContain("1 document in quarantine needs a person:");
  expect(said).toMatch(
    /^q12ab34c +orders +1 +3 days +crossref\/products\.csv has no row `AVGAS`$/m,
  );
  expect(said).toContain("fuelbridge quarantine show GROUP");
});

test("what clears by itself is counted apart, and the groups beyond the first five are counted", () => {
  const many = Array.from({ length: 7 }, (_, at) => ({ ...group, id: `q000000${at}` }));
  const waiting = { ...group, count: 50, helps: ["wait", "resolve"] as const };
  const said = statusText({ ...STATUS, quarantine: [waiting, ...many] });
  expect(said).toContain("7 documents in quarantine need a person:");
  expect(said).toContain("and 2 more groups");
  expect(said).toContain(
    "50 documents in quarantine wait for something else, and clear by themselves",
  );
});
