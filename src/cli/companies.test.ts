/** Commands over a configuration of several companies: each in turn under its name, one that is named, and the worst exit code. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { configuredSite } from "../../test/support/configured.ts";
import { commandHere } from "../../test/support/site-command.ts";

const SITES = "sites: { north: [{ number: [N-*] }], south: [{ number: [S-*] }] }\n";

/** Two companies under one key and one under another. */
function installation(more = "") {
  const site = configuredSite((yaml) => {
    const common = yaml.replace("company: bluebonnet\n", "").replaceAll("\n    paused: true", "");
    const home = (name: string) => `{ endpoints: { erp: { folder: ../var/${name} } }${more} }`;
    return (
      `${common}${SITES}companies:\n  north: {}\n  south: ${home("south")}\n` +
      "  west: { sites: ~, platform: { apiKey: '${WEST_KEY}' }, endpoints: { erp: { folder: ../var/west } } }\n"
    );
  });
  for (const name of ["south", "west"])
    mkdirSync(join(site.folder, "var", name, "export"), { recursive: true });
  const here = (...words: string[]) =>
    commandHere([...words, "--config", site.file], { WEST_KEY: "svc_live_west00000000" });
  const asked = async (...words: string[]) => {
    const { code, out } = await here(...words, "--json");
    return { code, ...(JSON.parse(out) as { ok: boolean; data: { companies: Companies } }) };
  };
  return { ...site, here, asked };
}

type Companies = Record<string, { ok: boolean; data: Record<string, unknown>; error?: object }>;

test("check tells all companies, and what those under one key need of its month together", async () => {
  const { asked, here } = installation();
  const { code, data } = await asked("check");
  expect(code).toBe(0);
  const { north, south, west } = data.companies;
  const { total } = (north?.data["key"] ?? {}) as { total?: number };
  expect(total).toBeGreaterThan(2 * 17_856);
  expect(south?.data["key"]).toEqual({ companies: 2, total, perMonth: 50_000 });
  expect(west?.data).not.toHaveProperty("key");
  const { out } = await here("check", "--company", "south");
  expect(out).toContain(`2 companies share it, and need ${total} of its 50000 requests a month`);
});

test("budget plan counts all companies under a key: what one alone could have is refused for two", async () => {
  const { asked } = installation();
  const { code, data } = await asked("budget", "plan", "--writes", "200");
  expect(code).toBe(2);
  const { north, south, west } = data.companies;
  expect([north?.ok, south?.ok, west?.ok]).toEqual([false, false, true]);
  expect(north?.error).toMatchObject({
    message: expect.stringContaining("of all 2 under its key, and the platform allows 50000"),
  });
});

test("status asks each company; one that cannot be asked says why, and the others are told", async () => {
  const { asked, here } = installation(", state: ./demo.yaml/none");
  const { code, data } = await asked("status");
  expect(Object.entries(data.companies).map(([name, { ok }]) => [name, ok])).toEqual([
    ["north", true],
    ["south", false],
    ["west", true],
  ]);
  expect(code).toBe(4);
  const { out } = await here("status");
  expect(out).toMatch(/^== north ==\n[^]*\n== south ==\n[^]*cannot be created[^]*\n== west ==\n/);
});

test("what decides something needs the company that it is about; CSV, too", async () => {
  const { here } = installation();
  for (const words of [
    ["now", "orders"],
    ["find", "--csv"],
    ["crossref", "missing"],
  ]) {
    const { code, err } = await here(...words);
    expect([words, code]).toEqual([words, 2]);
    expect(err).toContain("Name it with --company: north, south, west.");
  }
  expect((await here("pause", "orders", "--company", "south", "--note", "n")).code).toBe(0);
  expect((await here("status", "--company", "east")).err).toContain("has no company east");
});
