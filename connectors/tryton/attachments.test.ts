import { createHash } from "node:crypto";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { usePlatform } from "../../test/platform/support.ts";
import { engineOn, pagesOf } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { isLongRun, numbers } from "../../test/support/runs.ts";
import { trytonIsThere, useTryton } from "../../test/support/tryton.ts";
import { InvoiceDocument, ShipmentDocument } from "../../src/ledger/documents.ts";
import { fileSinks } from "../../src/ledger/files.ts";
import { defineMapping, type Page, type Sink } from "../../src/core/contract.ts";
import { attachmentFlow } from "../../src/engine/engine.ts";
import type { Flow } from "../../src/engine/engine.ts";
import { recover, runFlow } from "../../src/engine/daemon.ts";
import { verify } from "../../src/engine/verify.ts";
import { fetchPdf } from "../../src/platform/reading.ts";
import { retry, select } from "../../src/office/decisions.ts";
import type { Status, Trace } from "../../src/office/answers.ts";
import { openSite } from "../../test/tryton/site.ts";
import { LedgerError } from "../../src/ledger/port.ts";
import { fileTables, ledgerOf } from "./index.ts";
import type { Books } from "./books.ts";
import { billSink, invoiceSink, shipmentSink } from "./sinks.fixture.ts";
import {
  between,
  billDocument,
  COMPANY_ID,
  d,
  type Desk,
  deskIn,
  invoiceDocument,
  rows,
} from "./sink.fixture.ts";

const signal = new AbortController().signal;
/** Longer than a call may run on in Tryton. */
const SETTLED_MS = 120_000;

interface Attachment {
  readonly id: number;
  readonly name: string;
  readonly resource: string;
  readonly description: string;
  readonly data: { readonly base64: string };
}

const opener = (name: string) => (books: Books) =>
  fileSinks(ledgerOf(books).books, fileTables(books))[name] as Sink;
const kinds = {
  invoice: { sink: invoiceSink, files: opener("invoiceFiles"), output: InvoiceDocument },
  bill: { sink: billSink, files: opener("billFiles"), output: InvoiceDocument },
  "delivery-ticket": {
    sink: shipmentSink,
    files: opener("shipmentFiles"),
    output: ShipmentDocument,
  },
} as const;

type Document = InvoiceDocument | ShipmentDocument;
type Fetch = (id: string) => Promise<Uint8Array>;

/** A store and the flows of one kind over these books; each of `reads` is what one look at the platform brings. */
function siteOver(books: Books, kind: keyof typeof kinds, fetch: Fetch, reads: Document[][]) {
  const { sink, files, output } = kinds[kind];
  const bench = engineOn(tempFolder());
  const documents = reads.flat();
  const mapping = defineMapping<{ id: string; at: string }, Document>({
    name: `test/${kind}`,
    kind,
    input: z.object({ id: z.string(), at: z.string() }),
    output: output as z.ZodType<Document>,
    number: ({ at }) => documents[Number(at)]?.number ?? "",
    map: ({ at }) => documents[Number(at)] as Document,
    figures: () => ({ amount: null, gallons: null }),
  });
  const pageOf = (read: readonly Document[]): Page => ({
    position: null,
    changes: read.map((document) => {
      const { id } = document;
      return {
        id,
        version: null,
        text: JSON.stringify({ id, at: String(documents.indexOf(document)) }),
      };
    }),
  });
  const ends = { from: "platform.x", to: "erp.x", side: "platform" } as const;
  const source = pagesOf(...reads.map((read) => [pageOf(read)]));
  const parent = bench.flow({ name: kind, ...ends, mapping, sink: sink(books), source });
  const attaching = (files: Sink): Flow =>
    bench.flow(attachmentFlow(bench.store, parent, { sink: files, fetch, sinceMs: null }));
  const flow = attaching(files(books));
  return {
    bench,
    flow,
    run: async () => {
      await runFlow(bench.engine, parent, signal);
      await runFlow(bench.engine, flow, signal);
    },
    /** The attachments alone, once whatever may still run in Tryton has ended. */
    later: async () => {
      bench.clock.advance(SETTLED_MS);
      await runFlow(bench.engine, flow, signal);
    },
    counts: () => Object.fromEntries(bench.store.deliveries.counts(flow.flow)),
    causes: () => bench.store.questions.quarantine().map(({ code }) => code),
    retryAll: () =>
      bench.store.transaction(() => {
        for (const one of select(bench.engine, [flow], "all")) retry(bench.engine, one);
      }),
  };
}

const attachments = (desk: Desk): Promise<Attachment[]> =>
  rows(desk, "ir.attachment", [], ["name", "resource", "description", "data"]);

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

describe.skipIf(!trytonIsThere)("PDFs on what is booked in Tryton", () => {
  const server = useTryton();
  const platform = usePlatform("conformance");

  /** The PDF of an invoice of the platform, over HTTP; of each one that is asked for, its id. */
  async function pdfs() {
    const asked: string[] = [];
    const client = platform.client();
    const ids = (await platform.control.stored("invoices", "supplier")).map(({ id }) => String(id));
    const fetch: Fetch = (id) => {
      asked.push(id);
      return fetchPdf(client, "getInvoicePdf", id, new Date());
    };
    return { asked, fetch, ids };
  }

  test("each invoice and bill has the platform's PDF once, though an answer is lost and a kill comes between add and store", async () => {
    const desk = deskIn(server);
    const { asked, fetch, ids } = await pdfs();
    const [first = "", second = "", third = ""] = ids;
    const documents = [first, second].map((id) => invoiceDocument({ id }));
    let lost = 0;
    const losing = between(desk.books, {
      after: async (method) => {
        if (method === "model.ir.attachment.create" && ++lost === 1)
          throw new LedgerError("torn", "lost");
      },
    });
    const site = siteOver(losing, "invoice", fetch, [documents]);
    await site.run();
    expect(site.counts()).toEqual({ delivered: 1, frozen: 1 });
    await site.later();
    expect(site.counts()).toEqual({ delivered: 2 });

    const killed = siteOver(desk.books, "bill", fetch, [[billDocument({ id: third })]]);
    const { sink } = killed.flow;
    const send = sink.send.bind(sink);
    Object.assign(sink, {
      send: async (...request: Parameters<Sink["send"]>) => {
        await send(...request);
        throw new Error("killed");
      },
    });
    await expect(killed.run()).rejects.toThrow("killed");
    Object.assign(sink, { send });
    recover(killed.bench.engine, killed.flow);
    await killed.later();
    expect(killed.counts()).toEqual({ delivered: 1 });

    const there = await attachments(desk);
    expect(there).toHaveLength(3);
    expect(asked.toSorted()).toEqual([first, second, third].toSorted());
    for (const { name, resource, description, data } of there) {
      const bytes = Buffer.from(data.base64, "base64");
      expect(bytes.toString("latin1")).toMatch(/^%PDF-[^]*%%EOF\s*$/);
      expect(description).toMatch(new RegExp(`^platform:\\S+ sha256:${sha256(bytes)}$`));
      expect(resource).toMatch(/^account\.invoice,\d+$/);
      expect(name).toMatch(/^FL-\d+\.pdf$/);
    }
  });

  test("a store that was lost fetches and adds nothing again; books that lost a PDF get it again when a person says so", async () => {
    const desk = deskIn(server);
    const { asked, fetch, ids } = await pdfs();
    const document = invoiceDocument({ id: ids[0] as string });
    const before = siteOver(desk.books, "invoice", fetch, [[document]]);
    await before.run();
    const another = siteOver(desk.books, "invoice", fetch, [[document]]);
    await another.run();
    expect(another.counts()).toEqual({ delivered: 1 });
    expect(asked).toHaveLength(1);
    const [attachment, ...others] = await attachments(desk);
    expect(others).toEqual([]);

    const { engine } = before.bench;
    expect(await verify(engine, before.flow, signal)).toBe(0);
    await desk.admin.call("model.ir.attachment.delete", [[attachment?.id]]);
    expect(await verify(engine, before.flow, signal)).toBe(1);
    await before.later();
    expect(before.causes()).toEqual(["gone"]);
    expect(await attachments(desk)).toEqual([]);
    before.retryAll();
    await before.later();
    expect(before.counts()).toEqual({ delivered: 1 });
    expect(await attachments(desk)).toHaveLength(1);
  });

  test("a ticket has a PDF of when it waited and one of when it was done", async () => {
    const desk = deskIn(server);
    const fetch: Fetch = async (id) => Buffer.from(`%PDF-1.7 ${id}`);
    const line = { product: "ULSD-CLR", unit: "gal", grossGallons: null, netGallons: d("100") };
    const ticket = ShipmentDocument.parse({
      id: "1c2d3e4f-4c1e-4d8a-9f5e-1c2d3e4f5a6b",
      number: "DT-1001",
      party: { code: "C1", name: "Acme", companyId: COMPANY_ID },
      type: "out",
      status: "waiting",
      date: "2026-11-21",
      reference: "BOL 7",
      order: null,
      note: null,
      lines: [{ ...line, quantity: d("100"), temperature: null, apiGravity: null }],
    });
    const reads: Document[][] = [[ticket], [{ ...ticket, status: "done" }]];
    const site = siteOver(desk.books, "delivery-ticket", fetch, reads);
    await site.run();
    await site.run();
    expect(site.counts()).toEqual({ delivered: 2 });
    expect((await attachments(desk)).map(({ name }) => name)).toEqual([
      "DT-1001 waiting.pdf",
      "DT-1001 done.pdf",
    ]);
  });

  describe.runIf(isLongRun)("in the long run", numbers, () => {
    test("a file of that name is taken when its bytes are the same, and is a person's when they are not", async () => {
      const desk = deskIn(server);
      const bytes = Buffer.from("%PDF-1.7 the same");
      const fetch: Fetch = async () => bytes;
      const [same, other] = [invoiceDocument(), invoiceDocument()];
      const site = siteOver(desk.books, "invoice", fetch, [[same, other]]);
      await runFlow(site.bench.engine, site.bench.engine.flows[0] as Flow, signal);
      const booked = await rows<{ id: number; number: string }>(
        desk,
        "account.invoice",
        [],
        ["number"],
      );
      for (const [{ number }, data] of [
        [same, bytes],
        [other, Buffer.from("a person's")],
      ] as const) {
        const resource = `account.invoice,${booked.find((one) => one.number === number)?.id}`;
        const base64 = data.toString("base64");
        const values = { resource, name: `${number}.pdf`, data: { __class__: "bytes", base64 } };
        await desk.clerk.call("model.ir.attachment.create", [[values]]);
      }
      await site.later();
      expect(site.counts()).toEqual({ delivered: 1, quarantined: 1 });
      expect(site.causes()).toEqual(["other-file"]);
      expect(await attachments(desk)).toHaveLength(2);
      // It is renamed there, and ours goes beside it.
      const [theirs] = (await attachments(desk)).filter(
        ({ name }) => name === `${other.number}.pdf`,
      );
      await desk.clerk.call("model.ir.attachment.write", [[theirs?.id], { name: "scan.pdf" }]);
      site.retryAll();
      await site.later();
      expect(site.counts()).toEqual({ delivered: 2 });
      expect(await attachments(desk)).toHaveLength(3);
    });

    test("as an option of a flow: its attachments are a flow of their own, and each costs one request", async () => {
      const folder = join(tempFolder(), "site");
      const change = (yaml: string): string => {
        const [head = "", flows = ""] = yaml.split("\nflows:\n");
        const issued = /  invoices-issued:\n(?: {4}.*\n)+/.exec(flows)?.[0] ?? "";
        return `${head}\nflows:\n${issued}    attach: pdf\n`;
      };
      const site = await openSite(folder, server.copy("attach"), { scenario: "empty", change });
      onTestFinished(() => site.close());
      await site.control.generate({ key: "supplier", invoices: 4, seed: 7 });
      expect(await site.command("once")).toMatchObject({
        code: 0,
        out: expect.stringMatching(/^In step[.,].*\n$/) as unknown,
      });
      const { flows } = await site.ask<Status>("status");
      const delivered = flows.map(({ name, delivered }) => [name, delivered]);
      const booked = delivered[0]?.[1] as number;
      expect(booked).toBeGreaterThan(0);
      expect(delivered).toEqual([
        ["invoices-issued", booked],
        ["invoices-issued.pdf", booked],
      ]);
      const attached = await site.tryton.rows<{ name: string }>("ir.attachment", [], "name");
      expect(attached).toHaveLength(booked);
      const number = attached[0]?.name.replace(/\.pdf$/, "") ?? "";
      const { steps } = await site.ask<Trace>("trace", number);
      const story = steps.map(({ flow, event }) => `${flow} ${event}`);
      expect(story).toContain("invoices-issued.pdf done");
      const asked = await site.control.requests();
      expect(asked.filter(({ path }) => String(path).endsWith("/pdf"))).toHaveLength(booked);
    });
  });
});
