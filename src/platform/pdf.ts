/** A document's PDF, whole (specification part 4, `/pdf`): one request, never tried again here. */
import { NoFile } from "../core/attachment.ts";
import { TransportError } from "../transport/http.ts";
import { answerRules, errorOf } from "./answers.ts";
import type { Exchanger } from "./client.ts";
import { pathOf } from "./contract/operations.ts";

/** What fetches a PDF; a source names the one of its records (parts.ts). */
export type PdfOperation = "getInvoicePdf" | "getDeliveryTicketPdf";

const TYPE = "application/pdf";
const SIGNATURE = "%PDF-";

/**
 * The bytes of the PDF of a record, 32 MiB at most. The request is one of purpose `detail`, so that it never eats what
 * writes and read-backs keep of the month.
 * @throws NoFile, EnvironmentError
 */
export async function fetchPdf(
  client: Exchanger,
  operation: PdfOperation,
  id: string,
  now: Date,
): Promise<Uint8Array> {
  const request = { method: "GET", path: pathOf(operation, id), purpose: "detail" } as const;
  const exchange = await client.download(request, TYPE);
  if (exchange.kind !== "download") {
    const { kind, message, waitMs } = errorOf(operation, exchange, now);
    // A key that may not see this document may see the next one.
    const isPassing = answerRules[kind].outcome === "nothing" && kind !== "forbidden";
    throw new NoFile(isPassing ? "passing" : "failed", message, waitMs ?? undefined);
  }
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of exchange.body) chunks.push(chunk);
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    const { code } = error.cause as { readonly code?: unknown };
    throw new NoFile(code === "TOO_LARGE" ? "never" : "failed", `${operation}: ${error.message}`);
  }
  const bytes = Buffer.concat(chunks);
  if (bytes.subarray(0, SIGNATURE.length).toString("latin1") !== SIGNATURE)
    throw new NoFile("failed", `${operation}: the answer is no PDF (${bytes.length} bytes)`);
  return bytes;
}
