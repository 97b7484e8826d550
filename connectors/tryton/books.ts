/** The books of one company, as every source and sink of this connector works with them. */
import { isUuid } from "../../src/core/text.ts";
import type { Surroundings } from "../../src/core/contract.ts";
import type { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { type CodeKind, openCodes } from "../../src/ledger/codes.ts";
import { disputeMark, type Notes } from "../../src/ledger/entries.ts";
import type { TrytonConfig } from "./config.ts";
import * as rpc from "./rows.ts";
import { busy, isWarningOf, says, type Tryton, TrytonWarning } from "./wire.ts";

export interface Books {
  /** With the company's currency, ISO 4217. */
  readonly config: TrytonConfig & { readonly currency: string };
  readonly tryton: Tryton;
  readonly lookup: Lookup;
  readonly surroundings: Surroundings;
}

/** Notes on records, for src/ledger/entries.ts. */
export const notesOf = (books: Books): Notes => ({
  async on(resources, beginnings) {
    if (resources.length === 0) return [];
    const likes = beginnings.map((text) => ["message", "like", `${text}%`]);
    const domain = [
      ["resource", "in", resources],
      ...(likes.length === 0 ? [] : [rpc.either({}, ...likes)]),
    ];
    const fields = { ...rpc.texts("resource"), ...rpc.textsOrNone("message") };
    return rpc.rowsOf(books, "ir.note", domain, fields);
  },
  async add(resource, message) {
    await books.tryton.call("model.ir.note.create", [[{ resource, message }]]);
  },
});

/** The platform's UUID among a party's identifiers; of the others (tax numbers) none looks like one. */
export const companyIdOf = (identifiers: readonly { readonly code: string }[]): string | null =>
  identifiers.find(({ code }) => isUuid(code))?.code.toLowerCase() ?? null;

interface Identified {
  readonly id: number;
}

/** What a note on an invoice is on. */
export const resourceOf = ({ id }: Identified): string => `account.invoice,${id}`;

/**
 * Options of a call that changes records: Tryton refuses it where somebody has changed one since it was read.
 * @param read resources with their {@link rpc.STAMP}
 */
export const asRead = (read: readonly (readonly [resource: string, stamp: string])[]) => ({
  context: { _timestamp: Object.fromEntries(read) },
});

/** A dispute is a note, and its end another one. The mark decides; what follows it is for people. */
const DISPUTES = {
  open: `${disputeMark("open")}\nDisputed on the platform.`,
  over: `${disputeMark("over")}\nNo longer disputed on the platform.`,
};

/** The ids of those invoices whose last note of ours says that they are disputed. @throws LedgerError */
export async function disputedOf(
  books: Books,
  invoices: readonly Identified[],
): Promise<ReadonlySet<number>> {
  const noted = await notesOf(books).on(invoices.map(resourceOf), [disputeMark("")]);
  const last = new Map(noted.map(({ resource, message }) => [resource, message ?? ""]));
  const isDisputed = (one: Identified) =>
    /^dispute:open(?!\S)/.test(last.get(resourceOf(one)) ?? "");
  return new Set(invoices.filter(isDisputed).map(({ id }) => id));
}

export const noteDispute = (books: Books, resource: string, isDisputed: boolean): Promise<void> =>
  notesOf(books).add(resource, isDisputed ? DISPUTES.open : DISPUTES.over);

/*
 * Codes that people use in Tryton, and the database ids behind them (src/ledger/codes.ts). Parties are not among them: see
 * lists.ts.
 */

type Account = Readonly<{ id: number; code: string }>;

/** Of a product, by its category; null where that has none. */
type Accounts = Readonly<Record<"revenue" | "expense", Account | null>>;

/** What documents that are booked keep, and new ones get only while it is active. */
interface Booked {
  readonly id: number;
  readonly active?: boolean;
}

/** What a code names is asked for once in ten minutes. @throws Refused with code `not-in-tryton` (or `twice-in-tryton`), LedgerError */
export type Lookup = ReturnType<typeof openLookup>;

interface Kind extends CodeKind {
  readonly model: string;
  /** What is read besides. */
  readonly reads?: rpc.Fields;
  /** Every company has its own. */
  readonly isOfCompany?: boolean;
}

/** Of {@link Booked}. */
const ACTIVE = rpc.flags("active");

const CATEGORY = {
  ...rpc.flags("account_parent"),
  ...rpc.idsOrNone("parent"),
  account_revenue: rpc.oneOrNone(rpc.texts("code")),
  account_expense: rpc.oneOrNone(rpc.texts("code")),
};

/** What rows of the kinds have; those of products and units have more. */
interface Row extends Booked {
  readonly code: string;
  readonly account_category?: rpc.RowOf<typeof CATEGORY> | null;
  readonly digits?: number;
  readonly addresses?: readonly number[];
}

/** @param called the field that has the code */
const kind = (model: string, what: string, called: string, more: Partial<Kind> = {}): Kind => ({
  model,
  what,
  called,
  ...more,
});
const own = { isOfCompany: true };
const METHOD = "account.invoice.payment.method";

const kinds = {
  account: kind("account.account", "account", "code", own),
  journal: kind("account.journal", "journal", "code"),
  location: kind("stock.location", "location", "code"),
  product: kind("product.product", "product", "code", {
    reads: { ...ACTIVE, account_category: rpc.oneOrNone(CATEGORY) },
  }),
  unit: kind("product.uom", "unit", "symbol", {
    reads: { ...ACTIVE, ...rpc.ids("digits"), ...rpc.amounts("factor") },
  }),
  paymentTerm: kind("account.invoice.payment_term", "payment term", "name"),
  paymentMethod: kind(METHOD, "invoice payment method", "name", own),
  currency: kind("currency.currency", "currency", "code"),
  site: kind("party.party", "site", "code", { reads: rpc.idLists("addresses") }),
};

export function openLookup(tryton: Tryton, { now }: Pick<Surroundings, "now">) {
  const codes = openCodes<Kind, Row>({
    books: "Tryton",
    now,
    async rowsOf({ model, called, reads, isOfCompany = false }, desired) {
      const company = isOfCompany ? await rpc.ofCompany({ tryton }) : {};
      const domain = rpc.where({ [`${called} in`]: desired, ...company });
      const fields = { code: rpc.called(called, rpc.as<string>()), ...reads };
      const search = reads !== undefined && "active" in reads ? { inactive: true as const } : {};
      return rpc.rowsOf({ tryton }, model, domain, fields, search);
    },
    codeOf: (_, { code }) => code,
  });

  /** A category may leave its accounts to the one above it. */
  async function accountsOf(category: rpc.RowOf<typeof CATEGORY> | null): Promise<Accounts> {
    if (category === null) return { revenue: null, expense: null };
    const { account_parent, parent, account_revenue: revenue, account_expense: expense } = category;
    if (account_parent && parent !== null)
      return accountsOf(await rpc.rowOf({ tryton }, "product.category", parent, CATEGORY));
    return { revenue, expense };
  }

  const productOf = async ({
    id,
    active,
    account_category = null,
  }: Row): Promise<Booked & Accounts> => ({
    id,
    ...(active === false ? { active } : {}),
    ...(await accountsOf(account_category)),
  });

  const id = (kind: Kind) => async (code: string) => (await codes.row(kind, code)).id;
  const product = (code: string): Promise<Booked & Accounts> =>
    codes.kept(kinds.product, code, async () =>
      productOf(await codes.expected(kinds.product, code)),
    );
  /** By its symbol: `gal`. `digits`: decimal places that a quantity may have. `factor`: how much of the category's first unit it is. */
  const unit = async (symbol: string) =>
    (await codes.row(kinds.unit, symbol)) as Row & {
      readonly digits: number;
      readonly factor: Decimal;
    };
  const read = { product, unit };
  return {
    ...read,
    /** The id that a new document gets of what is active. @throws Refused */
    booked: async (kind: keyof typeof read, code: string): Promise<number> =>
      (await codes.booked(kinds[kind], code, await read[kind](code))).id,
    /** One call per kind for those not known yet. What is not there, or twice, is told to whoever needs it. */
    async load({
      account,
      product,
      unit,
    }: Readonly<Record<"account" | "product" | "unit", readonly string[]>>): Promise<void> {
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
    forget: () => codes.forget(),
    /** A party that goods are sent to: its id, and its first address. */
    async site(code: string) {
      const { id: party, addresses = [] } = await codes.row(kinds.site, code);
      return { id: party, address: addresses[0] ?? null };
    },
    /** Decimal places that a unit price may have. */
    pricePlaces: () => codes.kept({ what: "price places" }, "", () => pricePlacesOf(tryton)),
    /**
     * Has an invoice a mark of `account_cash_rounding`? Tryton sets it on a new one by the company's default, and then rounds
     * what is owed.
     */
    hasCashRounding: () =>
      codes.kept({ what: "cash rounding" }, "", async () => {
        const asked = [["cash_rounding"]];
        const fields = await tryton.call<object>("model.account.invoice.fields_get", asked);
        return "cash_rounding" in fields;
      }),
    named: (kind: "account" | "product" | "unit") => codes.named(kinds[kind]),
  };
}

async function pricePlacesOf(tryton: Tryton): Promise<number> {
  const method = "model.account.invoice.line.fields_get";
  const fields = await tryton.call<{ unit_price: { digits: string } }>(method, [["unit_price"]]);
  const [, places] = JSON.parse(fields.unit_price.digits) as [number, number];
  return places;
}

/** @throws Refused for a quantity with more decimal places than its unit takes */
export function expectDigits(quantity: Decimal, unit: string, digits: number): void {
  if (quantity.round(digits).equals(quantity)) return;
  throw new Refused({
    code: "too-many-digits",
    message: `the quantity ${quantity.plain()} ${unit} has more than the ${digits} decimal places that Tryton's unit ${unit} takes`,
    next: `Give the unit ${unit} more digits and a finer rounding in Tryton (Product > Units of Measure), then retry.`,
    field: "quantity",
  });
}

/** Says yes to warnings, by their names. @throws LedgerError */
export async function accept({ tryton }: Pick<Books, "tryton">, names: readonly string[]) {
  const { user } = await tryton.session();
  const { accepting: answers } = await tryton.release();
  for (const [method, params] of answers(user, names)) await tryton.call(method, params);
}

/**
 * A call that Tryton may have questions about: those of these kinds are answered with yes, each once; any other is the
 * error that it is. @param names that are accepted together with a question of a kind @throws LedgerError
 */
export async function accepting(
  books: Pick<Books, "tryton">,
  kinds: readonly string[],
  run: () => Promise<unknown>,
  names: (kind: string) => readonly string[] = () => [],
): Promise<void> {
  const accepted = new Set<string>();
  for (;;) {
    try {
      return void (await run());
    } catch (error) {
      const name = error instanceof TrytonWarning ? error.warning : undefined;
      const kind = kinds.find((one) => name !== undefined && isWarningOf(one, name));
      if (name === undefined || kind === undefined || accepted.has(name)) throw error;
      const asked = [...new Set([name, ...names(kind)])].filter((one) => !accepted.has(one));
      await accept(books, asked);
      for (const one of asked) accepted.add(one);
    }
  }
}

/* Tryton's wizards, as its clients use them: a session on one record, that is given back whatever happens in it. */

/** Fills in a form, by its name (`{ start: {…} }`), and goes to a state. */
type Execute = <Answer>(form: object, state: string) => Promise<Answer>;

/** @param name `account.invoice.pay` @param record model, database id, and more context @throws LedgerError, what `run` throws */
export async function wizard(
  { call }: Pick<Tryton, "call">,
  name: string,
  [model, id, more]: readonly [string, number, rpc.Context?],
  run: (execute: Execute) => Promise<void>,
): Promise<void> {
  const context = { ...more, active_model: model, active_id: id, active_ids: [id] };
  const step = <T>(what: string, ...params: unknown[]): Promise<T> =>
    call<T>(`wizard.${name}.${what}`, params, { context });
  const [session] = await step<[number]>("create");
  try {
    await run((form, state) => step("execute", session, form, state));
  } finally {
    await step("delete", session).catch(() => {});
  }
}

/*
 * What keeps an invoice or a payment from being made twice, beyond being looked for (ADR 0015): Tryton takes the same one as
 * often as it is sent, and two programs that send it in the same second both find nothing. `search` keeps nobody else out;
 * `module` (`server-module/`) has the database refuse the second one when it is made, for the platform's id is unique there.
 */

/** Marks are external ids; records are database ids. Every method @throws LedgerError */
export interface Guard {
  /** The ERP refuses a second one by itself: the mark goes with the values. */
  readonly isErps: boolean;
  /** Records by their marks, as far as this guard keeps them. */
  known(marks: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** @throws LedgerError when another send came first, what `make` throws */
  create<Made>(make: () => Promise<Made>): Promise<Made>;
}

const JUST_TAKEN_MS = 1_000;

/** @param model what is made: `account.invoice` @param of which of these */
export function openGuard(books: Books, model: string, of: object = {}): Guard {
  const isErps = books.config.guard === "module";
  return {
    isErps,
    async known(marks) {
      if (!isErps || marks.length === 0) return new Map();
      const domain = rpc.where({ ...(await rpc.ofCompany(books)), "external_id in": marks, ...of });
      const rows = await rpc.rowsOf(books, model, domain, rpc.texts("external_id"));
      return new Map(rows.map(({ id, external_id }) => [external_id, id]));
    },
    create: (make) =>
      make().catch((error: unknown) => {
        if (!says(error, /FUELBRIDGE-DUPLICATE/)) throw error;
        // What it made is found the next time.
        throw busy("another send of the same document came first", JUST_TAKEN_MS);
      }),
  };
}
