/** Change data capture of QuickBooks Online, as far as it is published: 30 days, 1,000 objects, no order. */
import type { Record_ } from "./query.fixture.ts";

export interface Tombstone {
  readonly table: string;
  readonly Id: string;
  readonly at: string;
}

const DAYS_30_MS = 30 * 86_400_000;
const MOST = 1000;

/** Null: so far back it does not tell. */
export function changesTo(
  parameters: URLSearchParams,
  now: string,
  of: (table: string) => {
    readonly rows: readonly Record_[];
    readonly deleted: readonly Tombstone[];
  },
): object | null {
  const since = Date.parse(parameters.get("changedSince") ?? "");
  if (!(Date.parse(now) - since <= DAYS_30_MS)) return null;
  let left = MOST;
  const answers = (parameters.get("entities") ?? "").split(",").map((table) => {
    const { rows, deleted } = of(table);
    const changed = [
      ...rows.filter((row) => Date.parse(stampOf(row)) >= since),
      ...deleted
        .filter(({ at }) => Date.parse(at) >= since)
        .map(({ Id, at }) => ({
          domain: "QBO",
          status: "Deleted",
          Id,
          MetaData: { LastUpdatedTime: at },
        })),
    ].slice(0, left);
    left -= changed.length;
    return changed.length === 0
      ? {}
      : { [table]: changed, startPosition: 1, maxResults: changed.length };
  });
  return { CDCResponse: [{ QueryResponse: answers }] };
}

const stampOf = (row: Record_): string =>
  (row["MetaData"] as { readonly LastUpdatedTime: string }).LastUpdatedTime;

/** What says which record it is, and what a payment pays. */
export const little = ({ Id, SyncToken, MetaData, Line, LinkedTxn }: Record_): Record_ => ({
  Id,
  SyncToken,
  MetaData: { LastUpdatedTime: (MetaData as { LastUpdatedTime: string }).LastUpdatedTime },
  Line,
  LinkedTxn,
});
