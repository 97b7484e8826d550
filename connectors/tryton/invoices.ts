/**
 * Invoices and bills into Tryton, each once. A send looks for every document first and goes on from what it finds, so
 * it may be repeated after anything: a crash, a lost answer, a draft that was left behind.
 */
import { z } from "zod";
import type { Item, Outgoing, Sink } from "../../src/core/contract.ts";
import { parseExact, stringifyExact } from "../../src/core/json.ts";
import {
  type Answer,
  done,
  type Finding,
  keyless,
  type Policy,
  type Waits,
} from "../../src/core/outcome.ts";
import { book } from "./booking.ts";
import type { Books } from "./books.ts";
import { InvoiceDocument } from "../../src/books/documents.ts";
import { type Guard, openGuard } from "./guard.ts";
import { type Booked, bringTo, type Progress, progressOf } from "./invoice-states.ts";
import { inspectInvoices } from "./invoices-inspect.ts";
import { answering, finding } from "../../src/books/answering.ts";
import { uncertain } from "../../src/books/faults.ts";
import { TRYTON } from "./fault.ts";
import { idOf, readByIds } from "./invoice-facts.ts";
import type { Entry } from "../../src/books/invoices.ts";
import { look, type Wanted } from "./standing.ts";

/** A send looks before it books. What hangs on a lock may run on after its deadline: only then a look proves anything. */
export const policyOf = ({ config }: Books): Policy => ({ ...keyless, settleMs: config.settleMs });

/** Customer invoices. */
export const invoiceSink = (books: Books): Sink => openSink(books, "invoice.book", "out");

/** Supplier invoices. */
export const billSink = (books: Books): Sink => openSink(books, "bill.book", "in");

function openSink(books: Books, operation: string, type: InvoiceDocument["type"]): Sink {
  const guard = openGuard(books);
  return {
    operation,
    writes: "upsert",
    itemsMax: books.config.batch,
    // Two that post at once only lock each other out of the number sequence.
    atOnce: 1,
    policy: policyOf(books),
    freeze: (items) => ({
      target: `account.invoice ${type}`,
      body: stringifyExact(items.map((item) => frozen(books, item))),
    }),
    send: (request) => answering(TRYTON.faults, () => send(books, guard, wantedIn(request))),
    find: (request) => finding(TRYTON.faults, () => find(books, guard, wantedIn(request))),
    inspect: (delivered) =>
      inspectInvoices(books, guard, type, delivered, (body) => wantedIn({ body })),
  };
}

const Body = z.array(
  z.object({
    document: InvoiceDocument,
    counterpart: z.string().nullable(),
    until: z.string().nullable().default(null),
  }),
);

function frozen({ config }: Books, { document, counterpart, settledSince }: Item): Wanted {
  const parsed = InvoiceDocument.parse(document);
  const waits = parsed.status === "paid" && settledSince !== undefined && config.settleAfter > 0;
  const until = waits
    ? new Date(Date.parse(settledSince) + config.settleAfter).toISOString()
    : null;
  return { document: parsed, counterpart, until };
}

const wantedIn = ({ body }: Pick<Outgoing, "body">): Wanted[] => Body.parse(parseExact(body));

async function send(books: Books, guard: Guard, wanted: readonly Wanted[]): Promise<Answer> {
  const verdicts = await look(books, guard, wanted);
  const bookings = wanted.map(({ document }, at) => ({
    document,
    verdict: verdicts[at] as (typeof verdicts)[number],
  }));
  const booked = await book(books, guard, bookings);
  const there = booked.filter((id) => id !== null);
  const made = there.filter((id) => verdicts[booked.indexOf(id)]?.found === "none");
  const before = await entries(books, wanted, booked);
  const { progress: first, written, settled } = await bringTo(books, before, new Set(made));
  const after = written ? await entries(books, wanted, booked) : before;
  const progress = written ? await progressOf(books, after) : first;
  const each = told(wanted, after, progress, settled);
  const detail = each.join(", ");
  // A button says nothing when it does nothing; and somebody may have deleted a draft.
  if (after.length < there.length || progress.some((how) => how !== "final" && how !== "waits"))
    return uncertain(`${INCOMPLETE}: ${detail}`, eachOf(each, INCOMPLETE));
  return done(detail, idsOf(wanted, after), {
    ...eachOf(each),
    ...waitsOf(wanted, after, progress),
  });
}

async function find(books: Books, guard: Guard, wanted: readonly Wanted[]): Promise<Finding> {
  const verdicts = await look(books, guard, wanted);
  const twice = verdicts.find(({ found }) => found === "several");
  if (twice?.found === "several") return { found: "several", detail: twice.detail };
  const other = verdicts.find(({ found }) => found === "different" || found === "taken");
  if (other?.found === "different" || other?.found === "taken")
    return { found: "different", detail: other.detail };
  const booked = verdicts.flatMap((verdict, at) =>
    verdict.found === "one" ? [bookedAs(books, wanted[at] as Wanted, verdict.entry)] : [],
  );
  const progress = await progressOf(books, booked);
  const fault = progress.find((one) => typeof one === "object");
  if (fault !== undefined) return { found: "different", detail: fault.message };
  const absent = wanted.filter(
    ({ document }) =>
      document.status !== "void" && !booked.some((one) => one.document === document),
  );
  const each = told(wanted, booked, progress);
  const detail = each.join(", ");
  const unlike = verdicts.some((one) => one.found === "one" && one.amend.length > 0);
  if (absent.length > 0 || unlike || progress.includes("open"))
    return { found: "none", detail: `${INCOMPLETE}: ${detail}`, ...eachOf(each, INCOMPLETE) };
  return {
    found: "exact",
    ids: idsOf(wanted, booked),
    ...waitsOf(wanted, booked, progress),
    detail,
    ...eachOf(each),
  };
}

const INCOMPLETE = "not all of it is done";

/** What is said of each, and of all before that; left out where it is about one document. */
const eachOf = (each: readonly string[], ofAll?: string): Pick<Answer, "each"> =>
  each.length < 2
    ? {}
    : { each: ofAll === undefined ? each : each.map((one) => `${ofAll}: ${one}`) };

/** As they are now. */
async function entries(
  books: Books,
  wanted: readonly Wanted[],
  booked: readonly (number | null)[],
): Promise<Booked[]> {
  const now = await readByIds(
    books,
    booked.filter((id) => id !== null),
    "head",
  );
  return wanted.flatMap((one, at) => {
    const found = now.find(({ id }) => id === booked[at]);
    return found === undefined ? [] : [bookedAs(books, one, found)];
  });
}

const bookedAs = ({ surroundings }: Books, { document, until }: Wanted, entry: Entry): Booked => ({
  document,
  entry,
  until,
  waits: until !== null && surroundings.now().toISOString() < until,
});

/** Left out where none waits. */
function waitsOf(
  wanted: readonly Wanted[],
  booked: readonly Booked[],
  progress: readonly Progress[],
): { readonly waits?: Waits } {
  if (!progress.includes("waits")) return {};
  const waits = wanted.map(({ document, until }) => {
    const at = booked.findIndex((one) => one.document === document);
    return progress[at] === "waits" ? until : null;
  });
  return { waits };
}

const entryIn = (booked: readonly Booked[], { document }: Wanted): Entry | undefined =>
  booked.find((one) => one.document === document)?.entry;

/** Null for a document that was void before it was booked: nothing of it is in Tryton. */
const idsOf = (wanted: readonly Wanted[], booked: readonly Booked[]): (string | null)[] =>
  wanted.map((one) => {
    const found = entryIn(booked, one);
    return found === undefined ? null : idOf(found);
  });

/** Of each: `INV-1 posted`, `FL-3 was void before it was booked: nothing is in Tryton`. */
const told = (
  wanted: readonly Wanted[],
  booked: readonly Booked[],
  progress: readonly Progress[],
  settled: ReadonlyMap<number, string> = new Map(),
): string[] =>
  wanted.map((one) => {
    const at = booked.findIndex(({ document }) => document === one.document);
    const found = booked[at]?.entry;
    if (found !== undefined) {
      const waits = progress[at] === "waits" ? `; waits for its payments until ${one.until}` : "";
      const why = settled.get(found.id);
      return `${idOf(found)} ${found.state}${waits}${why === undefined ? "" : `; ${why}`}`;
    }
    const { number, status } = one.document;
    return status === "void"
      ? `${number} was void before it was booked: nothing is in Tryton`
      : `${number} is not there`;
  });
