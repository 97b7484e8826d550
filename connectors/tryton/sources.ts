/**
 * Customer invoices that have their number, those that came from the platform too: `platformId` says so. Posting stamps
 * an invoice anew, and from then on Tryton lets nobody change its lines or taxes; so the invoice's own stamp is enough.
 */
import type { Change, Source } from "../../src/core/contract.ts";
import { stringifyExact } from "../../src/core/json.ts";
import type { PartyRecord } from "../../src/ledger/documents.ts";
import {
  invoiceRecord,
  numberTwice,
  partyChange,
  payersOf,
  some,
} from "../../src/ledger/entries.ts";
import { isOurPayment, markOf } from "../../src/ledger/notes.ts";
import { type StampFeed, type Stamps, stampSource } from "../../src/ledger/stamps.ts";
import type { PriceTable } from "../../src/ledger/table.ts";
import type { Books } from "./books.ts";
import type { RoleSign } from "./config.ts";
import { amountLines, cannotTell, readTold, type ToldInvoice } from "./invoice-rows.ts";
import * as row from "./rows.ts";
import {
  amountsOrNone,
  as,
  called,
  type Domain,
  either,
  ids,
  ofCompany,
  one,
  type RowOf,
  rowsOf,
  stamp,
  texts,
  textsOrNone,
  where,
} from "./rows.ts";
import { TRYTON, unavailable } from "./wire.ts";

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
  readonly domain: Domain;
  /** What its position is stored under, where two parts are of one model; its model when left out. */
  readonly name?: string;
  /** See {@link StampFeed}. */
  readonly once?: boolean;
}

const STAMPS = ["create_date", "write_date"] as const;

/** A source of records that are made of these parts. */
const feed = (books: Books, parts: readonly Part[], details: Stamps["details"]): Source =>
  stampSource({
    feeds: parts.flatMap((part) => STAMPS.map((field) => feedOf(books, part, field))),
    details,
    now: () => books.surroundings.now(),
    unavailable,
  });

function feedOf(books: Books, part: Part, field: (typeof STAMPS)[number]): StampFeed {
  const { model, record, name = model, once = false } = part;
  const fields = { at: called(field, as<string>()), record: called(record, as<number>()) };
  const read = (domain: Domain, direction: "ASC" | "DESC", most: number, signal: AbortSignal) => {
    const order = [
      [field, direction],
      ["id", direction],
    ] as const;
    const rows = [...part.domain, [field, "!=", null], ...unchanged(field), ...domain];
    // Inactive rows have changed too: that is how they became inactive.
    const search = { order, most, inactive: true, signal } as const;
    return rowsOf(books, model, rows, fields, search);
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
const after = (field: string, at: string, id: number, until: string): Domain => [
  [field, "<=", stamp(until)],
  either({ [`${field} >`]: stamp(at) }, where({ [`${field} =`]: stamp(at), "id >": id })),
];

/** A row that was changed comes by its write_date. */
const unchanged = (field: string): Domain =>
  field === "create_date" ? where({ "write_date =": null }) : [];

const INVOICES = "account.invoice";
const INVOICE_PARTS: readonly Part[] = [
  { model: INVOICES, record: "id", domain: [["type", "=", "out"]] },
];

/** A draft is not told: it has no number, and it may still change without a stamp. */
const NUMBERED = ["posted", "paid", "cancelled"];
export const invoices = (books: Books): Source =>
  feed(books, INVOICE_PARTS, (ids, signal) => invoiceChanges(books, ids, signal));

/** The same: what is paid, what is paid in part, and what is no longer. */
export const paidInvoices = (books: Books): Source => invoices(books);

/** What the sources tell of these, by their database ids; of those that have a number. @throws TrytonError */
export async function invoiceChanges(
  books: Books,
  ids: readonly number[],
  signal: AbortSignal,
): Promise<Change[]> {
  const own = await ofCompany(books);
  const domain = where({ "id in": ids, ...own, "state in": NUMBERED, "number !=": null });
  const entries = await readTold(books, domain, { signal });
  const rows = entries.filter((one): one is Numbered => one.number !== null);
  const same = where({
    ...own,
    "type =": "out",
    "state in": LIVE,
    "number in": rows.map(({ number }) => number),
    "id not in": rows.map(({ id }) => id),
  });
  const others = await rowsOf(books, INVOICES, same, texts("number"), { signal });
  const live = [...rows.filter(isLive), ...others];
  return rows.flatMap((row) => {
    const count = live.filter(({ number }) => number === row.number).length;
    // One that was cancelled and booked anew under its number tells nothing of the new one.
    if (!isLive(row) && count > 0) return [];
    const change = invoiceChangeOf(row);
    if (row.untold !== undefined) return { ...change, fault: cannotTell(row.untold) };
    return count > 1 ? { ...change, fault: numberTwice(TRYTON.name, row.number) } : change;
  });
}

type Numbered = ToldInvoice & { readonly number: string };

const LIVE: readonly string[] = ["posted", "paid"];
const isLive = ({ state }: ToldInvoice): boolean => LIVE.includes(state);

function invoiceChangeOf(entry: Numbered): Change {
  const { number, state, reconciled, mark: platformId, amount_to_pay: toPay } = entry;
  const { party, currency, total_amount: total } = entry;
  const facts = { ...entry.facts, party: party.code };
  const words = { ...facts.words, currency: currency.code };
  const record = invoiceRecord(
    { ...facts, words },
    {
      number,
      // Tryton refuses to change the number of a posted invoice: it is what links call it.
      id: number,
      state,
      partyCompanyId: companyIdOf(party.identifiers),
      dueDate: lastOf(entry.lines_to_pay.map((line) => line.maturity_date)),
      open: toPay,
      paidDate: reconciled,
      ...payersOf({
        state,
        total,
        open: toPay,
        settling: entry.settling.map((one) => ({
          ...one,
          isOurs: isOurPayment(one.description),
        })),
      }),
      platformId,
      productNames: amountLines(entry.lines).map(({ product }) => product?.name ?? null),
    },
  );
  return { id: number, version: null, text: stringifyExact(record) };
}

const lastOf = (days: readonly (string | null)[]): string | null =>
  days
    .filter((day) => day !== null)
    .toSorted()
    .at(-1) ?? null;

/*
 * Tryton keeps no role of a party. Besides its payment term and its categories, a posted invoice says what it is to us.
 * Invoices that came from the platform do not count: their parties are companies of the platform already.
 */

type Type = "out" | "in";
const ROWS = 500;

/** Posted invoices that make their party a customer or a supplier, as parts of the parties' feed. */
function roleInvoices({ config: { roles } }: Books): Part[] {
  const types: Type[] = [
    ...(roles.customer.includes("invoice") ? (["out"] as const) : []),
    ...(roles.supplier.includes("invoice") ? (["in"] as const) : []),
  ];
  return types.map((type) => ({
    name: `${INVOICES} ${type}`,
    model: INVOICES,
    record: "party",
    domain: counting(type),
    once: true,
  }));
}

/**
 * Which of these parties (database ids) have a posted invoice of this type; none where the configuration does not count
 * invoices. @throws TrytonError
 */
async function invoicedParties(
  books: Books,
  type: Type,
  parties: readonly number[],
  signal: AbortSignal,
): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  const { roles } = books.config;
  const signs = type === "out" ? roles.customer : roles.supplier;
  if (!signs.includes("invoice")) return found;
  const counted = [...counting(type), ...where(await ofCompany(books))];
  const search = { most: ROWS, signal };
  // One party may have thousands: those that are found are not asked for again.
  for (let left = [...parties]; left.length > 0;) {
    const domain = [...counted, ["party", "in", left]];
    const rows = await rowsOf(books, INVOICES, domain, ids("party"), search);
    for (const { party } of rows) found.add(party);
    left = rows.length < ROWS ? [] : left.filter((id) => !found.has(id));
  }
  return found;
}

/** A posted invoice leaves this only when it is cancelled: then its party stays what it was told to be. */
const counting = (type: Type): Domain => [
  ...where({ "type =": type, "state in": ["posted", "paid"] }),
  either({ "comment =": null, "comment not like": `%${markOf("_")}%` }),
];

/** The platform's UUID among a party's identifiers; of the others (tax numbers) none looks like one. */
export const companyIdOf = (identifiers: readonly { readonly code: string }[]): string | null =>
  identifiers.find(({ code }) => UUID.test(code))?.code.toLowerCase() ?? null;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/* Parties with a code: those that buy from us, those that sell to us, and all others. */

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
  feed(books, partsOf(books), async (ids, signal) =>
    (await partyRecords(books, ids, signal)).map((one) => partyChange(TRYTON.name, one)),
  );

/** These parties as they are now, inactive ones too; in the order of their ids. @throws TrytonError */
export async function partyRecords(
  books: Books,
  ids: readonly number[],
  signal: AbortSignal,
): Promise<PartyRecord[]> {
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
    recordOf(row, {
      isCustomer: isCustomer || buyers.has(row.id),
      isSupplier: isSupplier || sellers.has(row.id),
    }),
  );
}

type Roles = Pick<PartyRecord, "isCustomer" | "isSupplier">;

function recordOf(row: PartyRow, roles: Roles): PartyRecord {
  const [address] = row.addresses;
  const name = some(address?.name);
  const street = some(address?.street);
  // Of a structured address the street says the building too.
  const lines = [name !== null && street?.includes(name) ? null : name, street].flatMap(
    (text) => text ?? [],
  );
  return {
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
  };
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
  ...texts("formula"),
  // The least quantity that it is for.
  ...amountsOrNone("quantity"),
  price_list: one(texts("name")),
  product: one({
    ...textsOrNone("code"),
    ...texts("name"),
    default_uom: one(texts("symbol")),
  }),
};

export const priceTable = (books: Books): PriceTable<PriceRow> => ({
  records: {
    changed: ({ tell }) =>
      feed(books, PRICE_PARTS, async (ids, signal) => tell(await priceRows(books, ids, signal))),
  },
  line: ({ price_list, product, formula, quantity }) => ({
    list: price_list.name,
    code: product.code,
    name: product.name,
    unit: product.default_uom.symbol,
    formula,
    byQuantity: quantity !== null && quantity.sign !== 0,
  }),
});

type PriceRow = RowOf<typeof LINE>;

/** All lines of products in these lists as they are now. @throws TrytonError */
async function priceRows(
  books: Books,
  ids: readonly number[],
  signal: AbortSignal,
): Promise<readonly PriceRow[]> {
  const asked = where({ "id in": ids });
  const lists = await rowsOf(books, "product.price_list", asked, texts("name"), { signal });
  // By name: two lists of one name would be two prices of one terminal.
  const domain = where({
    ...(await ofCompany(books, "price_list.company")),
    "price_list.name in": lists.map(({ name }) => name),
    "product !=": null,
  });
  return rowsOf(books, PRICE_LINES, domain, LINE, { order: ORDER, signal });
}

/** As Tryton looks for the line that counts: the first one in this order. */
const ORDER = [
  ["price_list", "ASC"],
  ["sequence", "ASC"],
  ["id", "ASC"],
] as const;
