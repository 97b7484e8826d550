/** Customers and suppliers from the ERP: a company and an accepted connection (specification part 4, Parties). */
import type { Memory, Outgoing, Sink } from "../../core/contract.ts";
import { parseExact } from "../../core/json.ts";
import type { Finding } from "../../core/outcome.ts";
import { Connection } from "../contract/connection.ts";
import { targetOf } from "../contract/path.ts";
import { CreateParty } from "../contract/party.ts";
import { otherEnd, type Ourselves } from "./ourselves.ts";
import type { Query } from "../paging.ts";
import { money, settledIn } from "./policy.ts";
import { listAll, reading } from "./read-back.ts";
import { accepted, type Surroundings, writeSink } from "./write.ts";

export function parties(
  surroundings: Surroundings,
  kind: "customer" | "supplier",
  ourselves: Ourselves,
): Sink {
  return writeSink(surroundings, {
    operation: `${kind}.create`,
    writes: "create",
    itemsMax: 1,
    names: "party",
    policy: settledIn(money, surroundings.settleMs),
    write: ([item]) => ({
      target: targetOf(kind === "customer" ? "createCustomer" : "createSupplier"),
      body: accepted(CreateParty, item?.document),
    }),
    find: (request, memory) => reading(() => find(surroundings, ourselves, request, memory)),
  });
}

/**
 * By our own id on the connection, whichever way it runs: neither is specified. A company of this name without any id
 * may be ours however old it is, unless it is linked with another code: a person must tell. What the search looks at is
 * not specified either (part 4, GET /connections): once something was sent, finding nothing by it proves nothing, and
 * all connections are read.
 */
async function find(
  surroundings: Surroundings,
  ourselves: Ourselves,
  request: Outgoing,
  memory: Memory | undefined,
): Promise<Finding> {
  const looked = (among: Among) => findAmong(among, surroundings, ourselves, { request, memory });
  const named = await looked("named");
  return named.found === "none" && request.firstSentAt !== null ? looked("all") : named;
}

/** `named`: what the search finds for the name; `all`: every connection, and those without an id if made since. */
type Among = "named" | "all";

async function findAmong(
  among: Among,
  surroundings: Surroundings,
  ourselves: Ourselves,
  { request, memory }: { readonly request: Outgoing; readonly memory: Memory | undefined },
): Promise<Finding> {
  const { name, externalId } = CreateParty.parse(parseExact(request.body));
  const search: Query = among === "named" ? { search: beginningOf(name) } : {};
  const query = { direction: "all", ...search, pageSize: "500" };
  // A connection names nothing but companies: one that cannot be read may be ours.
  const listing = { list: "listConnections", query, item: Connection, names: [""] } as const;
  const ours = new Set<string>();
  const suspects = new Set<string>();
  for await (const connection of listAll(surroundings, listing)) {
    const { id } = connection;
    const erpId = connection.erpId ?? "";
    const isMarked = externalId !== undefined && erpId === externalId;
    if (!isMarked && (erpId !== "" || (among === "all" && isOlder(connection, request)))) continue;
    const us = await ourselves();
    const company = us === null ? null : otherEnd(connection, us);
    if (company === null) return notTold(id, name);
    const code = memory?.linked(company) ?? null;
    if (isMarked || (code !== null && code === request.items[0]?.number)) ours.add(company);
    else if (code === null && memory?.isDismissed(company) !== true) suspects.add(company);
  }
  const [first] = ours;
  if (ours.size > 1)
    return { found: "several", detail: `${externalId} is there as ${[...ours].join(" and ")}` };
  if (first !== undefined)
    return { found: "exact", ids: [first], detail: `${externalId} is company ${first}` };
  if (suspects.size > 0) return maybeOurs([...suspects], name, among);
  return { found: "none", detail: `no company with external id ${externalId}` };
}

/** The platform's clock may differ from ours by so much. */
const SKEW_MS = 24 * 3_600_000;

const isOlder = ({ createdAt }: Connection, { firstSentAt }: Outgoing): boolean =>
  firstSentAt !== null && Date.parse(createdAt) < Date.parse(firstSentAt) - SKEW_MS;

const SHOWN_MAX = 20;

/** The search finds parts of names; a connection tells no name. */
function maybeOurs(companies: readonly string[], name: string, among: Among): Finding {
  const candidates = companies.slice(0, SHOWN_MAX);
  const shown = candidates.join(", ");
  const count = companies.length === 1 ? "a company" : `${companies.length} companies`;
  const which =
    among === "named"
      ? `with "${name}" in the name and no id of ours`
      : `without an id of ours, connected since "${name}" was sent, and its search finds no such name`;
  const detail = `the platform has ${count} ${which}: ${shown}`;
  return {
    found: "different",
    detail,
    fault: {
      code: "same-name",
      message: detail,
      next: "Look there. If one is this party, resolve this with --receiver-id and its id; if none is, retry this: the party is created.",
      candidates,
    },
  };
}

const notTold = (connection: string, name: string): Finding => ({
  found: "different",
  detail: `connection ${connection} may be that of "${name}", and nothing tells which of its two companies is ours`,
});

/** As much of a name as a search takes; half a surrogate pair would match nothing. */
const beginningOf = (name: string): string => name.slice(0, 100).replace(/[\uD800-\uDBFF]$/, "");
