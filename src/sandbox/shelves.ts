/** Who sees a record, in which role, and by what lists find it (rule V1; part 4, query parameters). */
import type { Json } from "../core/json.ts";
import { micros } from "./clock.ts";
import { type Fields, isFields, type Kind, kinds, type Role } from "./kinds.ts";

export interface Sight {
  readonly company: string;
  readonly role: Role;
  readonly search: string | null;
}

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
  const { status = "status", natural, products, isChild, hasWords, ...facts } = kinds[kind];
  const created = micros(record.createdAt) ?? micros(record.paidAt) ?? 0;
  const sights = sightsOf(kind, record, owner, others);
  const parent = facts.parent === undefined ? null : text(record[facts.parent]);
  return {
    sights,
    words: hasWords ? (sights[0]?.search ?? null) : null,
    created,
    updated: micros(record.updatedAt) ?? created,
    status: status === "isActive" ? String(record.isActive === true) : text(record[status]),
    parent,
    lookup: {
      parent: isChild ? parent : null,
      natural: natural === undefined ? null : naturalKey(natural.map((field) => record[field])),
    },
    products: products === undefined ? null : `\n${joined(valuesAt(record, [products])) ?? ""}\n`,
    requested: kind === "orders" ? micros(record.requestedDate) : null,
  };
}

/** The day, since 1970 and in UTC, by which shelves are counted. */
export const dayOf = (micros: number): number => Math.floor(micros / DAY_MICROS);
export const DAY_MICROS = 24 * 3600 * 1_000_000;

/** What `search` and the `product` filter compare: letters without their case. */
export const fold = (text: string): string => text.toLowerCase();

/** The key under which a company has a record of this kind once, or looks for it. */
export const naturalKey = (values: readonly (Json | undefined)[]): string =>
  values.map((value) => text(value) ?? "").join("\n");

function sightsOf(kind: Kind, record: Fields, owner: string, others: Others): Sight[] {
  const search = joined(valuesAt(record, kinds[kind].search ?? []));
  if (kind === "invoices") return invoiceParties(record, owner, search);
  if (kind === "payments") {
    const invoice = others.find("invoices", text(record.invoiceId) ?? "");
    return invoice === null
      ? [{ company: owner, role: "issuer", search: null }]
      : invoiceParties(invoice, text(invoice.companyId) ?? owner, null);
  }
  if (kind === "connections") return connectionEnds(record, owner, others);
  const parties =
    kind === "delivery-tickets" ? [record.supplierCompanyId, record.receiverCompanyId] : [];
  return [...new Set([owner, ...parties.map(text)])]
    .filter((company) => company !== null)
    .map((company) => ({ company, role: "own", search }));
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

/** The values of a record's fields; `lines.product` is that of every line. */
export function valuesAt(record: Fields, paths: readonly string[]): (Json | undefined)[] {
  return paths.flatMap((path) => {
    const [field = "", inner] = path.split(".");
    const value = record[field];
    if (inner === undefined) return [value];
    const rows = Array.isArray(value) ? (value as readonly Json[]).filter(isFields) : [];
    return rows.map((row) => row[inner]);
  });
}

function joined(values: readonly (Json | undefined)[]): string | null {
  const texts = values.map((value) => text(value) ?? "").filter((value) => value !== "");
  return texts.length === 0 ? null : fold(texts.join("\n"));
}

const text = (value: Json | undefined): string | null => (typeof value === "string" ? value : null);
