/** Every statement by which sql-staging writes a document: of the cases of mappings/books, and of random documents per kind. */
import * as fc from "fast-check";
import { tableOf } from "../../connectors/sql-staging/documents.ts";
import { Refused } from "../../src/core/errors.ts";
import { stringifyExact } from "../../src/core/json.ts";
import { InvoiceDocument, type PaymentDocument } from "../../src/ledger/documents.ts";
import type { Call, Desired } from "../../src/ledger/port.ts";
import { dialects } from "../../src/ledger/sql.ts";
import type { TableKind } from "../../src/ledger/table.ts";
import { surroundingsIn } from "../support/surroundings.ts";
import { anyInvoice, anyPayment, documentsOfCases } from "./documents.ts";
import type { Emitted } from "./emitted.ts";

const STATUSES = ["open", "paid", "disputed", "void"];
const call: Call = {
  key: "key",
  signal: new AbortController().signal,
  purpose: "delivery",
  made: new Set(),
};

export async function sqlStatements(seed: number, count: number): Promise<readonly Emitted[]> {
  const files: Emitted[] = [];
  const drawn = <D>(one: fc.Arbitrary<D>): D[] => fc.sample(one, { seed, numRuns: count });
  const write = async (name: string, document: InvoiceDocument | PaymentDocument) => {
    const invoice = document.type === "out" ? "invoice" : "bill";
    const kind = "amount" in document ? "payment" : invoice;
    const dialect = dialects[files.length % 2] ?? "postgresql";
    const text = await written(kind, dialect, document);
    if (text !== null)
      files.push({ path: `${kind}-${document.type}/${name}.sql`, bytes: Buffer.from(text) });
  };
  const cases = documentsOfCases(InvoiceDocument, STATUSES);
  for (const [at, one] of cases.entries()) await write(`case-${at + 1}`, one);
  for (const type of ["out", "in"] as const) {
    for (const [at, one] of drawn(anyInvoice(type)).entries()) await write(`random-${at + 1}`, one);
    for (const [at, one] of drawn(anyPayment(type)).entries()) await write(`random-${at + 1}`, one);
  }
  return files;
}

/** Null: what the tables do not keep whole is no file. */
async function written(
  kind: "invoice" | "bill" | "payment",
  dialect: (typeof dialects)[number],
  document: InvoiceDocument | PaymentDocument,
): Promise<string | null> {
  let text = "";
  const query = (sql: string, values: readonly (string | null)[] = []) => {
    text += `${sql}\n${stringifyExact(values)}\n`;
    return Promise.resolve([{ seq: "7" }]);
  };
  const table = tableOf(
    {
      wire: { dialect, transaction: (_signal, run) => run(query) },
      ...surroundingsIn("."),
      answerWithin: 26,
      viewWithin: 26,
      views: [],
    },
    kind as "invoice",
  );
  const desired = { mark: document.id, document } as Desired<TableKind> as Desired<"invoice">;
  try {
    const values = await table.write(document as InvoiceDocument);
    await table.records.create?.({ desired, values }, call);
    return text;
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}
