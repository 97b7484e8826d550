/** Several companies in one configuration: what each gets, where problems are told, and what is refused. */
import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { connectorsNamed } from "../../connectors/index.ts";
import { mappings } from "../../mappings/index.ts";
import { platformOffers as platform } from "../platform/parts.ts";
import { GOOD, setup } from "./check.fixture.ts";
import { completeCompanies, readCompanies, shareOf } from "./config.ts";

const connectors = await connectorsNamed();

/** Common settings on top, and what differs for each. */
const COMMON = GOOD.replace("company: prairie\n", "").replace("    folder: exchange\n", "");
const SITES = "sites: { north: [{ number: [N-*] }], south: [{ number: [S-*] }] }\n";
const GROUP = `${COMMON}${SITES}companies:
  north: { endpoints: { erp: { folder: exchange } } }
  south: { endpoints: { erp: { folder: south } } }
`;

function loaded(text: string, named: string | null = null) {
  const { config } = setup();
  writeFileSync(config, text);
  const env = { KEY: "svc_live_abcdefgh1234", OTHER: "svc_live_other567890" };
  const known = { env, connectors, mappings, platform };
  return completeCompanies(readCompanies(config, named, env), () => known);
}

const messages = (text: string) =>
  setup()
    .problems(text, "settings", { OTHER: "svc_live_other567890" })
    .map(({ line, setting, message }) => `${line} ${setting}: ${message}`);

test("each company has what stands on top and what is its own; its label, state, port and console by its name", () => {
  const [north, south] = loaded(
    GROUP.replace("companies:", "console: { port: 9000 }\ncompanies:").replace(
      "  south: {",
      "  south: { timeZone: America/Denver, flows: { issued: ~, orders: { every: 30m } },",
    ),
  );
  expect([north?.company, north?.name, south?.company]).toEqual(["north", "north", "south"]);
  expect(north?.state).toMatch(/state\/north$/);
  expect(south?.state).toMatch(/state\/south$/);
  expect([north?.console.port, south?.console.port]).toEqual([9_000, 9_001]);
  expect([north?.timeZone, south?.timeZone]).toEqual(["America/Chicago", "America/Denver"]);
  expect(north?.flows.map(({ name }) => name)).toEqual(["orders", "issued", "customers"]);
  expect(south?.flows.map(({ name }) => name)).toEqual(["orders", "customers"]);
  expect(south?.flows[0]).toMatchObject({ mapping: "canonical/orders" });
  expect(south?.flows[0]?.schedule).toEqual({ everyMs: 1_800_000 });
});

test("one company of several is read alone, and one that is not there is refused with those that are", () => {
  expect(loaded(GROUP, "south").map(({ name }) => name)).toEqual(["south"]);
  expect(() => loaded(GROUP, "west")).toThrow("has no company west");
  expect(() => loaded(GOOD, "west")).toThrow("has no company west");
});

test("companies under one key have its month by weight; one under another key has its own", () => {
  const west =
    "  west: { platform: { apiKey: '${OTHER}' }, sites: ~, endpoints: { erp: { folder: west } } }\n";
  const text = GROUP.replace("north: {", "north: { queue: { type: embedded, weight: 3 },") + west;
  const all = loaded(text);
  expect(all.map(shareOf)).toEqual([0.75, 0.25, 1]);
  expect(all.map(({ sharers }) => sharers.map(({ company }) => company).join())).toEqual([
    "north,south",
    "north,south",
    "west",
  ]);
  expect(all[0]?.platform.budget.perMonth).toBe(50_000);
});

test("a site that sends by itself plans with its part of the month that other sites have, too", () => {
  const alone = GOOD + SITES.replace("north:", "prairie:");
  const budgetOf = (text: string) => loaded(text)[0]?.platform.budget;
  expect(budgetOf(alone)).toMatchObject({ perMonth: 25_000, perMinute: 300 });
  const asking = alone.replace(
    "platform:\n",
    'platform:\n  hub: { url: "http://127.0.0.1:1", token: "${OTHER}" }\n',
  );
  expect(budgetOf(asking)).toMatchObject({ perMonth: 12_500, perMinute: 150 });
  const third = GROUP.replace("sites: {", "sites: { elsewhere: [{ number: [E-*] }],");
  expect(budgetOf(third)).toMatchObject({ perMonth: 33_333, perMinute: 400 });
});

test("a hub may be one of the companies: it needs no rule, and half of the key is its own, with what sites elsewhere leave", () => {
  const fed =
    COMMON +
    SITES.replace("north:", "prairie:").replace("sites: {", "sites: { west: [{ number: [W-*] }],");
  const asks = 'platform: { hub: { url: "http://127.0.0.1:1", token: "${OTHER}" } }';
  const flows = "{ orders: { to: hub.sites }, issued: ~, customers: ~ }";
  const text = `${fed}companies:
  reader: { endpoints: { erp: ~ }, hub: { port: 9, tokens: { south: "\${OTHER}" } }, flows: ${flows} }
  prairie: { ${asks}, endpoints: { erp: { folder: exchange } } }
  south: { ${asks}, endpoints: { erp: { folder: south } } }
`;
  expect(messages(text)).toEqual([]);
  const all = loaded(text);
  // Three sites are named, and two of them are here.
  expect(all.map(({ platform: { budget } }) => budget.perMonth)).toEqual([41_666, 41_666, 41_666]);
  expect(all.map(shareOf)).toEqual([3 / 5, 1 / 5, 1 / 5]);
  expect(messages(text.replace("south: {", "elsewhere: {")).join("\n")).toContain(
    "there is no rule of elsewhere",
  );
});

test("a problem is told at the place where it was written, and one on top once", () => {
  expect(messages(GROUP.replace("south: {", "south: { timeZone: Mars,"))).toEqual([
    expect.stringMatching(/^24 timeZone: /),
  ]);
  expect(messages(GROUP.replace("currency: USD", "currency: XXQ"))).toEqual([
    expect.stringMatching(/^2 currency: /),
  ]);
  expect(messages(GROUP.replace("timeZone: America/Chicago\n", ""))).toEqual([
    expect.stringMatching(/^22 timeZone: /),
    expect.stringMatching(/^23 timeZone: /),
  ]);
});

test.each([
  ["one key and no rules", SITES, "", "nothing says which records"],
  ["no rule of one", ", south: [{ number: [S-*] }]", "", "no rule of"],
  [
    "other rules",
    "south: {",
    "south: { sites: { north: [{ number: [X-*] }] },",
    "say different things",
  ],
  [
    "another budget",
    "south: {",
    "south: { platform: { budget: { perMonth: 9 } },",
    "say different things",
  ],
  ["one label", "south: {", "south: { company: north,", "one label"],
  ["one state folder", "south: {", "south: { state: state/north,", "one state folder"],
  ["one exchange folder", "folder: south", "folder: ./exchange", "one folder"],
  ["one port", /(?<=^ {2}\w+: )\{/gm, "{ console: { port: 9 },", "one port"],
])("refused: %s", (_, from, to, expected) => {
  const start = GROUP.indexOf("sites:");
  const text = GROUP.slice(0, start) + GROUP.slice(start).replace(from, to);
  expect(messages(text).join("\n")).toContain(expected);
});

test("what is right is not complained of", () => {
  expect(messages(GROUP)).toEqual([]);
});
