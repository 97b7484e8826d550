/** Sessions of the Web Connector over a restart of fuelbridge: the store knows them, and nothing is sent again unread. */
import { expect, onTestFinished, test } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";
import { never, requestOf, SENT } from "../../test/support/connector.ts";
import { surroundingsIn } from "../../test/support/surroundings.ts";
import type { Endpoint, Needs, Sink } from "../../src/core/contract.ts";
import { examined } from "../../src/ledger/examine.ts";
import { notebookIn } from "../../src/store/flows.ts";
import { openStore } from "../../src/store/store.ts";
import { invoiceDocument, itemOf } from "../example/example.fixture.ts";
import { DesktopConfig } from "./config.ts";
import {
  listens,
  openSite,
  PASSWORD,
  rowsOf,
  settings,
  type Site,
  USER,
} from "./desktop.fixture.ts";
import { errors } from "./qbxml.ts";
import { checksOf } from "./wire.ts";
import { quickbooksDesktop } from "./index.ts";

const HOUR_MS = 3_600_000;

/** A daemon over a store, which can be started anew. */
async function daemonOver({ port }: Site, more: object = {}) {
  const folder = tempFolder();
  const store = openStore(folder);
  onTestFinished(() => store.close());
  const notebook = notebookIn(store, "books");
  const config = DesktopConfig.parse(settings(port, more));
  const clock = { ms: Date.parse(SENT) };
  const now = (): Date => new Date(clock.ms);
  const open = (): Endpoint =>
    quickbooksDesktop.open(config, surroundingsIn(".", { notebook, now, arrived: () => {} }));
  const doctor = (): Endpoint =>
    quickbooksDesktop.open(config, surroundingsIn(".", { notebook, now, looking: true }));
  let endpoint = open();
  await listens(port);
  onTestFinished(() => endpoint.close());
  return {
    store,
    clock,
    doctor,
    get presence() {
      return endpoint.presence?.();
    },
    readAgain: () => endpoint.readAgain?.(),
    get invoices() {
      return endpoint.sinks["invoices"] as Sink;
    },
    async restart() {
      await endpoint.close();
      endpoint = open();
      await listens(port);
    },
  };
}

const adds = ({ file }: Site): number =>
  file.asked.filter((xml) => xml.includes("<InvoiceAddRq")).length;

test("an answer that comes after a restart goes on with its session, and the document is found, not sent again", async () => {
  const site = await openSite({ calls: false });
  const { connector, file } = site;
  const daemon = await daemonOver(site);
  const restarted = Promise.withResolvers<void>();
  connector.before = async (operation, [, response = ""]) => {
    if (operation === "receiveResponseXML" && response.includes("<InvoiceAddRs")) {
      connector.before = () => Promise.resolve();
      restarted.resolve(daemon.restart());
      await restarted.promise;
    }
  };
  connector.start();
  const request = requestOf(daemon.invoices, [itemOf(invoiceDocument("FL-1"))]);
  const answer = await daemon.invoices.send({ ...request, firstSentAt: SENT }, never);
  expect(answer.outcome).toBe("unknown");
  await restarted.promise;
  const sink = daemon.invoices;
  await sink.expect?.(never);
  expect(await sink.find({ ...request, firstSentAt: SENT }, never)).toMatchObject({
    found: "exact",
  });
  expect([connector.sessions, adds(site)]).toEqual([1, 1]);
  expect(rowsOf(file, "invoices", "id-FL-1")).toHaveLength(1);
});

test.for([
  ["another document's answer", (xml: string) => xml.replace(/requestID="\w/g, 'requestID="x')],
  ["no answer but an error", () => ""],
])("%s after a restart ends the session, and the next one begins", async ([, changed]) => {
  const site = await openSite({ calls: false });
  const { connector } = site;
  const daemon = await daemonOver(site);
  const [ticket = ""] = await connector.list("authenticate", USER, PASSWORD);
  const xml = await connector.call("sendRequestXML", ticket);
  const response = (changed as (xml: string) => string)(site.file.answer(xml));
  await daemon.restart();
  const hresult = response === "" ? "0x80040402" : "";
  expect(await connector.call("receiveResponseXML", ticket, response, hresult)).toBe("-1");
  expect(await connector.call("getLastError", ticket)).toContain("over");
  expect(await connector.call("sendRequestXML", ticket)).toBe("");
  expect(await connector.call("closeConnection", ticket)).toBe("OK");
  connector.start();
  await daemon.invoices.expect?.(never);
  expect(connector.sessions).toBe(1);
});

test("a ticket is a secret: the store has its hash, and a session that is over is not gone on with", async () => {
  const site = await openSite({ calls: false });
  const { connector } = site;
  const daemon = await daemonOver(site, { holdMs: 1 });
  const [ticket = ""] = await connector.list("authenticate", USER, PASSWORD);
  const kept = (): string => JSON.stringify(daemon.store.notebooks.of("books"));
  expect(kept()).toContain("heardAt");
  expect(kept()).not.toContain(ticket);
  await connector.call("closeConnection", ticket);
  await daemon.restart();
  expect(await connector.call("sendRequestXML", ticket)).toBe("");
  expect(await connector.call("getLastError", ticket)).toContain("over");
});

test("between two sessions it is awaited; a silence longer than expectEvery is told, over a restart too", async () => {
  const site = await openSite({ calls: false });
  const { connector } = site;
  const daemon = await daemonOver(site, { holdMs: 1, expectEvery: "2h" });
  const absent = { lastAt: null, isHere: false, isAwaited: true };
  expect(daemon.presence).toEqual({ ...absent, silence: null });
  daemon.clock.ms += 3 * HOUR_MS;
  expect(daemon.presence).toMatchObject({ ...absent, silence: { since: SENT } });
  const [ticket = ""] = await connector.list("authenticate", USER, PASSWORD);
  expect(daemon.presence).toMatchObject({ isHere: true, silence: null });
  await connector.call("closeConnection", ticket);
  const lastAt = new Date(daemon.clock.ms).toISOString();
  daemon.clock.ms += 2 * HOUR_MS;
  await daemon.restart();
  expect(daemon.presence).toEqual({ lastAt, isHere: false, isAwaited: true, silence: null });
  daemon.clock.ms += 1;
  expect(daemon.presence?.silence).toMatchObject({ since: lastAt, limitMs: 2 * HOUR_MS });
  await connector.list("authenticate", USER, "wrong");
  expect(daemon.presence?.isAwaited).toBe(false);
});

test("another company's file ends the session, in the Web Connector's own words, and stays the cause after it", async () => {
  const site = await openSite({ calls: false });
  const { connector, file } = site;
  file.company = "Somebody Else";
  const daemon = await daemonOver(site, { patienceMs: 10 });
  const [ticket = ""] = await connector.list("authenticate", USER, PASSWORD);
  const answer = file.answer(await connector.call("sendRequestXML", ticket));
  expect(await connector.call("receiveResponseXML", ticket, answer, "", "")).toBe("-1");
  expect(await connector.call("getLastError", ticket)).toContain("Somebody Else");
  await connector.call("closeConnection", ticket);
  const message = expect.stringContaining("Somebody Else") as string;
  await expect(daemon.invoices.expect?.(never)).rejects.toMatchObject({ message });
  expect(daemon.presence?.isAwaited).toBe(false);
});

test("doctor cannot know before the first session; after it, what is missing in QuickBooks is named", async () => {
  const site = await openSite({ calls: false });
  site.file.closedBefore = "2026-10-31";
  const daemon = await daemonOver(site, {
    bankAccount: "Fuel Checking",
    terms: { customer: "Net 30", vendor: "Net 10" },
    expectEvery: "2h",
  });
  const doctor = daemon.doctor();
  await expect(doctor.check(never)).rejects.toMatchObject({
    message: expect.stringContaining("has told nothing yet"),
  });
  expect(await doctor.examine?.(never, NEEDS)).toEqual([]);
  site.connector.start();
  const told = () => daemon.store.notebooks.get("books", "company");
  await expect.poll(told, { timeout: 20_000 }).not.toBe(null);
  await site.connector.stop();
  await doctor.check(never);
  const examined = (await doctor.examine?.(never, NEEDS)) ?? [];
  const faults = examined.flatMap(({ what, fault }) =>
    fault === null ? [] : [[what, fault.code]],
  );
  expect(faults).toEqual([
    ["account Fuel Checking", "not-in-quickbooks"],
    ["terms Net 10", "not-in-quickbooks"],
    ["books closed until 2026-10-31", "closed-period"],
    ["crossref/items.csv line 3", "not-in-quickbooks"],
  ]);
  expect(examined[0]).toMatchObject({
    what: "company Prairie Fuel",
    note: expect.stringContaining("Little company file"),
  });
  const lists = site.file.asked.filter((xml) => xml.includes("<ItemQueryRq"));
  expect(lists).toHaveLength(1);
  daemon.clock.ms += 3 * HOUR_MS;
  await expect(doctor.check(never)).rejects.toMatchObject({
    message: expect.stringContaining("expectEvery"),
  });
});

test("after a release the next answer of QuickBooks counts, on the same day too", async () => {
  const site = await openSite({ calls: false });
  site.file.closedBefore = "2026-10-31";
  const daemon = await daemonOver(site);
  site.connector.start();
  const told = () => daemon.store.notebooks.get("books", "company") ?? "";
  await expect.poll(told, { timeout: 20_000 }).toContain("2026-10-31");
  site.file.closedBefore = "2026-09-30";
  daemon.readAgain();
  await expect.poll(told, { timeout: 20_000 }).toContain("2026-09-30");
});

test("doctor never says that a list is well that QuickBooks did not tell", async () => {
  const company = {
    company: "Prairie Fuel",
    product: null,
    country: null,
    preferences: false,
    salesTax: null,
    multiCurrency: null,
    homeCurrency: null,
    closingDate: null,
  };
  const told = { at: SENT, company, lists: {} };
  const config = DesktopConfig.parse(settings(8447));
  const books = { name: "QuickBooks", errors };
  const all = await examined(books, checksOf(config, told, NEEDS), never);
  expect(all.map(({ what, fault }) => [what, fault?.code ?? "well"])).toEqual([
    ["company Prairie Fuel", "well"],
    ["preferences", "not-told"],
    ["item FREIGHT", "not-told"],
    ["sales tax code Non", "not-told"],
    ["account Checking", "not-told"],
    ["items", "not-told"],
  ]);
});

/** Of two items one is in QuickBooks; two documents wait, one of them in a closed month. */
const NEEDS: Needs = {
  ourselves: [],
  parts: new Set(["invoices"]),
  column: (table, column) =>
    table === "items" && column === "item"
      ? ["ULSD-CLR", "E85"].map((value, at) => ({
          key: value,
          value,
          file: "crossref/items.csv",
          line: at + 2,
        }))
      : [],
  days: ["2026-10-31", "2026-11-20"].map((day) => ({ day, flow: "invoices-issued", count: 1 })),
};
