/** Customers and suppliers from the ERP: a company and an accepted connection (specification part 4, Parties). */
import type { Outgoing, Sink } from "../../core/contract.ts";
import { parseExact } from "../../core/json.ts";
import type { Finding } from "../../core/outcome.ts";
import { Connection } from "../contract/connection.ts";
import { CreateParty } from "../contract/party.ts";
import { money, settledIn } from "./policy.ts";
import { isSince, listAll, reading } from "./read-back.ts";
import { accepted, type Surroundings, writeSink } from "./write.ts";

export function parties(surroundings: Surroundings, kind: "customer" | "supplier"): Sink {
  return writeSink(surroundings, {
    operation: `${kind}.create`,
    writes: "create",
    itemsMax: 1,
    names: "party",
    policy: settledIn(money, surroundings.settleMs),
    write: ([item]) => ({
      target: `POST /${kind}s`,
      body: accepted(CreateParty, item?.document),
    }),
    find: (request) => reading(() => find(surroundings, request)),
  });
}

/**
 * By our own id on the connection. That it lands there is not specified: where it did not, a connection without an id
 * that appeared under the same name since our first send may be ours, and a person must tell.
 */
async function find(surroundings: Surroundings, request: Outgoing): Promise<Finding> {
  const { name, externalId } = CreateParty.parse(parseExact(request.body));
  const query = { direction: "outbound", search: beginningOf(name), pageSize: "500" };
  const ours = new Set<string>();
  let suspect: string | null = null;
  // A connection names nothing but companies: one that cannot be read may be ours.
  const listing = { path: "/connections", query, item: Connection, names: [""] };
  for await (const connection of listAll(surroundings, listing)) {
    const { toCompanyId, erpId, createdAt } = connection;
    if (externalId !== undefined && erpId === externalId) ours.add(toCompanyId);
    else if (erpId === null && isSince(createdAt, request)) suspect = toCompanyId;
  }
  const [first] = ours;
  if (ours.size > 1)
    return { found: "several", detail: `${externalId} is there as ${[...ours].join(" and ")}` };
  if (first !== undefined)
    return { found: "exact", ids: [first], detail: `${externalId} is company ${first}` };
  if (suspect !== null)
    return { found: "different", detail: `company ${suspect} has this name and no external id` };
  return { found: "none", detail: `no company with external id ${externalId}` };
}

/** As much of a name as a search takes; half a surrogate pair would match nothing. */
const beginningOf = (name: string): string => name.slice(0, 100).replace(/[\uD800-\uDBFF]$/, "");
