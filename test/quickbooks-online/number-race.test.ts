/**
 * A number that somebody else takes just before each write, and gives up before it is looked for again: QuickBooks says
 * "duplicate document number" (6140) for ever, and a look never finds why. Over the engine and the counterpart of Intuit's
 * interface; the engine's clock is the test's.
 */
import { expect, test } from "vitest";
import type { Company } from "../../connectors/quickbooks-online/company.fixture.ts";
import { openCompany } from "../../connectors/quickbooks-online/company-server.fixture.ts";
import { never, sinkOf } from "../../connectors/quickbooks-online/quickbooks-online.fixture.ts";
import { billDocument, invoiceDocument } from "../../connectors/example/example.fixture.ts";
import { type Change, defineMapping } from "../../src/core/contract.ts";
import { stringifyExact } from "../../src/core/json.ts";
import { Daemon } from "../../src/engine/daemon.ts";
import { InvoiceDocument } from "../../src/ledger/documents.ts";
import { retry, select } from "../../src/office/decisions.ts";
import { engineOn, pagesOf } from "../support/engine.ts";
import { tempFolder } from "../support/folder.ts";

const MINUTE_MS = 60_000;

const KINDS = {
  invoice: { sink: "invoices", entity: "Invoice", document: invoiceDocument },
  bill: { sink: "bills", entity: "Bill", document: billDocument },
} as const;
type Kind = keyof typeof KINDS;

const mappingOf = (kind: Kind) =>
  defineMapping<InvoiceDocument, InvoiceDocument>({
    name: `test/${kind}`,
    kind,
    input: InvoiceDocument,
    output: InvoiceDocument,
    number: ({ number }) => number,
    map: (document) => document,
    figures: ({ total }) => ({ amount: total, gallons: null }),
    posts: true,
  });

/** Documents on their way to an empty company; `ended`: the deliveries by state, once nothing more happens by itself. */
async function setup(kind: Kind, documents: readonly InvoiceDocument[]) {
  const company = await openCompany();
  const bench = engineOn(tempFolder());
  const changes = documents.map((document): Change => ({
    id: document.id,
    version: null,
    text: stringifyExact(document),
  }));
  const flow = bench.flow({
    mapping: mappingOf(kind),
    from: "platform.invoicesIssued",
    to: "books.invoices",
    side: "platform",
    sink: sinkOf(company, KINDS[kind].sink),
    source: pagesOf([{ changes, position: 1 }]),
  });
  const daemon = new Daemon(bench.engine, [flow]);
  const ended = async () => {
    await daemon.once(never);
    return Object.fromEntries(bench.store.deliveries.counts(flow.flow));
  };
  const numbers = () =>
    company
      .rows(KINDS[kind].entity)
      .map((row) => String(row["DocNumber"]))
      .toSorted();
  return { company, bench, flow, ended, numbers };
}

/** A clerk's document has the number whenever one is to be written under it, and another one when it is looked for later. */
function racing(company: Company, kind: Kind, number: string) {
  const { entity } = KINDS[kind];
  const clerks = company.enter(entity, {
    DocNumber: "draft",
    TxnDate: "2020-01-31",
    Line: [],
    ...(kind === "bill"
      ? { VendorRef: { value: "" } }
      : { CustomerRef: { value: "9", name: "X" } }),
  });
  let writes = 0;
  let looks = 0;
  const renumber = (DocNumber: string): void => company.edit(entity, clerks.Id, { DocNumber });
  company.clerk = (path, text) => {
    if (path.trim() === kind && text.includes(`"${number}"`)) {
      writes++;
      looks = 0;
      // Of a bill's own vendor.
      const [, value = ""] = /"VendorRef":\{"value":"([^"]+)"/.exec(text) ?? [];
      if (kind === "bill") company.edit(entity, clerks.Id, { VendorRef: { value } });
      renumber(number);
    } else if (isLook(path, entity) && looks++ > 0) renumber("draft");
  };
  const end = (): void => {
    company.clerk = null;
    renumber("draft");
  };
  return { writes: () => writes, end };
}

const isLook = (path: string, entity: string): boolean =>
  new RegExp(`^query .*\\b${entity}\\b`, "i").test(path);

test.each(["invoice", "bill"] as const)(
  "%s: a number that a clerk takes each time is a person's after bounded tries, the rest goes on, and a retry books it once",
  async (kind) => {
    const documents = [1, 2, 3, 4].map((at) => KINDS[kind].document(`FL-${at}`));
    const { company, bench, flow, ended, numbers } = await setup(kind, documents);
    const race = racing(company, kind, "FL-2");
    const beganMs = bench.clock.now().wallMs;
    expect(await ended()).toEqual({ delivered: 3, quarantined: 1 });
    expect(bench.clock.now().wallMs - beganMs).toBeLessThan(15 * MINUTE_MS);
    expect(bench.store.questions.quarantine()).toMatchObject([
      { code: "refused-unlisted", cause: expect.stringContaining("Duplicate Document Number") },
    ]);
    expect(race.writes()).toBeLessThanOrEqual(12);
    race.end();
    expect(numbers()).toEqual(["FL-1", "FL-3", "FL-4", "draft"]);
    for (const one of select(bench.engine, [flow], "all")) retry(bench.engine, one);
    expect(await ended()).toEqual({ delivered: 4 });
    expect(numbers()).toEqual(["FL-1", "FL-2", "FL-3", "FL-4", "draft"]);
  },
);

test("of two of our own invoices with one number one is booked and the other is a person's, and neither is sent again", async () => {
  const documents = [
    invoiceDocument("FL-1"),
    invoiceDocument("FL-2"),
    invoiceDocument("FL-2", { id: "id-other" }),
    invoiceDocument("FL-3"),
  ];
  const { bench, company, ended, numbers } = await setup("invoice", documents);
  expect(await ended()).toEqual({ delivered: 3, quarantined: 1 });
  expect(numbers()).toEqual(["FL-1", "FL-2", "FL-3"]);
  expect(bench.store.questions.quarantine()).toMatchObject([{ code: "number-taken" }]);
  company.asked.length = 0;
  await ended();
  expect(company.asked.filter((path) => path.startsWith("invoice"))).toEqual([]);
});
