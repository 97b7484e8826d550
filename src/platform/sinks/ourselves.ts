/** Which company the API key acts for. No operation tells it, so it is derived from records that only we can have. */
import { ListedInvoice } from "../contract/invoice.ts";
import { Connection } from "../contract/network.ts";
import { CompanyProfile } from "../contract/place.ts";
import { pathOf } from "../contract/operations.ts";
import type { ReadContext } from "../reading.ts";
import { firstOf, readAt } from "./read-back.ts";

/** Our company's id (UUID); null while nothing tells it. @throws SourceUnavailable */
export type Ourselves = () => Promise<string | null>;

/**
 * In this order: the one company that is an end of all our connections (part 2, 2.8: each has us at one end); the
 * issuer of an invoice that we issue (part 4, query `role`); the one end of our only connection whose profile we may
 * read (part 4: own company). Asked once; what it found is kept.
 */
export function ourselves(context: ReadContext): Ourselves {
  let known: string | null = null;
  return async () => {
    known ??= await derived(context);
    return known;
  };
}

/** The end of a connection that is not us; null when neither end is us. */
export function otherEnd(
  { fromCompanyId, toCompanyId }: Pick<Connection, "fromCompanyId" | "toCompanyId">,
  us: string,
): string | null {
  if (fromCompanyId === us) return toCompanyId;
  return toCompanyId === us ? fromCompanyId : null;
}

const CONNECTIONS = 100;

async function derived(context: ReadContext): Promise<string | null> {
  const connections = await firstOf(
    context,
    { list: "listConnections", query: { direction: "all" }, item: Connection },
    CONNECTIONS,
  );
  const ends = commonEnds(connections);
  if (ends.length === 1) return ends[0] ?? null;
  const issued = { list: "listInvoices", query: { role: "issuer" }, item: ListedInvoice } as const;
  const [invoice] = await firstOf(context, issued, 1);
  if (invoice !== undefined) return invoice.companyId;
  const readable: string[] = [];
  for (const id of ends) {
    const path = pathOf("getCompanyProfile", id);
    if ((await readAt(context, path, CompanyProfile)) !== null) readable.push(id);
  }
  return readable.length === 1 ? (readable[0] ?? null) : null;
}

/** Our company's id where a list of all our connections is at hand; null while nothing tells it. @throws SourceUnavailable */
export async function ourselvesAmong(
  connections: readonly Connection[],
  ask: Ourselves,
): Promise<string | null> {
  if (connections.length === 0) return null;
  const [end, another] = commonEnds(connections);
  return end !== undefined && another === undefined ? end : ask();
}

/** The companies that are an end of every one. */
function commonEnds(connections: readonly Connection[]): string[] {
  const [first] = connections;
  if (first === undefined) return [];
  return [...new Set([first.fromCompanyId, first.toCompanyId])].filter((id) =>
    connections.every((one) => otherEnd(one, id) !== null),
  );
}
