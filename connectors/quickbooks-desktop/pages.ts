/** Long lists, page by page. An iterator lives in one session: one that is lost (3391) begins its list anew. */
import { LedgerError } from "../../src/ledger/port.ts";
import type { Scope } from "../../src/core/holdings.ts";
import type { Reply } from "./read.ts";
import type { Wire } from "./wire.ts";
import type { Request, Values } from "./write.ts";
import type { Element } from "./xml.ts";

const PAGE = 100;
/** How often one list begins anew before that counts as an error. */
const STARTS_MAX = 3;

/**
 * @param from how many of the lists are read already; records may come twice, none is left out
 * @param most records of one answer
 * @throws LedgerError
 */
export async function* pages(
  wire: Pick<Wire, "read">,
  lists: readonly { readonly name: string; readonly values: Values }[],
  from: string | null,
  signal: AbortSignal,
  most = PAGE,
): AsyncGenerator<{
  readonly name: string;
  readonly rets: readonly Element[];
  readonly position: string;
}> {
  for (const [list, { name, values }] of lists.entries()) {
    if (list < Number(from ?? 0)) continue;
    let iterator: Request["iterator"] = "Start";
    let starts = 1;
    for (let goesOn = true; goesOn;) {
      try {
        const [reply] = await wire.read(
          [{ name, values: { ...values, MaxReturned: most }, iterator }],
          signal,
        );
        const rets = reply?.rets ?? [];
        const left = leftAfter(reply?.iterator ?? null, rets.length, iterator !== "Start", most);
        goesOn = left > 0;
        if (reply?.iterator) iterator = { id: reply.iterator.id };
        yield { name, rets, position: String(goesOn ? list : list + 1) };
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

export const WITH_LINES = { IncludeLineItems: true, IncludeLinkedTxns: true };

/** Lists in this scope, one after the other. Stamps of QuickBooks are local: a day more is read. */
export function branches({ dated, changedSince, open }: Scope): Values[] {
  const since =
    changedSince === null ? null : new Date(Date.parse(changedSince) - DAY_MS).toISOString();
  return [
    ...(dated === null
      ? []
      : [{ TxnDateRangeFilter: { FromTxnDate: dated.from, ToTxnDate: dated.to } }]),
    ...(since === null
      ? []
      : [{ ModifiedDateRangeFilter: { FromModifiedDate: since.slice(0, 19) } }]),
    ...(open ? [{ PaidStatus: "NotPaidOnly" }] : []),
  ];
}

const DAY_MS = 86_400_000;
