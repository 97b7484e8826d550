/** The books of one company, as every source and sink of this connector works with them. */
import type { Surroundings } from "../../src/core/contract.ts";
import { Refused } from "../../src/core/errors.ts";
import { type CodeKind, openCodes } from "../../src/ledger/codes.ts";
import type { Party } from "../../src/ledger/documents.ts";
import { companyIdOf, partiesOnce, partyFacts } from "../../src/ledger/entries.ts";
import type { Notes } from "../../src/ledger/notes.ts";
import { type Desired, type Entry, type PartyAdapter, PLAIN_ENTRY } from "../../src/ledger/port.ts";
import type { TrytonConfig } from "./config.ts";
import * as row from "./rows.ts";
import {
  either,
  idLists,
  idsOf,
  many,
  ofCompany,
  rowOf,
  rowsOf,
  texts,
  textsOrNone,
  where,
} from "./rows.ts";
import { type Tryton, TrytonError } from "./wire.ts";

export interface Books {
  /** With the company's currency, ISO 4217. */
  readonly config: TrytonConfig & { readonly currency: string };
  readonly tryton: Tryton;
  readonly lookup: Lookup;
  readonly surroundings: Surroundings;
}

/** Notes on records, for src/ledger/notes.ts. */
export const notesOf = (books: Books): Notes => ({
  async on(resources, beginnings) {
    if (resources.length === 0) return [];
    const likes = beginnings.map((text) => ["message", "like", `${text}%`]);
    const domain = [
      ["resource", "in", resources],
      ...(likes.length === 0 ? [] : [either({}, ...likes)]),
    ];
    const fields = { ...texts("resource"), ...textsOrNone("message") };
    return rowsOf(books, "ir.note", domain, fields);
  },
  async add(resource, message) {
    await books.tryton.call("model.ir.note.create", [[{ resource, message }]]);
  },
});

/** What a note on an invoice is on. */
export const resourceOf = ({ id }: { readonly id: number }): string => `account.invoice,${id}`;

/*
 * Codes that people use in Tryton, and the database ids behind them (src/ledger/codes.ts). Parties are not among them: see
 * parties.ts.
 */

type Account = Readonly<{ id: number; code: string }>;

interface Product {
  readonly id: number;
  /** The accounts of its category, by their codes; null where it has none. */
  readonly revenue: Account | null;
  readonly expense: Account | null;
}

/** Codes by what they name. */
type CodeOf = Readonly<Record<"account" | "product" | "unit", readonly string[]>>;

/** What a code names is asked for once in ten minutes. @throws Refused with code `not-in-tryton` (or `twice-in-tryton`), TrytonError */
export type Lookup = ReturnType<typeof openLookup>;

interface Kind extends CodeKind {
  readonly model: string;
  /** The field that has the code. */
  readonly field: string;
  /** What is read besides. */
  readonly reads?: row.Fields;
  /** Every company has its own. */
  readonly isOfCompany?: boolean;
}

const CATEGORY = {
  ...row.flags("account_parent"),
  ...row.idsOrNone("parent"),
  account_revenue: row.oneOrNone(row.texts("code")),
  account_expense: row.oneOrNone(row.texts("code")),
};

/** What rows of the kinds have; those of products and units have more. */
interface Row {
  readonly id: number;
  readonly code: string;
  readonly account_category?: row.RowOf<typeof CATEGORY> | null;
  readonly digits?: number;
}

const kind = (model: string, what: string, field: string, more: Partial<Kind> = {}): Kind => ({
  model,
  what,
  field,
  called: field.replace(/^.*\./, ""),
  ...more,
});
const own = { isOfCompany: true };
const METHOD = "account.invoice.payment.method";

const kinds = {
  account: kind("account.account", "account", "code", own),
  journal: kind("account.journal", "journal", "code"),
  location: kind("stock.location", "location", "code"),
  product: kind("product.product", "product", "code", {
    reads: { account_category: row.oneOrNone(CATEGORY) },
  }),
  unit: kind("product.uom", "unit", "symbol", { reads: row.ids("digits") }),
  paymentTerm: kind("account.invoice.payment_term", "payment term", "name"),
  paymentMethod: kind(METHOD, "invoice payment method", "name", own),
  currency: kind("currency.currency", "currency", "code"),
  company: kind("company.company", "company", "party.name"),
};

export function openLookup(tryton: Tryton, { now }: Pick<Surroundings, "now">) {
  const codes = openCodes<Kind, Row>({
    books: "Tryton",
    now,
    async rowsOf({ model, field, reads, isOfCompany = false }, desired, most) {
      const company = isOfCompany ? await ofCompany({ tryton }) : {};
      const domain = where({ [`${field} in`]: desired, ...company });
      const fields = { code: row.called(field, row.as<string>()), ...reads };
      return rowsOf({ tryton }, model, domain, fields, most === null ? {} : { most });
    },
    codeOf: (_, { code }) => code,
  });

  /** A category may leave its accounts to the one above it. */
  async function accountsOf(
    category: row.RowOf<typeof CATEGORY> | null,
  ): Promise<Pick<Product, "revenue" | "expense">> {
    if (category === null) return { revenue: null, expense: null };
    const { account_parent, parent, account_revenue: revenue, account_expense: expense } = category;
    if (account_parent && parent !== null)
      return accountsOf(await rowOf({ tryton }, "product.category", parent, CATEGORY));
    return { revenue, expense };
  }

  const productOf = async ({ id, account_category = null }: Row): Promise<Product> => ({
    id,
    ...(await accountsOf(account_category)),
  });

  const id = (kind: Kind) => async (code: string) => (await codes.row(kind, code)).id;
  return {
    /** One call per kind for those not known yet. What is not there, or twice, is told to whoever needs it. */
    async load({ account, product, unit }: CodeOf): Promise<void> {
      await codes.load(kinds.account, account);
      await codes.load(kinds.product, product, productOf);
      await codes.load(kinds.unit, unit);
    },
    account: id(kinds.account),
    journal: id(kinds.journal),
    location: id(kinds.location),
    paymentTerm: id(kinds.paymentTerm),
    paymentMethod: id(kinds.paymentMethod),
    currency: id(kinds.currency),
    company: id(kinds.company),
    forget: () => codes.forget(),
    /** Decimal places that a unit price may have. */
    pricePlaces: () => codes.kept({ what: "price places" }, "", () => pricePlacesOf(tryton)),
    /** Those of these codes that name nothing, or more than one thing: 500 in one call. */
    faults: (kind: "account" | "product" | "unit", desired: readonly string[]) =>
      codes.faults(kinds[kind], desired),
    product: (code: string): Promise<Product> =>
      codes.kept(kinds.product, code, async () =>
        productOf(await codes.expected(kinds.product, code)),
      ),
    /** By its symbol: `gal`. `digits`: decimal places that a quantity may have. */
    unit: async (symbol: string) =>
      (await codes.row(kinds.unit, symbol)) as Row & { readonly digits: number },
  };
}

async function pricePlacesOf(tryton: Tryton): Promise<number> {
  const method = "model.account.invoice.line.fields_get";
  const fields = await tryton.call<{ unit_price: { digits: string } }>(method, [["unit_price"]]);
  const [, places] = JSON.parse(fields.unit_price.digits) as [number, number];
  return places;
}

/* Parties as documents need them: by code, else by the platform's id of the company, else made. */

/** A party that an invoice can be addressed to: database ids. */
export interface Addressed {
  readonly id: number;
  readonly address: number;
}

/** With the first of its addresses. */
interface PartyRow {
  readonly id: number;
  readonly address: number | null;
}

export const partyAdapter = (books: Books): PartyAdapter => ({
  ...partiesOnce(["posted"], 100),
  expected: async (parties) => parties.map(({ code, name }) => partyFacts(code, name)),
  locate: (desired) => locate(books, desired),
  async create(desired) {
    for (const { document } of desired) await create(books, document);
    return desired.map(() => null);
  },
});

/** In one call; asked for each time, for a database restored from a backup may give an id to another one. */
async function locate(
  books: Books,
  desired: readonly Desired<"party">[],
): Promise<Entry<PartyRow>[]> {
  const ids = desired.map(({ document }) => document.companyId);
  const codes = desired.map(({ document }) => document.code);
  const domain = [either({ "code in": codes, "identifiers.code in": ids })];
  const rows = await rowsOf(books, "party.party", domain, PARTY);
  return rows.flatMap(({ id, code, name, addresses: [address = null], identifiers }) => {
    const marks = identifiers.map((one) => one.code).filter((one) => ids.includes(one));
    const shown = marks.length === 0 ? [companyIdOf(identifiers)] : marks;
    return [...new Set<string | null>(shown)].map((mark) => ({
      ...PLAIN_ENTRY,
      id: code,
      mark,
      number: code,
      status: "posted" as const,
      facts: partyFacts(code, name),
      native: { id, address },
    }));
  });
}

const PARTY = {
  ...texts("code name"),
  ...idLists("addresses"),
  identifiers: many(texts("code")),
};

/** Those that documents are booked on, in their order; one without an address gets one. @throws TrytonError */
export async function addressedAll(
  { tryton }: Books,
  desired: readonly Pick<Desired, "payer">[],
): Promise<Addressed[]> {
  const addressFor = async (party: number): Promise<number> => {
    const [made] = await tryton.call<[number]>("model.party.address.create", [[{ party }]]);
    return made;
  };
  const addresses = new Map<number, number>();
  const all: Addressed[] = [];
  for (const { payer } of desired) {
    if (payer === null) throw new TrytonError("concurrency", "the party is not there any more");
    const { id, address: own } = payer.native as PartyRow;
    const address = addresses.get(id) ?? own ?? (await addressFor(id));
    addresses.set(id, address);
    all.push({ id, address });
  }
  return all;
}

/** @throws Refused when its code is that of an inactive party, TrytonError */
async function create({ tryton }: Books, { code, name, companyId }: Party): Promise<void> {
  const identifiers = [["create", [{ code: companyId }]]];
  const values = { code, name, identifiers, addresses: [["create", [{}]]] };
  try {
    await tryton.call("model.party.party.create", [[values]]);
  } catch (error) {
    // Somebody else may have made it in between: codes are unique.
    if (!(error instanceof TrytonError && TAKEN.test(error.message))) throw error;
    if ((await idsOf({ tryton }, "party.party", [["code", "=", code]])).length > 0) return;
    throw new Refused({
      code: "party-inactive",
      message: `the party code ${code} (${name}) is taken in Tryton by a party that is not active`,
      next: `Activate the party ${code} in Tryton, or give it another code; then retry.`,
      field: "party",
    });
  }
}

const TAKEN = /code on party must be unique/;

/* Tryton's wizards, as its clients use them: a session on one record, that is given back whatever happens in it. */

/** Fills in a form, by its name (`{ start: {…} }`), and goes to a state. */
type Execute = <Answer>(form: object, state: string) => Promise<Answer>;

/** @param name `account.invoice.pay` @param record model and database id @throws TrytonError, what `run` throws */
export async function wizard(
  { call }: Pick<Tryton, "call">,
  name: string,
  [model, id]: readonly [string, number],
  run: (execute: Execute) => Promise<void>,
): Promise<void> {
  const context = { active_model: model, active_id: id, active_ids: [id] };
  const step = <T>(what: string, ...params: unknown[]): Promise<T> =>
    call<T>(`wizard.${name}.${what}`, params, { context });
  const [session] = await step<[number]>("create");
  try {
    await run((form, state) => step("execute", session, form, state));
  } finally {
    await step("delete", session).catch(() => {});
  }
}
