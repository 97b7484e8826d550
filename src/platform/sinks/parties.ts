/** Customers and suppliers from the ERP: a company and an accepted connection (specification part 4, Parties). */
import type { Linked, Memory, Outgoing } from "../../core/contract.ts";
import type { FaultCode } from "../../core/faults.ts";
import { parseExact } from "../../core/json.ts";
import { lookedUp } from "../../core/keys.ts";
import type { Finding } from "../../core/outcome.ts";
import { beginningOf, folded } from "../../core/text.ts";
import { Connection, CreateParty } from "../contract/network.ts";
import { targetOf } from "../contract/operations.ts";
import type { Query } from "../reading.ts";
import {
  accepted,
  isSince,
  listAll,
  money,
  otherEnd,
  type SinkContext,
  type SinkPart,
} from "./write.ts";

export const parties = (kind: "customer" | "supplier"): SinkPart => ({
  uses: [kind === "customer" ? "createCustomer" : "createSupplier", "listConnections"],
  operation: `${kind}.create`,
  makesOne: true,
  names: { what: "party", called: (party) => folded((party as CreateParty).name) },
  policy: money,
  write: ([item]) => ({
    target: targetOf(kind === "customer" ? "createCustomer" : "createSupplier"),
    body: accepted(CreateParty, item?.document),
  }),
  find: findParty,
});

/**
 * By our own id on the connection, whichever way it runs: neither is specified. The id alone proves no party: customers
 * and suppliers are often numbered from one range each, and a connection does not say which of the two it is. Evidence
 * is what {@link verdictOn} counts; whatever else may be this party is for a person. What the search looks at is not
 * specified either (part 4, GET /connections): once something was sent, finding nothing by it proves nothing, and all
 * connections are read.
 */
async function findParty(
  context: SinkContext,
  request: Outgoing,
  memory?: Memory,
): Promise<Finding> {
  const tabled = await findTabled(context, request, memory);
  if (tabled !== null) return tabled;
  // Before the look by name: within a limit of few requests the next look has only that to ask.
  if (request.firstSentAt === null) await connections(context);
  const looked = (among: Among) => findAmong(among, context, { request, memory });
  const named = await looked("named");
  if (named.found !== "none") return named;
  // Nor does finding nothing say that the firm is not there in its other role.
  const { party, number } = askedFor(request);
  const twins = number === null ? [] : (memory?.numbered(number) ?? []);
  const hasTwin = twins.some((one) => !one.isOwnKind && isSameFirm(party, one));
  const isThere = hasTwin || request.firstSentAt !== null || request.ofEverySite === "taken";
  if (isThere) return looked("all");
  return (await findByCode(context, request, memory)) ?? named;
}

/**
 * A company that the site's table names for it, by its code or its name: documents of that company are booked on this party,
 * and one more company would be its double. Null: the table names none.
 */
async function findTabled(
  context: SinkContext,
  request: Outgoing,
  memory: Memory | undefined,
): Promise<Finding | null> {
  const { party } = askedFor(request);
  const [companies = []] = [party.externalId ?? party.name, party.name]
    .map((name) => memory?.named?.(name) ?? [])
    .filter((some) => some.length > 0);
  if (companies.length === 0) return null;
  const there = await connectedWith(context, companies);
  const [company] = there;
  // A row counts more than that a person let the party go: it may have been written since.
  if (company !== undefined && companies.length === 1)
    return { found: "exact", ids: [company], detail: `the site's table names company ${company}` };
  const isLet = companies.every((one) => memory?.isDismissed(one) === true);
  return isLet ? null : notOne(companies, there, party);
}

/** So long a list of all connections counts as it was, ms: each of its pages costs a request. */
const LISTED_MS = 5 * 60_000;
const lists = new WeakMap<SinkContext, { untilMs: number; all: Promise<readonly Connection[]> }>();

/** All connections that can be read, as they were a short while ago. @throws SourceUnavailable */
function connections(context: SinkContext): Promise<readonly Connection[]> {
  const { monoMs } = context.clock.now();
  const known = lists.get(context);
  if (known !== undefined && monoMs < known.untilMs) return known.all;
  const all = listedAnew(context);
  all.catch(() => lists.delete(context));
  lists.set(context, { untilMs: monoMs + LISTED_MS, all });
  return all;
}

async function listedAnew(context: SinkContext): Promise<readonly Connection[]> {
  const query = { direction: "all", pageSize: "500" };
  const listing = { list: "listConnections", query, item: Connection, names: [] } as const;
  const all: Connection[] = [];
  for await (const connection of listAll(context, listing)) all.push(connection);
  return all;
}

/** The companies that these are with. */
async function companiesOf(context: SinkContext, some: readonly Connection[]): Promise<string[]> {
  const us = some.length === 0 ? null : await context.ourselves();
  return us === null ? [] : [...new Set(some.flatMap((one) => otherEnd(one, us) ?? []))];
}

/** Those of these that a connection of ours is with. */
async function connectedWith(
  context: SinkContext,
  companies: readonly string[],
): Promise<readonly string[]> {
  const ids = new Set(companies.map(lookedUp));
  const there = await companiesOf(context, await connections(context));
  return there.filter((company) => ids.has(lookedUp(company)));
}

/** Companies that show our code, are linked with nothing, and that the search does not find by the name. Null: there are none. */
async function findByCode(
  context: SinkContext,
  request: Outgoing,
  memory: Memory | undefined,
): Promise<Finding | null> {
  const { party } = askedFor(request);
  const shown = (await connections(context)).filter(({ erpId }) => erpId === party.externalId);
  const strange = (await companiesOf(context, shown)).filter(
    (one) => memory?.isDismissed(one) !== true && (memory?.linked(one) ?? []).length === 0,
  );
  const because = "is not found by that name";
  return strange.length === 0
    ? null
    : sameCode(new Map(strange.map((one) => [one, because])), party);
}

const askedFor = ({ body, items }: Outgoing) => ({
  party: CreateParty.parse(parseExact(body)),
  number: items[0]?.number ?? null,
});

/** `named`: what the search finds for the name; `all`: every connection, and those without an id if made since. */
type Among = "named" | "all";

async function findAmong(
  among: Among,
  context: SinkContext,
  { request, memory }: { readonly request: Outgoing; readonly memory: Memory | undefined },
): Promise<Finding> {
  const { party, number } = askedFor(request);
  const { name, externalId } = party;
  const search: Query = among === "named" ? { search: beginningOf(name, NAME_SEARCHED) } : {};
  const query = { direction: "all", ...search, pageSize: "500" };
  // A connection names nothing but companies: one that cannot be read may be ours.
  const listing = { list: "listConnections", query, item: Connection, names: [""] } as const;
  const ours = new Set<string>();
  const nameless = new Set<string>();
  const strange = new Map<string, string>();
  const marked = new Map<string, string>();
  const renumbered = new Map<string, readonly Linked[]>();
  for await (const connection of listAll(context, listing)) {
    const erpId = connection.erpId ?? "";
    const isMarked = externalId !== undefined && erpId === externalId;
    if (!isMarked && erpId !== "" && among === "all") continue;
    const us = await context.ourselves();
    const company = us === null ? null : otherEnd(connection, us);
    if (company === null) return notTold(connection.id, name);
    const linked = memory?.linked(company) ?? [];
    const isProven =
      isMarked && (among === "named" || isSince(connection.createdAt, request, context));
    const verdict = verdictOn(party, number, linked, { isMarked, isProven });
    if (verdict === "ours") ours.add(company);
    else if (verdict === "another" || memory?.isDismissed(company) === true) continue;
    else if (verdict === "renumbered") renumbered.set(company, linked);
    else if (verdict !== "nameless") marked.set(company, verdict.because);
    else if (erpId !== "") {
      // Nobody here knows that code: this firm may have had it when a store that is lost sent it.
      const isStrange = memory?.isTold(erpId) === false && request.firstSentAt === null;
      if (isStrange) strange.set(company, `shows the code ${erpId}, which nothing here has`);
    } else if (among === "named" || isRecent(connection, request)) nameless.add(company);
  }
  const [first] = ours;
  if (ours.size > 1)
    return { found: "several", detail: `${externalId} is there as ${[...ours].join(" and ")}` };
  if (first !== undefined)
    return { found: "exact", ids: [first], detail: `${externalId} is company ${first}` };
  if (marked.size > 0) return sameCode(marked, party);
  if (renumbered.size > 0) return sameFirm(renumbered, party);
  if (nameless.size > 0) return maybeOurs([...nameless], name, among);
  if (strange.size > 0) return otherCode(strange, party);
  return { found: "none", detail: `no company with external id ${externalId}` };
}

/**
 * `another`: some other party. `renumbered`: this firm under another code. `nameless`: nothing is linked with it, and it
 * does not show our id. `because`: it shows this id, and only that.
 */
type Verdict = "ours" | "another" | "renumbered" | "nameless" | { readonly because: string };

/**
 * Is a company this party? It is when the store links it as this kind with this number; when it is linked as the other
 * kind and both are one firm ({@link isSameFirm}); and, as long as nothing is linked with it, when it shows our id and
 * was found by the name, or was made since we sent the party.
 * @param number of the party that is looked for
 */
function verdictOn(
  party: CreateParty,
  number: string | null,
  linked: readonly Linked[],
  { isMarked, isProven }: { readonly isMarked: boolean; readonly isProven: boolean },
): Verdict {
  const own = linked.find(({ isOwnKind }) => isOwnKind);
  if (own?.number === number) return "ours";
  if (own !== undefined) {
    if (isMarked) return { because: `is linked as ${inWords(own)}` };
    return isSameFirm(party, own) ? "renumbered" : "another";
  }
  const other = linked.find((one) => isMarked || one.number === number);
  if (other !== undefined)
    return isSameFirm(party, other) ? "ours" : { because: `is linked as ${inWords(other)}` };
  if (linked.length > 0) return "another";
  if (!isMarked) return "nameless";
  return isProven ? "ours" : { because: "is not found by that name" };
}

const inWords = ({ kind, number, body }: Linked): string => {
  const name = documentIn(body)?.name;
  return name === undefined ? `${kind} ${number}` : `${kind} ${number} (${name})`;
};

/**
 * The same firm in both roles: one record of the ERP, or the same name, and no other address in what was delivered.
 * The code proves nothing.
 */
function isSameFirm(party: CreateParty, { isOwnRecord, body }: Linked): boolean {
  if (isOwnRecord) return true;
  const other = documentIn(body);
  if (other === null || folded(other.name) !== folded(party.name)) return false;
  return ADDRESS.every((field) => {
    const [one, another] = [folded(party[field] ?? ""), folded(other[field] ?? "")];
    return one === "" || another === "" || one === another;
  });
}

const ADDRESS = ["street", "city", "state", "zip", "country"] as const;

function documentIn(body: string | null): CreateParty | null {
  return body === null ? null : (CreateParty.safeParse(parseExact(body)).data ?? null);
}

/** The platform's clock may differ from ours by so much. */
const SKEW_MS = 24 * 3_600_000;

const isRecent = ({ createdAt }: Connection, { firstSentAt }: Outgoing): boolean =>
  firstSentAt !== null && Date.parse(createdAt) >= Date.parse(firstSentAt) - SKEW_MS;

const SHOWN_MAX = 20;
/** As much of a name as a search takes. */
const NAME_SEARCHED = 100;

const different = (
  code: FaultCode,
  detail: string,
  next: string,
  candidates: readonly string[],
): Finding => ({
  found: "different",
  detail,
  fault: { code, message: detail, next, candidates },
});

/** Nothing but the code says that one of these is the party. */
function sameCode(
  companies: ReadonlyMap<string, string>,
  { name, externalId }: CreateParty,
): Finding {
  const candidates = [...companies.keys()].slice(0, SHOWN_MAX);
  const shown = candidates.map((company) => `company ${company} ${companies.get(company)}`);
  const detail = `the platform has our code ${externalId} on a company that need not be "${name}": ${shown.join("; ")}`;
  const next = `Look there. If it is this firm, close this with its id there; if it is another firm with the same code, retry this: "${name}" gets a company of its own.`;
  return different("same-code", detail, next, candidates);
}

/** A person says which company it is: the table names several, or one that no connection of ours is with. */
function notOne(
  companies: readonly string[],
  there: readonly string[],
  { name, externalId }: CreateParty,
): Finding {
  const candidates = companies.slice(0, SHOWN_MAX);
  const connected =
    there.length === 0 ? "none of them is connected with us" : "which one it is nobody says";
  const detail = `the cross-reference names ${candidates.map((company) => `company ${company}`).join(" and ")} for "${name}" (${externalId}), and ${connected}`;
  const next = `Correct the row of the cross-reference, then retry. If it is right, close this with the id of the company that ${name}'s invoices are for. If it names another firm, retry this: the party is created.`;
  return different("same-code", detail, next, candidates);
}

/** The search finds it by this name, and its code is none of ours: the code was changed while the store was an older one. */
function otherCode(
  companies: ReadonlyMap<string, string>,
  { name, externalId }: CreateParty,
): Finding {
  const candidates = [...companies.keys()].slice(0, SHOWN_MAX);
  const shown = candidates.map((company) => `company ${company} ${companies.get(company)}`);
  const detail = `"${name}" (${externalId}) may be on the platform under another code: ${shown.join("; ")}`;
  const next = `Look there. If one is this firm, close this with its id there, and correct the code on its connection; if none is, retry this: the party is created.`;
  return different("same-name", detail, next, candidates);
}

/** Its code was changed in the ERP, or it is there twice: a second company would be made of one firm. */
function sameFirm(
  companies: ReadonlyMap<string, readonly Linked[]>,
  { name, externalId }: CreateParty,
): Finding {
  const candidates = [...companies.keys()].slice(0, SHOWN_MAX);
  const codes = candidates.flatMap((company) =>
    (companies.get(company) ?? []).map((one) => `${one.kind} ${one.number} (company ${company})`),
  );
  const detail = `"${name}" was delivered before with this name and address, as ${codes.join(" and ")}; now it comes as ${externalId}`;
  const next =
    "Was its code changed in the ERP? Then close this with the company's id: it goes on under its new code; correct the code on its connection on the platform, too. If these are two firms, or one is entered twice on purpose, retry this: it gets a company of its own.";
  return different("code-changed", detail, next, candidates);
}

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
  const next =
    "Look there. If one is this party, close this with its id there; if none is, retry this: the party is created.";
  return different("same-name", detail, next, candidates);
}

const notTold = (connection: string, name: string): Finding => ({
  found: "different",
  detail: `connection ${connection} may be that of "${name}", and nothing tells which of its two companies is ours`,
});
