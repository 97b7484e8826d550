/** Invoices and bills in Tryton, for src/ledger/invoices.ts. */
import type { LedgerAdapter, Capabilities, Desired } from "../../src/ledger/port.ts";
import { invoiceAdapter as adapterOf } from "../../src/ledger/invoices.ts";
import { PAGE_RECORDS } from "../../src/ledger/holdings.ts";
import { markOf } from "../../src/ledger/marks.ts";
import type { Scope } from "../../src/core/holdings.ts";
import { type Books, notesOf, resourceOf } from "./books.ts";
import { openGuard } from "./guard.ts";
import {
  creditsOf,
  type TrytonInvoice,
  type InvoiceType,
  isDraft,
  NO_CREDIT_NOTE,
  readAgain,
  readInvoices,
} from "./invoice-facts.ts";
import { step } from "./invoice-steps.ts";
import { expectedOf, invoiceValues, isNumbered } from "./invoice-values.ts";
import { type Addressed, addressedAll } from "./parties.ts";
import { texts } from "./rows.ts";
import {
  countOf,
  type Domain,
  either,
  inAnyCase,
  ofCompany,
  rowsOf,
  scopeDomain,
  where,
} from "./search.ts";
import { invoiceChanges } from "./sources/invoices.ts";

type Kind = "invoice" | "bill";
const MODEL = "account.invoice";

export function invoiceAdapter<K extends Kind>(
  books: Books,
  kind: K,
): LedgerAdapter<K, TrytonInvoice> {
  const [type, other] = kind === "invoice" ? (["out", "in"] as const) : (["in", "out"] as const);
  const guard = openGuard(books, MODEL, type);
  const ofSide = async () => where({ ...(await ofCompany(books)), "type =": type });
  const listed = async (scope: Scope): Promise<Domain> => {
    const isOpen = ["state", "in", ["draft", "validated", "posted"]];
    const within = scopeDomain(scope, "invoice_date", ["write_date", "create_date"], isOpen);
    return [...(await ofSide()), NO_CREDIT_NOTE, within];
  };
  return adapterOf<K, TrytonInvoice>({
    can: capabilitiesOf(books, type),
    givesNumber: isNumbered(books, type),
    guard,
    notes: notesOf(books),
    resourceOf,
    fixedIn,
    expected: (documents) => expectedOf(books, documents),
    async search(names, signal, compared = []) {
      const {
        marks = [],
        references = [],
        typed = [],
        numbers = [],
        ids = [],
        turned = [],
      } = names;
      const clause = either(
        {
          "comment in": marks.map(markOf),
          "reference in": references,
          "number in": numbers,
          "id in": ids,
        },
        ...inAnyCase("reference", typed),
      );
      const there = { "type =": other, "comment in": turned.map(markOf), "state !=": "cancelled" };
      const sides = [[...(await ofSide()), clause], ...(turned.length === 0 ? [] : [where(there)])];
      const company = where(await ofCompany(books));
      return readAgain(books, [...company, NO_CREDIT_NOTE, ["OR", ...sides]], compared, { signal });
    },
    async page(scope, after, signal) {
      const domain = [...(await listed(scope)), ["id", ">", after]];
      return readInvoices(books, domain, { most: PAGE_RECORDS, signal });
    },
    count: async (scope, signal) => countOf(books, MODEL, await listed(scope), signal),
    credits: (entries, signal) => creditsOf(books, entries, signal),
    async owners(numbers, signal) {
      const domain = [...(await ofSide()), ["number", "in", numbers]];
      const rows = await rowsOf(books, MODEL, domain, texts("number state"), { signal });
      return rows.map((row) => ({ ...row, isCancelled: row.state === "cancelled" }));
    },
    // Flows read customer invoices only.
    changes: async (ids, signal) => (type === "in" ? [] : invoiceChanges(books, ids, signal)),
    prepare: (desired) => prepare(books, guard.isErps, desired),
    step: (to, steps) => step(books, to, steps),
  });
}

export const capabilitiesOf = (books: Books, type: InvoiceType): Capabilities => ({
  has: ["draft", "posted", "settled", "cancelled"],
  byUs: "settled",
  ...(books.config.posting === "post" ? {} : { posts: false }),
  amend: { "days.due": "settled", reference: "draft", order: "draft", state: "settled" },
  atomic: books.config.batch,
  numbered: isNumbered(books, type) ? "once" : "per-party",
});

/**
 * On a posted invoice Tryton changes the due date and nothing else, where it has one term. Of a draft that nobody else
 * has touched we write the head again.
 */
export const fixedIn = (
  entry: Pick<TrytonInvoice, "state" | "made" | "ours" | "terms">,
): string[] => {
  const isOpen = entry.made && (isDraft(entry) ? entry.ours : entry.terms.length === 1);
  return isOpen ? [] : ["days.due", "reference", "order"];
};

async function prepare(books: Books, isErps: boolean, desired: readonly Desired<Kind>[]) {
  const parties = await addressedAll(books, desired);
  const all: object[] = [];
  for (const [at, one] of desired.entries()) {
    const values = await invoiceValues(books, one, parties[at] as Addressed);
    all.push(isErps ? { ...values, external_id: one.mark } : values);
  }
  return () => books.tryton.call<number[]>("model.account.invoice.create", [all]);
}
