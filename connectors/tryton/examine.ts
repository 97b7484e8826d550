/** What must hold in Tryton before the next document goes: each thing with what to do when it does not. */
import type { DayToBook, Examination, Needs } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import type { Fault } from "../../src/core/record.ts";
import { reading } from "../../src/ledger/errors.ts";
import type { CodesFound, CodesNamed } from "../../src/ledger/codes.ts";
import { type Check, codeChecks, type CodesOf, exists } from "../../src/ledger/examine.ts";
import type { Books } from "./books.ts";
import * as rpc from "./rows.ts";
import { buttonIn, TESTED, TRYTON } from "./wire.ts";

export const checksOf = (books: Books, needs: Needs): Check[] => [
  releaseCheck(books),
  ...rightsChecks(books, needs.parts),
  priceCheck(books),
  periodCheck(books, needs.days),
  ...settingChecks(books),
  ...codeChecks(TRYTON.name, codesOf(books), needs),
];

/** Documents go to a release that no test runs against as well: what it has changed shows as refusals. */
const releaseCheck = (books: Books): Check => [
  "release of Tryton",
  async () => {
    const { version, series, takesNumbers } = await books.tryton.release();
    const note = `fuelbridge is tested with Tryton ${TESTED.join(" and ")}, not with ${series}: try it on a copy of the books first`;
    const isTested = TESTED.includes(series);
    const fault = takesNumbers ? null : NO_NUMBERS;
    return [{ what: `Tryton ${version}`, fault, ...(isTested ? {} : { note }) }];
  },
];

const NO_NUMBERS: Fault = {
  code: "own-numbers",
  message:
    "from 8.2 on Tryton takes the number of an invoice or a shipment from no program: customer invoices (but with numbering: tryton) and delivery tickets are refused",
  next: "Stay with Tryton 8.0, or pause the flows of both.",
};

/* The periods of what is about to be booked: of today and the next two months, and of documents that are stored and wait. */

const PERIOD = rpc.texts("name state start_date end_date");

/** One call for all of them. */
const periodCheck = (books: Books, days: readonly DayToBook[]): Check => [
  "periods",
  async () => {
    const { surroundings } = books;
    const soon = monthsFrom(surroundings.dayOf(surroundings.now().toISOString()));
    const dates = [...soon, ...days.map((one) => one.day)].toSorted();
    const domain = rpc.where({
      ...(await rpc.ofCompany(books)),
      "type =": "standard",
      "end_date >=": rpc.day(dates[0] ?? ""),
      "start_date <=": rpc.day(dates.at(-1) ?? ""),
    });
    const periods = await rpc.rowsOf(books, "account.period", domain, PERIOD);
    const shut = await shutJournals(books);
    const on = (date: string) =>
      periods.find(({ start_date, end_date }) => start_date <= date && date <= end_date);
    const faultOn = (date: string): Fault | null => {
      const period = on(date);
      const journal = shut.find((one) => one.period === period?.id)?.journal;
      if (period?.state === "open" && journal === undefined) return null;
      const code = "closed-period";
      if (period === undefined)
        return {
          code,
          message: `there is no period for ${date}`,
          next: "An accountant creates the fiscal year with its periods in Tryton.",
        };
      const isOf = period.state === "open" ? ` for the journal ${journal}` : "";
      return { code, message: `period ${period.name} is closed${isOf}`, next: OPENED };
    };
    return [
      ...soon.map((date) => ({ what: `open period for ${date}`, fault: faultOn(date) })),
      ...waiting(days, (date) => on(date)?.name ?? date.slice(0, 7), faultOn),
    ];
  },
];

const OPENED =
  "An accountant opens the period in Tryton, and its journals (Entries > Journals - Periods).";

/** Closing a period closes its journals too, and opening it again leaves them closed. */
async function shutJournals(books: Books) {
  const { journals, paymentMethod } = books.config;
  const method = await rpc.rowsOf(
    books,
    "account.invoice.payment.method",
    rpc.where({ "name =": paymentMethod, ...(await rpc.ofCompany(books)) }),
    rpc.texts("journal.code"),
  );
  const codes = [journals.revenue, journals.expense, ...method.map(({ journal }) => journal)];
  const domain = rpc.where({ "state !=": "open", "journal.code in": codes });
  const fields = { ...rpc.ids("period"), ...rpc.texts("journal.code") };
  return rpc.rowsOf(books, "account.journal.period", domain, fields);
}

/** One line for all that wait; or one for each period that cannot take its documents. */
function waiting(
  days: readonly DayToBook[],
  periodOf: (date: string) => string,
  faultOn: (date: string) => Fault | null,
): Examination[] {
  const shut = days.filter(({ day }) => faultOn(day) !== null);
  const count = sum(days);
  const documents = `${count} document${count === 1 ? "" : "s"}`;
  if (shut.length === 0 && days.length > 0)
    return [{ what: `open periods for ${documents} that wait`, fault: null }];
  return [...Map.groupBy(shut, ({ day }) => periodOf(day))].map(([name, group]): Examination => {
    const first = group.map(({ day }) => day).toSorted()[0] ?? "";
    const fault = faultOn(first);
    const flows = [...Map.groupBy(group, ({ flow }) => flow)]
      .map(([flow, its]) => `${sum(its)} of ${flow}`)
      .join(", ");
    const message = `${fault?.message ?? ""}: ${flows}, from ${first} on, cannot be booked`;
    return { what: `period ${name}`, fault: fault && { ...fault, message } };
  });
}

const sum = (days: readonly DayToBook[]): number => days.reduce((all, { count }) => all + count, 0);

/** Today and the first days of the next two months. */
const monthsFrom = (today: string): string[] => [
  today,
  ...[1, 2].map((ahead) => {
    const date = new Date(`${today.slice(0, 7)}-01T00:00:00Z`);
    date.setUTCMonth(date.getUTCMonth() + ahead);
    return date.toISOString().slice(0, 10);
  }),
];

/** Rack prices have six decimal places at the most. */
const PRICE_DECIMALS = 6;

const priceCheck = ({ lookup }: Books): Check => [
  `prices with ${PRICE_DECIMALS} decimal places`,
  async () => {
    const kept = await lookup.pricePlaces();
    if (kept >= PRICE_DECIMALS) return null;
    return {
      code: "few-decimals",
      message: `Tryton keeps prices with ${kept} decimal places; rack prices have up to ${PRICE_DECIMALS}`,
      next: `Set price_decimal = ${PRICE_DECIMALS} under [product] in trytond.conf. Tryton fixes it when the database is made: ask whoever looks after it. Until then invoice lines with such prices are booked as one piece at their amount, and orders with them wait for a person.`,
    };
  },
];

const ACCOUNTS = ["receivable", "payable", "revenue", "expense"] as const;
const ACCOUNT = {
  ...rpc.flags("closed"),
  type: rpc.oneOrNone(rpc.flags("receivable payable revenue expense")),
};

/** Every code that the configuration names. */
function settingChecks(books: Books): Check[] {
  const { lookup, config } = books;
  const { accounts, journals, paymentMethod, paymentTerm, warehouse } = config;
  return [
    ...ACCOUNTS.map((kind): Check => [
      `account ${accounts[kind]} (${kind})`,
      async () => {
        const code = accounts[kind];
        const id = await lookup.account(code);
        const { closed, type } = await rpc.rowOf(books, "account.account", id, ACCOUNT);
        if (!closed && type?.[kind] === true) return null;
        const next = `Set accounts.${kind} to an open account whose type is marked as ${kind} in Tryton.`;
        return wrongAccount(code, closed ? "is closed" : `is no ${kind} account`, next);
      },
    ]),
    ...(["revenue", "expense"] as const).map((kind): Check => [
      `journal ${journals[kind]} (${kind})`,
      async () => {
        const id = await lookup.journal(journals[kind]);
        const { type } = await rpc.rowOf(books, "account.journal", id, rpc.texts("type"));
        const message = `journal ${journals[kind]} is of type ${type}, not ${kind}`;
        const next = `Set journals.${kind} to a journal of type ${kind}.`;
        return type === kind ? null : { code: "wrong-journal", message, next };
      },
    ]),
    exists(`payment method "${paymentMethod}"`, () => lookup.paymentMethod(paymentMethod)),
    ...(paymentTerm === undefined
      ? []
      : [exists(`payment term "${paymentTerm}"`, () => lookup.paymentTerm(paymentTerm))]),
    exists(`warehouse ${warehouse}`, () => lookup.location(warehouse)),
    exists("unit gal", () => lookup.unit("gal")),
  ];
}

/** An account that documents cannot be booked on. @param is why: `is closed` */
const wrongAccount = (code: string, is: string, next: string): Fault => ({
  code: "wrong-account",
  message: `account ${code} ${is}`,
  next,
});

/** What the cross-reference tables name. */
function codesOf(books: Books): CodesOf {
  const { named } = books.lookup;
  const accounts = named("account");
  const account: CodesNamed = {
    ...accounts,
    async find(codes) {
      const { faults } = await accounts.find(codes);
      return { faults: new Map([...faults, ...(await unusable(books, codes))]) };
    },
  };
  const find = (codes: readonly string[]) => partiesIn(books, codes);
  const party = { what: "party", several: "parties", find };
  return { product: named("product"), unit: named("unit"), sold: account, bought: account, party };
}

/** Accounts that Tryton books nothing on today: closed ones, those that have ended, and headings, which have no type. */
async function unusable(books: Books, codes: readonly string[]) {
  const { surroundings } = books;
  const today = surroundings.dayOf(surroundings.now().toISOString());
  const unfit = rpc.either({ "closed =": true, "type =": null, "end_date <": rpc.day(today) });
  const domain = [...rpc.where({ "code in": codes, ...(await rpc.ofCompany(books)) }), unfit];
  const fields = { ...rpc.texts("code"), ...rpc.flags("closed"), ...rpc.textsOrNone("end_date") };
  const rows = await rpc.rowsOf(books, "account.account", domain, fields);
  const next = "Name an open account with a type in the table, or open this one in Tryton.";
  return rows.map(({ code, closed, end_date: end }) => {
    const ended = end !== null && end < today ? `ended on ${end}` : null;
    const is = closed ? "is closed" : (ended ?? "is a heading, without type");
    return [code, wrongAccount(code, is, next)] as const;
  });
}

const inactiveFault = (code: string): Fault => ({
  code: "party-inactive",
  message: `the party ${code} is not active in Tryton`,
  next: `Activate the party ${code} in Tryton, or name another one in the table.`,
});

/**
 * One that is missing is made with its first document; one that is not active keeps its code from being made, unless it was
 * merged into another one.
 */
async function partiesIn(books: Books, codes: readonly string[]): Promise<CodesFound> {
  const active = rpc.flags("active");
  const fields = { ...rpc.texts("code"), ...active, replaced_by: rpc.oneOrNone(active) };
  const asked = rpc.where({ "code in": codes });
  const rows = await rpc.rowsOf(books, "party.party", asked, fields, { inactive: true });
  const isUsed = (row: (typeof rows)[number]): boolean =>
    row.active || (row.replaced_by?.active ?? false);
  const inactive = rows.filter((row) => !isUsed(row));
  return {
    faults: new Map(inactive.map(({ code }) => [code, inactiveFault(code)])),
    unknown: codes.filter((code) => rows.every((row) => row.code !== code)),
  };
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
    const isOwedToUs = kind === "invoice";
    const domain = rpc.where({
      ...(await rpc.ofCompany(books, "move.company")),
      "move.state =": "posted",
      [`account.type.${isOwedToUs ? "receivable" : "payable"} =`]: true,
      "reconciliation =": null,
    });
    const read = (after: rpc.Domain, search: rpc.Search) =>
      rpc.rowsOf(books, "account.move.line", [...domain, after], LINE, search);
    const sums = new Map<string, Decimal>();
    for await (const { rows } of rpc.pagesOf(null, signal, read, ({ id }) => id, ROWS))
      for (const { party, debit, credit } of rows) {
        const open = isOwedToUs ? debit.minus(credit) : credit.minus(debit);
        const code = party ?? "";
        sums.set(code, (sums.get(code) ?? Decimal.zero).plus(open));
      }
    return [...sums]
      .map(([party, open]) => ({ party, open }))
      .filter(({ open }) => open.sign !== 0);
  });

/** Of the ledger in one call. */
const ROWS = 1_000;

const LINE = { ...rpc.amounts("debit credit"), ...rpc.textsOrNone("party.code") };

/* The rights that the synchronisation's user needs in Tryton, by what it does. */

interface Area {
  /** What needs them: `orders`. */
  readonly what: string;
  /** Tryton's own groups that give them, for people. */
  readonly groups: string;
  /** Models by the rights that each needs: `{ "read write": "account.move.line" }`. */
  readonly models: Readonly<Record<string, string>>;
  /** Buttons by the model that they belong to: `{ "sale.sale": "quote confirm" }`. */
  readonly buttons?: Readonly<Record<string, string>>;
}

const READ = "read";
const WRITE = "read write create";
/** Drafts that come to nothing, and lines that change, are taken back. */
const ALL = "read write create delete";

const areas: readonly Area[] = [
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
    groups: "Stock (from 7.0 on: and Stock Force Assignment)",
    models: { [WRITE]: "stock.shipment.out stock.shipment.in", [ALL]: "stock.move" },
    buttons: {
      "stock.shipment.out": "draft wait assign pick pack end cancel",
      "stock.shipment.in": "draft receive end cancel",
      "stock.move": "cancel",
    },
  },
];

const attachments: Area = {
  what: "PDFs (attach: pdf)",
  groups: "one with read and create on ir.attachment",
  models: { "read create": "ir.attachment" },
};

/** @param parts as {@link Needs} has them */
export function rightsChecks(books: Books, parts: ReadonlySet<string>): Check[] {
  const { guard } = books.config;
  const looks = [
    ...areas,
    ...([...parts].some((sink) => sink.endsWith("Files")) ? [attachments] : []),
  ].map((area): Check => [`rights: ${area.what}`, () => rightsFault(books, area)]);
  if (guard !== "module") return looks;
  return [...looks, [`module ${SERVER_MODULE}`, () => moduleFault(books)]];
}

async function rightsFault(books: Books, area: Area): Promise<Fault | null> {
  const { modelName, ofModel, ownModels, ...names } = await books.tryton.release();
  const needed = Object.entries(area.models).flatMap(([its, models]) =>
    models.split(" ").map((model) => ({ model, rights: its.split(" ") })),
  );
  const models = needed.map(({ model }) => model);
  const domain = rpc.where({ [`${modelName} in`]: models });
  const name = rpc.called(modelName, rpc.as<string>());
  const rows = await rpc.rowsOf(books, "ir.model", domain, { name });
  const present = new Set([...rows.map((row) => row.name), ...ownModels]);
  const without = models.filter((model) => !present.has(model));
  if (without.length > 0)
    return {
      code: "no-module",
      message: `${TRYTON.name} does not have ${without.join(", ")}`,
      next: "Activate the modules that the connector's README names, with trytond-admin.",
    };
  const checked = models.filter((model) => !ownModels.includes(model));
  const method = "model.ir.model.access.get_access";
  const access = await books.tryton.call<Access>(method, [checked]);
  const lacking = needed
    .filter(({ model }) => checked.includes(model))
    .flatMap(({ model, rights }) =>
      rights.filter((right) => !access[model]?.[right]).map((right) => `${right} ${model}`),
    );
  const own = area.buttons === undefined ? null : await groupsOfUser(books);
  for (const [model, its] of Object.entries(area.buttons ?? {})) {
    const buttons = its.split(" ").map((button) => buttonIn(names, button));
    const those = rpc.where({ [`${ofModel} =`]: model, "name in": buttons });
    for (const { name: button, groups } of await rpc.rowsOf(
      books,
      "ir.model.button",
      those,
      BUTTON,
    ))
      if (groups.length > 0 && !groups.some((id) => own?.has(id)))
        lacking.push(`button ${button} of ${model}`);
  }
  if (lacking.length === 0) return null;
  return {
    code: "no-right",
    message: `the user may not: ${lacking.join(", ")}`,
    next: `Add the user to these groups in ${TRYTON.name}: ${area.groups}.`,
  };
}

type Access = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
const BUTTON = { ...rpc.texts("name"), ...rpc.idLists("groups") };

/** With the groups above them. */
async function groupsOfUser(books: Books): Promise<ReadonlySet<number>> {
  const { user } = await books.tryton.session();
  const { groups } = await rpc.rowOf(books, "res.user", user, rpc.idLists("groups"));
  const rows = await rpc.rowsOf(books, "res.group", [], rpc.idsOrNone("parent"));
  const found = new Set(groups);
  for (const id of found) {
    const parent = rows.find((row) => row.id === id)?.parent ?? null;
    if (parent !== null) found.add(parent);
  }
  return found;
}

async function moduleFault(books: Books): Promise<Fault | null> {
  const { ofModel } = await books.tryton.release();
  const module = rpc.where({ "name =": SERVER_MODULE, "state =": "activated" });
  const isThere = (await rpc.countOf(books, "ir.module", module)) > 0;
  const guarded = await rpc.countOf(
    books,
    "ir.model.field",
    rpc.where({ "module =": SERVER_MODULE, "name =": "external_id", [`${ofModel} in`]: GUARDED }),
  );
  if (isThere && guarded === GUARDED.length) return null;
  return {
    code: "no-module",
    message: isThere
      ? `the module ${SERVER_MODULE} of Tryton is of an older version`
      : `Tryton does not have the module ${SERVER_MODULE}`,
    next: "Install and activate it as the connector's README says, or set guard to search.",
  };
}

/** What the module gives an id of the platform to. */
const GUARDED = ["account.invoice", "account.move"];

const SERVER_MODULE = "fuelbridge_guard";
