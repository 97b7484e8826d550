/**
 * Every operation with a known contract (specification part 4), in its order. The client and the sandbox are two
 * readers of this table.
 */
import { Allocation } from "./allocation.ts";
import { CompanyProfile } from "./company.ts";
import * as connection from "./connection.ts";
import * as ticket from "./delivery-ticket.ts";
import * as invoice from "./invoice.ts";
import * as location from "./location.ts";
import {
  array,
  created,
  get,
  list,
  ok,
  pages,
  pdf,
  post,
  put,
  rackPages,
  terminalPages,
  widePages,
  type Operation,
} from "./operation.ts";
import * as order from "./order.ts";
import { CreateParty, NetworkParty } from "./party.ts";
import { Payment, PaymentQuery } from "./payment.ts";
import * as pricing from "./pricing.ts";
import { paging, walk } from "./primitives.ts";
import * as terminal from "./supplier-terminal.ts";

const orders = {
  listOrders: {
    ...get,
    path: "/orders",
    group: "orders",
    query: order.OrderQuery.extend({ ...paging(pages), ...walk }),
    success: list(order.ListedOrder),
    pageSize: pages,
    cursorWalk: true,
  },
  createOrder: {
    ...post,
    path: "/orders",
    group: "orders",
    body: order.CreateOrder,
    success: created(order.Order),
  },
  getOrder: {
    ...get,
    path: "/orders/{id}",
    group: "orders",
    success: ok(order.Order),
    errors: [404],
  },
  updateOrder: {
    ...put,
    path: "/orders/{id}",
    group: "orders",
    body: order.UpdateOrder,
    success: ok(order.Order),
  },
  listOrderNotes: {
    ...get,
    path: "/orders/{id}/notes",
    group: "orders",
    success: array(order.OrderNote),
    errors: [404],
  },
  addOrderNote: {
    ...post,
    path: "/orders/{id}/notes",
    group: "orders",
    body: order.OrderNoteInput,
    success: created(order.OrderNote),
    errors: [400, 404],
  },
} as const satisfies Record<string, Operation>;

const deliveryTickets = {
  listDeliveryTickets: {
    ...get,
    path: "/delivery-tickets",
    group: "delivery-tickets",
    query: ticket.DeliveryTicketQuery.extend({ ...paging(pages), ...walk }),
    success: list(ticket.DeliveryTicket),
    pageSize: pages,
    cursorWalk: true,
  },
  createDeliveryTicket: {
    ...post,
    path: "/delivery-tickets",
    group: "delivery-tickets",
    body: ticket.CreateDeliveryTicket,
    success: created(ticket.DeliveryTicket),
  },
  getDeliveryTicket: {
    ...get,
    path: "/delivery-tickets/{id}",
    group: "delivery-tickets",
    success: ok(ticket.DeliveryTicket),
    errors: [404],
  },
  updateDeliveryTicket: {
    ...put,
    path: "/delivery-tickets/{id}",
    group: "delivery-tickets",
    body: ticket.UpdateDeliveryTicket,
    success: ok(ticket.DeliveryTicket),
  },
  getDeliveryTicketPdf: {
    ...get,
    path: "/delivery-tickets/{id}/pdf",
    group: "delivery-tickets",
    success: pdf,
    errors: [404],
  },
  signDeliveryTicket: {
    ...post,
    path: "/delivery-tickets/{id}/sign",
    group: "delivery-tickets",
    body: ticket.SignDeliveryTicket,
    success: ok(ticket.DeliveryTicket),
    errors: [400, 404],
  },
} as const satisfies Record<string, Operation>;

const invoicesAndPayments = {
  listInvoices: {
    ...get,
    path: "/invoices",
    group: "invoices",
    query: invoice.InvoiceQuery.extend({ ...paging(pages), ...walk }),
    success: list(invoice.ListedInvoice),
    pageSize: pages,
    cursorWalk: true,
  },
  createInvoice: {
    ...post,
    path: "/invoices",
    group: "invoices",
    body: invoice.CreateInvoice,
    success: created(invoice.Invoice),
  },
  getInvoice: {
    ...get,
    path: "/invoices/{id}",
    group: "invoices",
    success: ok(invoice.Invoice),
    errors: [404],
  },
  getInvoicePdf: {
    ...get,
    path: "/invoices/{id}/pdf",
    group: "invoices",
    success: pdf,
    errors: [404],
  },
  markInvoicePaid: {
    ...put,
    path: "/invoices/{id}/mark-paid",
    group: "invoices",
    body: invoice.MarkPaid.optional(),
    success: ok(invoice.Invoice),
  },
  listPayments: {
    ...get,
    path: "/payments",
    group: "payments",
    query: PaymentQuery.extend(paging(pages)),
    success: list(Payment),
    pageSize: pages,
  },
  getPayment: {
    ...get,
    path: "/payments/{id}",
    group: "payments",
    success: ok(Payment),
    errors: [404],
  },
} as const satisfies Record<string, Operation>;

const prices = {
  listRackPrices: {
    ...get,
    path: "/pricing/rack",
    group: "pricing",
    query: pricing.RackPriceQuery.extend(paging(rackPages)),
    success: list(pricing.RackPrice),
    pageSize: rackPages,
  },
  listTerminalPrices: {
    ...get,
    path: "/pricing/terminal/{id}",
    group: "pricing",
    textId: true,
    success: array(pricing.RackPrice),
    errors: [404],
  },
  upsertRackPrices: {
    ...post,
    path: "/pricing/bulk/rack",
    group: "pricing",
    body: pricing.BulkRackPrice,
    success: ok(pricing.BulkRackPriceResult),
    scope: "pricing:write",
  },
  calculateFreight: {
    ...post,
    path: "/pricing/freight-calculate",
    group: "pricing",
    body: pricing.FreightCalculate,
    success: ok(pricing.FreightQuote),
    idempotencyKey: false,
  },
} as const satisfies Record<string, Operation>;

const connections = {
  listConnections: {
    ...get,
    path: "/connections",
    group: "connections",
    query: connection.ConnectionQuery.extend(paging(widePages)),
    success: list(connection.Connection),
    pageSize: widePages,
  },
  getConnection: {
    ...get,
    path: "/connections/{id}",
    group: "connections",
    success: ok(connection.Connection),
    errors: [404],
  },
  listFreightRates: {
    ...get,
    path: "/connections/{id}/freight-rates",
    group: "connections",
    success: array(connection.FreightRate),
    errors: [404],
  },
  createFreightRate: {
    ...post,
    path: "/connections/{id}/freight-rates",
    group: "connections",
    body: connection.CreateFreightRate,
    success: created(connection.FreightRate),
  },
  updateFreightRate: {
    ...put,
    path: "/freight-rates/{id}",
    group: "connections",
    body: connection.UpdateFreightRate,
    success: ok(connection.FreightRate),
  },
  deleteFreightRate: {
    method: "DELETE",
    path: "/freight-rates/{id}",
    group: "connections",
    success: { status: 204, kind: "none" },
    errors: [404],
    idempotencyKey: true,
  },
} as const satisfies Record<string, Operation>;

const parties = {
  createCustomer: {
    ...post,
    path: "/customers",
    group: "parties",
    body: CreateParty,
    success: created(NetworkParty),
  },
  createSupplier: {
    ...post,
    path: "/suppliers",
    group: "parties",
    body: CreateParty,
    success: created(NetworkParty),
  },
} as const satisfies Record<string, Operation>;

const places = {
  listLocations: {
    ...get,
    path: "/locations",
    group: "locations",
    query: location.LocationQuery.extend(paging(pages)),
    success: list(location.ListedLocation),
    pageSize: pages,
  },
  getLocation: {
    ...get,
    path: "/locations/{id}",
    group: "locations",
    success: ok(location.Location),
    errors: [404],
  },
  updateLocation: {
    ...put,
    path: "/locations/{id}",
    group: "locations",
    body: location.UpdateLocation,
    success: ok(location.Location),
    inferred: true,
  },
  listAllocations: {
    ...get,
    path: "/allocations",
    group: "allocations",
    success: array(Allocation),
  },
  listSupplierTerminals: {
    ...get,
    path: "/supplier-terminals",
    group: "supplier-terminals",
    query: terminal.SupplierTerminalQuery.extend(paging(terminalPages)),
    success: list(terminal.SupplierTerminal),
    pageSize: terminalPages,
  },
  createSupplierTerminal: {
    ...post,
    path: "/supplier-terminals",
    group: "supplier-terminals",
    body: terminal.UpsertTerminal,
    success: created(terminal.SupplierTerminal),
    scope: "supplier_terminals:write",
  },
  getSupplierTerminal: {
    ...get,
    path: "/supplier-terminals/{id}",
    group: "supplier-terminals",
    success: ok(terminal.SupplierTerminal),
    errors: [404],
  },
  updateSupplierTerminal: {
    ...put,
    path: "/supplier-terminals/{id}",
    group: "supplier-terminals",
    body: terminal.UpdateTerminal,
    success: ok(terminal.SupplierTerminal),
    scope: "supplier_terminals:write",
  },
  getCompanyProfile: {
    ...get,
    path: "/companies/{id}/profile",
    group: "companies",
    success: ok(CompanyProfile),
    errors: [404],
  },
} as const satisfies Record<string, Operation>;

export const operations = {
  ...orders,
  ...deliveryTickets,
  ...invoicesAndPayments,
  ...prices,
  ...connections,
  ...parties,
  ...places,
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof operations;
