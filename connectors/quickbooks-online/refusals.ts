/** What QuickBooks refuses, in every form that Intuit's services and gateways write it in, wherever it stands in an answer. */
import { z } from "zod";
import { decimal } from "../../src/ledger/fields.ts";

export interface Refusal {
  /** Without leading zeros: gateways write `003001`. Null: it has none. */
  readonly code: string | null;
  readonly words: string;
}

const TEXT_MOST = 300;

const written = z
  .union([z.string(), decimal.transform(({ text }) => text)])
  .nullish()
  .transform((value) => value ?? "");

const ErrorBody = z.preprocess(
  small,
  z.object({ message: written, detail: written, code: written }),
);

/** A service writes `Fault` and `Error`, a gateway writes small letters, and null where there is nothing. */
const FaultBody = z.preprocess(
  small,
  z.object({ error: z.union([z.array(ErrorBody).min(1), ErrorBody.transform((one) => [one])]) }),
);

/** The first fault of an answer; null: there is none. An answer with a fault never counts as rows that are not there. */
export function refusalIn(json: unknown): Refusal | null {
  const [fault] = faultsIn(json);
  if (fault === undefined) return null;
  const [first] = FaultBody.safeParse(fault).data?.error ?? [];
  if (first === undefined) return { code: null, words: "a fault that says nothing" };
  const { message, detail, code } = first;
  const number = code === "" ? (/errorCode=(\w+)/.exec(message)?.[1] ?? null) : code;
  const words = (detail.trim() === "" ? message : detail).replaceAll(/\s+/g, " ").trim();
  return { code: number?.replace(/^0+(?=\d)/, "") ?? null, words: words.slice(0, TEXT_MOST) };
}

/** Of the whole, of a query, of change data capture, and of one of its entities. */
function faultsIn(json: unknown): unknown[] {
  const { fault, queryresponse, cdcresponse } = small(json);
  const inside = [queryresponse, ...listOf(cdcresponse)].map(small);
  const entities = inside.flatMap((one) => listOf(one["queryresponse"])).map(small);
  return [
    fault,
    ...inside.map((one) => one["fault"]),
    ...entities.map((one) => one["fault"]),
  ].filter((one) => one !== undefined && one !== null);
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Its members by their names in small letters. */
function small(value: unknown): Record<string, unknown> {
  if (value === null || typeof value !== "object") return {};
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name.toLowerCase(), one as unknown]),
  );
}
