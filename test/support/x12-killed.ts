/** A flow of two invoices into X12: what the program that is killed runs, and the test after it. */
import { join } from "node:path";
import { z } from "zod";
import { defineMapping, type Sink } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { engineOn } from "./engine.ts";
import { surroundingsIn } from "./surroundings.ts";
import { CustomerInvoiceDocument } from "../../connectors/files/documents.ts";
import { files } from "../../connectors/files/index.ts";
import { agreed, invoice } from "../../connectors/files/x12/x12.fixture.ts";

export const NUMBERS = ["INV-1", "INV-2"];

const mapping = defineMapping({
  name: "killed",
  kind: "invoice",
  reads: "platform.invoicesIssued",
  writes: "files.customer-invoices",
  leaves: { record: [], document: [] },
  tables: {},
  input: z.object({ number: z.string() }),
  output: CustomerInvoiceDocument,
  posts: true,
  number: ({ number }) => number,
  map: ({ number }) => invoice({ id: number, number }),
  figures: () => ({ amount: Decimal.zero, gallons: Decimal.zero }),
  about: () => ({}),
});

/** The store is in `state` of the folder, the files are in `out`. */
export function killedFlow(folder: string) {
  const bench = engineOn(join(folder, "state"));
  const sink = { format: "x12", document: "customer-invoices", folder: "out", x12: agreed };
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
  const from = { side: "platform", from: "platform.invoicesIssued", to: "erp.it" } as const;
  const flow = bench.flow({ name: "killed", mapping, source, sink: sinks["it"] as Sink, ...from });
  return { ...bench, flow };
}
