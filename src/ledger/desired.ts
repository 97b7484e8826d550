/** What a request wants of the books: its documents with the records that these books would keep of them. */
import { z } from "zod";
import type { Item, Memory } from "../core/contract.ts";
import { Refused } from "../core/errors.ts";
import type { Fault } from "../core/record.ts";
import { defined } from "../core/defined.ts";
import { parseExact, stringifyExact } from "../core/json.ts";
import {
  InvoiceDocument,
  OrderDocument,
  Party,
  PaymentDocument,
  ShipmentDocument,
} from "./documents.ts";
import type {
  Books,
  Call,
  Desired,
  Documents,
  Entry,
  EntryStatus,
  LedgerAdapter,
  LedgerKind,
  LedgerSide,
} from "./port.ts";

/** A document as a request's body has it. */
export interface Carried {
  readonly document: Documents[LedgerKind];
  readonly counterpart: string | null;
  /** Until when it waits for its payments, ISO 8601 UTC; null: it is settled at once. */
  readonly until: string | null;
}

const schemas: { readonly [K in LedgerKind]: z.ZodType<Documents[K]> } = {
  invoice: InvoiceDocument,
  bill: InvoiceDocument,
  payment: PaymentDocument,
  party: Party,
  order: OrderDocument,
  shipment: ShipmentDocument,
};

/** @throws Refused when these books can never keep one of them */
export function bodyOf(books: Books, kind: LedgerKind, items: readonly Item[]): string {
  const carried = items.map(({ document, counterpart, settledSince }) => {
    const parsed = schemas[kind].parse(document);
    adapterOf(books, kind).accept?.(parsed);
    const { settleAfterMs } = books;
    const isPaid = "status" in parsed && parsed.status === "paid";
    const isWaiting = isPaid && settledSince !== undefined && settleAfterMs > 0;
    const endMs = isWaiting ? Date.parse(settledSince) + settleAfterMs : null;
    const until = endMs === null ? null : new Date(endMs).toISOString();
    // A ticket is found again by its number.
    return { document: parsed, counterpart: kind === "shipment" ? null : counterpart, until };
  });
  return stringifyExact(carried);
}

/** @throws ZodError for a body that {@link bodyOf} has not made */
export const carriedIn = (kind: LedgerKind, body: string): Carried[] =>
  z
    .array(
      z.object({
        document: schemas[kind],
        counterpart: z.string().nullable(),
        until: z.string().nullable(),
      }),
    )
    .parse(parseExact(body));

/** What a request wants, with the parties of its documents as they stand. @throws LedgerError */
export const desiredWith = async (
  books: Books,
  kind: LedgerKind,
  carried: readonly Carried[],
  call: Call,
  parties = new Parties(books),
): Promise<Desired[]> =>
  desiredOf(adapterOf(books, kind), carried, await parties.of(carried, call), call);

/** @param parties theirs, in the order of the documents @throws LedgerError */
export async function desiredOf(
  adapter: Pick<LedgerAdapter, "expected">,
  carried: readonly Carried[],
  parties: readonly PartyOf[],
  call: Call,
): Promise<Desired[]> {
  const records = await adapter.expected(
    carried.map(({ document }) => document),
    call,
  );
  return carried.map(({ document, counterpart, until }, at) => {
    const { code: party, entry: payer, refusal: unknown } = parties[at] ?? NO_PARTY;
    const record = records[at] ?? {};
    const facts = record instanceof Refused ? {} : record;
    const refusal = record instanceof Refused ? record.fault : unknown;
    return {
      document,
      expected: party === null || record instanceof Refused ? facts : { ...facts, party },
      ...defined({ refusal }),
      mark: "companyId" in document ? document.companyId : document.id,
      number: "companyId" in document ? document.code : document.number,
      party,
      payer,
      target: "status" in document ? TARGETS[document.status] : "posted",
      disputed: "status" in document && document.status === "disputed",
      binding: counterpart,
      until,
    };
  });
}

const NO_PARTY: PartyOf = { code: null, entry: null };

type Status = (InvoiceDocument | OrderDocument | ShipmentDocument)["status"];

const TARGETS: Readonly<Record<Status, EntryStatus>> = {
  open: "posted",
  disputed: "posted",
  paid: "settled",
  void: "cancelled",
  draft: "draft",
  confirmed: "posted",
  waiting: "draft",
  done: "posted",
  cancelled: "cancelled",
  "taken-back": "cancelled",
};

export function adapterOf(books: Books, kind: LedgerKind): LedgerAdapter {
  const adapter = books.adapters[kind];
  if (adapter === undefined) throw new Error(`${books.name} has no adapter for ${kind}`);
  return adapter as LedgerAdapter;
}

/* The party of a document: by its code, else by the platform's id of the company, else it is created. */

/** The party of one document in these books. */
interface PartyOf {
  /** Its code there; that of the document where there is no such party yet; null: a document without one. */
  readonly code: string | null;
  readonly entry: Entry | null;
  /** Why it cannot be told. */
  readonly refusal?: Fault;
}

/** The parties of one send, or of one look: a party that was found is not asked for again. */
export class Parties {
  readonly #books: Books;
  /** Has a person said so of the party that a fault of {@link given} or {@link absent} names? */
  readonly #isAgreed: Memory["isDismissed"];
  /** By {@link keyOf}. */
  readonly #found = new Map<string, PartyOf>();
  /** Why nothing new is booked on those. */
  readonly #doubts = new Map<string, Fault>();
  /** {@link keyOf} those that this send has made: searches may not show them yet. */
  readonly #made = new Set<string>();

  constructor(books: Books, isAgreed: Memory["isDismissed"] = () => false) {
    this.#books = books;
    this.#isAgreed = isAgreed;
  }

  /** In the order of the documents. @throws LedgerError */
  async of(carried: readonly Pick<Carried, "document">[], call: Call): Promise<PartyOf[]> {
    const parties = carried.map(({ document }) => partyOf(document));
    const named = parties.filter((party) => party !== null);
    for (const [adapter, all] of this.#byList(named, (key) => !this.#found.has(key))) {
      const rows = await adapter.locate(await asDesired(adapter, all, call), call);
      const looked = all.map((party) => this.#look(party, rows));
      const ids = looked.flatMap(({ isClear, meant }) => (isClear ? [] : (meant ?? [])));
      const before = ids.length === 0 ? [] : await adapter.get(ids, call);
      for (const one of looked)
        this.#judge(
          one,
          adapter.can.kept === true,
          before.find(({ lasting }) => lasting === one.meant),
        );
    }
    return parties.map((party) =>
      party === null
        ? NO_PARTY
        : (this.#found.get(keyOf(party)) ?? { code: party.code, entry: null }),
    );
  }

  #look(party: SidedParty, rows: readonly Entry[]): Looked {
    const meant = this.#books.surroundings.notebook?.get(meaningOf(party)) ?? null;
    const found = partyIn(this.#books.name, party, rows);
    const { entry, refusal } = found;
    // It is the one, or that has its code still, is out of use, and was replaced.
    const isMeant = rows.some((one) => one.lasting === meant && isCalled(one, party.code));
    const isProven = meant === null || entry?.mark === party.companyId;
    const isClear =
      entry === null
        ? refusal !== undefined
        : isProven || isMeant || entry.lasting === undefined || this.#isAgreed(entry.lasting);
    return { party, meant, found, isClear };
  }

  /** @param before whom its code meant, as it is now; left out: it is not there */
  #judge({ party, meant, found, isClear }: Looked, isKept: boolean, before?: Entry): void {
    const { name } = this.#books;
    const now = found.entry?.lasting;
    if (isClear) this.#keep(party, found, meant);
    else if (now !== undefined) {
      const code = before?.number ?? party.code;
      this.#found.set(keyOf(party), { code, entry: before ?? null });
      this.#doubts.set(keyOf(party), given(name, party, now, before));
    } else if (before !== undefined)
      // Somebody gave it another code.
      this.#keep(
        party,
        partyIn(name, { ...party, code: before.number ?? party.code }, [before]),
        meant,
      );
    else if (meant !== null && !isKept && !this.#isAgreed(meant))
      this.#doubts.set(keyOf(party), absent(name, party, meant));
  }

  #keep(party: SidedParty, found: PartyOf, meant: string | null): void {
    this.#found.set(keyOf(party), found);
    const { entry } = found;
    // What the platform's id alone has told is not whom the code means. Each entry in the notebook is a commit.
    if (entry?.lasting !== undefined && entry.lasting !== meant && isCalled(entry, party.code))
      this.#books.surroundings.notebook?.set(meaningOf(party), entry.lasting);
  }

  /** The same documents with their parties, which are created where they are missing, as many in one call as the books take. @throws LedgerError, Refused */
  async ensure(desired: readonly Desired[], call: Call): Promise<Desired[]> {
    if (this.#books.adapters.party === undefined) return [...desired];
    await this.of(desired, call);
    for (const { document, binding } of desired) {
      const party = partyOf(document);
      const key = party === null ? "" : keyOf(party);
      const doubt = this.#doubts.get(key);
      // In books that were set back a document goes again, and its party went with it.
      if (doubt !== undefined && (binding === null || this.#found.has(key)))
        throw new Refused(doubt);
    }
    const parties = desired.flatMap(({ document }) => partyOf(document) ?? []);
    const isMissing = (key: string): boolean => !this.#found.has(key) && !this.#made.has(key);
    for (const [adapter, all] of this.#byList(parties, isMissing)) {
      for (const [at, party] of all.entries()) {
        const first = all.slice(0, at).find(({ code }) => code === party.code);
        if (first !== undefined)
          throw new Refused(ofAnother(this.#books.name, party, first.companyId));
      }
      const absent = await asDesired(adapter, all, call);
      const { atomic } = adapter.can;
      for (let at = 0; at < absent.length; at += atomic) {
        await adapter.create(absent.slice(at, at + atomic), call);
        for (const party of all.slice(at, at + atomic)) this.#made.add(keyOf(party));
      }
    }
    const theirs = await this.of(desired, call);
    for (const { refusal } of theirs) if (refusal !== undefined) throw new Refused(refusal);
    return desired.map((one, at) => ({ ...one, payer: theirs[at]?.entry ?? null }));
  }

  /** Each of those that are counted once, with the adapter of the list that it is in. */
  #byList(
    parties: readonly SidedParty[],
    isCounted: (key: string) => boolean,
  ): Map<LedgerAdapter<"party">, SidedParty[]> {
    const { party } = this.#books.adapters;
    if (party === undefined) return new Map();
    const each = new Map(parties.map((one) => [keyOf(one), one]));
    const counted = [...each].filter(([key]) => isCounted(key)).map(([, one]) => one);
    return Map.groupBy(counted, ({ side }) => ("can" in party ? party : party[side]));
  }
}

/** What one look tells of a party. */
interface Looked {
  readonly party: SidedParty;
  /** {@link Entry.lasting} of whom its code meant last; null: of nobody. */
  readonly meant: string | null;
  readonly found: PartyOf;
  /** Else the one that its code meant is asked for: another record has the code, or nobody. */
  readonly isClear: boolean;
}

/** A party, and the side of the document that names it. */
type SidedParty = Party & { readonly side: LedgerSide };

/** A code alone is no party: two companies of the platform may have been given one. */
const keyOf = ({ code, companyId, side }: SidedParty): string =>
  JSON.stringify([code, companyId, side]);

function partyOf(document: object): SidedParty | null {
  if (!("party" in document)) return null;
  const { party, type } = document as { readonly party: Party; readonly type?: string };
  return { ...party, side: type === "purchase" || type === "in" ? "purchase" : "sale" };
}

/** Under which whom a code means is kept in stores: it never changes. */
const meaningOf = ({ code, side }: SidedParty): string =>
  `${side === "sale" ? "customer" : "vendor"} called ${code}`;

const asDesired = async (
  adapter: LedgerAdapter<"party">,
  parties: readonly SidedParty[],
  call: Call,
): Promise<Desired<"party">[]> => {
  const carried = parties.map(({ code, name, companyId }) => ({
    document: { code, name, companyId },
    counterpart: null,
    until: null,
  }));
  return (await desiredOf(adapter, carried, [], call)) as Desired<"party">[];
};

/**
 * The code is what people give, the platform's id what a record of the books carries: they must not contradict each
 * other. A party with the code and without any id is it, unless another one carries the id.
 * @param books what people call the books
 */
function partyIn(books: string, party: Party, rows: readonly Entry[]): PartyOf {
  const { code, companyId } = party;
  const coded = rows.filter((one) => isCalled(one, code));
  const own = rows.filter(({ mark }) => mark === companyId);
  const found = (entry: Entry): PartyOf => ({ code: entry.number ?? code, entry });
  const both = coded.find(({ mark }) => mark === companyId);
  if (both !== undefined) return found(both);
  // One that is out of use may have left its code to another.
  const [named = coded[0], another] = coded.filter(({ status }) => status !== "cancelled");
  const [one = another] = own;
  // Documents that were made before and after it was linked name it by two codes: it is found for each.
  if (own.some(({ id }) => id !== one?.id))
    return { code, entry: null, refusal: twice(books, party) };
  if (named === undefined) return one === undefined ? { code, entry: null } : found(one);
  if (named.mark !== null)
    return { code, entry: null, refusal: ofAnother(books, party, named.mark) };
  if (one === undefined || one.id === named.id) return found(named);
  return { code, entry: null, refusal: apart(books, party, one) };
}

const isCalled = ({ number, aliases = [] }: Entry, code: string): boolean =>
  number === code || aliases.includes(code);

const twice = (books: string, { code, name, companyId }: Party): Fault => ({
  code: "twice-in-books",
  message: `${books} has several parties with the platform's id ${companyId} (${name})`,
  next: `Leave the id on one of them, or give one of them the code ${code}; then retry.`,
  field: "party",
});

/** @param other the platform's id of the company whose party it is */
const ofAnother = (books: string, { code, name, companyId }: Party, other: string): Fault => ({
  code: "party-of-another",
  message: `${code} is in ${books} the party of another company of the platform (${other}); this document is about ${name} (${companyId})`,
  next: `If they are two firms, give ${name} a code of its own in the cross-reference. If they are one, take the platform's id off the party ${code} in ${books}, or where it has no such id name ${code} in sharedParties: its code then counts for both. Then retry.`,
  field: "party",
});

const apart = (books: string, { code, name, companyId }: Party, one: Entry): Fault => ({
  code: "party-apart",
  message: `${code} is the code of one party in ${books}, and the platform's id of ${name} (${companyId}) stands on another one (${one.number ?? one.id})`,
  next: `Correct the code of ${name} in the cross-reference, or move the platform's id to the party ${code} in ${books}; then retry.`,
  field: "party",
});

/** @param now {@link Entry.lasting} of the party that has its code now @param before whom it meant; left out: that one is gone */
const given = (
  books: string,
  { code, name, companyId }: Party,
  now: string,
  before: Entry | undefined,
): Fault => ({
  code: "party-apart",
  message: `${code} is the code of another party in ${books} than before: ${name} (${companyId}) was booked on one that ${before === undefined ? "is gone or not in use" : `is ${[before.number, before.facts.words?.["name"]].filter(Boolean).join(", ")} now`}`,
  next: `If ${name} is still that one, correct its code in the cross-reference, then retry. If ${code} is right, retry: from then on it means the party that has it now, and what was booked stays where it is.`,
  field: "party",
  candidates: [now],
});

/** @param meant {@link Entry.lasting} of whom its code meant */
const absent = (books: string, { code, name, companyId }: Party, meant: string): Fault => ({
  code: "party-gone",
  message: `the party ${code} (${name}) is not in ${books} any more: it was deleted, merged into another one, or put out of use`,
  next: `Name the party that counts now in the cross-reference, or keep the platform's id ${companyId} on it in ${books}; then retry. If none does, retry: ${code} is made anew.`,
  field: "party",
  candidates: [meant],
});
