/** A store without links beside a platform that already knows this company, over HTTP: it may stand in for a lost one. */
import { beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { never, usePlatform } from "../../test/platform/support.ts";
import { testClock } from "../../test/support/clock.ts";
import { engineOn, pagesOf } from "../../test/support/engine.ts";
import { officeOn } from "../../test/support/office.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { defineMapping } from "../core/contract.ts";
import { Daemon } from "./daemon.ts";

const platform = usePlatform();
const { control } = platform;

const Party = z.looseObject({ name: z.string(), externalId: z.string() });
const customers = defineMapping({
  name: "test/customers",
  kind: "customer",
  input: Party,
  output: Party,
  number: ({ externalId }) => externalId,
  map: (party) => party,
  figures: () => ({ amount: null, gallons: null }),
});
const change = (code: string) => ({
  id: code,
  version: null,
  text: `{"name":"Bayou ${code}","externalId":"${code}"}`,
});

/** A store of its own; `more` as the configuration says. */
function opened(folder = tempFolder(), more: object = {}, codes = ["C1", "C2"]) {
  const bench = engineOn(folder, testClock(Date.now()));
  const endpoint = platform.endpoint({ clock: bench.clock });
  const sink = endpoint.sinks["customers"];
  if (sink === undefined || endpoint.knowsUs === undefined) throw new Error("no such part");
  const engine = { ...bench.engine, knowsUs: endpoint.knowsUs, ...more };
  const source = pagesOf([{ changes: codes.map(change), position: 1 }]);
  const flow = bench.flow({ sink, source, mapping: customers });
  const daemon = new Daemon(engine, [flow]);
  const office = officeOn(engine, [flow], daemon);
  return {
    office,
    clock: bench.clock,
    engine,
    run: async () => {
      await daemon.once(never);
      return Object.fromEntries(bench.store.deliveries.counts(flow.flow));
    },
    close: () => bench.store.close(),
  };
}
const writes = async () => (await control.requests("?method=POST")).length;
const ofOurs = async () =>
  (await control.stored("connections")).filter(({ erpId }) => /^C\d$/.test(String(erpId))).length;
const stopOf = async ({ office }: ReturnType<typeof opened>) => (await office.status()).stops[0];

beforeEach(() => platform.unlimited());

test("it sends nothing, looks for everything, and says what to do; released, it goes on", async () => {
  const site = opened();
  expect(await site.run()).toEqual({ frozen: 2 });
  expect(await stopOf(site)).toMatchObject({
    breaker: "restored",
    message: expect.stringContaining("already has connections of this company") as string,
    next: expect.stringMatching(/firstStart: \d{4}-\d\d-\d\d .*release restored/) as string,
  });
  expect(await writes()).toBe(0);
  await site.office.release("restored", "eva");
  expect(await site.run()).toEqual({ delivered: 2 });
  expect(await ofOurs()).toBe(2);
  expect(await stopOf(site)).toBeUndefined();
});

test("a lost store: what it had delivered is found, and does not double", async () => {
  const firstStart = new Date().toISOString().slice(0, 10);
  expect(await opened(undefined, { firstStart }).run()).toEqual({ delivered: 2 });
  await control.advance(25 * 3_600);
  const anew = opened(undefined, {}, ["C1", "C2", "C3"]);
  expect(await anew.run()).toEqual({ delivered: 2, frozen: 1 });
  expect(await ofOurs()).toBe(2);
});

test("a platform whose lists begin with an empty page is found to know this company as well", async () => {
  await control.readings({ emptyPages: true });
  const site = opened();
  expect(await site.run()).toEqual({ frozen: 2 });
  expect(await stopOf(site)).toMatchObject({ breaker: "restored" });
  expect(await writes()).toBe(0);
});

test("a lost store where our ids are not shown: a person is told of each, and nothing doubles", async () => {
  await control.readings({ externalIdBecomesErpId: false });
  const firstStart = new Date().toISOString().slice(0, 10);
  await opened(undefined, { firstStart }).run();
  const before = (await control.stored("connections")).length;
  await control.advance(25 * 3_600);
  const anew = opened();
  expect(await anew.run()).toEqual({ quarantined: 2 });
  await anew.office.release("restored", "eva");
  const [group] = await anew.office.quarantine();
  expect(group).toMatchObject({ code: "same-name", count: 2 });
  const { deliveries } = await anew.office.quarantineShow(group?.id ?? "");
  const [one, other] = deliveries;
  // This one is another party, the other one is that company.
  await anew.office.retry(one?.delivery ?? "");
  const receiverId = /[0-9a-f-]{36}/.exec(other?.cause ?? "")?.[0] ?? "";
  const decision = { by: "eva", note: "the same", receiverId };
  await anew.office.resolve(other?.delivery ?? "", decision);
  expect(await anew.run()).toEqual({ delivered: 2 });
  expect(await control.stored("connections")).toHaveLength(before + 1);
});

test("a first start that the configuration names costs no question, and clears what was stopped", async () => {
  const folder = tempFolder();
  const stopped = opened(folder);
  await stopped.run();
  stopped.close();
  const reads = (await control.requests()).length;
  const firstStart = new Date().toISOString().slice(0, 10);
  const again = opened(folder, { firstStart }, []);
  expect(await again.run()).toEqual({ delivered: 2 });
  const paths = (await control.requests()).slice(reads).map(({ path }) => path);
  expect(paths).not.toContain("/invoices");
});

test("one of last week counts for nothing: the store may be lost by now", async () => {
  const firstStart = new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 10);
  const site = opened(undefined, { firstStart });
  await site.run();
  expect(await stopOf(site)).toMatchObject({ breaker: "restored" });
});

test("on a platform company without a connection or an invoice it simply begins", async () => {
  for (const { id } of await control.stored("connections"))
    await control.patch("connections", id, {
      fromCompanyId: platform.company("outsider"),
      toCompanyId: platform.company("customer"),
    });
  const site = opened();
  expect(await site.run()).toEqual({ delivered: 2 });
  site.close();
});

test("a store that has sent is not asked about: a kill after the first document is no lost store", async () => {
  const folder = tempFolder();
  const firstStart = new Date().toISOString().slice(0, 10);
  const first = opened(folder, { firstStart }, ["C1"]);
  await control.fault({ method: "POST", kind: "status", status: 503, when: "after" });
  // It settles for longer than this run waits: nothing is linked yet.
  await first.run();
  first.close();
  const second = opened(folder, {}, []);
  await second.run();
  expect(await stopOf(second)).toBeUndefined();
});

test("while the platform cannot be asked no flow runs, and it is tried again", async () => {
  const site = opened();
  await control.fault({
    method: "GET",
    path: "/connections",
    kind: "status",
    status: 500,
    times: 5,
  });
  expect(await site.run()).toEqual({});
  expect((await site.office.status()).flows[0]?.lastError).not.toBeNull();
  expect(await site.run()).toEqual({ frozen: 2 });
  expect(await stopOf(site)).toMatchObject({ breaker: "restored" });
});
