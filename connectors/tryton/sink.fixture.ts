/** Documents with figures that add up, sent as the engine sends them, and a look into the books afterwards. */
import { onTestFinished } from "vitest";
import type { Delivered, Inspection, Item, Outgoing, Sink } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { sha256 } from "../../src/core/keys.ts";
import type { Answer, Finding } from "../../src/core/outcome.ts";
import type { TrytonServer } from "../../test/support/tryton.ts";
import { testedSeries } from "../../test/support/tryton-releases.ts";
import { LedgerError } from "../../src/ledger/port.ts";
import { type Books, openLookup } from "./books.ts";
import { TrytonConfig } from "./config.ts";
import type { InvoiceDocument, PaymentDocument } from "../../src/ledger/documents.ts";
import { billSink, invoiceSink } from "./sinks.fixture.ts";
import { openTryton, type Tryton } from "./wire.ts";

type Database = ReturnType<TrytonServer["copy"]>;

export const d = (digits: string): Decimal => Decimal.of(digits);
const TODAY = "2026-11-21";

export interface Desk {
  readonly database: Database;
  readonly books: Books;
  /** Somebody of the office. */
  readonly clerk: Tryton;
  readonly admin: Tryton;
}

let copies = 0;

/** Books of a test's own. */
export const deskIn = (server: TrytonServer, more: object = {}): Desk =>
  deskOf(server.copy(`sink${process.pid}_${++copies}`), more);

/**
 * Books of a test's own that begin with these documents. They are sent once in a test run; whatever tests begin with the
 * same gets copies.
 */
export async function deskWith(
  server: TrytonServer,
  documents: readonly InvoiceDocument[],
  more: object = {},
): Promise<Desk> {
  const filled = await server.filled(JSON.stringify([documents, more]), async (database) => {
    const desk = deskOf(database, more);
    for (const document of documents) {
      const sink = document.type === "out" ? invoiceSink(desk.books) : billSink(desk.books);
      const { outcome, detail } = await send(sink, document);
      if (outcome !== "done") throw new Error(`${document.number}: ${outcome}, ${detail}`);
    }
  });
  return deskOf(server.copy(`sink${process.pid}_${++copies}`, filled), more);
}

/** Books of a test's own with one invoice or bill, and the sink that brought it: {@link deskWith}. */
export async function deskWithOne(
  server: TrytonServer,
  type: InvoiceDocument["type"],
  more: object = {},
): Promise<{ desk: Desk; sink: Sink; document: InvoiceDocument }> {
  const document = begun(type);
  const desk = await deskWith(server, [document], more);
  const sink = type === "out" ? invoiceSink(desk.books) : billSink(desk.books);
  return { desk, sink, document };
}

export function deskOf(database: Database, more: object): Desk {
  const books = booksOf(database, more);
  return {
    database,
    books,
    clerk: sessionOf(books.config, database.clerk),
    admin: sessionOf(books.config, database.admin),
  };
}

export const settings = (database: Database, more: object = {}): Record<string, unknown> => ({
  url: database.url,
  database: database.database,
  user: database.user,
  password: database.password,
  company: database.company,
  accounts: { receivable: "1200", payable: "2100", revenue: "4000", expense: "5000" },
  paymentMethod: "Bank transfer",
  ...more,
});

/** One more program at the same books. */
export function booksOf(database: Database, more: object = {}): Books {
  const config = TrytonConfig.parse(settings(database, more));
  const surroundings = {
    folder: ".",
    now: () => new Date(`${TODAY}T12:00:00Z`),
    pause: () => Promise.resolve(),
    currency: "USD",
    dayOf: (instant: string) => instant.slice(0, 10),
    ignore: {},
    note: () => {},
  };
  const tryton = sessionOf(config);
  const own = { ...config, currency: surroundings.currency };
  return { config: own, tryton, lookup: openLookup(tryton, surroundings), surroundings };
}

function sessionOf(config: TrytonConfig, more: object = {}): Tryton {
  const tryton = openTryton({ ...config, ...more }, { note: () => {}, now: () => new Date() });
  onTestFinished(() => tryton.close());
  return tryton;
}

let numbers = 0;
const uuid = (): string =>
  `5f0c1a2e-0000-4000-8000-${String(process.pid * 10_000 + ++numbers).padStart(12, "0")}`;

/** Two lines and two taxes: 18103.96 + 150.00, taxes 1830.12 + 45.25, together 20129.33. */
export function invoiceDocument(more: Partial<InvoiceDocument> = {}): InvoiceDocument {
  const id = uuid();
  const number = `FL-${id.slice(-8)}`;
  return {
    id,
    number,
    party: { code: "CUST-1", name: "Ranch Supply", companyId: COMPANY_ID },
    type: "out",
    status: "open",
    invoiceDate: TODAY,
    dueDate: "2026-12-08",
    paidDate: null,
    poNumber: "4711",
    description: null,
    lines: [
      {
        product: "ULSD-CLR",
        account: null,
        quantity: d("7500.5"),
        unit: "gal",
        unitPrice: d("2.4137"),
        amount: d("18103.96"),
        description: "ULSD; BOL 123456",
      },
      {
        product: null,
        account: "4100",
        quantity: d("1"),
        unit: null,
        unitPrice: d("150"),
        amount: d("150.00"),
        description: "Freight",
      },
    ],
    taxes: [
      {
        account: "2300",
        description: "Federal excise",
        base: d("18103.96"),
        amount: d("1830.12"),
      },
      { account: "2320", description: "Sales tax", base: d("18253.96"), amount: d("45.25") },
    ],
    subtotal: d("18253.96"),
    tax: d("1875.37"),
    total: d("20129.33"),
    ...more,
  };
}

/** What books begin with that have an invoice, or a bill: see {@link deskWith}. */
export const begun = (type: InvoiceDocument["type"]): InvoiceDocument => {
  const always = { id: "5f0c1a2e-0000-4000-8000-000000000001", number: "FL-00000001" };
  return type === "out" ? invoiceDocument(always) : billDocument(always);
};

export const COMPANY_ID = "0a000000-0000-4000-8000-00000000c001";

/** The same as what we must pay. */
export function billDocument(more: Partial<InvoiceDocument> = {}): InvoiceDocument {
  const { lines, ...rest } = invoiceDocument();
  return {
    ...rest,
    type: "in",
    party: { code: "SUP-1", name: "Gulf Rack", companyId: "0a000000-0000-4000-8000-00000000c002" },
    lines: lines.map((line) => (line.account === null ? line : { ...line, account: "5100" })),
    ...more,
  };
}

export const paymentDocument = (more: Partial<PaymentDocument>): PaymentDocument => ({
  id: uuid(),
  number: "ACH 4711",
  type: "out",
  invoice: "",
  invoiceId: null,
  amount: d("20129.33"),
  date: TODAY,
  reference: "4711",
  description: "ACH 4711",
  ...more,
});

interface Sendable {
  readonly id: string;
  readonly number: string;
}

const itemOf = (document: Sendable, counterpart: string | null = null): Item => ({
  number: document.number,
  id: document.id,
  revision: sha256(JSON.stringify(document)).slice(0, 22),
  document,
  counterpart,
});

/** Frozen as the engine does it. */
export function requestOf(
  sink: Sink,
  documents: readonly Sendable[],
  counterparts: readonly (string | null)[] = [],
): Outgoing {
  const items = documents.map((document, at) => itemOf(document, counterparts[at]));
  return { ...sink.freeze(items), key: "fb1_test", items, firstSentAt: null };
}

const never = new AbortController().signal;

export const send = (sink: Sink, ...documents: readonly Sendable[]): Promise<Answer> =>
  sink.send(requestOf(sink, documents), never);

export const find = (sink: Sink, ...documents: readonly Sendable[]): Promise<Finding> =>
  sink.find(requestOf(sink, documents), never);

/** Which of these receiver's ids are gone; they were linked by a person. */
export const missingOf = (sink: Sink, ids: readonly string[]): Promise<readonly string[]> =>
  goneOf(
    sink,
    ids.map((id) => ({ id, counterpart: id, body: null })),
  );

async function goneOf(sink: Sink, delivered: readonly Delivered[]): Promise<readonly string[]> {
  const inspections = await inspectionsOf(sink, delivered);
  return delivered.filter((_, at) => inspections[at]?.is === "gone").map((one) => one.counterpart);
}

async function inspectionsOf(
  sink: Sink,
  delivered: readonly Delivered[],
): Promise<readonly Inspection[]> {
  const inspections = await sink.inspect?.(delivered, never);
  if (inspections === undefined) throw new Error("it cannot be asked");
  return inspections;
}

/** What became of these documents, that were delivered in one request under these ids: one list of lines each. */
export async function inspected(
  sink: Sink,
  documents: readonly Sendable[],
  { ids = [] }: Answer,
): Promise<readonly (readonly string[])[]> {
  const { body } = requestOf(sink, documents);
  const all = await inspectionsOf(
    sink,
    documents.map(({ id }, at) => ({ id, counterpart: ids[at] as string, body })),
  );
  return all.map((one) =>
    one.is === "gone"
      ? ["gone"]
      : one.differences.map(({ field, expected, held }) => `${field}: ${held} for ${expected}`),
  );
}

/** Which of these documents are gone, that were delivered in one request under these ids. */
export function lostOf(
  sink: Sink,
  documents: readonly Sendable[],
  { ids = [] }: Answer,
): Promise<readonly string[]> {
  const { body } = requestOf(sink, documents);
  const delivered = documents.map(({ id }, at) => ({ id, counterpart: ids[at] as string, body }));
  return goneOf(sink, delivered);
}

/** Rows of a model, oldest first. */
export const rows = <Row>(
  { books }: Desk,
  model: string,
  domain: readonly unknown[],
  fields: readonly string[] = [],
): Promise<Row[]> =>
  books.tryton.call<Row[]>(`model.${model}.search_read`, [
    domain,
    0,
    null,
    [["id", "ASC"]],
    fields,
  ]);

export interface InvoiceRow {
  readonly id: number;
  readonly number: string | null;
  readonly state: string;
  readonly total_amount: Decimal;
}

/** Every invoice there is, of both types. */
export const allInvoices = (desk: Desk): Promise<InvoiceRow[]> =>
  rows(desk, "account.invoice", [], ["number", "state", "total_amount"]);

/** Who stands between us and Tryton: may hold a call back, or lose its answer. */
export interface Between {
  readonly before?: (method: string, params: readonly unknown[]) => Promise<void>;
  /** The call was carried out. */
  readonly after?: (method: string) => Promise<void>;
}

export function between(books: Books, { before, after }: Between): Books {
  const call: Tryton["call"] = async (method, params, ...rest) => {
    await before?.(method, params);
    const result = await books.tryton.call(method, params, ...rest);
    await after?.(method);
    return result as never;
  };
  const tryton = { ...books.tryton, call };
  return { ...books, tryton, lookup: openLookup(tryton, books.surroundings) };
}

/** Loses the answer of the `lost`-th call that changes something, as a connection that breaks does; 0: of none. */
export function losing(books: Books, lost = 0): { readonly books: Books; changes(): number } {
  let changes = 0;
  const after = async (method: string): Promise<void> => {
    if (/\.(?:search|read|search_read|fields_get)$/.test(method) || ++changes !== lost) return;
    throw new LedgerError("torn", "the answer was lost");
  };
  return { books: between(books, { after }), changes: () => changes };
}

/** What an order becomes: 8.0 waits for an invoice of its own, which never comes. */
export const ORDERED = testedSeries === "6.0" ? "done" : "processing";
/** `shipment_state` of an order of which nothing has moved, and nothing is planned. */
export const UNSHIPPED = testedSeries === "6.0" ? "sent" : "none";
/** From a customer shipment that waits to a packed one: 8.0 picks what was assigned only. */
export const PICKING = testedSeries === "6.0" ? ["pick", "pack"] : ["assign_force", "pick", "pack"];
/** As the engine: what was refused for now goes again. */
export async function sendUntilTaken(sink: Sink, document: Sendable): Promise<Answer> {
  for (;;) {
    const answer = await send(sink, document);
    if (answer.outcome !== "nothing" || answer.waitMs === undefined) return answer;
  }
}
