/** Business Central in the table of fates: a company of the tests' own behind Microsoft's interface. */
import type { Company, Row } from "../../connectors/business-central/company.fixture.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { openCentralSite, TERMINAL } from "../business-central/site.ts";
import { today } from "../tryton/ledger.ts";
import { d, NO_NUMBER, PRODUCTS } from "./platform.ts";
import { type Counterpart, NO_COPY, NOT_CARRIED } from "./round.ts";
import type { Actor, Held, Side } from "./table.ts";

const NO_DELIVERY = "the interface ships and receives nothing without an invoice";

export const central: Counterpart = {
  connector: "business-central",
  async open(folder, backup) {
    const site = await openCentralSite(folder, backup, { scenario: "empty", yaml: quick });
    return { ...site, side: sideOf(site.books), backup: () => site.books.backup() };
  },
  lacks: {
    ...NOT_CARRIED,
    "ticket to books": NO_DELIVERY,
    "delivery to books": NO_DELIVERY,
  },
};

/** Nothing waits for what settles late. */
const quick = (yaml: string): string =>
  yaml.replace("  environment: live\n", "  environment: live\n  settle: 1s\n");

let counter = 0;

/** Documents by their sets: their lines, and the field of their party. */
const SETS = {
  salesInvoices: ["salesInvoiceLines", "customerNumber", "customers"],
  purchaseInvoices: ["purchaseInvoiceLines", "vendorNumber", "vendors"],
  salesOrders: ["salesOrderLines", "customerNumber", "customers"],
  purchaseOrders: ["purchaseOrderLines", "vendorNumber", "vendors"],
} as const;
type Documents = keyof typeof SETS;

function sideOf(books: Company): Side {
  const row = (set: string, { id }: Pick<Held, "id">): Row => {
    const found = books.rows(set).find((one) => one.id === id);
    if (found === undefined) throw new Error(`Business Central has no ${set} ${id}`);
    return found;
  };
  const linesIn = (set: Documents, one: Row) => one[SETS[set][0]] as Record<string, unknown>[];
  const commentsIn = (set: Documents, one: Row): string =>
    linesIn(set, one)
      .filter(({ lineType }) => lineType === "Comment")
      .map(({ description }) => String(description))
      .join("\n");
  const markIn = (set: Documents, one: Row): string | undefined => {
    const { externalDocumentNumber: external } = one;
    const [, digits] =
      /^FBO?([0-9A-F]{32})$/.exec(typeof external === "string" ? external : "") ?? [];
    const parts = /(.{8})(.{4})(.{4})(.{4})(.{12})/.exec(digits?.toLowerCase() ?? "");
    return parts?.slice(1).join("-") ?? /platform:(\S+)/.exec(commentsIn(set, one))?.[1];
  };
  const numberIn = (set: Documents, one: Row): string =>
    set === "purchaseInvoices"
      ? String(one["vendorInvoiceNumber"])
      : (/^(?:invoice|order) (\S+)/m.exec(commentsIn(set, one))?.[1] ?? String(one["number"]));
  /** Our credit memo of a bill is posted. */
  const isCredited = (mark: string | undefined): boolean =>
    books
      .rows("purchaseCreditMemos")
      .some(
        ({ vendorCreditMemoNumber: number, status }) =>
          number === `FB${mark?.replaceAll("-", "").toUpperCase()}` && status !== "Draft",
      );
  /** The id of the party with this number. */
  const partyOf = (set: Documents, one: Row): string =>
    books.rows(SETS[set][2]).find(({ number }) => number === one[SETS[set][1]])?.id ?? "";
  /** Its number changes, and all that names it with it, as Business Central renames. */
  const rename = (list: "customers" | "vendors", id: string): void => {
    const number = String(row(list, { id })["number"]);
    books.edit(list, id, { number: `${number}-NEW` });
    for (const [set, [, field, its]] of Object.entries(SETS))
      for (const one of books.rows(set))
        if (its === list && one[field] === number) one[field] = `${number}-NEW`;
  };
  const cutWrite = (sets: readonly string[]) => async (when: "before" | "after") => {
    let isOver = false;
    const path = new RegExp(`^POST [^ ]*/(?:${sets.join("|")}) `);
    books.meets = (request) => {
      if (isOver || !path.test(request)) return null;
      isOver = true;
      return when;
    };
  };
  const cutList = (set: string) => async () => {
    let isOver = false;
    books.meets = (request) => {
      if (isOver || !request.startsWith("GET ") || !request.endsWith(`/${set}`)) return null;
      isOver = true;
      return "before";
    };
  };
  const touch = (set: string) => async (held: Held) => books.edit(set, held.id, {});

  const heldOf = (set: Documents, one: Row, isOurs = true): Held => {
    const partner = isOurs ? markIn(set, one) : undefined;
    return {
      id: one.id,
      number: isOurs ? numberIn(set, one) : String(one["number"]),
      ...(partner === undefined ? {} : { partner }),
      party: partyOf(set, one),
      stands: one["status"] !== "Canceled" && !isCredited(partner),
      names: [String(one["number"])],
    };
  };
  const documents = (set: Documents, isOurs: boolean): Actor => ({
    list: async () =>
      books
        .rows(set)
        .filter((one) => (markIn(set, one) !== undefined) === isOurs)
        .map((one) => heldOf(set, one, isOurs)),
    remove: async (held) => books.delete(set, held.id),
    recode: async (held) => rename(SETS[set][2], partyOf(set, row(set, held))),
  });
  const isOrder = (set: Documents): boolean => set.endsWith("Orders");
  const received = (set: Documents): Actor => ({
    ...documents(set, true),
    cutWrite: cutWrite([set]),
    // Where the number stands: in its field, or in a comment line.
    renumber: async (held) => {
      const number = `${held.number}-NEW`;
      if (set === "purchaseInvoices") books.edit(set, held.id, { vendorInvoiceNumber: number });
      for (const line of linesIn(set, row(set, held)))
        if (line["lineType"] === "Comment" && set !== "purchaseInvoices")
          line["description"] = String(line["description"]).replace(String(held.number), number);
      books.edit(set, held.id, {});
      return number;
    },
    copy: async (held, byHand) => {
      const { id, number, externalDocumentNumber, ...rest } = row(set, held);
      void [id, number];
      const lines = linesIn(set, row(set, held))
        .filter(({ lineType }) => byHand !== true || lineType !== "Comment")
        .map((line) => ({ ...line }));
      const own = byHand === true ? `HAND-${9_000 + ++counter}` : `${held.number}-C`;
      const values = {
        ...rest,
        ...(byHand === true || externalDocumentNumber === undefined
          ? {}
          : { externalDocumentNumber }),
        ...(set === "purchaseInvoices" ? { vendorInvoiceNumber: own } : {}),
        [SETS[set][0]]: lines,
      };
      const made = books.enter(set, values);
      return heldOf(set, made, byHand !== true);
    },
    ...(isOrder(set)
      ? { lacks: { void: "an order that is given up is deleted: Business Central cancels none" } }
      : {
          void: async (held: Held) =>
            books.edit(set, held.id, { status: "Canceled", remainingAmount: Decimal.zero }),
        }),
  });

  const entries = (): Row[] =>
    books.rows("generalLedgerEntries").filter((one) => (one["debitAmount"] as Decimal).sign > 0);
  const paidOf = (one: Row): string => String(one["documentNumber"]);
  const payments: Actor = {
    list: async () =>
      entries()
        .filter((one) => one["reversed"] !== true)
        .map((one) => ({
          id: paidOf(one),
          number: String(one["description"]),
          partner: String(/^payment:(\S+)/.exec(String(one["description"]))?.[1]),
          stands: !entries().some((other) => other["reverses"] === paidOf(one)),
        })),
    cutWrite: cutWrite(["customerPayments", "vendorPayments"]),
    // The same entries the other way round, and the invoice is open again.
    void: async (held) => {
      const all = books.rows("generalLedgerEntries");
      for (const one of all.filter((entry) => paidOf(entry) === held.id))
        books.enter("generalLedgerEntries", {
          ...one,
          debitAmount: one["creditAmount"],
          creditAmount: one["debitAmount"],
          reversed: true,
          reverses: held.id,
        });
      const paid = entries().find((one) => paidOf(one) === held.id);
      for (const set of ["salesInvoices", "purchaseInvoices"])
        for (const invoice of books.rows(set))
          if (paid !== undefined && invoice.id === paid["invoiceId"])
            books.edit(set, invoice.id, {
              status: "Open",
              remainingAmount: (invoice["remainingAmount"] as Decimal).plus(
                paid["debitAmount"] as Decimal,
              ),
            });
    },
    lacks: {
      renumber: "entries of the general ledger are never changed",
      remove: "entries of the general ledger are never deleted: they are reversed",
      recode: "an entry of the general ledger names an account, and no party",
      copy: NO_COPY,
    },
  };

  const invoice = (): Row => {
    const amount = d(1_000 + ++counter);
    const customer = books
      .rows("customers")
      .findLast(({ number }) => String(number).startsWith("F-"));
    return books.enter("salesInvoices", {
      number: `PS-INV${90_000 + counter}`,
      customerNumber: customer?.["number"],
      invoiceDate: today(),
      postingDate: today(),
      dueDate: today(),
      salesInvoiceLines: [
        {
          lineType: "Item",
          lineObjectNumber: "ULSD-CLR",
          unitOfMeasureCode: "GAL",
          description: "ULSD",
          quantity: amount,
          unitPrice: d(1),
          taxCode: "NONTAXABLE",
        },
      ],
    });
  };
  const own: Actor = {
    ...documents("salesInvoices", false),
    make: async () => heldOf("salesInvoices", invoice(), false),
    void: async (held) =>
      books.edit("salesInvoices", held.id, { status: "Canceled", remainingAmount: Decimal.zero }),
    copy: async (held) => {
      const { id, number, ...rest } = row("salesInvoices", held);
      void [id, number];
      const lines = linesIn("salesInvoices", row("salesInvoices", held));
      const values = { ...rest, number: `PS-INV${90_000 + ++counter}`, salesInvoiceLines: lines };
      return heldOf("salesInvoices", books.enter("salesInvoices", values), false);
    },
    touch: touch("salesInvoices"),
    cutList: cutList("salesInvoices"),
    lacks: { renumber: "the number of a posted invoice is never changed" },
  };
  const settlements: Actor = {
    list: async () =>
      books
        .rows("salesInvoices")
        .filter((one) => markIn("salesInvoices", one) === undefined && one["wasPaid"] === true)
        .map((one) => ({
          ...heldOf("salesInvoices", one, false),
          stands: one["status"] === "Paid",
        })),
    make: async () => {
      const one = invoice();
      books.settle("salesInvoices", one.id);
      books.edit("salesInvoices", one.id, { wasPaid: true });
      return heldOf("salesInvoices", one, false);
    },
    void: async (held) =>
      books.edit("salesInvoices", held.id, {
        status: "Open",
        remainingAmount: row("salesInvoices", held)["totalAmountIncludingTax"],
      }),
    touch: touch("salesInvoices"),
    cutList: cutList("salesInvoices"),
    recode: async (held) =>
      rename("customers", partyOf("salesInvoices", row("salesInvoices", held))),
    lacks: {
      renumber: "no number of a payment goes to the platform: it is told that the invoice is paid",
      remove: "entries of a payment are never deleted: they are reversed",
      copy: "what is paid cannot be paid again: a second payment stays on the customer's account",
    },
  };

  const parties = (list: "customers" | "vendors"): Actor => {
    const [prefix, word] = list === "customers" ? ["F", "Farm"] : ["S", "Supply"];
    const held = (one: Row): Held => ({
      id: one.id,
      number: String(one["number"]),
      stands: one["blocked"] !== "All",
      names: [String(one["displayName"])],
    });
    const add = (displayName: string): Held =>
      held(books.enter(list, { number: `${prefix}-${1_000 + counter}`, displayName }));
    return {
      list: async () => books.rows(list).map(held),
      make: async () => add(`${word} ${1_000 + ++counter}`),
      recode: async ({ id }) => rename(list, id),
      void: async ({ id }) => books.edit(list, id, { blocked: "All" }),
      remove: async ({ id }) => books.delete(list, id),
      copy: async ({ names }) => {
        counter++;
        return add(names?.[0] ?? "");
      },
      touch: touch(list),
      cutList: cutList(list),
      lacks: { renumber: "the number of a party is its code" },
    };
  };

  const priceOf = (one: Row): Held => ({
    id: one.id,
    number: `${TERMINAL} ${PRODUCTS[String(one["number"])] ?? String(one["number"])}`,
    stands: one["blocked"] !== true,
    names: [`${TERMINAL}|${String(one["number"])}`],
  });
  const priced = (): Row[] =>
    books.rows("items").filter((one) => (one["unitPrice"] as Decimal).sign > 0);
  const prices: Actor = {
    list: async () => priced().map(priceOf),
    make: async () => {
      const there = priced().map(({ number }) => String(number));
      const next = Object.keys(PRODUCTS).find((one) => !there.includes(one));
      const item = books.rows("items").find(({ number }) => number === next) as Row;
      books.edit("items", item.id, { unitPrice: d("2.5") });
      return priceOf(item);
    },
    recode: async ({ id }) => books.edit("items", id, { number: "ULSD-NEW" }),
    void: async ({ id }) => books.edit("items", id, { blocked: true }),
    remove: async ({ id }) => books.delete("items", id),
    touch: touch("items"),
    cutList: cutList("items"),
    lacks: {
      renumber: NO_NUMBER,
      copy: "Business Central has one item of a number",
    },
  };
  return {
    "invoice to books": received("salesInvoices"),
    "bill to books": received("purchaseInvoices"),
    "payment to books": payments,
    "order to books": received("salesOrders"),
    "purchase to books": received("purchaseOrders"),
    "customer to platform": parties("customers"),
    "supplier to platform": parties("vendors"),
    "invoice to platform": own,
    "payment to platform": settlements,
    "price to platform": prices,
  };
}
