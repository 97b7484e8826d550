/** A flow of two documents into files of one format: what the program that is killed runs, and the test after it. */
import { join } from "node:path";
import { z } from "zod";
import { files } from "../../connectors/files/index.ts";
import { defineMapping, type Mapping, type Sink } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { CustomerInvoiceDocument, SupplierInvoiceDocument } from "../../src/formats/documents.ts";
import { bill, sinkConfig } from "../files/idoc.ts";
import { agreed, invoice } from "../files/x12.ts";
import { engineOn } from "./engine.ts";
import { surroundingsIn } from "./surroundings.ts";

export const NUMBERS = ["INV-1", "INV-2"];

interface Format {
  readonly sink: Readonly<Record<string, unknown>>;
  readonly mapping: Mapping;
}

const shared = {
  name: "killed",
  leaves: { record: [], document: [] },
  tables: {},
  input: z.object({ number: z.string() }),
  posts: true,
  number: ({ number }: { number: string }) => number,
  figures: () => ({ amount: Decimal.zero, gallons: Decimal.zero }),
  about: () => ({}),
};

export const formats = {
  x12: {
    sink: { format: "x12", document: "customer-invoices", folder: "out", x12: agreed },
    mapping: defineMapping({
      ...shared,
      kind: "invoice",
      reads: "platform.invoicesIssued",
      writes: "files.customer-invoices",
      output: CustomerInvoiceDocument,
      map: ({ number }) => invoice({ id: number, number }),
    }),
  },
  idoc: {
    sink: sinkConfig("INVOIC", { folder: "out" }),
    mapping: defineMapping({
      ...shared,
      kind: "bill",
      reads: "platform.invoicesPayable",
      writes: "files.supplier-invoices",
      output: SupplierInvoiceDocument,
      map: ({ number }) => bill({ id: number, number }),
    }),
  },
} as const satisfies Record<string, Format>;

export type FormatName = keyof typeof formats;

/** The store is in `state` of the folder, the files are in `out`. */
export function killedFlow(folder: string, format: FormatName) {
  const bench = engineOn(join(folder, "state"));
  const { sink, mapping } = formats[format];
  const { sinks } = files.open(
    files.config.parse({ folder: ".", sinks: { it: sink } }),
    surroundingsIn(folder),
  );
  const version = "2026-11-18T09:15:00Z";
  const changes = NUMBERS.map((number) => ({
    id: number,
    version,
    text: JSON.stringify({ number }),
    origin: number,
  }));
  const source = {
    async *read() {
      yield { changes, position: null };
    },
  };
  const from = { side: "platform", from: mapping.reads ?? "", to: "erp.it" } as const;
  const flow = bench.flow({ name: "killed", mapping, source, sink: sinks["it"] as Sink, ...from });
  return { ...bench, flow };
}
