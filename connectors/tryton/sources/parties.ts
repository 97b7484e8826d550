/** Parties with a code: those that buy from us, those that sell to us, and all others. */
import type { Change, Source } from "../../../src/core/contract.ts";
import { companyIdOf, partyChange } from "../../../src/books/changes.ts";
import { some } from "../../../src/books/facts.ts";
import type { Books } from "../books.ts";
import type { RoleSign } from "../config.ts";
import type { PartyRecord } from "../../../src/books/records.ts";
import { TRYTON } from "../errors.ts";
import { feed, type Part } from "./feed.ts";
import { invoicedParties, roleInvoices } from "./roles.ts";
import { rowsOf } from "../search.ts";

/**
 * A party's address, its telephone or its identifier can change without a new stamp of the party, and so can what it is
 * to us: its first invoice is posted.
 */
const partsOf = (books: Books): readonly Part[] => [
  { model: "party.party", record: "id", domain: [] },
  { model: "party.address", record: "party", domain: [["party", "!=", null]] },
  { model: "party.contact_mechanism", record: "party", domain: [["party", "!=", null]] },
  { model: "party.identifier", record: "party", domain: [["party", "!=", null]] },
  ...roleInvoices(books),
];

const FIELDS = `
  code name active email phone mobile customer_payment_term supplier_payment_term
  categories.name identifiers.code
  addresses(street city postal_code subdivision.code country.code)
`;

export const parties = (books: Books): Source =>
  feed(books, partsOf(books), (ids, signal) => partyChanges(books, ids, signal));

/** These parties as they are now, inactive ones too; in the order of their ids. @throws TrytonError */
export async function partyChanges(
  books: Books,
  ids: readonly number[],
  signal: AbortSignal,
): Promise<readonly Change[]> {
  const fields = `${FIELDS} addresses.${(await books.tryton.release()).addressName}`;
  const domain = [["id", "in", ids]];
  const search = { inactive: true, signal } as const;
  const rows = await rowsOf<PartyRow>(books, "party.party", domain, fields, search);
  const { customer, supplier } = books.config.roles;
  const told = rows.map((row) => ({
    row,
    isCustomer: isSaid(customer, row, row.customer_payment_term, /^customer/i),
    isSupplier: isSaid(supplier, row, row.supplier_payment_term, /^(supplier|vendor)/i),
  }));
  const invoiced = (type: "out" | "in", isTold: (one: Roles) => boolean) => {
    const others = told.filter((one) => !isTold(one)).map(({ row }) => row.id);
    return invoicedParties(books, type, others, signal);
  };
  const buyers = await invoiced("out", ({ isCustomer }) => isCustomer);
  const sellers = await invoiced("in", ({ isSupplier }) => isSupplier);
  return told.map(({ row, isCustomer, isSupplier }) =>
    changeOf(row, {
      isCustomer: isCustomer || buyers.has(row.id),
      isSupplier: isSupplier || sellers.has(row.id),
    }),
  );
}

type Roles = Pick<PartyRecord, "isCustomer" | "isSupplier">;

interface PartyRow {
  readonly id: number;
  readonly code: string;
  readonly name: string | null;
  readonly active: boolean | number;
  readonly email: string | null;
  readonly phone: string | null;
  readonly mobile: string | null;
  readonly customer_payment_term: number | null;
  readonly supplier_payment_term: number | null;
  readonly "categories.": readonly { readonly name: string }[];
  readonly "identifiers.": readonly { readonly code: string }[];
  readonly "addresses.": readonly Address[];
}

interface Address {
  readonly name?: string | null;
  readonly building_name?: string | null;
  readonly street: string | null;
  readonly city: string | null;
  readonly postal_code: string | null;
  readonly "subdivision.": { readonly code: string } | null;
  readonly "country.": { readonly code: string } | null;
}

function changeOf(row: PartyRow, roles: Roles): Change {
  const [address] = row["addresses."];
  const name = some(address?.name ?? address?.building_name);
  const street = some(address?.street);
  // Of a structured address the street says the building too.
  const lines = [name !== null && street?.includes(name) ? null : name, street].flatMap(
    (text) => text ?? [],
  );
  return partyChange(TRYTON.name, {
    code: row.code,
    name: row.name ?? "",
    ...roles,
    companyId: companyIdOf(row["identifiers."]),
    email: some(row.email),
    phone: some(row.phone) ?? some(row.mobile),
    street: some(lines.join("\n")),
    city: some(address?.city),
    state: some(address?.["subdivision."]?.code),
    zip: some(address?.postal_code),
    country: some(address?.["country."]?.code),
    active: Boolean(row.active),
  });
}

/** Do its payment term or its categories say that it is one, where the configuration (`roles`) counts these? */
const isSaid = (
  signs: readonly RoleSign[],
  row: PartyRow,
  term: number | null,
  category: RegExp,
): boolean =>
  (signs.includes("payment-term") && term !== null) ||
  (signs.includes("category") && row["categories."].some(({ name }) => category.test(name)));
