/** A hub reads the platform's feeds once for all sites under a key, and passes on to each what is its own (ADR 0024). */
import { expect, test } from "vitest";
import { Group, GROUP_FLOWS, GROUP_READ as READ, GROUP_SITES } from "./support/group.ts";
import { isLongRun, numbers, runs } from "./support/runs.ts";
import { atWork, only, type Site } from "./support/site.ts";

/** Of ten minutes each: four hours. test/hub.long.test.ts lives a day. */
const ROUNDS = runs(0, 24, 144);
/** What every member does when it is due, the hub first. */
const round = (group: Group): Promise<void> => group.once("hub", ...GROUP_SITES);

/** How many documents of the platform are booked, by flow, at all sites together. */
async function booked(group: Group): Promise<number[]> {
  const counts = await Promise.all(GROUP_SITES.map((name) => group.counts(name)));
  return READ.map((flow) => counts.reduce((sum, one) => sum + (one[flow]?.["delivered"] ?? 0), 0));
}

/** An order like one that a site has, with what is given. */
async function order(site: Site, like: object, given: object): Promise<string> {
  const { id: _, createdAt: _c, updatedAt: _u, ...rest } = like as Record<string, unknown>;
  const [added] = await site.control.records("orders", [{ ...rest, ...given }]);
  return String(added?.["id"]);
}

interface Order {
  readonly id: string;
  readonly locationId: string;
}

/** An open order of each site, by where it goes. */
async function ordersOf(group: Group): Promise<Record<"south" | "west", Order>> {
  const { records } = group.site.world;
  const all = (await records("orders")) as unknown as (Order & { status: string })[];
  const at = async (name: string): Promise<Order> => {
    const { engine } = await group.member(name);
    const flow = engine.flows.find((one) => one.name === "orders");
    if (flow === undefined) throw new Error("no flow");
    const has = (id: string) => engine.store.links.find(flow.mapping.kind, "platform", id) !== null;
    return all.find(({ id }) => has(id)) as Order;
  };
  return { south: await at("south"), west: await at("west") };
}

/** What each member has for a person: by member and code. */
async function work(group: Group): Promise<string[]> {
  const members = ["hub", ...GROUP_SITES];
  const groups = await Promise.all(
    members.map(async (name) =>
      (await (await group.member(name)).office.quarantine()).flatMap(({ flow, code, count }) =>
        (READ as readonly string[]).includes(flow) ? [`${name} ${flow} ${code} ${count}`] : [],
      ),
    ),
  );
  return groups.flat();
}

const lastErrors = async (group: Group, name: string): Promise<string[]> => {
  const { flows } = await (await group.member(name)).office.status();
  return flows.flatMap(({ name: flow, lastError }) =>
    (READ as readonly string[]).includes(flow) && lastError !== null ? [lastError.message] : [],
  );
};

test("a hub and three sites: each record is at exactly its site, whoever was away or lost its store", async () => {
  const group = await Group.of(await atWork(only(...GROUP_FLOWS)));
  const { control } = group.site;
  await round(group);
  expect(await booked(group)).toEqual([388, 329, 227]);
  expect(await work(group)).toEqual([]);

  // One that fits none and one that fits two are one person's work, at the hub.
  const { south, west } = await ordersOf(group);
  const none = await order(group.site, south, { locationId: null });
  const two = await order(group.site, south, { orderNumber: "BBX-05" });
  await round(group);
  expect(await work(group)).toEqual(["hub orders no-site 1", "hub orders several-sites 1"]);
  expect(await booked(group)).toEqual([388, 329, 227]);

  // Once it is told whose they are, that site has them; one that is away meanwhile, when it is back.
  await group.end("west");
  await control.patch("orders", none, { locationId: west.locationId });
  await control.patch("orders", two, { orderNumber: null });
  await group.once("hub", "north", "south");
  await group.end("hub");
  await group.once("west");
  expect(await lastErrors(group, "west")).toEqual(
    READ.map(() =>
      expect.stringMatching(/^The hub at http:\/\/127\.0\.0\.1:\d+ cannot be reached/),
    ),
  );
  await round(group);
  expect(await lastErrors(group, "west")).toEqual([]);
  expect(await work(group)).toEqual([]);
  expect(await booked(group)).toEqual([388 + 2, 329, 227]);

  // A hub that has lost its store reads all of it anew: nothing is lost, and nothing comes twice.
  await group.lose("hub");
  await order(group.site, west, {});
  await group.once("west");
  await control.fault({ kind: "status", status: 503, when: "before", path: "/orders", times: 50 });
  await round(group);
  expect(await lastErrors(group, "west")).toEqual([expect.stringContaining("answered 503")]);
  await control.ask("DELETE", "/faults");
  await round(group);
  expect(await work(group)).toEqual([]);
  expect(await booked(group)).toEqual([388 + 3, 329, 227]);

  // What is another site's now is heard of at both.
  await control.patch("orders", south.id, { locationId: west.locationId });
  await round(group);
  expect(await work(group)).toEqual(["south orders other-site 1"]);
  // The other site has it, too, until a person takes it back at the first.
  expect(await booked(group)).toEqual([388 + 4, 329, 227]);
});

/** What keeps a site from being compared with the platform. */
async function compared(group: Group, name: string): Promise<readonly string[]> {
  const { office } = await group.member(name);
  return (await office.reconcile({ from: null, to: null, flow: null, by: "ann" })).failures;
}

test.runIf(isLongRun)(
  "requests at the platform do not grow with the number of sites",
  numbers,
  async () => {
    const group = await Group.of(await atWork(only(...GROUP_FLOWS)));
    const alone = await Group.of(await atWork(only(...GROUP_FLOWS)), { rules: null });
    for (let at = 0; at < ROUNDS; at++) {
      await round(group);
      await alone.once("north");
      for (const { site } of [group, alone]) await site.control.advance(600);
    }
    // As each night.
    for (const name of GROUP_SITES) expect(await compared(group, name)).toEqual([]);
    expect(await compared(alone, "north")).toEqual([]);
    const [all, one] = [await group.site.control.requests(), await alone.site.control.requests()];
    expect(one.length).toBeGreaterThan(ROUNDS * READ.length);
    expect(Math.abs(all.length / one.length - 1)).toBeLessThan(0.05);
  },
);
