/** `fuelbridge plan`: what it names is what the next run writes, and it writes nothing itself. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { expect, test, vi } from "vitest";
import { composeDaemon } from "../src/app/compose.ts";
import { loadConfiguration } from "../src/app/configuration.ts";
import type { DryRun } from "../src/app/dry-run.ts";
import { askCommand, commandHere } from "./support/here.ts";
import { atWork, only, type Site } from "./support/site.ts";

const exportsOf = (site: Site): string => join(site.demo, "erp", "export");
/** What the ERP exported and was brought. Any command makes the folders of a new site. */
const importsOf = (site: Site): string[] =>
  readdirSync(join(site.demo, "erp"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".csv"))
    .sort();

test("a plan names what the next run writes to both sides, with each field that changes, and sends nothing", async () => {
  const site = await atWork(only("rack-prices", "invoices-payable"));
  vi.stubEnv("FUELBRIDGE_PLATFORM_URL", site.world.url);
  const plan = () => askCommand<DryRun>("plan", "--config", site.config);
  const exported = readFileSync(join(exportsOf(site), "price-lists.csv"), "utf8");
  const before = importsOf(site);

  const first = await plan();
  expect(first.flows.map(({ flow, creates, changes }) => [flow, creates, changes])).toEqual([
    ["invoices-payable", 59, 0],
    ["rack-prices", 168, 0],
  ]);
  expect(await site.world.writes()).toBe(0);
  expect(importsOf(site)).toEqual(before);
  expect(first.requests).toBeGreaterThan(0);

  const config = await loadConfiguration(site.config);
  const once = async (): Promise<void> => {
    const daemon = await composeDaemon(config, pino({ level: "silent" }));
    await daemon.once(new AbortController().signal);
    await daemon.close();
  };
  await once();
  const written = await site.world.writes();
  expect(written).toBeGreaterThan(0);
  expect(await plan()).toMatchObject({ writes: [] });

  writeFileSync(join(exportsOf(site), "price-lists.csv"), exported.replace("2.9743", "3.0101"));
  const changed = await plan();
  expect(changed.writes).toEqual([
    {
      flow: "rack-prices",
      to: "platform",
      number: expect.any(String) as string,
      what: "change",
      fields: expect.arrayContaining([
        { field: expect.stringMatching(/price/i) as string, before: "2.9743", now: "3.0101" },
      ]) as unknown,
    },
  ]);
  const { out } = await commandHere("plan", "rack-prices", "--config", site.config);
  expect(out).toContain("Nothing was sent, and nothing is stored of this.");
  expect(await site.world.writes()).toBe(written);
  await once();
  expect(await site.world.writes()).toBe(written + 1);

  // The pack of the same site: what reconcile says, with the mappings that made it.
  const pack = join(site.folder, "evidence");
  const made = await commandHere("evidence", "make", pack, "--config", site.config, "--json");
  const { data } = JSON.parse(made.out) as { data: { seal: string; agrees: boolean } };
  expect(made.code).toBe(data.agrees ? 0 : 1);
  const checked = await commandHere("evidence", "verify", pack, "--seal", data.seal);
  expect(checked.code).toBe(0);
  const { flows, digests } = JSON.parse(readFileSync(join(pack, "mappings.json"), "utf8")) as {
    flows: { flow: string; mapping: string }[];
    digests: Record<string, string>;
  };
  expect(flows.map(({ mapping }) => mapping)).toContain("books/rack-prices");
  expect(Object.keys(digests)).toEqual(["shipped mappings", "cross-reference tables"]);
});
