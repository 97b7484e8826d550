/** Invoices that were booked: are they still there, and still as far as they were brought? */
import type { Delivered } from "../../src/core/contract.ts";
import { isDraft } from "./booking.ts";
import type { Books } from "./books.ts";
import type { InvoiceDocument } from "./documents.ts";
import type { Guard } from "./guard.ts";
import { progressOf } from "./invoice-states.ts";
import { unavailable } from "./sources/unavailable.ts";
import { linkedAs, look, type Wanted } from "./standing.ts";

/** Documents that one search asks for. */
const LOT = 200;

/** @param wantedIn what a body says @throws SourceUnavailable */
export async function missing(
  books: Books,
  guard: Guard,
  type: InvoiceDocument["type"],
  delivered: readonly Delivered[],
  wantedIn: (body: string) => readonly Wanted[],
): Promise<readonly string[]> {
  const bodies = new Map<string, readonly Wanted[]>();
  const toldOf = ({ id, body }: Delivered): Wanted | null => {
    if (body === null) return null;
    const wanted = bodies.get(body) ?? wantedIn(body);
    bodies.set(body, wanted);
    return wanted.find(({ document }) => document.id === id) ?? null;
  };
  const gone: string[] = [];
  try {
    for (let at = 0; at < delivered.length; at += LOT) {
      const lot = delivered.slice(at, at + LOT);
      const told = lot.flatMap((one) => {
        const wanted = toldOf(one);
        return wanted === null ? [] : [{ ...wanted, ...one }];
      });
      const linked = lot.filter((one) => !told.some(({ id }) => id === one.id));
      gone.push(...(await lost(books, guard, told)), ...(await unlinked(books, type, linked)));
    }
  } catch (error) {
    throw unavailable(error);
  }
  return gone;
}

interface Told extends Delivered {
  readonly document: InvoiceDocument;
  readonly until: string | null;
}

/** Books that were restored give numbers a second time: without the platform's id the figures must be the same too. */
async function lost(books: Books, guard: Guard, told: readonly Told[]): Promise<string[]> {
  const verdicts = await look(books, guard, told);
  const there = told.flatMap((one, at) => {
    const verdict = verdicts[at];
    const waits = one.waitsUntil !== undefined;
    return verdict?.found === "one" ? [{ ...one, entry: verdict.entry, waits }] : [];
  });
  const progress = await progressOf(books, there);
  const undone = there.filter((_, at) => progress[at] === "open");
  const absent = told.filter(({ document }, at) => {
    const verdict = verdicts[at];
    if (verdict?.found === "none") return true;
    // Somebody else's under its number, or entered again by a person with other figures.
    return verdict?.found === "different" && verdict.entry?.platformId !== document.id;
  });
  return [...absent, ...undone].map(({ counterpart }) => counterpart);
}

/** What a person linked: by the number that was given then. */
async function unlinked(
  books: Books,
  type: InvoiceDocument["type"],
  linked: readonly Delivered[],
): Promise<string[]> {
  if (linked.length === 0) return [];
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
  return linked.map(({ counterpart }) => counterpart).filter((id) => !there.has(id));
}
