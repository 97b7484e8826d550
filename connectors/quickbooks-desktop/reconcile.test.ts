/** A reconciliation of books that call: it waits for their session, over the Web Connector's own protocol. */
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { engineOn, pagesOf } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { surroundingsIn } from "../../test/support/surroundings.ts";
import type { Endpoint, Sink } from "../../src/core/contract.ts";
import type { Holdings } from "../../src/core/holdings.ts";
import { Auditor } from "../../src/engine/reconcile/nightly.ts";
import { DesktopConfig } from "./config.ts";
import { openSite, settings } from "./desktop.fixture.ts";
import { quickbooksDesktop } from "./index.ts";

/** The platform holds nothing. */
const nothing: Holdings = {
  strength: { invoice: "asked", bill: "asked" },
  async *list() {
    yield { holdings: [], position: null, total: 0, serverTime: null };
  },
  get: async () => [],
  expect: async () => [],
};

async function office() {
  const site = await openSite({ calls: false });
  const { file } = site;
  for (const number of ["FL-1", "FL-2", "FL-3"])
    file.enter("Invoice", { CustomerRef: "CUST-1", TxnDate: "2026-11-21", RefNumber: number }, [
      { Amount: "1.00" },
    ]);
  const config = DesktopConfig.parse(settings(site.port, { patienceMs: 20, lingerMs: 200 }));
  const bench = engineOn(tempFolder());
  let arrived = (): void => {};
  const endpoint = quickbooksDesktop.open(
    config,
    surroundingsIn(".", { arrived: () => arrived() }),
  );
  onTestFinished(() => endpoint.close());
  bench.flow({
    name: "invoices-issued",
    from: "platform.invoicesIssued",
    to: "books.invoices",
    side: "platform",
    sink: endpoint.sinks["invoices"] as Sink,
    source: pagesOf(),
  });
  // The wall clock stands still, and nobody waits a minute for the next look.
  const clock = { ...bench.clock, pause: () => pause(10) };
  const auditor = new Auditor(
    { ...bench.engine, clock },
    {
      endpoints: new Map<string, Pick<Endpoint, "holdings">>([
        ["platform", { holdings: nothing }],
        ["books", endpoint],
      ]),
      ignore: {},
      spent: () => 0,
    },
  );
  onTestFinished(() => auditor.close());
  arrived = () => auditor.arrived();
  return {
    ...site,
    auditor,
    ask: () => auditor.reconcile({ period: null, flow: null, askedBy: "Ann" }),
  };
}

const booked = (controls: readonly { side: string; kind: string; count: number }[]): number[] =>
  controls.flatMap(({ side, count }) => (side === "books" ? [count] : []));

test("it waits, says for whom and since when, and goes on with the next session", async () => {
  const { auditor, connector, ask } = await office();
  const asked = ask();
  await expect
    .poll(() => auditor.waiting)
    .toMatchObject({
      endpoint: "books",
      message: "QuickBooks is not here: the Web Connector has never called",
    });
  connector.start();
  const report = await asked;
  expect(report).toMatchObject({ state: "done", unasked: [] });
  expect(booked(report.controls)).toEqual([3]);
  expect(auditor.waiting).toBeNull();
});

test("a session that ends in the middle of its reading is no end of it: the next one goes on", async () => {
  const { connector, file, ask } = await office();
  // Killed after QuickBooks has answered what the session begins with: the answer to a list never comes.
  connector.killAt = 9;
  const asked = ask();
  connector.start();
  const report = await asked;
  expect(connector.sessions).toBeGreaterThan(1);
  expect(report).toMatchObject({ state: "done", unasked: [] });
  expect(booked(report.controls)).toEqual([3]);
  expect(file.rows("Invoice")).toHaveLength(3);
});
