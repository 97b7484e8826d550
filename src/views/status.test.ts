import { expect, test } from "vitest";
import { statusText, thingsIn, verdictView } from "./status.ts";
import { asHtml } from "./html.ts";
import { DRIFT, STATUS, STOP } from "./status.fixture.ts";

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

test("what is stopped says when it is tried again by itself, and says nothing where a person has to release it", () => {
  const page = (stop: typeof STOP): string => {
    const reading = { site: { timeZone: "America/Chicago" }, nowMs: Date.parse(STOP.since) };
    return String(asHtml(verdictView({ ...STATUS, stops: [stop] }), reading));
  };
  expect(statusText({ ...STATUS, stops: [STOP] })).toContain(
    "Check the key. It is tried again by itself at 2026-11-21 12:05:00 UTC.",
  );
  expect(page(STOP)).toMatch(
    /Check the key\. It is tried again by itself at\s*<time[^>]*>Nov 21, 06:05/,
  );
  expect(page({ ...STOP, retryAt: null })).not.toContain("tried again");
});

test("however many fields the platform tells beyond its contract, they are one thing, told after the quarantine", () => {
  const drift = Array.from({ length: 12 }, (_, at) => ({ ...DRIFT, field: `field${at}` }));
  const status = { ...STATUS, drift };
  const said = statusText(status);
  expect(said.match(/fuelbridge drift/g)).toHaveLength(1);
  expect(said).toContain(
    "differ from its contract in 12 points (platform.orders 12): fuelbridge drift. Nothing stops for it.",
  );
  expect(said.indexOf("12 points")).toBeGreaterThan(said.indexOf("in quarantine needs a person"));
  expect(thingsIn(status)).toBe(thingsIn(STATUS) + 1);
  expect(thingsIn({ ...status, drift: [{ ...DRIFT, isNews: false }] })).toBe(thingsIn(STATUS));
});
