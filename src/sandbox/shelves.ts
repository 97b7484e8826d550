/** Who sees a record, in which role, and by what lists find it (rule V1; part 4, query parameters). */
import type { Json } from "../core/json.ts";
import { micros } from "./clock.ts";
import { type Fields, isFields, type Kind } from "./kinds.ts";

export interface Sight {
  readonly company: string;
  readonly role: Role;
  readonly search: string | null;
}
export type Role = "own" | "issuer" | "payer" | "outbound" | "inbound" | "all";

/** All that lists filter and sort by. */
export interface Card {
  readonly sights: readonly Sight[];
  readonly created: number;
  readonly updated: number;
  readonly status: string | null;
  readonly parent: string | null;
  /** The records that are looked up by their parent, or by a natural key, without being listed. */
  readonly lookup: { readonly parent: string | null; readonly natural: string | null };
  readonly products: string | null;
  /** What an index finds the record by; null where a list is short enough to look through. */
  readonly words: string | null;
  readonly requested: number | null;
}

/** What a card needs to know of other records. */
export interface Others {
  readonly companyName: (id: string) => string | null;
  find(kind: Kind, id: string): Fields | null;
}

export function cardOf(kind: Kind, record: Fields, owner: string, others: Others): Card {
  const created = micros(record.createdAt) ?? micros(record.paidAt) ?? 0;
  const sights = sightsOf(kind, record, owner, others);
  return {
    sights,
    words: hasWords(kind) ? (sights[0]?.search ?? null) : null,
    created,
    updated: micros(record.updatedAt) ?? created,
    status: statusOf(kind, record),
    parent: parentOf(kind, record),
    lookup: {
      parent: CHILDREN.has(kind) ? parentOf(kind, record) : null,
      natural: naturalOf(kind, record),
    },
    products: productsOf(kind, record),
    requested: kind === "orders" ? micros(record.requestedDate) : null,
  };
}

/** The lists that grow with every delivery. Their records have one search text for all who see them. */
export const hasWords = (kind: Kind): boolean => kind === "invoices" || kind === "orders";

const CHILDREN: ReadonlySet<Kind> = new Set(["order-notes", "payments", "freight-rates"]);

/** The day, since 1970 and in UTC, by which shelves are counted. */
export const dayOf = (micros: number): number => Math.floor(micros / DAY_MICROS);
export const DAY_MICROS = 24 * 3600 * 1_000_000;

/** What `search` and the `product` filter compare: letters without their case. */
export const fold = (text: string): string => text.toLowerCase();

/** The key under which a company has a record of this kind once, or looks for it. */
export const priceKey = (terminalId: string, product: string): string =>
  `${terminalId}\n${product}`;

function sightsOf(kind: Kind, record: Fields, owner: string, others: Others): Sight[] {
  if (kind === "invoices") {
    const search = joined([record.invoiceNumber, record.notes]);
    return invoiceParties(record, owner, search);
  }
  if (kind === "payments") {
    const invoice = others.find("invoices", text(record.invoiceId) ?? "");
    return invoice === null
      ? [{ company: owner, role: "issuer", search: null }]
      : invoiceParties(invoice, text(invoice.companyId) ?? owner, null);
  }
  if (kind === "connections") return connectionEnds(record, owner, others);
  if (kind !== "delivery-tickets")
    return [{ company: owner, role: "own", search: searchOf(kind, record) }];
  const companies = [owner, text(record.supplierCompanyId), text(record.receiverCompanyId)];
  return [...new Set(companies)]
    .filter((company) => company !== null)
    .map((company) => ({ company, role: "own", search: null }));
}

/** Each end finds the connection by the name of the other. */
function connectionEnds(record: Fields, owner: string, others: Others): Sight[] {
  const from = text(record.fromCompanyId) ?? owner;
  const to = text(record.toCompanyId) ?? owner;
  const outbound = { company: from, search: joined([others.companyName(to)]) };
  const inbound = { company: to, search: joined([others.companyName(from)]) };
  return [
    { ...outbound, role: "outbound" },
    { ...outbound, role: "all" },
    { ...inbound, role: "inbound" },
    ...(from === to ? [] : [{ ...inbound, role: "all" as const }]),
  ];
}

/** The payer sees an invoice once it is issued. */
function invoiceParties(invoice: Fields, owner: string, search: string | null): Sight[] {
  const payer = text(invoice.payerCompanyId);
  const issued = invoice.status !== "DRAFT";
  return [
    { company: owner, role: "issuer", search },
    ...(payer !== null && issued ? [{ company: payer, role: "payer" as const, search }] : []),
  ];
}

function searchOf(kind: Kind, record: Fields): string | null {
  if (kind === "orders")
    return joined([record.notes, record.loadingNumber, ...linesOf(record).map((l) => l.product)]);
  if (kind === "locations") return joined([record.name, record.city]);
  if (kind === "supplier-terminals") return joined([record.name, record.terminalCode]);
  return null;
}

/** The column behind a list's whole-value filter: status, `isActive`, a terminal's `state`. */
function statusOf(kind: Kind, record: Fields): string | null {
  if (kind === "locations") return String(record.isActive === true);
  return text(kind === "supplier-terminals" ? record.state : record.status);
}

function parentOf(kind: Kind, record: Fields): string | null {
  if (kind === "payments") return text(record.invoiceId);
  if (kind === "freight-rates") return text(record.connectionId);
  if (kind === "rack-prices" || kind === "allocations") return text(record.terminalId);
  return text(record.orderId);
}

function naturalOf(kind: Kind, record: Fields): string | null {
  if (kind === "invoices") return text(record.invoiceNumber);
  if (kind === "supplier-terminals") return text(record.terminalCode);
  if (kind === "rack-prices")
    return priceKey(text(record.terminalId) ?? "", text(record.product) ?? "");
  return null;
}

function productsOf(kind: Kind, record: Fields): string | null {
  if (kind === "rack-prices") return `\n${joined([record.product]) ?? ""}\n`;
  if (kind !== "orders") return null;
  return `\n${joined(linesOf(record).map((line) => line.product)) ?? ""}\n`;
}

const linesOf = (record: Fields): readonly Fields[] =>
  Array.isArray(record.lines) ? (record.lines as readonly Json[]).filter(isFields) : [];

function joined(values: readonly (Json | undefined)[]): string | null {
  const texts = values.map((value) => text(value) ?? "").filter((value) => value !== "");
  return texts.length === 0 ? null : fold(texts.join("\n"));
}

const text = (value: Json | undefined): string | null => (typeof value === "string" ? value : null);
