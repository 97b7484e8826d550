/**
 * Invoices that were delivered: are they still there, still as far as they were brought, and do they still say what
 * they were delivered with?
 */
import { type Delivered, gone, type Inspection, thereAsBrought } from "../../src/core/contract.ts";
import type { Difference } from "../../src/core/holdings.ts";
import type { Books } from "./books.ts";
import type { InvoiceDocument } from "../../src/books/documents.ts";
import type { Guard } from "./guard.ts";
import { creditsOf } from "./invoice-credits.ts";
import {
  hasItsFigures,
  isDraft,
  progressDifferences,
  type Progressed,
} from "../../src/books/invoices.ts";
import { progressOf } from "./invoice-states.ts";
import { markOf, marks } from "./marks.ts";
import { unavailable } from "./fault.ts";
import { linkedAs, look, type Verdict, type Wanted } from "./standing.ts";

/** Documents that one search asks for. */
const LOT = 200;

/** @param wantedIn what a body says @throws SourceUnavailable */
export async function inspectInvoices(
  books: Books,
  guard: Guard,
  type: InvoiceDocument["type"],
  delivered: readonly Delivered[],
  wantedIn: (body: string) => readonly Wanted[],
): Promise<Inspection[]> {
  const bodies = new Map<string, readonly Wanted[]>();
  const toldOf = ({ id, body }: Delivered): Wanted | null => {
    if (body === null) return null;
    const wanted = bodies.get(body) ?? wantedIn(body);
    bodies.set(body, wanted);
    return wanted.find(({ document }) => document.id === id) ?? null;
  };
  const inspections = new Map<Delivered, Inspection>();
  try {
    for (let at = 0; at < delivered.length; at += LOT) {
      const lot = delivered.slice(at, at + LOT);
      const told = lot.flatMap((one) => {
        const wanted = toldOf(one);
        return wanted === null ? [] : [{ ...wanted, ...one, of: one }];
      });
      const linked = lot.filter((one) => !told.some(({ of }) => of === one));
      const all = await inspectTold(books, guard, told);
      for (const [at, { of }] of told.entries()) inspections.set(of, all[at] ?? thereAsBrought);
      const lost = await unlinked(books, type, linked);
      for (const one of linked) inspections.set(one, lost.has(one) ? gone : thereAsBrought);
    }
  } catch (error) {
    throw unavailable(error);
  }
  return delivered.map((one) => inspections.get(one) ?? thereAsBrought);
}

/** What was delivered, and whether it still waits for its payments. */
interface Told extends Wanted {
  readonly waitsUntil?: string;
}

interface There {
  readonly document: InvoiceDocument;
  readonly entry: Progressed;
  readonly differences: readonly Difference[];
  readonly until: string | null;
  readonly waits: boolean;
}

async function inspectTold(
  books: Books,
  guard: Guard,
  told: readonly Told[],
): Promise<Inspection[]> {
  const verdicts = await look(books, guard, told);
  const theres = told.map((one, at) => thereIn(one, verdicts[at]));
  const there = theres.filter((one) => one !== null);
  const alike = there.filter(({ document, entry }) => hasItsFigures(document, entry));
  const progress = await progressOf(books, alike);
  const undone = new Set(alike.filter((_, at) => progress[at] === "open"));
  const credits = await creditsOf(
    books,
    there.map(({ entry }) => entry),
  );
  return verdicts.map((verdict, at): Inspection => {
    const one = theres[at] ?? null;
    if (verdict.found === "several")
      return {
        is: "there",
        differences: [{ field: "record", expected: "one", held: verdict.detail }],
      };
    if (one === null || undone.has(one)) return gone;
    const { document, entry, differences } = one;
    const its = progressDifferences(document, entry, credits.get(entry.id) ?? [], marks);
    const more = [...markDifference(one), ...its];
    return { is: "there", differences: [...differences, ...more] };
  });
}

/**
 * Books that were restored give numbers a second time: without the platform's id the figures must be the same too. Null:
 * it is not there, or somebody else's is, or one that was entered again by a person with other figures.
 */
function thereIn(told: Told, verdict: Verdict | undefined): There | null {
  if (verdict?.found !== "one" && verdict?.found !== "different") return null;
  const { document, until } = told;
  const { entry } = verdict;
  const differences = verdict.found === "one" ? verdict.amend : verdict.differences;
  const waits = told.waitsUntil !== undefined;
  const there = { document, entry, differences, until, waits };
  return entry.platformId === document.id || hasItsFigures(document, entry) ? there : null;
}

/** We made it, and somebody took its mark away: it would not be found again by it. */
const markDifference = ({ document: { id }, entry }: There): Difference[] =>
  entry.made && entry.platformId === null
    ? [{ field: "mark", expected: markOf(id), held: "none" }]
    : [];

/** Those that are gone of what a person linked: by the number that was given then. */
async function unlinked(
  books: Books,
  type: InvoiceDocument["type"],
  linked: readonly Delivered[],
): Promise<ReadonlySet<Delivered>> {
  if (linked.length === 0) return new Set();
  const found = await linkedAs(
    books,
    type,
    linked.map(({ counterpart }) => counterpart),
  );
  const there = new Set(
    found
      .filter((one) => books.config.posting === "draft" || !isDraft(one))
      .flatMap(({ id, number }) => [`#${id}`, number ?? ""]),
  );
  return new Set(linked.filter(({ counterpart }) => !there.has(counterpart)));
}
