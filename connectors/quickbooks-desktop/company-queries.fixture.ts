/**
 * Queries of the little company file: filters, iterators that die with their session, fields that are asked for, and what
 * was deleted. Stamps are its own clock's, to the second; nothing comes in an order.
 */
import { crc32 } from "node:zlib";
import { Refusal } from "./company-order.fixture.ts";
import type { Element } from "../quickbooks/element.ts";
import { elementIn, escaped } from "./qbxml.ts";

export type Table =
  | "Customer"
  | "Vendor"
  | "Item"
  | "PriceLevel"
  | "Invoice"
  | "Bill"
  | "ReceivePayment"
  | "BillPaymentCheck"
  | "CreditMemo"
  | "VendorCredit"
  | "SalesOrder"
  | "PurchaseOrder"
  | "ItemReceipt";

export interface Row {
  readonly id: string;
  sequence: number;
  readonly created: string;
  modified: string;
  /** Fields as they were added, and lines. `*`: elements as they stand. */
  fields: Record<string, string>;
  lines: Record<string, string>[];
  /** What it pays, and how much; of a payment. */
  applied: { readonly to: string; readonly amount: string; readonly discount?: string }[];
  isVoid: boolean;
}

/** Tables whose records have a ListID; those of the others have a TxnID. */
export const LISTS: ReadonlySet<Table> = new Set(["Customer", "Vendor", "Item", "PriceLevel"]);

/** An item with nothing but a name: the same name, the same id. */
export const itemOf = (Name: string): Row => ({
  id: `${crc32(Name).toString(16).toUpperCase()}-1600000000`,
  sequence: 1,
  created: "2026-01-01T00:00:00",
  modified: "2026-01-01T00:00:00",
  fields: { Name },
  lines: [],
  applied: [],
  isVoid: false,
});

/** What a request is answered with. */
export interface Done {
  readonly rets: readonly string[];
  readonly attributes?: string;
  /** False: nothing matches. */
  readonly found?: boolean;
  /** False: not all that was named is there. */
  readonly all?: boolean;
}

interface Deleted {
  readonly type: string;
  readonly row: Row;
  readonly at: string;
}

type Written = (row: Row) => string;

export class Queries {
  readonly #iterators = new Map<string, { rows: readonly Row[]; at: number }>();
  readonly #deleted: Deleted[] = [];

  sessionOver(): void {
    this.#iterators.clear();
  }

  deleted(type: string, row: Row, at: string): void {
    this.#deleted.push({ type, row, at });
  }

  /** `ListDeletedQuery`, `TxnDeletedQuery`. */
  answerDeleted(request: Element): Done {
    const isList = request.name === "ListDeletedQueryRq";
    const [typeName, id] = isList ? ["ListDelType", "ListID"] : ["TxnDelType", "TxnID"];
    const types = many(request, typeName);
    const range = request.child("DeletedDateRangeFilter");
    const from = (range === null ? null : range.text("FromDeletedDate")) ?? "";
    const rets = this.#deleted
      .filter(({ type, at }) => types.includes(type) && at >= from)
      .map(({ type, row, at }) => {
        const { Name, FullName = Name, RefNumber } = row.fields;
        const name = isList ? FullName : RefNumber;
        const called = isList ? "FullName" : "RefNumber";
        const text = name === undefined ? "" : `<${called}>${escaped(name)}</${called}>`;
        return `<${isList ? "List" : "Txn"}DeletedRet><${typeName}>${type}</${typeName}><${id}>${row.id}</${id}><TimeCreated>${row.created}-06:00</TimeCreated><TimeDeleted>${at}-06:00</TimeDeleted>${text}</${isList ? "List" : "Txn"}DeletedRet>`;
      });
    return { rets, found: rets.length > 0 };
  }

  /** @param rows of the list; filters that need more than a row are the caller's */
  answer(request: Element, rows: readonly Row[], written: Written): Done {
    const { iterator, iteratorID = "" } = request.attributes;
    if (iterator === "Continue") return this.#page(request, iteratorID, written);
    const desired = ["TxnID", "ListID", "RefNumberCaseSensitive", "FullName"].flatMap((field) =>
      many(request, field).map((value) => [field, value] as const),
    );
    const matching = rows.filter((row) =>
      desired.length === 0 ? isWithin(request, row) : desired.some((one) => isNamed(row, one)),
    );
    if (iterator === "Start") {
      const id = `{${this.#iterators.size}}`;
      this.#iterators.set(id, { rows: matching.toReversed(), at: 0 });
      return this.#page(request, id, written);
    }
    const isAll = desired.every((one) => matching.some((row) => isNamed(row, one)));
    const rets = matching.map((row) => picked(request, written(row)));
    return { rets, found: matching.length > 0, all: isAll };
  }

  #page(request: Element, id: string, written: Written): Done {
    const iterator = this.#iterators.get(id);
    if (iterator === undefined) throw new Refusal(3391, "The iteratorID is not valid");
    const most = Number(request.text("MaxReturned") ?? "500");
    const page = iterator.rows.slice(iterator.at, iterator.at + most);
    iterator.at += page.length;
    const left = iterator.rows.length - iterator.at;
    return {
      rets: page.map((row) => picked(request, written(row))),
      attributes: ` iteratorRemainingCount="${left}" iteratorID="${id}"`,
      found: page.length > 0,
    };
  }
}

const many = (request: Element, field: string): string[] =>
  request.all(field).map(({ content }) => content.trim());

function isWithin(request: Element, { fields, modified }: Row): boolean {
  const dates = request.child("TxnDateRangeFilter");
  const stamps = request.child("ModifiedDateRangeFilter") ?? request;
  const day = fields["TxnDate"] ?? "";
  const party = request.child("EntityFilter")?.text("FullNameWithChildren") ?? null;
  const payer = fields["CustomerRef"] ?? fields["VendorRef"] ?? fields["PayeeEntityRef"];
  const isSeen = !request.name.endsWith("QueryRq") || request.text("ActiveStatus") === "All";
  return (
    (dates === null ||
      (day >= (dates.text("FromTxnDate") ?? "") && day <= (dates.text("ToTxnDate") ?? "9999"))) &&
    (party === null || payer === party || payer?.startsWith(`${party}:`) === true) &&
    modified >= (stamps.text("FromModifiedDate") ?? "") &&
    (isSeen || fields["IsActive"] !== "false")
  );
}

/** The fields of a record that are asked for; all of them where none is named. */
function picked(request: Element, ret: string): string {
  const names = many(request, "IncludeRetElement");
  if (names.length === 0) return ret;
  const { name, below: all } = elementIn(ret);
  const some = all.filter((one) => names.includes(one.name));
  return `<${name}>${some.map(asText).join("")}</${name}>`;
}

const asText = ({ name, content, below: all }: Element): string =>
  `<${name}>${all.length > 0 ? all.map(asText).join("") : escaped(content)}</${name}>`;

const isNamed = ({ id, fields }: Row, [field, value]: readonly [string, string]): boolean =>
  field === "TxnID" || field === "ListID"
    ? id === value
    : field === "FullName"
      ? (fields["FullName"] ?? fields["Name"])?.toLowerCase() === value.toLowerCase()
      : fields["RefNumber"] === value;

/** A list of names alone. @param names null: it is switched off */
export function namesOf(list: string, names: ReadonlySet<string> | null): Done {
  if (names === null) throw new Refusal(3250, "This feature is not enabled or not available.");
  const rets = [...names].map(
    (name) => `<${list}Ret><FullName>${escaped(name)}</FullName></${list}Ret>`,
  );
  return { rets, found: rets.length > 0 };
}
