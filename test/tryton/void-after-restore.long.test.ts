/**
 * Books that are set back to before a void, with the engine, the real mapping and a real Tryton.
 *
 * @module-tag numbers
 */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { billSink } from "../../connectors/tryton/sinks.fixture.ts";
import { allInvoices, deskIn } from "../../connectors/tryton/sink.fixture.ts";
import { bookedSupplierInvoices as supplierInvoices } from "../../mappings/invoices.ts";
import type { Change } from "../../src/core/contract.ts";
import { type Json, stringifyExact } from "../../src/core/json.ts";
import { Daemon } from "../../src/engine/daemon.ts";
import { type Case, readCases } from "../../src/mapping/cases.ts";
import { retry, select } from "../../src/office/decisions.ts";
import { engineOn, pagesOf } from "../support/engine.ts";
import { tempFolder } from "../support/folder.ts";
import { trytonIsThere, useTryton } from "../support/tryton.ts";

const signal = new AbortController().signal;
const { cases } = readCases(
  join(import.meta.dirname, "../../mappings/books/cases/supplier-invoices.json"),
);
const { record, tables } = cases.find(({ name }) => name === "fuel-and-freight") as Case;
const invoice = record as Readonly<Record<string, Json>>;

describe.skipIf(!trytonIsThere)("books set back", () => {
  const server = useTryton();

  test("a void whose invoice stands again, because books were restored to before it, is cancelled again when a person retries it", async () => {
    const desk = deskIn(server);
    const version = (status: string, updatedAt: string): Change => ({
      id: invoice["id"] as string,
      version: updatedAt,
      text: stringifyExact({ ...invoice, status, updatedAt }),
    });
    const bench = engineOn(tempFolder());
    const engine = {
      ...bench.engine,
      tables: {
        row: (table: string, key: string) =>
          table === "tax-accounts"
            ? { sales: "2310", purchases: "2310" }
            : (tables[table]?.[key] ?? null),
      },
    };
    const flow = bench.flow({
      name: "invoices-payable",
      side: "platform",
      from: "platform.invoicesPayable",
      to: "books.bills",
      mapping: supplierInvoices,
      sink: billSink(desk.books),
      source: pagesOf(
        [{ changes: [version("OUTSTANDING", "2026-11-04T10:15:00.123456Z")], position: 1 }],
        [{ changes: [version("VOID", "2026-11-05T10:15:00.123456Z")], position: 2 }],
      ),
    });
    const once = () => new Daemon(engine, [flow]).once(signal);
    const states = async () => (await allInvoices(desk)).map(({ state }) => state);
    const counts = () => Object.fromEntries(bench.store.deliveries.counts(flow.flow));
    const retryAll = () =>
      bench.store.transaction(() => {
        for (const one of select(engine, [flow], "all")) retry(engine, one);
      });

    const empty = desk.database.keep();
    await once();
    expect(await states()).toEqual(["posted"]);
    const posted = desk.database.keep();
    await once();
    expect(await states()).toEqual(["cancelled"]);

    desk.database.restore(posted);
    await once();
    expect(bench.store.questions.quarantine()).toMatchObject([{ code: "gone", count: 1 }]);
    retryAll();
    await once();
    expect(await states()).toEqual(["cancelled"]);
    expect(counts()).toEqual({ delivered: 2 });

    // To before it was booked at all: nothing is there, and nothing is booked.
    desk.database.restore(empty);
    await once();
    expect(bench.store.questions.quarantine()).toMatchObject([{ code: "gone", count: 1 }]);
    retryAll();
    await once();
    expect(await states()).toEqual([]);
    expect(counts()).toEqual({ delivered: 2 });
  });
});
