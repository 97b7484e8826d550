import { expect, test } from "vitest";
import { bill, engineOn, pagesOf, quickPolicy, receiver } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { NoFile } from "../core/attachment.ts";
import type { Page, Sink } from "../core/contract.ts";
import { stringifyExact } from "../core/json.ts";
import { retry, select } from "../office/decisions.ts";
import { attachmentFlow, FETCHES_MAX } from "./engine.ts";
import { recover, runFlow } from "./daemon.ts";

const signal = new AbortController().signal;
const PDF = Buffer.from("%PDF-1.7");

/** Books, and files that hang on what is booked there; the platform's PDFs are what `fetch` gives. */
function site(reads: Page[][], sinceMs: number | null = null) {
  const bench = engineOn(tempFolder());
  const asked: string[] = [];
  const given = { fetch: async (): Promise<Uint8Array> => PDF };
  const parent = bench.flow({
    name: "invoices",
    from: "platform.invoicesIssued",
    to: "erp.invoices",
    side: "platform",
    sink: receiver({ operation: "invoice.book", writes: "upsert" }),
    source: pagesOf(...reads),
  });
  const hanging: string[] = [];
  const freeze: Sink["freeze"] = (items) => ({
    target: "files",
    body: stringifyExact(items.map(({ document }) => document)),
  });
  const files = receiver({ operation: "invoice.attach", writes: "upsert", freeze });
  const sink: Sink = {
    ...files,
    policy: { ...quickPolicy, keyLifeMs: null, probeMs: 0 },
    async send(request, by) {
      const bytes = await request.file?.();
      hanging.push(`${request.body} ${bytes?.length}`);
      return files.send(request, by);
    },
  };
  const fetch = async (id: string) => {
    asked.push(id);
    return given.fetch();
  };
  const attach = () => bench.flow(attachmentFlow(bench.store, parent, { sink, fetch, sinceMs }));
  const counts = (flow: { readonly flow: number }) =>
    Object.fromEntries(bench.store.deliveries.counts(flow.flow));
  return { bench, parent, attach, asked, hanging, files, given, counts };
}

const page = (...changes: Page["changes"]): Page => ({ changes, position: 1 });

test("a delivered document gets its PDF by a request of its own, once for the id that the books gave it", async () => {
  const { bench, parent, attach, asked, hanging, counts } = site([
    [page(bill("INV-1", "12.50"))],
    [page(bill("INV-1", "12.50", { note: "seen" }))],
  ]);
  const attaching = attach();
  expect(attaching.name).toBe("invoices.pdf");
  for (const _ of [1, 2]) {
    await runFlow(bench.engine, parent, signal);
    await runFlow(bench.engine, attaching, signal);
  }
  expect(counts(parent)).toEqual({ delivered: 2 });
  expect(counts(attaching)).toEqual({ delivered: 1 });
  expect(asked).toEqual(["INV-1"]);
  expect(hanging).toEqual(['[{"id":"INV-1","number":"INV-1","counterpart":"id-of-INV-1"}] 8']);
  expect(bench.store.links.find("invoice-pdf", "platform", "INV-1")).not.toBeNull();
});

test("a PDF that cannot be fetched holds back no booking, is tried with back-off, and then is a person's", async () => {
  const { bench, parent, attach, asked, hanging, given, counts } = site([
    [page(bill("INV-1", "1"))],
    [page(bill("INV-2", "2"))],
  ]);
  const attaching = attach();
  given.fetch = () => Promise.reject(new NoFile("failed", "getInvoicePdf: 503 INTERNAL_ERROR"));
  await runFlow(bench.engine, parent, signal);
  await runFlow(bench.engine, attaching, signal);
  await runFlow(bench.engine, attaching, signal);
  expect(asked).toHaveLength(1);
  expect(bench.store.journal.breakers()).toEqual([]);
  await runFlow(bench.engine, parent, signal);
  expect(counts(parent)).toEqual({ delivered: 2 });

  for (let minutes = 0; minutes < 6 * FETCHES_MAX; minutes += 6) {
    bench.clock.advance(360_000);
    await runFlow(bench.engine, attaching, signal);
  }
  expect(asked.filter((id) => id === "INV-1")).toHaveLength(FETCHES_MAX);
  expect(counts(attaching)).toEqual({ quarantined: 2 });
  const [row] = bench.store.questions.quarantine();
  expect(row).toMatchObject({ code: "no-pdf" });
  expect(row?.cause).toBe(
    `the PDF of INV-1 could not be fetched from the platform, ${FETCHES_MAX} times: getInvoicePdf: 503 INTERNAL_ERROR`,
  );

  given.fetch = async () => PDF;
  bench.store.transaction(() => {
    for (const one of select(bench.engine, bench.engine.flows, "all")) retry(bench.engine, one);
  });
  await runFlow(bench.engine, attaching, signal);
  expect(counts(attaching)).toEqual({ delivered: 2 });
  expect(hanging).toHaveLength(2);
});

test("a file that is too large is a person's at once; limits and a network that is down count as no failure", async () => {
  const { bench, parent, attach, asked, given, counts } = site([[page(bill("INV-1", "1"))]]);
  const attaching = attach();
  await runFlow(bench.engine, parent, signal);
  given.fetch = () => Promise.reject(new NoFile("passing", "not sent", 1_000));
  for (let tries = 0; tries < FETCHES_MAX + 5; tries++) {
    bench.clock.advance(10_000);
    await runFlow(bench.engine, attaching, signal);
  }
  expect(asked).toHaveLength(FETCHES_MAX + 5);
  expect(counts(attaching)).toEqual({ frozen: 1 });
  given.fetch = () => Promise.reject(new NoFile("never", "larger than 33554432 bytes"));
  bench.clock.advance(10_000);
  await runFlow(bench.engine, attaching, signal);
  expect(counts(attaching)).toEqual({ quarantined: 1 });
});

test("a kill between add and store, and a lost answer, add no second file", async () => {
  const { bench, parent, attach, hanging, files, counts } = site([
    [page(bill("INV-1", "1"), bill("INV-2", "2"))],
  ]);
  const attaching = attach();
  await runFlow(bench.engine, parent, signal);
  const { send } = files;
  files.send = async (request, by) => {
    await send(request, by);
    throw new Error("killed");
  };
  await expect(runFlow(bench.engine, attaching, signal)).rejects.toThrow("killed");
  files.send = send;
  const lost = { outcome: "unknown", detail: "torn", unanswered: true } as const;
  files.script.push(async () => ({ answer: lost, execute: true }));
  recover(bench.engine, attaching);
  for (const _ of [1, 2, 3]) {
    await runFlow(bench.engine, attaching, signal);
    bench.clock.advance(5_000);
  }
  expect(counts(attaching)).toEqual({ delivered: 2 });
  expect(hanging.toSorted()).toEqual([
    expect.stringContaining("INV-1"),
    expect.stringContaining("INV-2"),
  ]);
});

test("an attachment whose document is linked no more waits for it, and goes by itself", async () => {
  const { bench, parent, attach, hanging, counts } = site([
    [page(bill("INV-1", "1"))],
    [page(bill("INV-1", "1", { note: "again" }))],
  ]);
  const attaching = attach();
  await runFlow(bench.engine, parent, signal);
  bench.store.transaction(() => bench.store.links.drop("invoice", "platform", "INV-1"));
  await runFlow(bench.engine, attaching, signal);
  expect(bench.store.questions.quarantine().map(({ code }) => code)).toEqual(["waits-for"]);
  expect(hanging).toEqual([]);
  await runFlow(bench.engine, parent, signal);
  await runFlow(bench.engine, attaching, signal);
  expect(counts(attaching)).toEqual({ delivered: 1 });
  expect(hanging).toHaveLength(1);
});

test("what was delivered before the option was switched on gets no PDF, unless since when is said; then each one", async () => {
  for (const [sinceMs, documents, wanted] of [
    [null, 2, 0],
    [Date.parse("2026-11-22"), 2, 0],
    [Date.parse("2026-11-01"), 220, 220],
  ] as const) {
    const before = [page(...Array.from({ length: documents }, (_, at) => bill(`INV-${at}`, "1")))];
    const { bench, parent, attach, asked, counts } = site([before], sinceMs);
    await runFlow(bench.engine, parent, signal);
    expect(counts(parent)).toEqual({ delivered: documents });
    const attaching = attach();
    await runFlow(bench.engine, attaching, signal);
    await runFlow(bench.engine, attaching, signal);
    expect(new Set(asked).size).toBe(wanted);
    expect(asked).toHaveLength(wanted);
  }
});
