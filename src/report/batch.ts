/** Answers to a request that carried many documents list them all; one document's story wants its own part. */
import type { DeliveryRow } from "../store/questions.ts";
import type { Store } from "../store/store.ts";
import type { TraceStep } from "./office.ts";

/** For what was said of the request that carries this delivery. */
export function batch(
  store: Store,
  { delivery, request }: Pick<DeliveryRow, "delivery" | "request">,
): (said: string) => TraceStep["own"] {
  const carried = request === null ? [] : store.requests.carried(request);
  const documents = carried.map(({ recordId, number }) => namesOf(store, recordId, number));
  const own = documents[carried.findIndex((one) => one.delivery === delivery)];
  if (own === undefined || documents.length < 2) return () => null;
  return (said) => {
    const detail = partOf(said, own, documents);
    return detail === null ? null : { detail, others: documents.length - 1 };
  };
}

type Names = ReadonlySet<string>;

/** What either side calls it. */
function namesOf(store: Store, recordId: string, number: string): Names {
  const links = store.links.search(recordId);
  const ids = links.flatMap(({ platformId, erpId }) => [platformId, erpId]);
  return new Set([recordId, number, ...ids].filter((name) => name !== ""));
}

/**
 * Of `exact: INV-1 posted, INV-2 paid` what is said of all and of `own`. Null when it does not list one document after
 * the other: a part that may be about another one is never shown for this one.
 */
function partOf(said: string, own: Names, documents: readonly Names[]): string | null {
  const list = documents.map((names) => startOf(said, names)).filter((at) => at !== null);
  if (list.length === 0) return null;
  const start = Math.min(...list);
  const parts = said.slice(start).split(SEPARATOR);
  const ownParts = parts.filter((part) => isOf(part, own));
  const allNamed = parts.every((part) => documents.some((names) => isOf(part, names)));
  if (ownParts.length !== 1 || parts.length !== documents.length || !allNamed) return null;
  return said.slice(0, start) + ownParts[0];
}

const SEPARATOR = ", ";

/** Where its first word stands at the beginning or behind a colon. */
function startOf(said: string, names: Names): number | null {
  for (let at = 0; ;) {
    if (isOf(said.slice(at), names)) return at;
    const colon = said.indexOf(": ", at);
    if (colon < 0) return null;
    at = colon + 2;
  }
}

const isOf = (part: string, names: Names): boolean =>
  [...names].some((name) => part === name || part.startsWith(`${name} `));
