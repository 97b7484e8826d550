/** Lists of QuickBooks for {@link walkedSource}: ids, stamps and edit sequences, five hundred at a time. */
import { pages } from "./pages.ts";
import { needed, textOf } from "./read.ts";
import { stampOf } from "./stamps.ts";
import type { List, Listed } from "./walks.ts";
import type { Wire } from "./wire.ts";
import type { Request, Values } from "./write.ts";
import type { Element } from "./xml.ts";

type Asked = Pick<Wire, "read">;

/** Rows of one answer: ids and stamps are short. */
const ROWS = 500;
/** How long QuickBooks tells what was deleted. */
const KEPT_DAYS = 90;

/** Records of a list (ListID), by their stamps; inactive ones, too, and price levels in one answer. */
export const listRows =
  (wire: Asked, query: string, { iterates = true } = {}): List["rows"] =>
  async (FromModifiedDate, signal) => {
    const values = {
      ActiveStatus: "All",
      FromModifiedDate,
      IncludeRetElement: ["ListID", "TimeModified", "EditSequence"],
    };
    const rets = await all(wire, { name: query, values }, iterates, signal);
    return rets.map((ret) => rowOf(ret, "ListID", textOf(ret, "EditSequence")));
  };

/** Invoices by their stamps. */
export const invoiceRows =
  (wire: Asked): List["rows"] =>
  async (from, signal) => {
    const values = {
      ModifiedDateRangeFilter: from === null ? null : { FromModifiedDate: from },
      IncludeRetElement: ["TxnID", "TimeModified", "EditSequence"],
    };
    const rets = await all(wire, { name: "InvoiceQuery", values }, true, signal);
    return rets.map((ret) => rowOf(ret, "TxnID", textOf(ret, "EditSequence")));
  };

/** Open invoices with what is open of each: whether a payment stamps its invoice anew is not known. */
export const openRows =
  (wire: Asked): List["rows"] =>
  async (_from, signal) => {
    const values = {
      PaidStatus: "NotPaidOnly",
      IncludeRetElement: ["TxnID", "TimeModified", "BalanceRemaining"],
    };
    const rets = await all(wire, { name: "InvoiceQuery", values }, true, signal);
    return rets.map((ret) => rowOf(ret, "TxnID", textOf(ret, "BalanceRemaining")));
  };

/** What was deleted, as QuickBooks calls it. */
export interface DeletedRow extends Listed {
  /** `Customer`, `Invoice`. */
  readonly type: string;
  /** Its full name or its number; null: it had none. */
  readonly name: string | null;
  /** When it was made, by the clock of that machine; empty: QuickBooks does not say. */
  readonly madeAt: string;
}

/** Deleted records of these types. */
export function deleted(
  wire: Asked,
  name: string,
  of: { readonly query: "ListDeletedQuery" | "TxnDeletedQuery"; readonly types: readonly string[] },
  changes: (rows: readonly DeletedRow[]) => ReturnType<List["changes"]>,
): List<DeletedRow> {
  const [type, id, text] =
    of.query === "ListDeletedQuery"
      ? (["ListDelType", "ListID", "FullName"] as const)
      : (["TxnDelType", "TxnID", "RefNumber"] as const);
  return {
    name,
    kind: "stamped",
    keptDays: KEPT_DAYS,
    async rows(from, signal) {
      const values = {
        [type]: of.types,
        DeletedDateRangeFilter: from === null ? null : { FromDeletedDate: from },
      };
      const [reply] = await wire.read([{ name: of.query, values }], signal);
      return (reply?.rets ?? []).map((ret) => ({
        id: needed(ret, id),
        at: stampOf(ret, "TimeDeleted"),
        state: textOf(ret, "TimeDeleted") ?? "",
        type: needed(ret, type),
        name: textOf(ret, text),
        madeAt: stampOf(ret, "TimeCreated"),
      }));
    },
    changes: (ids, rows) => changes(ids.flatMap((one) => rows.get(one) ?? [])),
  };
}

/** Records by their ids, as they are now: those that are gone are left out. @throws LedgerError */
export async function byId(
  wire: Asked,
  query: string,
  ids: readonly string[],
  signal: AbortSignal,
  more: Values = {},
): Promise<Element[]> {
  if (ids.length === 0) return [];
  const [reply] = await wire.read([{ name: query, values: { ListID: ids, ...more } }], signal);
  return (reply?.rets ?? []).filter((ret) => ids.includes(needed(ret, "ListID")));
}

async function all(
  wire: Asked,
  request: Request,
  iterates: boolean,
  signal: AbortSignal,
): Promise<Element[]> {
  if (!iterates) return (await wire.read([request], signal)).flatMap(({ rets }) => [...rets]);
  const found: Element[] = [];
  for await (const { rets } of pages(wire, [request], null, signal, ROWS)) found.push(...rets);
  return found;
}

/** Without an edit sequence its stamp is its state. */
function rowOf(ret: Element, id: "ListID" | "TxnID", state: string | null): Listed {
  const at = stampOf(ret, "TimeModified");
  return { id: needed(ret, id), at, state: state ?? at };
}
