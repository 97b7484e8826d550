/**
 * The interchanges that the files connector writes: 810 and 850 from the cases of their mappings and from random documents,
 * one by one and in batches, and the 997 that it answers damaged 810 with. No control number comes twice.
 */
import * as fc from "fast-check";
import { X12Sink } from "../../connectors/files/config.ts";
import { formatOf } from "../../connectors/files/source.ts";
import type { DocumentWriter } from "../../src/formats/format.ts";
import { replyWriter } from "../../src/formats/x12/write.ts";
import { itemsOfCases } from "./cases.ts";
import { type Emitted, written } from "./emitted.ts";
import { siteIn } from "../files/idoc.ts";
import { damages, dialects, invoices, orders } from "../files/random-x12.ts";
import { agreed, itemOf, options, read } from "../files/x12.ts";

const KINDS = {
  810: { document: "customer-invoices", documents: invoices },
  850: { document: "orders", documents: orders },
} as const;

const BATCH = 5;

export function* x12Files(seed: number, count: number): Generator<Emitted> {
  const cases = itemsOfCases();
  const sampled = <T>(values: fc.Arbitrary<T>): T[] => fc.sample(values, { seed, numRuns: count });
  const agreements = sampled(dialects);
  let control = 0;
  for (const [set, { document, documents }] of Object.entries(KINDS)) {
    const own = cases.get(`files.${document}`) ?? [];
    for (const [at, item] of own.entries())
      yield* written(`${set}/case-${at + 1}.edi`, writer(document, {}), [item], ++control);
    const items = sampled<Parameters<typeof itemOf>[0]>(documents).map(itemOf);
    for (const [at, item] of items.entries()) {
      const agreement = agreements[at] ?? {};
      yield* written(`${set}/random-${at + 1}.edi`, writer(document, agreement), [item], ++control);
      if (at % BATCH === BATCH - 1)
        yield* written(
          `${set}/batch-${at + 1}.edi`,
          writer(document, agreement),
          items.slice(at + 1 - BATCH, at + 1),
          ++control,
        );
    }
  }
  yield* acknowledgements(sampled(invoices), sampled(damages), agreements, control);
}

/** What a partner who gets our 810 answers, with the ends exchanged. */
function* acknowledgements(
  documents: readonly Parameters<typeof itemOf>[0][],
  damaged: readonly ((text: string) => string)[],
  agreements: readonly object[],
  last: number,
): Generator<Emitted> {
  let control = last;
  for (const [at, document] of documents.entries()) {
    const damage = damaged[at] ?? String;
    const text = damage(writer("customer-invoices", {}).textOf([itemOf(document)], at + 1));
    const swapped = { us: agreed.partner, partner: agreed.us };
    const { replies = [] } = read("books.invoices", Buffer.from(text, "latin1"), swapped);
    const answering = replyWriter(options({ ...agreements[at], ...swapped }));
    for (const { id, content } of replies) {
      const item = { ...itemOf(document), id, number: id, document: { id, content } };
      yield* written(`997/random-${at + 1}.edi`, answering, [item], ++control);
    }
  }
}

function writer(document: X12Sink["document"], agreement: object): DocumentWriter {
  const x12 = { ...agreed, taxes: TAXES, units: UNITS, text: "replace", ...agreement };
  const settings = { format: "x12", document, folder: "out", per: "batch", x12 };
  const config = X12Sink.parse(settings);
  return formatOf(config).write(config, siteIn("/nowhere", { looking: true }));
}

/** What the partner calls the taxes and units of the cases. */
const UNITS = { gal: "GA", liter: "LT" };
const TAXES = { ...agreed.taxes, "TX-DSL": "ST", LUST: "LU" };
