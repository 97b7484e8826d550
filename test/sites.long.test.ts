/**
 * Three sites under one API key, in one platform: every record ends up in the books of exactly one of them. Companies and
 * hubs book the same records so in each long run; this one only with all numbers.
 *
 * @module-tag numbers
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Status } from "../src/office/answers.ts";
import { beside, GROUP_FLOWS, GROUP_SITES, groupRules, renamed } from "./support/group.ts";
import { areAll } from "./support/runs.ts";
import { commandHere } from "./support/site-command.ts";
import { atWork, only } from "./support/site.ts";

test.runIf(areAll)(
  "three sites under one key: each record is booked at one site, and the others say whose it is",
  async () => {
    const site = await atWork(only(...GROUP_FLOWS));
    const yaml = readFileSync(site.config, "utf8") + (await groupRules(site));
    const env = { FUELBRIDGE_PLATFORM_URL: site.world.url };
    const statuses: Status["flows"][] = [];
    for (const name of GROUP_SITES) {
      const file = beside(site, name === "north" ? "demo" : name, yaml);
      const config = name === "north" ? renamed(file, name) : file;
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
      expect(other?.get("invoices-issued")?.elsewhere).toContainEqual({
        site: "north",
        count: made,
      });
    for (const name of ["orders", "delivery-tickets", "invoices-issued"]) {
      const all = [north, south, west].map((flows) => flows?.get(name));
      expect(all.map((one) => [name, one?.quarantined])).toEqual(all.map(() => [name, 0]));
    }
    const sum = (name: string): number =>
      [north, south, west].reduce((all, flows) => all + (flows?.get(name)?.delivered ?? 0), 0);
    // As one site that has the key for itself books them.
    expect([sum("orders"), sum("delivery-tickets"), sum("invoices-issued")]).toEqual([
      388, 329, 227,
    ]);
  },
  600_000,
);
