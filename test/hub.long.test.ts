/**
 * A hub and three sites as people start them, with SIGKILL.
 *
 * @module-tag numbers
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Group, GROUP_FLOWS, GROUP_READ, GROUP_SITES } from "./support/group.ts";
import { killsAsked } from "./support/runs.ts";
import { atWork, only } from "./support/site.ts";

const MEMBERS = ["hub", ...GROUP_SITES];

test("whichever of a hub and its sites is killed, each new order is booked once, at its site", async () => {
  const kills = killsAsked() ?? 12;
  const group = await Group.of(await atWork(only(...GROUP_FLOWS)), undefined, "10s");
  const { control, world } = group.site;
  const programs = new Map(MEMBERS.map((name) => [name, group.program(name)]));
  const booked = async (): Promise<number> => {
    const all = await Promise.all(GROUP_SITES.map((name) => group.status(name).catch(() => null)));
    const orders = all.map(
      (one) => one?.flows.find(({ name }) => name === "orders")?.delivered ?? -1_000,
    );
    return orders.reduce((sum, one) => sum + one, 0);
  };
  const until = (count: number) =>
    expect.poll(booked, { timeout: 120_000, interval: 1_000 }).toBe(count);
  await until(388);
  const open = (await world.records("orders")).filter(({ status }) => status === "CONFIRMED");
  for (let kill = 0; kill < kills; kill++) {
    const {
      id: _,
      createdAt: _c,
      updatedAt: _u,
      ...like
    } = open[kill % open.length] as object as Record<string, unknown>;
    await control.records("orders", [like]);
    const name = kill % 2 === 0 ? "hub" : (MEMBERS[kill % MEMBERS.length] ?? "hub");
    const program = programs.get(name);
    program?.kill("SIGKILL");
    await program?.ended;
    // Now and then the hub's store is thrown away, too.
    if (name === "hub" && kill % 4 === 2)
      rmSync(join(group.site.folder, "var", "hub", "state"), { recursive: true, force: true });
    const again = group.program(name);
    programs.set(name, again);
    // It is killed again at its start, while it reads, or after all is done.
    if (kill % 3 > 0) await again.said('"fuelbridge runs"');
    if (kill % 3 === 2) await until(388 + kill + 1);
  }
  await until(388 + kills);
  for (const name of MEMBERS) {
    const { flows } = await group.status(name);
    const read = flows.filter((one) => (GROUP_READ as readonly string[]).includes(one.name));
    expect(read.map((one) => [name, one.quarantined, one.pending])).toEqual(
      read.map(() => [name, 0, 0]),
    );
  }
}, 900_000);
