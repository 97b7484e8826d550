/** What every record of QuickBooks has in common: how lists are read, our marks, numbers, texts and references. */
import type { Scope } from "../../src/core/holdings.ts";
import { sameNumber, spellingsOf } from "../../src/core/keys.ts";
import { LedgerError } from "../../src/ledger/port.ts";
import { conditionsIn } from "../../src/ledger/stamps.ts";
import type { Element } from "../quickbooks/element.ts";
import type { DocumentRow } from "../quickbooks/documents.ts";
import {
  ascii,
  cut,
  documentNumber,
  markedBy,
  MEMO_MOST,
  type Memoed,
  memoOf,
  numberHeld,
} from "../quickbooks/text.ts";
import type { Reply, Request, Values } from "./qbxml.ts";
import type { Wire } from "./wire.ts";

/** Who asks QuickBooks and changes it, and which session this is. */
export type Asked = Pick<Wire, "read" | "write"> &
  Partial<Pick<Wire, "company" | "session" | "expect">>;

/** What documents are looked for by: everything that one of these names. */
interface DocumentNames {
  /** What links call them. */
  readonly ids?: readonly string[];
  /** As people may have typed them. */
  readonly numbers?: readonly string[];
  readonly days?: readonly string[];
}

export type Records = ReturnType<typeof openRecords>;

/** QuickBooks' records as the tables ask for them. Every method @throws LedgerError */
export function openRecords(wire: Asked) {
  /** All records of these queries, which go in one document. */
  async function of(queries: readonly Request[], signal: AbortSignal): Promise<Element[]> {
    if (queries.length === 0) return [];
    return (await wire.read(queries, signal)).flatMap(({ rets }) => [...rets]);
  }
  return {
    wire,
    of,
    /** Records of a list by their ids, as they are now: those that are gone are left out. */
    async byListId(name: string, ids: readonly string[], signal: AbortSignal, more: Values = {}) {
      const queries = ids.length === 0 ? [] : [{ name, values: { ListID: ids, ...more } }];
      const rows = await of(queries, signal);
      return rows.filter((row) => ids.includes(row.needed("ListID")));
    },
    /** @param from how many of the lists are read already; records may come twice, none is left out */
    pages: (lists: readonly Request[], from: string | null, signal: AbortSignal) =>
      pages(wire, lists, from, signal, PAGE),
    /** All of a long list, ids and stamps: five hundred records an answer. */
    async all(list: Request, signal: AbortSignal) {
      const found: Element[] = [];
      for await (const { rets } of pages(wire, [list], null, signal, 500)) found.push(...rets);
      return found;
    },
    /** @param most characters of their numbers @param more what is told of each */
    documents(
      tables: readonly string[],
      most: number,
      more: Values = { IncludeLineItems: true, IncludeLinkedTxns: true },
    ) {
      const queries = (all: readonly Values[]): Request[] =>
        all.flatMap((values) =>
          tables.map((table) => ({ name: `${table}Query`, values: { ...values, ...more } })),
        );
      return {
        /** Each once. */
        find: async (names: DocumentNames, signal: AbortSignal) =>
          once(await of(queries(namedBy(names, most)), signal)),
        /** Everything in the scope. */
        list: (scope: Scope, from: string | null, signal: AbortSignal) =>
          pages(wire, queries(branches(scope)), from, signal, PAGE),
      };
    },
    /** The record that a change made, or left. */
    async write(name: string, content: Values, signal: AbortSignal) {
      const [ret] = (await wire.write({ name, values: { [name]: content } }, signal)).rets;
      if (ret !== undefined) return ret;
      throw new LedgerError("torn", "QuickBooks' answer does not have the record");
    },
    cancel: (type: string, id: string, signal: AbortSignal) =>
      wire.write({ name: "TxnVoid", values: { TxnVoidType: type, TxnID: id } }, signal),
  };
}

/** Of records that several queries may find each once: the last one counts. */
export const once = (rows: readonly Element[]): Element[] => [
  ...new Map(rows.map((row) => [row.needed("TxnID"), row])).values(),
];

function namedBy({ ids = [], numbers = [], days = [] }: DocumentNames, most: number): Values[] {
  const kept = numbers.flatMap(spellingsOf).map((number) => documentNumber(number, number, most));
  return [
    ...(kept.length === 0 ? [] : [{ RefNumberCaseSensitive: [...new Set(kept)] }]),
    ...(ids.length === 0 ? [] : [{ TxnID: [...new Set(ids)] }]),
    ...[...new Set(days)].map((day) => ({
      TxnDateRangeFilter: { FromTxnDate: day, ToTxnDate: day },
    })),
  ];
}

/* Long lists, page by page. An iterator lives in one session: one that is lost (3391) begins its list anew. */

const PAGE = 100;
/** How often one list begins anew before that counts as an error. */
const STARTS_MAX = 3;

async function* pages(
  wire: Asked,
  lists: readonly Request[],
  from: string | null,
  signal: AbortSignal,
  most: number,
) {
  for (const [list, { name, values }] of lists.entries()) {
    if (list < Number(from ?? 0)) continue;
    let iterator: Request["iterator"] = "Start";
    let starts = 1;
    for (let goesOn = true; goesOn;) {
      try {
        const asked = { name, values: { ...values, MaxReturned: most }, iterator };
        const [reply] = await wire.read([asked], signal);
        const rets = reply?.rets ?? [];
        goesOn = leftAfter(reply?.iterator ?? null, rets.length, iterator !== "Start", most) > 0;
        if (reply?.iterator) iterator = { id: reply.iterator.id };
        yield { rets, position: String(goesOn ? list : list + 1) };
      } catch (error) {
        const isLost = error instanceof LedgerError && error.code === LOST;
        if (!isLost || starts++ >= STARTS_MAX) throw error;
        iterator = "Start";
      }
    }
  }
}

/** The status of an iterator that is not known any more. */
const LOST = "3391";

/**
 * How many records are left after an answer of `count`. A list that ends before its end would be records that nobody reads.
 * @throws LedgerError
 */
function leftAfter(
  said: Reply["iterator"],
  count: number,
  isContinued: boolean,
  most: number,
): number {
  // More were announced, or are, and none came.
  if (count === 0 && (isContinued || (said?.left ?? 0) > 0))
    throw new LedgerError("answered", "QuickBooks ended a list before its end", { code: LOST });
  if (said !== null) return said.left;
  // One that tells no iterators tells all at once.
  if (!isContinued && count !== most) return 0;
  throw new LedgerError("torn", "QuickBooks does not say how many are left of a list");
}

/** Lists in this scope, one after the other. Stamps of QuickBooks are local: a day more is read. */
const branches = (scope: Scope): Values[] =>
  conditionsIn<Values>(scope, {
    dated: (FromTxnDate, ToTxnDate) => ({ TxnDateRangeFilter: { FromTxnDate, ToTxnDate } }),
    changed(since) {
      const FromModifiedDate = new Date(Date.parse(since) - DAY_MS).toISOString().slice(0, 19);
      return { ModifiedDateRangeFilter: { FromModifiedDate } };
    },
    open: { PaidStatus: "NotPaidOnly" },
  });

const DAY_MS = 86_400_000;

/* Marks, numbers and texts. */

/** The memo of a transaction of ours. */
export const desktopMemo = (one: {
  readonly number: string;
  readonly mark: string;
  readonly text: string | null;
}): string => memoOf(one, MEMO_MOST.desktop, ascii);

/** What the memo says, without what QuickBooks writes before that of a void document. */
export const memoText = (row: Element): string | null =>
  row.text("Memo")?.replace(/^VOID:\s*/i, "") ?? null;

export const memoed = (row: Element): Memoed => ({
  number: row.text("RefNumber"),
  memo: memoText(row),
  guid: row.text("ExternalGUID"),
});

/** The number of a document: see {@link numberHeld}. @param most characters of the number of this kind */
export function heldNumber(row: Element, most: number): string | null {
  const own = row.text("RefNumber");
  const { number } = markedBy(memoed(row));
  return number === null ? own : numberHeld(own, number, documentNumber(number, number, most));
}

/** What is written of a number that QuickBooks does not hold yet. */
export const renumbered = (row: Element, number: string, most: number): Values =>
  sameNumber(heldNumber(row, most) ?? "", ascii(number))
    ? {}
    : { RefNumber: documentNumber(number, number, most) };

/** Text that QuickBooks would keep of it; null: nothing. */
export function heldText(text: string | null, most: number): string | null {
  const held = cut(ascii(text ?? ""), most);
  return held === "" ? null : held;
}

/**
 * A stamp, `2026-11-21T12:00:00`, by the clock of QuickBooks' machine. Empty: it told none. Its zone is left out: QuickBooks
 * tells a wrong one in summer (https://github.com/jsgoupil/quickbooks-sync/pull/28).
 */
export const stampOf = (row: Element, name: string): string =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.exec(row.text(name) ?? "")?.[0] ?? "";

/** Whose version is another by now, it is refused (3200). @throws LedgerError */
export function heldOf({ id, version }: Pick<DocumentRow, "id" | "version">): Values {
  if (version !== null) return { TxnID: id, EditSequence: version };
  throw new LedgerError("torn", `QuickBooks does not tell the version of ${id}`);
}

/** Which record it is. @throws LedgerError */
export const identityOf = (row: Element): Pick<DocumentRow, "id" | "version"> => ({
  id: row.needed("TxnID"),
  version: row.text("EditSequence"),
});

/** A reference by a full name; null: there is none. */
export const named = (name: string | undefined): Values | null =>
  name === undefined ? null : { FullName: name };
