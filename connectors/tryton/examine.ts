/** What must hold in Tryton before the next document goes: each thing with what to do when it does not. */
import { Decimal } from "../../src/core/decimal.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import type { Examination, Needs } from "../../src/core/examination.ts";
import type { Fault } from "../../src/core/fault.ts";
import { reading } from "../../src/ledger/errors.ts";
import {
  type BookPeriod,
  type Check,
  type CodeColumn,
  codeExaminations,
  type CodesFound,
  currencyCheck,
  examined,
  exists,
  ledgerColumns,
  partiesFound,
  periodExaminations,
  pricePlacesCheck,
  releaseExamination,
  type Rights,
  type RightsArea,
  rightsCheck,
  wrongAccount,
} from "../../src/ledger/examine.ts";
import { inPages } from "../../src/ledger/holdings.ts";
import { files } from "./attachments.ts";
import type { Books } from "./books.ts";
import {
  amounts,
  as,
  called,
  countOf,
  day,
  either,
  flags,
  idLists,
  idsOrNone,
  ofCompany,
  one,
  oneOrNone,
  rowOf,
  type RowOf,
  rowsOf,
  texts,
  where,
} from "./rows.ts";
import { buttonIn, NoSuchCompany, TESTED, TRYTON, unavailable } from "./wire.ts";

/* The rights that the synchronisation's user needs in Tryton, by what it does (src/ledger/examine.ts). */

const READ = "read";
const WRITE = "read write create";
/** Drafts that come to nothing, and lines that change, are taken back. */
const ALL = "read write create delete";

const areas: readonly RightsArea[] = [
  {
    what: "codes and prices",
    groups: "Account (8.0: Accounting), Stock, Sales",
    models: {
      [READ]:
        "account.account account.journal account.period account.invoice.payment_term " +
        "account.invoice.payment.method product.product product.uom product.category " +
        "product.price_list product.price_list.line stock.location",
    },
  },
  {
    what: "parties",
    groups: "Party Administration",
    models: { [WRITE]: "party.party party.address party.identifier" },
  },
  {
    what: "invoices and payments",
    groups: "Account (8.0: Accounting)",
    models: {
      [ALL]: "account.invoice account.invoice.line account.invoice.tax",
      [READ]: "account.move account.move.reconciliation",
      // A due date that changes is written on it.
      "read write": "account.move.line",
      [WRITE]: "res.user.warning ir.note",
    },
    buttons: { "account.invoice": "post cancel pay" },
  },
  {
    what: "orders",
    groups: "Sales, Purchase",
    models: { [WRITE]: "sale.sale purchase.purchase", [ALL]: "sale.line purchase.line" },
    buttons: {
      "sale.sale": "draft quote confirm cancel",
      "purchase.purchase": "draft quote confirm cancel",
    },
  },
  {
    what: "deliveries",
    groups: "Stock (8.0: and Stock Force Assignment)",
    models: { [WRITE]: "stock.shipment.out stock.shipment.in", [ALL]: "stock.move" },
    buttons: {
      "stock.shipment.out": "draft wait assign pick pack end cancel",
      "stock.shipment.in": "draft receive end cancel",
      "stock.move": "cancel",
    },
  },
];

const attachments: RightsArea = {
  what: "PDFs (attach: pdf)",
  groups: "one with read and create on ir.attachment",
  models: { "read create": "ir.attachment" },
};

const claims: RightsArea = {
  what: "claims (guard: claim)",
  groups: "one with create, write and delete on ir.model.data",
  models: { [ALL]: "ir.model.data" },
};

/** @param parts as {@link Needs} has them */
export function rightsLooks(books: Books, parts: ReadonlySet<string>): Check[] {
  const { guard } = books.config;
  const rights = rightsIn(books);
  const looks = [
    ...areas,
    ...(Object.keys(files).some((sink) => parts.has(sink)) ? [attachments] : []),
    ...(guard === "claim" ? [claims] : []),
  ].map((area) => rightsCheck(rights, area));
  if (guard !== "module") return looks;
  return [...looks, [`module ${SERVER_MODULE}`, () => moduleFault(books)]];
}

const rightsIn = (books: Books): Rights => ({
  name: TRYTON.name,
  remedy: "Activate the modules that the connector's README names, with trytond-admin.",
  async present(models) {
    const { modelName, ownModels } = await books.tryton.release();
    const domain = where({ [`${modelName} in`]: models });
    const rows = await rowsOf(books, "ir.model", domain, { name: called(modelName, as<string>()) });
    return new Set([...rows.map(({ name }) => name), ...ownModels]);
  },
  async lacking(needed) {
    const { ownModels } = await books.tryton.release();
    const models = [...needed].filter(([model]) => !ownModels.includes(model));
    const access = await books.tryton.call<Record<string, Record<string, unknown>>>(
      "model.ir.model.access.get_access",
      [models.map(([model]) => model)],
    );
    return models.flatMap(([model, rights]) =>
      rights.filter((right) => !access[model]?.[right]).map((right) => `${right} ${model}`),
    );
  },
  async barred(model, buttons) {
    const release = await books.tryton.release();
    const names = buttons.map((name) => buttonIn(release, name));
    const domain = where({ [`${release.ofModel} =`]: model, "name in": names });
    const fields = { ...texts("name"), ...idLists("groups") };
    const rows = await rowsOf(books, "ir.model.button", domain, fields);
    const own = await groupsOfUser(books);
    return rows
      .filter(({ groups }) => groups.length > 0 && !groups.some((id) => own.has(id)))
      .map(({ name }) => name);
  },
  never: async (area) =>
    area !== claims || (await books.tryton.release()).claims ? null : NO_CLAIMS,
});

/** With the groups above them. */
async function groupsOfUser(books: Books): Promise<ReadonlySet<number>> {
  const { user } = await books.tryton.session();
  const { groups } = await rowOf(books, "res.user", user, idLists("groups"));
  const rows = await rowsOf(books, "res.group", [], idsOrNone("parent"));
  const found = new Set(groups);
  for (const id of found) {
    const parent = rows.find((row) => row.id === id)?.parent ?? null;
    if (parent !== null) found.add(parent);
  }
  return found;
}

const NO_CLAIMS: Fault = {
  code: "no-claims",
  message: "guard is claim, and this release of Tryton lets no client work with ir.model.data",
  next: "Set guard to module, or to search if fuelbridge is the only program that brings these documents.",
};

async function moduleFault(books: Books): Promise<Fault | null> {
  const { ofModel } = await books.tryton.release();
  const module = where({ "name =": SERVER_MODULE, "state =": "activated" });
  const isThere = (await countOf(books, "ir.module", module)) > 0;
  const guarded = await countOf(
    books,
    "ir.model.field",
    where({ "module =": SERVER_MODULE, "name =": "external_id", [`${ofModel} in`]: GUARDED }),
  );
  if (isThere && guarded === GUARDED.length) return null;
  return {
    code: "no-module",
    message: isThere
      ? `the module ${SERVER_MODULE} of Tryton is of an older version`
      : `Tryton does not have the module ${SERVER_MODULE}`,
    next: "Install and activate it as the connector's README says, or set guard to search or claim.",
  };
}

/** What the module gives an id of the platform to. */
const GUARDED = ["account.invoice", "account.move"];

const SERVER_MODULE = "fuelbridge_guard";

/** @throws SourceUnavailable when Tryton, its database, the user or the company is not there */
export async function checkTryton({ tryton, config }: Books, signal: AbortSignal): Promise<void> {
  try {
    await tryton.call("model.res.user.get_preferences", [true], { signal });
  } catch (error) {
    const told = unavailable(error);
    if (!(error instanceof NoSuchCompany)) throw told;
    const next = `Correct company in the configuration, or add it to the companies of the user ${config.user} in Tryton.`;
    throw new SourceUnavailable(told.message, { next, cause: error });
  }
}

export async function examineTryton(
  books: Books,
  signal: AbortSignal,
  needs: Needs,
): Promise<readonly Examination[]> {
  const looks = (all: readonly Check[]): Promise<Examination[]> => examined(TRYTON, all, signal);
  const { surroundings } = books;
  const between = (from: string, to: string) => periodsBetween(books, from, to);
  return [
    await releaseExamination(TRYTON, TESTED, () => books.tryton.release(), signal),
    ...(await looks([...rightsLooks(books, needs.parts), ...companyChecks(books, needs)])),
    ...(await periodExaminations({ books: TRYTON, surroundings, between }, needs)),
    ...(await looks(codeLooks(books))),
    ...(await codeExaminations(TRYTON, columnsOf(books), needs, signal)),
  ];
}

async function periodsBetween(books: Books, from: string, to: string): Promise<BookPeriod[]> {
  const domain = where({
    ...(await ofCompany(books)),
    "type =": "standard",
    "end_date >=": day(from),
    "start_date <=": day(to),
  });
  const fields = texts("name state start_date end_date");
  const rows = await rowsOf(books, "account.period", domain, fields);
  return rows.map(({ name, state, start_date, end_date }) => ({
    name,
    isOpen: state === "open",
    from: start_date,
    to: end_date,
  }));
}

const placesRemedy = (decimals: number): string =>
  `Set price_decimal = ${decimals} under [product] in trytond.conf. Tryton fixes it when the database is made: ask whoever looks after it.`;

function companyChecks(books: Books, needs: Needs): Check[] {
  const { lookup, config } = books;
  const kept = async (): Promise<string> => {
    const id = await lookup.company(config.company);
    const fields = { currency: one(texts("code")) };
    return (await rowOf(books, "company.company", id, fields)).currency.code;
  };
  return [
    currencyCheck(config, needs, kept),
    pricePlacesCheck(TRYTON.name, () => lookup.pricePlaces(), placesRemedy),
  ];
}

const ACCOUNTS = ["receivable", "payable", "revenue", "expense"] as const;
const JOURNALS = ["revenue", "expense"] as const;

/** Every code that the configuration names. */
function codeLooks(books: Books): Check[] {
  const { lookup, config } = books;
  const { accounts, journals, paymentMethod, paymentTerm, warehouse } = config;
  return [
    ...ACCOUNTS.map((kind): Check => [
      `account ${accounts[kind]} (${kind})`,
      () => accountFault(books, accounts[kind], kind),
    ]),
    ...JOURNALS.map((kind): Check => [
      `journal ${journals[kind]} (${kind})`,
      () => journalFault(books, journals[kind], kind),
    ]),
    exists(`payment method "${paymentMethod}"`, () => lookup.paymentMethod(paymentMethod)),
    ...(paymentTerm === undefined
      ? []
      : [exists(`payment term "${paymentTerm}"`, () => lookup.paymentTerm(paymentTerm))]),
    exists(`warehouse ${warehouse}`, () => lookup.location(warehouse)),
    exists("unit gal", () => lookup.unit("gal")),
  ];
}

async function accountFault(
  books: Books,
  code: string,
  kind: (typeof ACCOUNTS)[number],
): Promise<Fault | null> {
  const id = await books.lookup.account(code);
  const { closed, type } = await rowOf(books, "account.account", id, ACCOUNT);
  if (!closed && type?.[kind] === true) return null;
  const next = `Set accounts.${kind} to an open account whose type is marked as ${kind} in Tryton.`;
  return wrongAccount(code, closed ? "is closed" : `is no ${kind} account`, next);
}

const ACCOUNT = {
  ...flags("closed"),
  type: oneOrNone(flags("receivable payable revenue expense")),
};

async function journalFault(
  books: Books,
  code: string,
  kind: (typeof JOURNALS)[number],
): Promise<Fault | null> {
  const id = await books.lookup.journal(code);
  const { type } = await rowOf(books, "account.journal", id, texts("type"));
  if (type === kind) return null;
  return {
    code: "wrong-journal",
    message: `journal ${code} is of type ${type}, not ${kind}`,
    next: `Set journals.${kind} to a journal of type ${kind}.`,
  };
}

/** Of the tables that the mappings in `mappings` read. */
function columnsOf(books: Books): readonly CodeColumn[] {
  const { faults } = books.lookup;
  return ledgerColumns({
    product: async (codes) => ({ faults: await faults("product", codes) }),
    unit: async (codes) => ({ faults: await faults("unit", codes) }),
    async account(codes) {
      const absent = await faults("account", codes);
      return { faults: new Map([...absent, ...(await unusable(books, codes))]) };
    },
    party: (codes) => findParties(books, codes),
  });
}

/** Accounts that Tryton books nothing on: closed ones, and headings, which have no type. */
async function unusable(
  books: Books,
  codes: readonly string[],
): Promise<ReadonlyMap<string, Fault>> {
  const unfit = either({ "closed =": true, "type =": null });
  const domain = [...where({ "code in": codes, ...(await ofCompany(books)) }), unfit];
  const fields = { ...texts("code"), ...flags("closed") };
  const rows = await rowsOf(books, "account.account", domain, fields);
  const next = "Name an open account with a type in the table, or open this one in Tryton.";
  const unusableOf = ({ code, closed }: (typeof rows)[number]) =>
    wrongAccount(code, closed ? "is closed" : "is a heading, without type", next);
  return new Map(rows.map((row) => [row.code, unusableOf(row)]));
}

async function findParties(books: Books, codes: readonly string[]): Promise<CodesFound> {
  const fields = { ...texts("code"), ...flags("active") };
  const asked = where({ "code in": codes });
  const rows = await rowsOf(books, "party.party", asked, fields, { inactive: true });
  const isActive = new Map(rows.map(({ code, active }) => [code, active]));
  return partiesFound(TRYTON.name, codes, isActive);
}

/* What parties owe by the ledger, beside what their invoices say is open. */

/**
 * What parties owe us (`invoice`), or we owe them (`bill`), by the lines of the ledger's receivable or payable accounts
 * that are not reconciled. @throws SourceUnavailable
 */
export const controlOf = (
  books: Books,
  kind: "invoice" | "bill",
  signal: AbortSignal,
): Promise<{ readonly party: string; readonly open: Decimal }[]> =>
  reading(TRYTON, async () => {
    const sums = new Map<string, Decimal>();
    for await (const page of entriesOf(books, kind === "invoice", signal))
      for (const { party, open } of page)
        sums.set(party, (sums.get(party) ?? Decimal.zero).plus(open));
    return [...sums]
      .map(([party, open]) => ({ party, open }))
      .filter(({ open }) => open.sign !== 0);
  });

async function* entriesOf(books: Books, isOwedToUs: boolean, signal: AbortSignal) {
  const open = where({
    ...(await ofCompany(books, "move.company")),
    "move.state =": "posted",
    [`account.type.${isOwedToUs ? "receivable" : "payable"} =`]: true,
    "reconciliation =": null,
  });
  const read = (id: number): Promise<Line[]> => {
    const domain = [...open, ["id", ">", id]];
    return rowsOf(books, "account.move.line", domain, LINE, { most: ROWS, signal });
  };
  for await (const { rows } of inPages(0, ({ id }: Line) => id, read, ROWS))
    yield rows.map(({ party, debit, credit }) => ({
      party: party?.code ?? "",
      open: isOwedToUs ? debit.minus(credit) : credit.minus(debit),
    }));
}

/** Of the ledger in one call. */
const ROWS = 1_000;

const LINE = { ...amounts("debit credit"), party: oneOrNone(texts("code")) };
type Line = RowOf<typeof LINE>;
