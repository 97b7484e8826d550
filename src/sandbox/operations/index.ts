/** Every operation of the contract (specification part 4), carried out on the sandbox's records. */
import { randomUUID } from "node:crypto";
import type { z } from "zod";
import { Decimal } from "../../core/decimal.ts";
import { type Json, stringifyExact } from "../../core/json.ts";
import { type Numeric, toDecimal } from "../../platform/contract/primitives.ts";
import type { Match } from "../admission.ts";
import { type Answer, invalid, refusal, success } from "../answer.ts";
import { iso } from "../clock.ts";
import { invoiceDocument, type PrintedDocument, ticketDocument } from "../document.ts";
import type { Key } from "../keys.ts";
import { type Fields, isFields } from "../kinds.ts";
import type { World } from "../world.ts";
import {
  all,
  amend,
  bornAt,
  type Call,
  checked,
  create,
  creates,
  type Handlers,
  known,
  lists,
  one,
  prints,
  reads,
  seen,
  updates,
  whole,
} from "./call.ts";
import { pricing } from "./pricing.ts";

/** Checks a request against the contract and carries it out. @throws Refusal */
export function perform(
  world: World,
  key: Key,
  { name, operation, id }: Match,
  query: Readonly<Record<string, string>>,
  body: Json | undefined,
  now: number,
): Answer | PrintedDocument {
  if (operation.path.includes("{id}") && operation.textId !== true && !UUID.test(id))
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
    raw: body ?? null,
  };
  const handle = handlers[name] as (call: Call) => Answer | PrintedDocument;
  return operation.method === "GET" ? world.lagging.read(now, () => handle(call)) : handle(call);
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function valid(schema: z.ZodType, value: unknown, what: string): unknown {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const issues = error.issues.map(({ path, message }) => ({ path: path.join("."), message }));
  const [first] = issues;
  const where = [first?.path, first?.message].filter(Boolean).join(": ");
  throw invalid(`${what} is not valid${where && `: ${where}`}.`, issues);
}

const handlers: Handlers = {
  listOrders: lists("orders", ({ status, product, search, sortBy, sortOrder }) => ({
    filters: { status, product, search },
    sort: { by: sortBy, order: sortOrder },
  })),
  createOrder: creates("orders"),
  /** The detail carries the sub-records, whose fields nobody knows: none, unless they were put there raw. */
  getOrder(call) {
    const { record } = seen(call, "orders");
    return success(200, stringifyExact({ bids: [], pickup: null, delivery: null, ...record }));
  },
  updateOrder: updates("orders"),
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

  listDeliveryTickets: lists("delivery-tickets", ({ status, orderId }) => ({
    filters: { status, parent: orderId },
  })),
  createDeliveryTicket: creates("delivery-tickets"),
  getDeliveryTicket: reads("delivery-tickets"),
  updateDeliveryTicket: updates("delivery-tickets"),
  getDeliveryTicketPdf: prints("delivery-tickets", ticketDocument),
  signDeliveryTicket(call) {
    const ticket = seen(call, "delivery-tickets");
    if (ticket.record.status === "VOID") throw invalid("A void delivery ticket cannot be signed.");
    const changes = { ...known(call), status: "SIGNED", signedAt: call.at };
    return one(200, amend(call, "delivery-tickets", ticket, changes));
  },

  listInvoices: lists("invoices", ({ status, role, orderId, search }) => ({
    role,
    filters: { status, parent: orderId, search },
  })),
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
  getInvoice: reads("invoices"),
  getInvoicePdf: prints("invoices", invoiceDocument),
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
  listPayments: lists("payments", ({ role, invoiceId }) => ({
    role,
    filters: { parent: invoiceId },
  })),
  getPayment: reads("payments"),

  ...pricing,

  listConnections: lists("connections", ({ direction, status, search }, { readings }) => {
    const { connectionSearch } = readings.values();
    const finds = search !== undefined && connectionSearch === "nothing" ? NO_NAME : search;
    return { role: direction, filters: { status, search: finds } };
  }),
  getConnection: reads("connections"),
  createCustomer: (call) => createParty(call, "CUSTOMER"),
  createSupplier: (call) => createParty(call, "SUPPLIER"),
  getCompanyProfile: reads("companies"),

  listLocations: lists("locations", ({ search, isActive }) => ({
    filters: { search, status: isActive === undefined ? undefined : String(isActive) },
  })),
  getLocation: reads("locations"),
  updateLocation(call) {
    const location = seen(call, "locations");
    // The fields of a schedule or compartment are not specified, so both are kept whole.
    const sent = Object.entries(isFields(call.raw) ? call.raw : {});
    const unspecified = sent.filter(([name]) => name === "schedules" || name === "compartments");
    const changes = { ...known(call), ...Object.fromEntries(unspecified) };
    return one(200, amend(call, "locations", location, changes));
  },
  listAllocations: (call) =>
    success(200, whole(call, "allocations", {}, { by: "parent", order: "asc" })),
  listSupplierTerminals: lists("supplier-terminals", ({ search, state }) => ({
    filters: { search, status: state },
  })),
  createSupplierTerminal: creates("supplier-terminals"),
  getSupplierTerminal: reads("supplier-terminals"),
  updateSupplierTerminal: updates("supplier-terminals"),
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
  const id = randomUUID();
  const company = {
    id,
    name,
    type,
    dba: null,
    phone: phone ?? contactPhone ?? null,
    website: null,
    logoUrl: null,
    billingStreet: street ?? null,
    billingCity: city ?? null,
    billingState: state ?? null,
    billingZip: zip ?? null,
    createdAt: at,
    updatedAt: at,
    sandbox: key.sandbox,
    contact: { ...contact, ...(contactPhone === undefined ? {} : { contactPhone }) },
  };
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
