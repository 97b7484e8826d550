/** What people keep in lists: parties and prices; and what changed in any of Tryton's records, by its stamps. */
import { defined } from "../../src/core/defined.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Party, PartyRecord } from "../../src/ledger/documents.ts";
import { markOf, partiesOnce, partyChange, partyFacts, some } from "../../src/ledger/entries.ts";
import type { Desired, Entry } from "../../src/ledger/port.ts";
import { pagesOf, type StampFeed, stampedRows } from "../../src/ledger/stamps.ts";
import type { PriceTable, Table } from "../../src/ledger/table.ts";
import { type Books, companyIdOf } from "./books.ts";
import * as rpc from "./rows.ts";
import { changed, says, TRYTON } from "./wire.ts";

/*
 * Parties in Tryton, as documents need them (by code, else by the platform's id of the company, else made), and as their
 * source tells them: those that buy from us, those that sell to us, and all others.
 */

/** A party that an invoice can be addressed to: database ids. */
export interface Addressed {
  readonly id: number;
  readonly address: number;
}

/** A party as documents need it, and as its source tells it where it is read for that. */
interface PartyRow extends Pick<Party, "code" | "name"> {
  readonly id: number;
  /** The first of its addresses that are active. */
  readonly address: number | null;
  readonly mark: string | null;
  /** Of books that were restored, another one may have its database id: not of the same instant. */
  readonly lasting?: string;
  readonly told?: PartyRecord;
}

const MODEL = "party.party";
const INVOICES = "account.invoice";
const ROWS = 500;

const PARTY = {
  ...rpc.texts("code name create_date"),
  ...rpc.flags("active"),
  addresses: rpc.many(rpc.flags("active")),
  identifiers: rpc.many(rpc.texts("code")),
};
const ACTIVE_FIRST = [
  ["active", "DESC"],
  ["id", "ASC"],
] as const;
const LASTING = /^\d+ \d{4}-\d\d-\d\dT/;
const MERGED = { ...PARTY, replaced_by: rpc.oneOrNone(PARTY) };

/** As their source tells them. */
const TOLD = (addressName: string) => ({
  ...rpc.texts("code"),
  ...rpc.textsOrNone("name email phone mobile"),
  ...rpc.flags("active"),
  ...rpc.idsOrNone("customer_payment_term supplier_payment_term"),
  categories: rpc.many(rpc.texts("name")),
  identifiers: rpc.many(rpc.texts("code")),
  addresses: rpc.many({
    ...rpc.textsOrNone("street city postal_code subdivision.code country.code"),
    name: rpc.called(addressName, rpc.as<string | null>()),
  }),
});
type Told = rpc.RowOf<ReturnType<typeof TOLD>>;

/**
 * Tryton keeps no role of a party. Besides its payment term and its categories, a posted invoice says what it is to us.
 * Invoices that came from the platform do not count: their parties are companies of the platform already.
 */
const ROLES = {
  customer: { type: "out", term: "customer_payment_term", category: /^customer/i },
  supplier: { type: "in", term: "supplier_payment_term", category: /^(supplier|vendor)/i },
} as const;
type Role = keyof typeof ROLES;

/** A posted invoice leaves this only when it is cancelled: then its party stays what it was told to be. */
const counting = (role: Role): rpc.Domain => [
  ...rpc.where({ "type =": ROLES[role].type, "state in": ["posted", "paid"] }),
  rpc.either({ "comment =": null, "comment not like": `%${markOf("_")}%` }),
];

/**
 * A party's address, its telephone or its identifier can change without a new stamp of the party, and so can what it is
 * to us: its first invoice is posted.
 */
const partsOf = ({ config: { roles } }: Books): readonly Part[] => [
  { model: MODEL, record: "id", domain: [] },
  ...["party.address", "party.contact_mechanism", "party.identifier"].map((model) => ({
    model,
    record: "party",
    domain: [["party", "!=", null]],
  })),
  ...(["customer", "supplier"] as const)
    .filter((role) => roles[role].includes("invoice"))
    .map((role) => ({
      name: `${INVOICES} ${ROLES[role].type}`,
      model: INVOICES,
      record: "party",
      domain: counting(role),
      once: true,
    })),
];

export function partyTable(books: Books): Table<"party", Pick<Party, "code" | "name">, PartyRow> {
  /**
   * Asked for each time, for a database restored from a backup may give an id to another one. Of a party that a person has
   * merged into another one Tryton keeps the code, inactive for good: the other one is it.
   */
  async function located(
    desired: readonly Desired<"party">[],
    lasting: readonly string[] = [],
  ): Promise<PartyRow[]> {
    const ids = desired.map(({ document }) => document.companyId);
    const codes = desired.map(({ document }) => document.code);
    const named = { "code in": codes, "identifiers.code in": ids };
    const domain = rpc.either({
      ...named,
      "id in": lasting.map((one) => Number.parseInt(one, 10)),
    });
    const search = { inactive: true, order: ACTIVE_FIRST } as const;
    const rows = await rpc.rowsOf(books, MODEL, domain, MERGED, search);
    const shown = rows.flatMap((row): PartyRow[] => {
      const { id, code, name, addresses, active } = (row.active ? null : row.replaced_by) ?? row;
      if (!active) return [];
      const known = row.identifiers.map((one) => one.code).filter((one) => ids.includes(one));
      const told = companyIdOf(row.identifiers);
      const byCode = desired.flatMap(({ document, mark }) =>
        document.code === row.code ? mark : [],
      );
      const isCoded = !row.active && told === null && byCode.length > 0;
      const marks = known.length > 0 ? known : isCoded ? byCode : [told];
      const address = addresses.find((one) => one.active)?.id ?? null;
      const lasting = `${row.id} ${row.create_date}`;
      return marks.map((mark) => ({ id, code, name, address, mark, lasting }));
    });
    // Ids of parties that were merged may stand on both.
    return [...new Map(shown.map((row) => [JSON.stringify([row.id, row.mark]), row])).values()];
  }

  /** Those of these that have a role, as far as the configuration (`roles`) counts what says so; database ids. */
  async function inRole(role: Role, rows: readonly Told[], signal: AbortSignal) {
    const signs = books.config.roles[role];
    const { term, category } = ROLES[role];
    const isSaid = (row: Told): boolean =>
      (signs.includes("payment-term") && row[term] !== null) ||
      (signs.includes("category") && row.categories.some(({ name }) => category.test(name)));
    const found = new Set(rows.filter(isSaid).map(({ id }) => id));
    if (!signs.includes("invoice")) return found;
    const counted = [...counting(role), ...rpc.where(await rpc.ofCompany(books))];
    let left = rows.map(({ id }) => id).filter((id) => !found.has(id));
    // One party may have thousands: those that are found are not asked for again.
    while (left.length > 0) {
      const domain = [...counted, ["party", "in", left]];
      const search = { most: ROWS, signal };
      const invoices = await rpc.rowsOf(books, INVOICES, domain, rpc.ids("party"), search);
      for (const { party } of invoices) found.add(party);
      left = invoices.length < ROWS ? [] : left.filter((id) => !found.has(id));
    }
    return found;
  }

  /** These parties as they are now, inactive ones too; in the order of their ids. */
  async function told(ids: readonly number[], signal: AbortSignal): Promise<PartyRow[]> {
    if (ids.length === 0) return [];
    const fields = TOLD((await books.tryton.release()).addressName);
    const search = { inactive: true, signal } as const;
    const rows = await rpc.rowsOf(books, MODEL, rpc.where({ "id in": ids }), fields, search);
    const customers = await inRole("customer", rows, signal);
    const suppliers = await inRole("supplier", rows, signal);
    return rows.map((row) => {
      const roles = { isCustomer: customers.has(row.id), isSupplier: suppliers.has(row.id) };
      const record = { ...recordIn(row), ...roles };
      const { code, name, companyId: mark } = record;
      return { id: row.id, code, name, address: null, mark, told: record };
    });
  }

  return {
    can: { ...partiesOnce(["posted"], 100).can, kept: true },
    records: {
      async search({ desired, ids = [] }, { signal }) {
        const lasting = ids.filter((one) => LASTING.test(one));
        if (desired !== undefined || lasting.length > 0) return located(desired ?? [], lasting);
        const named = rpc.where({ "code in": ids });
        return told(await rpc.idsOf(books, MODEL, named, { inactive: true, signal }), signal);
      },
      list: (_, from, signal) =>
        pagesOf(rpc.pagesOf(from, signal, idsAfter(books), Number), (rows) => told(rows, signal)),
      create: ({ desired }) => create(books, desired.document).then(() => null),
      changed: changedRows(books, partsOf(books), told),
    },
    write: ({ code, name }: Party) => ({ code, name }),
    facts: ({ code, name }) => partyFacts(code, name),
    read: ({ code, mark, lasting, told: record }) => ({
      id: code,
      mark,
      number: code,
      ...defined({ lasting }),
      status: record?.active === false ? "cancelled" : "posted",
    }),
    tell: ({ native: { told: record } }) =>
      record === undefined ? null : partyChange(TRYTON.name, record),
  };
}

const idsAfter = (books: Books) => (after: rpc.Domain, search: rpc.Search) =>
  rpc.idsOf(books, MODEL, [after], { ...search, inactive: true });

function recordIn({ addresses: [address], ...row }: Told) {
  const building = some(address?.name);
  const street = some(address?.street);
  // Of a structured address the street says the building too.
  const lines = [building !== null && street?.includes(building) ? null : building, street];
  return {
    code: row.code,
    name: row.name ?? "",
    companyId: companyIdOf(row.identifiers),
    email: some(row.email),
    phone: some(row.phone) ?? some(row.mobile),
    street: some(lines.filter((line) => line !== null).join("\n")),
    city: some(address?.city),
    state: some(address?.subdivision),
    zip: some(address?.postal_code),
    country: some(address?.country),
    active: row.active,
  };
}

/** Those that documents are booked on, in their order; one without an address gets one. @throws LedgerError */
export async function addressedAll(
  { tryton }: Books,
  desired: readonly { readonly payer: Pick<Entry, "native"> | null }[],
): Promise<Addressed[]> {
  const addressFor = async (party: number): Promise<number> => {
    const [made] = await tryton.call<[number]>("model.party.address.create", [[{ party }]]);
    return made;
  };
  const addresses = new Map<number, number>();
  const all: Addressed[] = [];
  for (const { payer } of desired) {
    if (payer === null) throw changed("the party is not there any more");
    const { id, address: own } = payer.native as Pick<PartyRow, "id" | "address">;
    const address = addresses.get(id) ?? own ?? (await addressFor(id));
    addresses.set(id, address);
    all.push({ id, address });
  }
  return all;
}

/** @throws Refused when its code is that of an inactive party, LedgerError */
async function create({ tryton }: Books, { code, name, companyId }: Party): Promise<void> {
  const identifiers = [["create", [{ code: companyId }]]];
  const values = { code, name, identifiers, addresses: [["create", [{}]]] };
  try {
    await tryton.call("model.party.party.create", [[values]]);
  } catch (error) {
    // Somebody else may have made it in between: codes are unique.
    if (!says(error, TAKEN)) throw error;
    if ((await rpc.idsOf({ tryton }, MODEL, [["code", "=", code]])).length > 0) return;
    throw new Refused({
      code: "party-inactive",
      message: `the party code ${code} (${name}) is taken in Tryton by a party that is not active`,
      next: `Activate the party ${code} in Tryton, or give it another code; then retry.`,
      field: "party",
    });
  }
}

const TAKEN = /code on party must be unique/;

/* What changed in Tryton, by its stamps, and the prices of its price lists. */

/*
 * Tryton's stamps for the walk of src/ledger/stamps.ts: `create_date`, and `write_date` from the first change on (null
 * before it).
 */

/** Rows of one model whose change is a change of a record: the record's own, or those of its parts. */
interface Part {
  /** `account.invoice.line` */
  readonly model: string;
  /** The field that has the record's id: `invoice`, or `id` for the record itself. */
  readonly record: string;
  /** Which rows. They must not leave it by being changed, or that change is not seen. */
  readonly domain: rpc.Domain;
  /** What its position is stored under, where two parts are of one model; its model when left out. */
  readonly name?: string;
  /** See {@link StampFeed}. */
  readonly once?: boolean;
}

const STAMPS = ["create_date", "write_date"] as const;

/** A source of records that are made of these parts. @param rowsOf these records as they are now */
export const changedRows = <Row>(
  books: Books,
  parts: readonly Part[],
  rowsOf: (ids: readonly number[], signal: AbortSignal) => Promise<readonly Row[]>,
) =>
  stampedRows(
    parts.flatMap((part) => STAMPS.map((field) => feedOf(books, part, field))),
    rowsOf,
  );

function feedOf(books: Books, part: Part, field: (typeof STAMPS)[number]): StampFeed {
  const { model, record, name = model, once = false } = part;
  const fields = {
    at: rpc.called(field, rpc.as<string>()),
    record: rpc.called(record, rpc.as<number>()),
  };
  const read = (
    domain: rpc.Domain,
    direction: "ASC" | "DESC",
    most: number,
    signal: AbortSignal,
  ) => {
    const order = [
      [field, direction],
      ["id", direction],
    ] as const;
    const rows = [...part.domain, [field, "!=", null], ...unchanged(field), ...domain];
    // Inactive rows have changed too: that is how they became inactive.
    const search = { order, most, inactive: true, signal } as const;
    return rpc.rowsOf(books, model, rows, fields, search);
  };
  return {
    name: `${name} ${field}`,
    once,
    async newest(signal) {
      const [newest] = await read([], "DESC", 1, signal);
      return newest?.at ?? null;
    },
    page: ({ at, id }, until, most, signal) =>
      read(after(field, at, id, until), "ASC", most, signal),
  };
}

/** The rows after (at, id), up to a stamp. Comparisons with a stamp that is null are false on every database. */
const after = (field: string, at: string, id: number, until: string): rpc.Domain => [
  [field, "<=", rpc.stamp(until)],
  rpc.either(
    { [`${field} >`]: rpc.stamp(at) },
    rpc.where({ [`${field} =`]: rpc.stamp(at), "id >": id }),
  ),
];

/** A row that was changed comes by its write_date. */
const unchanged = (field: string): rpc.Domain =>
  field === "create_date" ? rpc.where({ "write_date =": null }) : [];

/*
 * Prices of products in price lists, of which people name one after each terminal. A line that is for one product and
 * whose formula is a number is its price; one that is for a category, or for all products, is no price of a product.
 */

const PRICE_LINES = "product.price_list.line";
/** A list that is renamed is another terminal: all of its prices come again. */
const PRICE_PARTS: readonly Part[] = [
  { model: PRICE_LINES, record: "price_list", domain: [] },
  { model: "product.price_list", record: "id", domain: [] },
];

const LINE = {
  ...rpc.texts("formula"),
  // The least quantity that it is for.
  ...rpc.amountsOrNone("quantity"),
  price_list: rpc.one({ ...rpc.texts("name"), ...rpc.flags("tax_included") }),
  product: rpc.one({
    ...rpc.textsOrNone("code"),
    ...rpc.texts("name default_uom.symbol"),
  }),
};

export const priceTable = (books: Books): PriceTable<PriceRow> => ({
  records: {
    changed: changedRows(books, PRICE_PARTS, (ids, signal) => priceRows(books, ids, signal)),
  },
  line: ({ price_list, product, formula, quantity }) => ({
    list: price_list.name,
    code: product.code,
    name: product.name,
    unit: product.default_uom,
    formula,
    byQuantity: quantity !== null && quantity.sign !== 0,
    taxIncluded: price_list.tax_included,
  }),
});

type PriceRow = rpc.RowOf<typeof LINE>;

/** All lines of products in these lists as they are now. @throws LedgerError */
async function priceRows(
  books: Books,
  ids: readonly number[],
  signal: AbortSignal,
): Promise<readonly PriceRow[]> {
  const asked = rpc.where({ "id in": ids });
  const search = { inactive: true, signal } as const;
  const lists = await rpc.rowsOf(books, "product.price_list", asked, rpc.texts("name"), search);
  // By name: two lists of one name would be two prices of one terminal. One that is inactive leaves its name to another.
  const domain = rpc.where({
    ...(await rpc.ofCompany(books, "price_list.company")),
    "price_list.name in": lists.map(({ name }) => name),
    "price_list.active =": true,
    "product !=": null,
  });
  return rpc.rowsOf(books, PRICE_LINES, domain, LINE, { order: ORDER, signal });
}

/** As Tryton looks for the line that counts: the first one in this order. */
const ORDER = [
  ["price_list", "ASC"],
  ["sequence", "ASC"],
  ["id", "ASC"],
] as const;
