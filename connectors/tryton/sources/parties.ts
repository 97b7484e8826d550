/** Parties with a code: those that buy from us, those that sell to us, and all others. */
import type { Change, Source } from "../../../src/core/contract.ts";
import { companyIdOf, partyChange } from "../../../src/ledger/changes.ts";
import { some } from "../../../src/ledger/facts.ts";
import type { Books } from "../books.ts";
import type { RoleSign } from "../config.ts";
import type { PartyRecord } from "../../../src/ledger/records.ts";
import { TRYTON } from "../errors.ts";
import * as row from "../rows.ts";
import { rowsOf, where } from "../search.ts";
import { feed, type Part } from "./feed.ts";
import { invoicedParties, roleInvoices } from "./roles.ts";

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

const partyOf = (addressName: string) => ({
  ...row.texts("code"),
  ...row.textsOrNone("name email phone mobile"),
  ...row.flags("active"),
  ...row.idsOrNone("customer_payment_term supplier_payment_term"),
  categories: row.many(row.texts("name")),
  identifiers: row.many(row.texts("code")),
  addresses: row.many({
    ...row.textsOrNone("street city postal_code"),
    name: row.called(addressName, row.as<string | null>()),
    subdivision: row.oneOrNone(row.textsOrNone("code")),
    country: row.oneOrNone(row.textsOrNone("code")),
  }),
});
type PartyRow = row.RowOf<ReturnType<typeof partyOf>>;

export const parties = (books: Books): Source =>
  feed(books, partsOf(books), (ids, signal) => partyChanges(books, ids, signal));

/** These parties as they are now, inactive ones too; in the order of their ids. @throws TrytonError */
export async function partyChanges(
  books: Books,
  ids: readonly number[],
  signal: AbortSignal,
): Promise<readonly Change[]> {
  const fields = partyOf((await books.tryton.release()).addressName);
  const search = { inactive: true, signal } as const;
  const rows = await rowsOf(books, "party.party", where({ "id in": ids }), fields, search);
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

function changeOf(row: PartyRow, roles: Roles): Change {
  const [address] = row.addresses;
  const name = some(address?.name);
  const street = some(address?.street);
  // Of a structured address the street says the building too.
  const lines = [name !== null && street?.includes(name) ? null : name, street].flatMap(
    (text) => text ?? [],
  );
  return partyChange(TRYTON.name, {
    code: row.code,
    name: row.name ?? "",
    ...roles,
    companyId: companyIdOf(row.identifiers),
    email: some(row.email),
    phone: some(row.phone) ?? some(row.mobile),
    street: some(lines.join("\n")),
    city: some(address?.city),
    state: some(address?.subdivision?.code),
    zip: some(address?.postal_code),
    country: some(address?.country?.code),
    active: row.active,
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
  (signs.includes("category") && row.categories.some(({ name }) => category.test(name)));
