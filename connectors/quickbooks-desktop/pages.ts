/** Long lists, page by page. An iterator lives in one session: one that is lost (3391) begins its list anew. */
import { BookError } from "../../src/books/adapter.ts";
import type { Scope } from "../../src/core/holdings.ts";
import type { Wire } from "./wire.ts";
import type { Request, Values } from "./write.ts";
import type { Element } from "./xml.ts";

const PAGE = 100;
/** How often one list begins anew before that counts as an error. */
const STARTS_MAX = 3;

/**
 * @param from how many of the lists are read already; records may come twice, none is left out
 * @param most records of one answer
 * @throws BookError
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
        const left: number = reply?.iterator?.left ?? 0;
        goesOn = left > 0;
        if (reply?.iterator) iterator = { id: reply.iterator.id };
        yield { name, rets: reply?.rets ?? [], position: String(goesOn ? list : list + 1) };
      } catch (error) {
        const isLost = error instanceof BookError && error.code === "3391";
        if (!isLost || starts++ >= STARTS_MAX) throw error;
        iterator = "Start";
      }
    }
  }
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
