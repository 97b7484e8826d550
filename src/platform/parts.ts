/**
 * What a flow may name after `platform.`: every source and sink once, with the operations of the contract that it uses.
 * Paths, page sizes and the way a list is read come from the table of operations.
 */
import type { Offer, Offers } from "../core/contract.ts";
import { defined } from "../core/defined.ts";
import {
  groupOf,
  type ListOperation,
  type OperationId,
  operations,
  summaries,
} from "./contract/operations.ts";
import type { PdfOperation } from "./reading.ts";
import type { Detail } from "./walk.ts";
import { parties } from "./sinks/parties.ts";
import {
  endedFreightRates,
  freightRates,
  invoices,
  orderNotes,
  paidInvoices,
  rackPrices,
  supplierTerminals,
  tickets,
  ticketSignatures,
} from "./sinks/sinks.ts";
import type { SinkPart } from "./sinks/write.ts";
import type { Operation } from "./contract/operation.ts";

/**
 * A list of the platform as a source: walked by `updatedSince` where the contract allows that, else read whole. Only a walk
 * reads details.
 */
export interface SourcePart {
  readonly list: ListOperation;
  readonly query?: Readonly<Record<string, string>>;
  readonly detail?: Detail;
  /** What fetches a record's PDF. */
  readonly pdf?: PdfOperation;
}

const orderDetail = { operation: "getOrder", lines: "lines" } as const;
const ticketDetail = { operation: "getDeliveryTicket", lines: "productLines" } as const;
const invoiceDetail = {
  operation: "getInvoice",
  lines: "lineItems",
  others: ["taxLines"],
} as const;

export const sources = {
  orders: { list: "listOrders", detail: orderDetail },
  deliveryTickets: {
    list: "listDeliveryTickets",
    detail: ticketDetail,
    pdf: "getDeliveryTicketPdf",
  },
  invoicesIssued: {
    list: "listInvoices",
    query: { role: "issuer" },
    detail: invoiceDetail,
    pdf: "getInvoicePdf",
  },
  // A feed of its own: what we must pay (specification part 4, query `role`).
  invoicesPayable: {
    list: "listInvoices",
    query: { role: "payer" },
    detail: invoiceDetail,
    pdf: "getInvoicePdf",
  },
  paymentsReceived: { list: "listPayments", query: { role: "issuer" } },
  paymentsMade: { list: "listPayments", query: { role: "payer" } },
  connections: { list: "listConnections" },
  rackPrices: { list: "listRackPrices" },
  supplierTerminals: { list: "listSupplierTerminals" },
  locations: { list: "listLocations" },
  allocations: { list: "listAllocations" },
} as const satisfies Record<string, SourcePart>;

export const sinks = {
  invoices,
  customers: parties("customer"),
  suppliers: parties("supplier"),
  rackPrices,
  paidInvoices,
  tickets,
  ticketSignatures,
  freightRates,
  endedFreightRates,
  supplierTerminals,
  orderNotes,
} as const satisfies Record<string, SinkPart>;

/** The operations that a source reads with. */
export const readsOf = ({ list, detail }: SourcePart): readonly OperationId[] =>
  detail === undefined ? [list] : [list, detail.operation];

/** The list that a source of this name reads; undefined: there is none such. */
export const listOf = (source: string): ListOperation | undefined =>
  Object.entries<SourcePart>(sources).find(([name]) => name === source)?.[1].list;

/** What fetches the PDF of a record of this source; null: it has none. */
export const pdfOf = (source: string): PdfOperation | null =>
  Object.entries<SourcePart>(sources).find(([name]) => name === source)?.[1].pdf ?? null;

const offered = <Part extends object>(
  parts: Readonly<Record<string, Part>>,
  more: (part: Part) => Partial<Offer>,
): Readonly<Record<string, Offer>> =>
  Object.fromEntries(
    Object.entries(parts).map(([name, part]) => [
      name,
      { form: `platform.${name}`, ...more(part) },
    ]),
  );

/** Told without an address or a key, as a connector tells its own. */
export const platformOffers: Offers = {
  sources: offered<SourcePart>(sources, ({ pdf }) => defined({ pdf })),
  sinks: offered<SinkPart>(sinks, ({ anonymous }) => defined({ anonymous })),
};

// The page of tables that tells people which operations there are and what fuelbridge does with them.

/** What each source reads, and each sink writes and reads back. */
const uses: readonly (readonly [part: string, operations: readonly OperationId[]])[] = [
  ...Object.entries<SourcePart>(sources).map(
    ([name, part]) =>
      [name, [...readsOf(part), ...(part.pdf === undefined ? [] : [part.pdf])]] as const,
  ),
  ...Object.entries<SinkPart>(sinks).map(([name, { uses }]) => [name, uses] as const),
];

/** Markdown, laid out as Prettier would. */
export function referencePage(): string {
  const rows = Object.entries(operations) as [OperationId, Operation][];
  const groups = Map.groupBy(rows, ([, operation]) => groupOf(operation));
  const count = Object.keys(operations).length;
  return [
    "# The platform's API, as fuelbridge knows it",
    `The ${count} operations that fuelbridge has a contract of. This page is written by \`fuelbridge openapi --markdown\`\nfrom the table that client and sandbox are built on; \`fuelbridge openapi\` prints the same as OpenAPI 3.1, with every schema.`,
    [
      "- **Scope**: what the API key must hold, where the specification names it.",
      "- **Key**: the request needs an Idempotency-Key.",
      "- **Page**: records on a page, and the most that may be asked for. **Walk**: changes since an instant, by cursor.",
      "- **Used by**: the ends of flows (`platform.NAME` in the configuration) that read, write or look back with it. A source\n  asks for single records only where lists come without their lines, and for PDFs only where a flow attaches them. What\n  nothing uses is there for the typed client.",
    ].join("\n"),
    ...[...groups].flatMap(([group, members]) => [`## ${title(group)}`, table(members)]),
  ]
    .map((block) => `${block}\n`)
    .join("\n");
}

const title = (group: string): string =>
  group.replace(/^./, (letter) => letter.toUpperCase()).replaceAll("-", " ");

const HEAD = ["Method", "Path", "What", "Scope", "Key", "Page", "Used by"];

function table(members: readonly (readonly [OperationId, Operation])[]): string {
  const rows = [HEAD, ...members.map(([id, operation]) => rowOf(id, operation))];
  const widths = HEAD.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const [head = "", ...body] = rows.map((row) =>
    line(row.map((cell, at) => cell.padEnd(widths[at] ?? 0))),
  );
  return [head, line(widths.map((width) => "-".repeat(width))), ...body].join("\n");
}

const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

function rowOf(id: OperationId, operation: Operation): string[] {
  const { method, path, scope, idempotencyKey, pageSize, cursorWalk, inferred } = operation;
  const users = new Set(uses.flatMap(([part, used]) => (used.includes(id) ? [part] : [])));
  return [
    method,
    `\`${path}\``,
    summaries[id] + (inferred ? " Inferred from the rules on it." : ""),
    scope === undefined ? "" : `\`${scope}\``,
    idempotencyKey ? "yes" : "",
    pageSize === undefined
      ? ""
      : `${pageSize.default}, at most ${pageSize.max}${cursorWalk ? "; walk" : ""}`,
    [...users].map((part) => `\`${part}\``).join(", "),
  ];
}
