/** Answers of QuickBooks: one reply per request. What cannot be read is `torn`: nobody knows what happened. */
import { LedgerError } from "../../src/ledger/port.ts";
import { Decimal } from "../../src/core/decimal.ts";
import type { Request } from "./write.ts";
import { below, child, type Element, elementIn, textOf, XmlFault } from "./xml.ts";

export interface Reply {
  /** The `requestID` that it answers; null: it does not say. */
  readonly request: string | null;
  /** QuickBooks' status code: 0 is good. */
  readonly code: number;
  readonly message: string;
  /** What it answers with: `InvoiceRet`. */
  readonly rets: readonly Element[];
  /** Null: it is not read page by page. */
  readonly iterator: { readonly id: string; readonly left: number } | null;
}

/** Who asks QuickBooks and changes nothing. */
export interface Querying {
  /** Queries: one reply each. Nothing found is no error. @throws LedgerError */
  read(requests: readonly Request[], signal: AbortSignal): Promise<readonly Reply[]>;
}

/** In the order of the requests; fewer when QuickBooks stopped at an error. @throws LedgerError */
export function repliesIn(xml: string): Reply[] {
  let root: Element;
  try {
    root = elementIn(xml);
  } catch (error) {
    if (!(error instanceof XmlFault)) throw error;
    throw new LedgerError("torn", `QuickBooks' answer cannot be read: ${error.message}`);
  }
  const all = child(root, "QBXMLMsgsRs");
  if (root.name !== "QBXML" || all === null)
    throw new LedgerError("torn", "QuickBooks' answer is no qbXML answer");
  return all.below.map(({ attributes, below: rets }) => {
    const {
      requestID: request = null,
      statusCode = "",
      statusMessage = "",
      iteratorID = "",
      iteratorRemainingCount = "",
    } = attributes;
    if (!/^\d{1,5}$/.test(statusCode))
      throw new LedgerError("torn", "QuickBooks' answer has no status code");
    return {
      request,
      code: Number(statusCode),
      message: statusMessage,
      rets: rets.filter(({ name }) => name.endsWith("Ret")),
      iterator:
        iteratorID === "" || !/^\d+$/.test(iteratorRemainingCount)
          ? null
          : { id: iteratorID, left: Number(iteratorRemainingCount) },
    };
  });
}

/** A field that every such record has. @throws LedgerError */
export function needed(element: Element, name: string): string {
  const text = textOf(element, name);
  if (text === null)
    throw new LedgerError("torn", `QuickBooks' answer has no ${name} in ${element.name}`);
  return text;
}

/** A day (`YYYY-MM-DD`), which the schema lets QuickBooks tell with a zone; null: it is not there. */
export const dayOf = (element: Element, name: string): string | null =>
  textOf(element, name)?.slice(0, 10) ?? null;

/** The same of a day that every such record has. @throws LedgerError */
export const dayIn = (element: Element, name: string): string => needed(element, name).slice(0, 10);

/** Yes or no, as words or as digits; null: it is not there. */
export function yesOf(element: Element, name: string): boolean | null {
  const text = textOf(element, name);
  return text === null ? null : text === "true" || text === "1";
}

/** An amount or a quantity; null: it is not there. @throws LedgerError */
export function decimalOf(element: Element, name: string): Decimal | null {
  const text = textOf(element, name)?.replace(/^\+/, "") ?? null;
  if (text === null) return null;
  if (!Decimal.is(text))
    throw new LedgerError("torn", `${name} of QuickBooks is no number: ${text}`);
  return Decimal.of(text);
}

/** An amount that counts as nothing where it is not there. @throws LedgerError */
export const amountOf = (element: Element, name: string): Decimal =>
  decimalOf(element, name) ?? Decimal.zero;

/** What a reference names. */
export function refOf(
  element: Element,
  name: string,
): { readonly id: string | null; readonly name: string | null } {
  const found = child(element, name);
  return found === null
    ? { id: null, name: null }
    : { id: textOf(found, "ListID"), name: textOf(found, "FullName") };
}

export { below, textOf };
