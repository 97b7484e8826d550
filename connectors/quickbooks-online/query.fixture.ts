/** The query language of QuickBooks Online, as far as it is published: no OR, and few fields that can be asked for. */
import { Decimal } from "../../src/core/decimal.ts";
import { parseExact } from "../../src/core/json.ts";

export type Record_ = Record<string, unknown> & { Id: string; SyncToken: string };

export type Body = Record<string, unknown>;

export const word = (value: unknown): string => (typeof value === "string" ? value : "");

type Row = Readonly<Record<string, unknown>> & { readonly Id: string };

/** What conditions may name ("filterable" in Intuit's reference); texts for people and numbers of accounts are not among them. */
const FIELDS: readonly string[] = [
  "Id",
  "DocNumber",
  "TxnDate",
  "CustomerRef",
  "VendorRef",
  "Balance",
  "DisplayName",
  "Name",
  "Active",
  "MetaData.CreateTime",
  "MetaData.LastUpdatedTime",
];
const SHAPE =
  /^SELECT \* FROM (\w+)(?: WHERE (.+?))?(?: ORDERBY (MetaData\.\w+)( DESC)?)?(?: STARTPOSITION (\d+))?(?: MAXRESULTS (\d+))?$/s;
const CONDITION = /^(\S+) (=|>=|<=|>|<|IN) (.+)$/s;

/** @param pageMost rows of one answer, whatever is asked @throws Error for what the language does not have */
export function answerTo(
  text: string,
  rowsOf: (table: string) => readonly Row[],
  pageMost = 1000,
): object {
  const shape = SHAPE.exec(text);
  if (shape === null) throw new Error(`QueryParserError: ${text}`);
  const [, table = "", where = "", order, descending, start = "1", most = "100"] = shape;
  if (Number(most) > 1000) throw new Error("QueryValidationError: MAXRESULTS");
  const tests = splitAnd(where).map(testOf);
  const hasActive = where.includes("Active");
  const rows = rowsOf(table).filter(
    (row) => (hasActive || row["Active"] !== false) && tests.every((test) => test(row)),
  );
  const at = new Map(
    order === undefined ? [] : rows.map((row) => [row, Date.parse(word(valueIn(row, order)))]),
  );
  const found = rows
    .toSorted((one, other) => ((at.get(one) ?? 0) - (at.get(other) ?? 0)) * (descending ? -1 : 1))
    .slice(Number(start) - 1, Number(start) - 1 + Math.min(Number(most), pageMost));
  return {
    QueryResponse:
      found.length === 0
        ? {}
        : { [table]: found, startPosition: Number(start), maxResults: found.length },
  };
}

function splitAnd(where: string): string[] {
  const parts = where.match(/(?:'(?:\\.|[^'\\])*'|[^'])+?(?= AND |$)/gs) ?? [];
  return parts.map((part) => part.replace(/^ AND /, "")).filter((part) => part !== "");
}

function testOf(text: string): (row: Row) => boolean {
  const [, field = "", operator = "", value = ""] = CONDITION.exec(text) ?? [];
  if (!FIELDS.includes(field))
    throw new Error(`QueryValidationError: ${field} cannot be queried: ${text}`);
  const values = [...value.matchAll(/'((?:\\.|[^'\\])*)'|(true|false)/gs)].map(([, quoted, flag]) =>
    (quoted ?? flag ?? "").replaceAll(/\\(.)/gs, "$1"),
  );
  return (row) =>
    values.some((one) => {
      const order = compare(valueIn(row, field), one);
      if (operator === "=" || operator === "IN") return order === 0;
      if (operator === ">=") return order >= 0;
      if (operator === "<=") return order <= 0;
      return operator === ">" ? order > 0 : order < 0;
    });
}

const valueIn = (row: Row, field: string): unknown =>
  field
    .split(".")
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], row);

/** Amounts by value, moments by time, names without regard to case. */
function compare(value: unknown, text: string): number {
  if (value instanceof Decimal) return value.compare(Decimal.of(text));
  if (typeof value === "object" && value !== null && "value" in value)
    return compare(value.value, text);
  const own = typeof value === "boolean" ? String(value) : word(value);
  const isMoment = /^\d{4}-\d\d-\d\dT/.test(own);
  const [one, other] = isMoment
    ? [Date.parse(own), Date.parse(text)]
    : [own.toLowerCase(), text.toLowerCase()];
  return one < other ? -1 : one > other ? 1 : 0;
}

export const faultText = (code: string, message: string): string =>
  JSON.stringify({
    Fault: {
      Error: [{ Message: message, Detail: message, code, element: "" }],
      type: "ValidationFault",
    },
  });

export function parsedBody(text: string): Body {
  return plain(parseExact(text)) as Body;
}

/** `next` is a counter; all other numbers are amounts. */
export function plain(value: unknown, name = ""): unknown {
  if (value instanceof Decimal) return name === "next" ? Number(value.text) : value;
  if (Array.isArray(value)) return value.map((one) => plain(one));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one, key)]));
}
