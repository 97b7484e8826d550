/**
 * Every operation of the contract (specification part 4), carried out on the sandbox's records: what most of them do (list,
 * read, create and change records of a kind), then each by its name, then pricing (readings, Pricing).
 */
import { isUuid } from "../core/text.ts";
import type { z } from "zod";
import { Decimal } from "../core/decimal.ts";
import { type Json, stringifyExact } from "../core/json.ts";
import type { Operation } from "../platform/contract/operation.ts";
import type { OperationId, operations } from "../platform/contract/operations.ts";
import { type Numeric, toDecimal } from "../platform/contract/primitives.ts";
import {
  type Answer,
  invalid,
  json,
  noContent,
  notFound,
  printed,
  refusal,
  success,
} from "./answer.ts";
import { documentOf } from "./document.ts";
import type { Key } from "./keys.ts";
import {
  complete,
  type Fields,
  isFields,
  type Kind,
  kinds,
  type ResourceName,
  type Role,
} from "./kinds.ts";
import type { Filters, Sort } from "./lists.ts";
import { type Stored, valuesAt } from "./records.ts";
import { iso, micros } from "./settings.ts";
import type { World } from "./world.ts";

/** An operation of the contract, and the record that a path names. */
export interface Match {
  readonly name: OperationId;
  readonly operation: Operation;
  /** The decoded `{id}`, or nothing. */
  readonly id: string;
}

/** Checks a request against the contract and carries it out. @throws Refusal */
export function perform(
  world: World,
  key: Key,
  { name, operation, id }: Match,
  query: Readonly<Record<string, string>>,
  body: Json | undefined,
  now: number,
): Answer {
  if (operation.path.includes("{id}") && operation.textId !== true && !isUuid(id))
    throw invalid("The id of the path is not a UUID.", [{ path: "id", message: "not a UUID" }]);
  const call: Call = {
    world,
    key,
    operation,
    now,
    at: iso(now),
    id,
    query: operation.query === undefined ? {} : valid(operation.query, query, "The query"),
    body: operation.body === undefined ? undefined : valid(operation.body, body, "The body"),
    raw: isFields(body) ? body : {},
  };
  const handle = (handlers[name] ?? usual) as (call: Call) => Answer;
  return operation.method === "GET" ? world.lagging.read(now, () => handle(call)) : handle(call);
}

function valid(schema: z.ZodType, value: unknown, what: string): unknown {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const issues = error.issues.map(({ path, message }) => ({ path: path.join("."), message }));
  const [first] = issues;
  const where = [first?.path, first?.message].filter(Boolean).join(": ");
  throw invalid(`${what} is not valid${where && `: ${where}`}.`, issues);
}

type Table = typeof operations;
type Inferred<T> = T extends z.ZodType ? z.infer<T> : undefined;
type Part<Id extends OperationId, Name extends string> =
  Table[Id] extends Record<Name, infer S> ? Inferred<S> : undefined;

interface Call<Query = unknown, Body = unknown> {
  readonly world: World;
  readonly key: Key;
  readonly operation: Operation;
  readonly now: number;
  /** The same, ISO 8601. */
  readonly at: string;
  /** The `{id}` of the path, or nothing. */
  readonly id: string;
  readonly query: Query;
  readonly body: Body;
  /** The body as it was sent, without defaults. */
  readonly raw: Fields;
}

type Handlers = {
  readonly [Id in OperationId]: (call: Call<Part<Id, "query">, Part<Id, "body">>) => Answer;
};

/**
 * What an operation does by its row of the contract alone: its path begins with the name of the kind. Others have a
 * handler of their own. Fields that a PUT does not send stay as they are (rule P3).
 */
function usual(call: Call): Answer {
  const { world, operation } = call;
  const [, name = ""] = operation.path.split("/");
  const kind = (name === "pricing" ? "rack-prices" : name) as ResourceName;
  if (operation.success.kind === "list") return listed(call, kind);
  if (operation.method === "POST") return one(201, create(call, kind, checked(call, kind)));
  const before = seen(call, kind);
  if (operation.success.kind === "pdf")
    return printed(documentOf(kind, before.record, world.records.companyName));
  if (operation.method === "GET") return one(200, before);
  return one(200, amend(call, kind, before, checked(call, kind)));
}

/** The query of a list. A filter has the name of the field that it compares ({@link kinds}). */
interface ListQuery extends Readonly<Record<string, string | boolean | number | undefined>> {
  readonly page: number;
  readonly pageSize: number;
  readonly updatedSince?: string | undefined;
  readonly cursor?: string | undefined;
  readonly role?: Role;
  readonly direction?: Role;
  readonly product?: string | undefined;
  readonly search?: string | undefined;
  readonly sortBy?: string;
  readonly sortOrder?: string;
}

/** A page of the list, or of the walk when `updatedSince` or `cursor` is given (rules P1 and P2). */
function listed({ world, key, now, ...call }: Call, kind: Kind): Answer {
  const query = call.query as ListQuery;
  const { page, pageSize, updatedSince, cursor, product, search, sortBy, sortOrder = "" } = query;
  const { status = "status", parent = "" } = kinds[kind];
  const shelf = world.records.shelf(kind, key.company, query.role ?? query.direction ?? "own");
  const findsNothing =
    kind === "connections" && world.readings.values().connectionSearch === "nothing";
  const filters = {
    status: asText(query[status]),
    parent: asText(query[parent]),
    product,
    search: findsNothing && search !== undefined ? NO_NAME : search,
  };
  const sort = sortBy === undefined ? undefined : { by: sortBy, order: sortOrder };
  const listing = { kind, company: key.company, shelf, filters, page, pageSize, sort };
  const isWalk = updatedSince !== undefined || cursor !== undefined;
  const { lists } = world;
  return json(
    200,
    isWalk ? lists.walk({ ...listing, updatedSince, cursor, now }) : lists.page(listing),
  );
}

const asText = (value: ListQuery[string]): string | undefined =>
  value === undefined ? undefined : String(value);

/** Everything of the caller's of a kind, as one array. */
function whole({ world, key }: Call, kind: Kind, filters: Filters, sort: Sort): string {
  const shelf = world.records.shelf(kind, key.company, "own");
  return world.lists.whole(kind, shelf, filters, sort);
}

/** The record of the path. @throws 404 when there is none that the caller can see (rule V1). */
function seen({ world, id, key }: Call, kind: Kind): Stored {
  const found = world.records.visible(kind, id, key.company);
  if (found === null) throw notFound(kinds[kind].title);
  return found;
}

function create(call: Call, kind: ResourceName, given: Fields): Stored {
  const { world, key, at } = call;
  const birth = { owner: key.company, at, next: world.nextNumber() };
  return world.records.put(kind, complete(kind, given, birth), key.company);
}

function amend(call: Call, kind: ResourceName, before: Stored, changes: Fields): Stored {
  const birth = { owner: before.owner, at: call.at, next: 0 };
  const record = complete(kind, { ...before.record, ...changes, updatedAt: call.at }, birth);
  return call.world.records.put(kind, record, before.owner);
}

const bornAt = ({ record }: Stored): number => micros(record.createdAt) ?? 0;

const one = (status: number, { shown }: Stored): Answer => success(status, shown);

const all = (found: readonly Stored[]): Answer =>
  success(200, `[${found.map(({ shown }) => shown).join(",")}]`);

/** The body without what the contract does not know, its references checked. @throws 400 for a broken reference. */
function checked(call: Call, kind: ResourceName): Fields {
  const body = known(call);
  for (const [field, target] of Object.entries(kinds[kind].references ?? {}))
    for (const [at, id] of valuesAt(body, [field]).entries())
      if (typeof id === "string" && !isKnownTo(call, target, id)) {
        const path = field.replace(".", `.${at}.`);
        const message = `${path} ${id} does not exist.`;
        throw invalid(message, [{ path, message }]);
      }
  return body;
}

/**
 * Whether a request may refer to a record (readings): one that the caller sees; any terminal, which stand in a
 * directory of all companies; any company, though a test company knows none of the live ones (part 1, convention 6).
 */
function isKnownTo({ world, key }: Call, kind: Kind, id: string): boolean {
  if (kind === "supplier-terminals") return world.records.get(kind, id) !== null;
  if (kind !== "companies") return world.records.visible(kind, id, key.company) !== null;
  const company = world.records.get(kind, id);
  return company !== null && (company.record.sandbox === true) === key.sandbox;
}

/** The body without what the contract does not know: unknown fields are ignored, at every depth. */
function known(call: Call): Fields {
  const schema = call.operation.body;
  const body = schema === undefined ? {} : strip(schema, call.body as Json);
  return isFields(body) ? body : {};
}

function strip(schema: z.ZodType, value: Json): Json {
  const def = schema.def as unknown as Definition;
  const inner = def.innerType ?? (def.in?.def.type === "transform" ? def.out : def.in);
  if (inner !== undefined) return strip(inner, value);
  if (def.element !== undefined && Array.isArray(value))
    return value.map((item: Json) => strip((def as { element: z.ZodType }).element, item));
  if (def.shape === undefined || Object.keys(def.shape).length === 0 || !isFields(value))
    return value;
  const fields = Object.entries(def.shape).flatMap(([name, schema]): [string, Json][] => {
    const given = value[name];
    return given === undefined ? [] : [[name, strip(schema, given)]];
  });
  return Object.fromEntries(fields);
}

interface Definition {
  /** What is optional, nullable or has a default; a pipe has two ends, one of which is a transform. */
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly out?: z.ZodType;
  readonly element?: z.ZodType;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
}

/** The operations that do more than their row says, or something else. */
const handlers: Partial<Handlers> = {
  /** The detail carries the sub-records, whose fields nobody knows: none, unless they were put there raw. */
  getOrder(call) {
    const { record } = seen(call, "orders");
    return success(200, stringifyExact({ bids: [], pickup: null, delivery: null, ...record }));
  },
  listOrderNotes(call) {
    const order = seen(call, "orders");
    const notes = call.world.records.children("order-notes", order.record.id);
    return all(notes.sort((one, other) => bornAt(one) - bornAt(other)));
  },
  /** In any status; the order itself does not change. */
  addOrderNote(call) {
    const order = seen(call, "orders");
    const authorName = call.world.records.companyName(call.key.company);
    const note = { ...known(call), orderId: order.record.id, authorName };
    return one(201, create(call, "order-notes", note));
  },

  signDeliveryTicket(call) {
    const ticket = seen(call, "delivery-tickets");
    if (ticket.record.status === "VOID") throw invalid("A void delivery ticket cannot be signed.");
    const changes = { ...known(call), status: "SIGNED", signedAt: call.at };
    return one(200, amend(call, "delivery-tickets", ticket, changes));
  },

  createInvoice(call) {
    const { world, key } = call;
    const { invoiceNumber } = call.body;
    const body = checked(call, "invoices");
    const {
      deduplicateInvoiceNumbers,
      createdInvoiceStatus: status,
      invoiceNumbersKept,
    } = world.readings.values();
    const existing = world.records.natural("invoices", key.company, invoiceNumber);
    if (deduplicateInvoiceNumbers && existing !== null)
      throw invalid(`invoiceNumber ${invoiceNumber} exists already.`, [
        { path: "invoiceNumber", message: "exists already" },
      ]);
    const kept = invoiceNumbersKept === "asSent" ? invoiceNumber : invoiceNumber.toLowerCase();
    const lineItems = (body.lineItems as readonly Fields[]).map(withAmount);
    return one(201, create(call, "invoices", { ...body, invoiceNumber: kept, lineItems, status }));
  },
  /** The issuer marks paid; the payer sees the invoice, but it is not his to mark. */
  markInvoicePaid(call) {
    const invoice = seen(call, "invoices");
    if (invoice.owner !== call.key.company)
      throw refusal("INSUFFICIENT_SCOPE", "Only the issuer marks an invoice paid.");
    const { status } = invoice.record;
    if (status === "VOID" || status === "DRAFT")
      throw invalid(`An invoice in status ${status} cannot be marked paid.`);
    const changes = { paidAt: call.at, ...known(call), status: "PAID" };
    return one(200, amend(call, "invoices", invoice, changes));
  },

  /** A terminal of one's own that has no prices is an empty answer, an unknown one is none. */
  listTerminalPrices(call) {
    const sort = { by: "createdAt", order: "desc" };
    const prices = whole(call, "rack-prices", { parent: call.id }, sort);
    if (prices === "[]" && !hasTerminal(call)) throw notFound("The terminal");
    return success(200, prices);
  },

  /** One price by terminal and product: in one call the later one wins and counts as updated. */
  upsertRackPrices(call) {
    const { prices, source } = call.body;
    const { world, key, at } = call;
    const count = { updated: 0, created: 0 };
    const { bulkPrices } = world.readings.values();
    for (const { terminalId, product, price, unit } of prices) {
      if (bulkPrices === "ownTerminals" && !hasTerminal({ ...call, id: terminalId })) continue;
      const fields: Fields = {
        terminalId,
        product,
        price,
        unit: unit === "ltr" ? "liter" : unit,
        spread: 0,
        indexSource: source === "manual" ? null : source,
        effectiveAt: at,
        // Whoever enters a price wants it to hold: an end that the one before it had is not its own.
        expiresAt: null,
      };
      const before = world.records.natural("rack-prices", key.company, terminalId, product);
      const isSame = before !== null && exact(before.record.price).equals(exact(price));
      if (before === null) create(call, "rack-prices", fields);
      else amend(call, "rack-prices", before, fields);
      if (isSame && bulkPrices === "changesCounted") continue;
      count[before === null ? "created" : "updated"] += 1;
    }
    return success(200, JSON.stringify(count));
  },

  /** base = rate per mile × miles, surcharge = base × percent / 100; a sent rate wins over a saved one. */
  calculateFreight(call) {
    const { body } = call;
    const saved = body.connectionId === undefined ? null : savedRate(call, body.connectionId);
    const rates: Fields = { ...saved, ...call.raw };
    const ratePerMile = exact(rates.ratePerMile);
    const percent = exact(rates.fuelSurchargePercent);
    const distanceMiles = exact(body.distanceMiles);
    const additionalFees = exact(body.additionalFees);
    const baseCost = ratePerMile.times(distanceMiles);
    const fuelSurcharge = baseCost.times(percent).times(Decimal.of("0.01"));
    const totalFreight = baseCost.plus(fuelSurcharge).plus(additionalFees);
    const quote = {
      totalFreight,
      distanceMiles,
      ratePerMile,
      fuelSurcharge,
      additionalFees,
      baseCost,
    };
    const plain = Object.entries(quote).map(([name, value]) => [name, Decimal.of(value.plain())]);
    return success(200, stringifyExact(Object.fromEntries(plain)));
  },

  listFreightRates(call) {
    seen(call, "connections");
    return all(ratesOn(call, call.id));
  },

  createFreightRate(call) {
    if (call.body.connectionId.toLowerCase() !== call.id.toLowerCase())
      throw invalid("connectionId differs from the connection of the path.");
    seen(call, "connections");
    const rate = { ...checked(call, "freight-rates"), connectionId: call.id };
    return one(201, create(call, "freight-rates", rate));
  },

  deleteFreightRate(call) {
    call.world.records.remove("freight-rates", seen(call, "freight-rates").record.id);
    return noContent;
  },

  createCustomer: (call) => createParty(call, "CUSTOMER"),
  createSupplier: (call) => createParty(call, "SUPPLIER"),

  updateLocation(call) {
    const location = seen(call, "locations");
    // The fields of a schedule or compartment are not specified, so both are kept whole.
    const unspecified = Object.entries(call.raw).filter(
      ([name]) => name === "schedules" || name === "compartments",
    );
    const changes = { ...known(call), ...Object.fromEntries(unspecified) };
    return one(200, amend(call, "locations", location, changes));
  },
  listAllocations: (call) =>
    success(200, whole(call, "allocations", {}, { by: "parent", order: "asc" })),
};

/** A text that is in no name. */
const NO_NAME = "\u0000";

/** Rule I1: without an amount, rate times gallons, to the last digit. */
function withAmount(line: Fields): Fields {
  const { amount, rate, gallons } = line;
  if ((amount ?? null) !== null || !isNumeric(rate) || !isNumeric(gallons)) return line;
  return { ...line, amount: Decimal.of(toDecimal(rate).times(toDecimal(gallons)).plain()) };
}

const isNumeric = (value: Json | undefined): value is Numeric =>
  typeof value === "number" || (!isFields(value) && value instanceof Decimal);

/** Creating a party makes a company and an accepted connection to it, together (part 3; 2.15). */
function createParty(call: Call, type: "CUSTOMER" | "SUPPLIER"): Answer {
  const { world, key, at } = call;
  const { name = "", phone, contactPhone, street, city, state, zip, ...contact } = known(call);
  const given = {
    name,
    type,
    phone: phone ?? contactPhone ?? null,
    billingStreet: street ?? null,
    billingCity: city ?? null,
    billingState: state ?? null,
    billingZip: zip ?? null,
    sandbox: key.sandbox,
    contact: { ...contact, ...(contactPhone === undefined ? {} : { contactPhone }) },
  };
  const company = complete("companies", given, { owner: "", at, next: 0 });
  const { id } = company;
  world.records.put("companies", company, id);
  const { externalIdBecomesErpId, supplierConnectionRuns } = world.readings.values();
  const runsToUs = type === "SUPPLIER" && supplierConnectionRuns === "toUs";
  const [fromCompanyId, toCompanyId] = runsToUs ? [id, key.company] : [key.company, id];
  const connection = create(call, "connections", {
    fromCompanyId,
    toCompanyId,
    erpId: externalIdBecomesErpId ? (contact.externalId ?? null) : null,
  });
  const { id: connectionId, status: connectionStatus } = connection.record;
  return success(201, stringifyExact({ id, name, type, connectionId, connectionStatus }));
}

function hasTerminal({ world, id, key }: Pick<Call, "world" | "id" | "key">): boolean {
  const terminal = world.records.get("supplier-terminals", id);
  if (terminal?.owner === key.company) return true;
  return world.records.natural("supplier-terminals", key.company, id) !== null;
}

function exact(value: unknown): Decimal {
  return value === undefined || value === null ? Decimal.zero : toDecimal(value as Numeric);
}

/** The saved rate of a connection that fits the lane of a calculation best; null when none does. */
function savedRate(call: Call, connectionId: string): Fields | null {
  seen({ ...call, id: connectionId }, "connections");
  const lane = call.body as Fields;
  const fitting = ratesOn(call, connectionId)
    .map(({ record }) => ({ record, fit: fitOf(record, lane) }))
    .filter(({ fit }) => fit >= 0)
    .sort((one, other) => other.fit - one.fit);
  return fitting[0]?.record ?? null;
}

/** How many fields of the lane a rate names; -1 when it names another lane. An open field fits every lane. */
function fitOf(rate: Fields, lane: Fields): number {
  const zip = typeof lane.destinationZip === "string" ? lane.destinationZip : "";
  const prefix = typeof rate.destinationZipPrefix === "string" ? rate.destinationZipPrefix : null;
  if (prefix !== null && !zip.startsWith(prefix)) return -1;
  const whole = typeof rate.destinationZip === "string" ? rate.destinationZip : null;
  if (whole !== null && whole !== zip.slice(0, 5)) return -1;
  let fit = (prefix === null ? 0 : 1) + (whole === null ? 0 : 2);
  for (const field of ["originTerminalId", "originCity", "originState", "product"]) {
    const [named, asked] = [rate[field] ?? null, lane[field] ?? null];
    if (named === null) continue;
    if (named !== asked && asked !== null) return -1;
    if (named === asked) fit += 1;
  }
  return fit;
}

/** The caller's own rates on a connection, newest first. */
function ratesOn({ world, key }: Call, connectionId: string): Stored[] {
  const rates = world.records.children("freight-rates", connectionId);
  return rates
    .filter(({ owner }) => owner === key.company)
    .sort((one, other) => bornAt(other) - bornAt(one));
}
