/**
 * Three sites under one API key, in one platform: every record ends up in the books of exactly one of them.
 *
 * @module-tag numbers
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Status } from "../src/office/answers.ts";
import { commandHere } from "./support/site-command.ts";
import { atWork, only, type Site } from "./support/site.ts";

const FLOWS = ["orders", "delivery-tickets", "invoices-issued", "invoices", "customers"];

/** Orders by where they go; invoices and tickets by their numbers; what the ERP of the north made is the north's. */
function rulesOf(locations: readonly string[]): string {
  const half = locations.length / 2;
  const own = (name: string, digits: string, places: readonly string[]): string =>
    `  ${name}:\n    - number: [${Array.from(digits)
      .map((digit) => `"BB*-*${digit}"`)
      .join(", ")}]\n` +
    `    - { kind: [order], location: [${places.map((one) => `"${one}"`).join(", ")}] }\n`;
  return (
    `sites:\n  north:\n    - number: ["INV-*"]\n  all:\n    - kind: [customer]\n` +
    own("south", "01234", locations.slice(0, half)) +
    own("west", "56789", locations.slice(half))
  );
}

/** A site beside the first one: the same platform and key, an empty ERP folder and a store of its own. */
function beside(site: Site, name: string, yaml: string): string {
  for (const part of ["export", "import"])
    mkdirSync(join(site.folder, "var", name, "erp", part), { recursive: true });
  const file = join(site.folder, "config", `${name}.yaml`);
  writeFileSync(
    file,
    yaml
      .replace("company: bluebonnet", `company: ${name}`)
      .replaceAll("../var/demo/state", `../var/${name}/state`)
      .replaceAll("../var/demo/erp", `../var/${name}/erp`),
  );
  return file;
}

test("three sites under one key: each record is booked at one site, and the others say whose it is", async () => {
  const site = await atWork(only(...FLOWS));
  const locations = (await site.world.records("orders")).flatMap(({ locationId }) =>
    typeof locationId === "string" ? [locationId] : [],
  );
  const yaml = readFileSync(site.config, "utf8") + rulesOf([...new Set(locations)].toSorted());
  const env = { FUELBRIDGE_PLATFORM_URL: site.world.url };
  const statuses: Status["flows"][] = [];
  for (const name of ["north", "south", "west"]) {
    const file = beside(site, name === "north" ? "demo" : name, yaml);
    const config = name === "north" ? rename(file) : file;
    const { code, err } = await commandHere(["once", "--config", config], env);
    expect(err).toBe("");
    expect(code).toBe(0);
    const { out } = await commandHere(["status", "--json", "--config", config], env);
    statuses.push((JSON.parse(out) as { data: Status }).data.flows);
  }
  const [north, south, west] = statuses.map(
    (flows) => new Map(flows.map((one) => [one.name, one])),
  );
  const made = north?.get("invoices")?.delivered ?? 0;
  expect(made).toBe(109);
  for (const other of [south, west])
    expect(other?.get("invoices-issued")?.elsewhere).toContainEqual({ site: "north", count: made });
  for (const name of ["orders", "delivery-tickets", "invoices-issued"]) {
    const all = [north, south, west].map((flows) => flows?.get(name));
    expect(all.map((one) => [name, one?.quarantined])).toEqual(all.map(() => [name, 0]));
  }
  const sum = (name: string): number =>
    [north, south, west].reduce((all, flows) => all + (flows?.get(name)?.delivered ?? 0), 0);
  // As one site that has the key for itself books them.
  expect([sum("orders"), sum("delivery-tickets"), sum("invoices-issued")]).toEqual([388, 329, 227]);
}, 600_000);

/** The first site keeps its folders and takes its own name. */
function rename(file: string): string {
  const yaml = readFileSync(file, "utf8").replace("company: demo", "company: north");
  writeFileSync(file, yaml);
  return file;
}
