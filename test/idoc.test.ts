/** Bills on the whole road to SAP, over real files, the store, the engine and the sandbox, and what SAP answers back. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { brokenRules } from "./files/idoc-rules.ts";
import { aleaud, sinkConfig } from "./files/idoc.ts";
import { referenceTo } from "../src/formats/idoc/read.ts";
import { files } from "../connectors/files/index.ts";
import { mappings } from "../mappings/index.ts";
import { calendarOf } from "../src/core/time.ts";
import { withAcknowledgements } from "../src/engine/delivered.ts";
import { trip } from "../src/engine/breakers.ts";
import { type Engine, RESTORED } from "../src/engine/engine.ts";
import { push, runFlow } from "../src/engine/daemon.ts";
import { verify } from "../src/engine/verify.ts";
import { resolve, select } from "../src/office/decisions.ts";
import { companies } from "../src/sandbox/scenes/companies.ts";
import { never, usePlatform } from "./platform/support.ts";
import { engineOn } from "./support/engine.ts";
import { tempFolder } from "./support/folder.ts";

const platform = usePlatform("demo");

const HOUR_MS = 3_600_000;

/** What goes to SAP, of which source, by which mapping. */
const KINDS = {
  bills: ["INVOIC", "invoicesPayable", "canonical/supplier-invoices"],
  orders: ["ORDERS", "orders", "books/orders"],
  tickets: ["DELVRY", "deliveryTickets", "books/delivery-tickets"],
} as const;

/** A site whose bills go to SAP, and SAP's side of its folders. */
async function site(sharesNumber = false, kind: keyof typeof KINDS = "bills") {
  const folder = tempFolder();
  const clock = await platform.clock();
  const bench = engineOn(tempFolder(), clock);
  const us = companies.supplier.id;
  const row = (_table: string, key: string) => ({
    item: key.slice(0, 18),
    tax: "I1",
    account: "104711",
    company: us,
    symbol: "gal",
    value: us,
    plant: "HOU1",
  });
  const engine: Engine = { ...bench.engine, tables: { row } };
  const surroundings = {
    folder,
    now: () => new Date(clock.now().wallMs),
    pause: async () => {},
    currency: "USD",
    dayOf: calendarOf("America/Chicago"),
    ignore: {},
    note: () => {},
  };
  const answers = { folder: "from-sap", withinHours: 24 };
  const [message, from, mappingName] = KINDS[kind];
  const own = kind === "bills" ? { withoutOrder: "send", paid: "deliver" } : {};
  const config = sinkConfig(message, {
    ...own,
    ...(kind === "orders" ? { plants: undefined } : {}),
    answers,
  });
  /** As after each start: nothing is remembered but what lies in files and in the store. */
  const start = () => {
    const { sinks } = files.open(
      files.config.parse({ folder: ".", sinks: { it: config } }),
      surroundings,
    );
    const remote = platform.endpoint({ clock });
    const mapping = mappings.find(({ name }) => name === mappingName);
    const [own, source] = [sinks["it"], remote.sources[from]];
    if (mapping === undefined || own?.acknowledged === undefined || source === undefined)
      throw new Error("no flow");
    const acknowledged = {
      ...own.acknowledged,
      references: () => [referenceTo("0000000000000117")],
    };
    const sink = sharesNumber ? { ...own, acknowledged } : own;
    return bench.flow({
      name: "bills",
      mapping,
      source: withAcknowledgements(source, sink),
      sink,
      side: "platform",
      from: "platform.invoicesPayable",
      to: "sap.it",
    });
  };
  let flow = start();
  // The first day of a site that worked before: its store is new, and nobody knows what was delivered.
  engine.store.transaction(() => {
    const detail = "this store is new";
    if (kind !== "bills") trip(engine, { breaker: RESTORED, scope: "everything", detail });
    engine.store.journal.release(RESTORED, "firstStart in the configuration", 0);
  });
  const out = join(folder, "to-sap");
  const inbox = join(folder, "from-sap");
  mkdirSync(inbox);
  let answered = 0;
  return {
    clears: () => rmSync(join(inbox, "archive"), { recursive: true }),
    restart: () => {
      flow = start();
    },
    deliver: async () => {
      let ran: Pick<Awaited<ReturnType<typeof runFlow>>, "progress" | "wakeAt"> = await runFlow(
        engine,
        flow,
        never,
      );
      while (ran.progress > 0 || ran.wakeAt !== null) {
        if (ran.wakeAt !== null)
          await clock.pause(Math.max(ran.wakeAt.monoMs - clock.now().monoMs, 1));
        ran = await push(engine, flow, never);
      }
    },
    written: () => readdirSync(out).toSorted(),
    textOf: (name: string) => readFileSync(join(out, name), "utf8"),
    /** SAP's answer to a file of ours. */
    answer: (name: string, status: string, text: string, at: string) => {
      const docnum = /(\d{16})\.xml$/.exec(name)?.[1] ?? "";
      writeFileSync(join(inbox, `aleaud_${++answered}.xml`), aleaud(docnum, status, { text, at }));
    },
    drop: (name: string, text: string) => writeFileSync(join(inbox, name), text),
    refused: () => readdirSync(join(inbox, "failed")),
    /** What the engine does at start and every hour. */
    verify: async (hours = 0) => {
      if (hours > 0) await clock.pause(hours * HOUR_MS);
      await runFlow(engine, flow, never);
      await verify(engine, flow, never);
    },
    quarantine: () => bench.store.questions.quarantine(),
    causes: () => bench.store.questions.quarantine().filter(({ code }) => code === "differs"),
    groups: () =>
      bench.store.questions
        .quarantine()
        .filter(({ code }) => code === "differs")
        .map(({ count, reason }) => `${count}: ${reason}`)
        .toSorted(),
    counts: () => Object.fromEntries(bench.store.deliveries.counts(flow.flow)),
    accept: () =>
      bench.store.transaction(() =>
        resolve(engine, select(engine, [flow], "all"), { by: "Ann", note: "entered by hand" }),
      ),
  };
}

test("a bill that SAP could not post is with a person in SAP's words, and settled when SAP has posted it", async () => {
  const sap = await site();
  await sap.deliver();
  const names = sap.written();
  const [first = "", second = ""] = names;
  expect(names.length).toBeGreaterThan(1);
  expect(sap.textOf(first)).toMatch(/<INVOIC02><IDOC BEGIN="1"><EDI_DC40 SEGMENT="1">/);
  const delivered = sap.counts()["delivered"];

  sap.answer(first, "51", "Vendor &amp; is not defined", "20260814160000");
  sap.answer(second, "53", "Document posted", "20260814160000");
  sap.drop("broken.xml", "<ALEAUD01><IDOC>");
  await sap.verify();
  const [cause, ...others] = sap.causes();
  expect(others).toEqual([]);
  expect(cause?.cause).toContain(
    "status 51 of 2026-08-14 16:00: Vendor 0000104711 is not defined (M8 321)",
  );
  expect(sap.counts()).toMatchObject({ quarantined: expect.any(Number) as number });
  expect(sap.refused().filter((name) => name.endsWith(".errors.csv"))).toHaveLength(1);

  // What SAP answered is known after a start, also where somebody has emptied the archive.
  sap.clears();
  sap.restart();
  await sap.verify();
  expect(sap.causes()).toHaveLength(1);

  // A second refusal with the same words is told anew, also after a person had accepted the first.
  sap.accept();
  expect(sap.causes()).toEqual([]);
  sap.answer(first, "51", "Vendor &amp; is not defined", "20260815090000");
  await sap.verify();
  expect(sap.causes()[0]?.cause).toContain("of 2026-08-15 09:00");

  sap.answer(first, "53", "Document 5105600123 posted", "20260815100000");
  await sap.verify();
  expect(sap.causes()).toEqual([]);
  expect(sap.counts()["delivered"]).toBe(delivered);
  expect(sap.written()).toEqual(names);
});

test("bills that SAP could not post are one group for each of its messages, in its words", async () => {
  const sap = await site();
  await sap.deliver();
  const [first = "", second = "", third = ""] = sap.written();
  for (const name of [first, second])
    sap.answer(name, "51", "Vendor &amp; is not defined", "20260814160000");
  sap.answer(third, "51", "Period &amp; is closed", "20260814170000");
  await sap.verify();
  expect(sap.groups()).toEqual([
    '1: differs in "sap" from what was delivered: posting (status 51: Period & is closed (M8 321))',
    '2: differs in "sap" from what was delivered: posting (status 51: Vendor & is not defined (M8 321))',
  ]);
});

test("a bill that SAP says nothing of for a day is for a person, and nothing is written twice", async () => {
  const sap = await site();
  await sap.deliver();
  const names = sap.written();
  // Two refiners number their bills alike: each of them goes.
  const alike = names.filter((name) => sap.textOf(name).includes("<BELNR>0004711</BELNR>"));
  expect(alike).toHaveLength(2);
  await sap.verify(23);
  expect(sap.causes()).toEqual([]);
  await sap.verify(2);
  const told = sap.causes().reduce((sum, { count }) => sum + count, 0);
  expect(told).toBe(names.length);
  for (const name of names) sap.answer(name, "53", "Document posted", "20260814160000");
  await sap.verify();
  expect(sap.causes()).toEqual([]);
  expect(sap.written()).toEqual(names);
});

test("of documents that would share a DOCNUM the first one goes, and each other one is for a person", async () => {
  const sap = await site(true);
  await sap.deliver();
  expect(sap.written()).toHaveLength(1);
  const taken = sap.quarantine().filter(({ code }) => code === "reference-taken");
  expect(taken.length).toBeGreaterThan(0);
  expect(taken[0]?.cause).toMatch(/idoc 0000000000000117\) is that of [A-Z0-9-]+, which went/);
  expect(sap.counts()).not.toHaveProperty("pending");
});

test.each([
  ["orders", ["no-customer", "no-purchases"]],
  ["tickets", ["no-delivery", "waits-without-flow"]],
] as const)(
  "%s that SAP never had are skipped with a word on the first day, and no group of the quarantine is of them",
  async (kind, others) => {
    const sap = await site(false, kind);
    await sap.deliver();
    expect(sap.counts()["skipped"]).toBeGreaterThan(0);
    const codes = new Set(sap.quarantine().map(({ code }) => code));
    expect(others).toEqual(expect.arrayContaining([...codes]));
    for (const name of kind === "orders" ? sap.written() : [])
      expect(brokenRules(sap.textOf(name)), name).toEqual([]);
  },
);
