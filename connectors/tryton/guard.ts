/**
 * What keeps a document from being booked twice, beyond being looked for. Tryton itself takes the same invoice as often
 * as it is sent.
 *
 * `search` keeps nobody else out: two programs that send the same document in the same second both find nothing and
 * both book it. `claim` lets one of them through: an id can be taken once in `ir.model.data`. `module` has the database
 * refuse the second, in the same transaction that posts the first.
 */
import { Refused } from "../../src/core/errors.ts";
import type { Books } from "./books.ts";
import { busyWhen, openClaims } from "./claims.ts";
import type { InvoiceDocument } from "./documents.ts";
import { figuresOf } from "./invoice-values.ts";

/** A document and the values that its invoice is made with. */
export interface Prepared {
  readonly document: InvoiceDocument;
  readonly values: object;
}

export interface Guard {
  /** Invoices by the platform's id, as far as this guard keeps them. @throws TrytonFault */
  known(documents: readonly InvoiceDocument[]): Promise<ReadonlyMap<string, number>>;
  /** Makes all of them or none; their ids in order. @throws TrytonFault, Refused, Waiting */
  create(prepared: readonly Prepared[]): Promise<number[]>;
  /** What was made for these was taken back. @throws TrytonFault */
  release(documents: readonly InvoiceDocument[]): Promise<void>;
}

export function openGuard(books: Books): Guard {
  switch (books.config.guard) {
    case "search":
      return searchGuard(books);
    case "claim":
      return claimGuard(books);
    case "module":
      return moduleGuard(books);
  }
}

/** Warnings at posting that need no person, by the beginning of their names: a due date in the past. */
export const HARMLESS = ["invoice_payment_term"];

const createAll = (books: Books, prepared: readonly Prepared[]): Promise<number[]> =>
  books.tryton.call("model.account.invoice.create", [prepared.map(({ values }) => values)]);

const searchGuard = (books: Books): Guard => ({
  known: async () => new Map(),
  create: (prepared) => createAll(books, prepared),
  release: async () => {},
});

/** See claims.ts: one claim per invoice, and what is taken back gives its claim back. */
function claimGuard(books: Books): Guard {
  const claims = openClaims(books, "account.invoice");
  // The two sides of one invoice may be companies of one database.
  const namesOf = async (documents: readonly InvoiceDocument[]): Promise<string[]> => {
    const { company } = await books.tryton.session();
    return documents.map(({ id, type }) => `${id}.${type}.${company}`);
  };
  return {
    async known(documents) {
      const names = await namesOf(documents);
      const known = await claims.known(names);
      return new Map(
        documents.flatMap(({ id }, at) => {
          const invoice = known.get(names[at] as string) ?? null;
          return invoice === null ? [] : [[id, invoice] as const];
        }),
      );
    },
    async create(prepared) {
      const taken = await claims.take(await namesOf(prepared.map(({ document }) => document)));
      const made = await createAll(books, prepared).catch(claims.dropping(taken));
      await claims.keep(taken, made);
      return made;
    },
    release: async (documents) => claims.release(await namesOf(documents)),
  };
}

/** The server module of `server-module/`: one call creates, compares and posts, or does nothing. */
function moduleGuard({ tryton, config }: Books): Guard {
  return {
    async known(documents) {
      const [first] = documents;
      if (first === undefined) return new Map();
      const domain = [
        ["company", "=", (await tryton.session()).company],
        ["type", "=", first.type],
        ["external_id", "in", documents.map(({ id }) => id)],
      ];
      const rows = await tryton.call<{ id: number; external_id: string }[]>(
        "model.account.invoice.search_read",
        [domain, 0, null, null, ["external_id"]],
      );
      return new Map(rows.map(({ id, external_id }) => [external_id, id]));
    },
    async create(prepared) {
      const documents = prepared.map(({ document, values }) => {
        const { untaxed, tax, total } = figuresOf(document);
        return {
          values: { ...values, external_id: document.id },
          untaxed_amount: untaxed,
          tax_amount: tax,
          total_amount: total,
        };
      });
      const params = [documents, config.posting === "post", HARMLESS];
      return tryton
        .call<number[]>("model.account.invoice.fuelbridge_book", params)
        .catch(busyWhen(/FUELBRIDGE-DUPLICATE/))
        .catch(totalDiffers);
    },
    release: async () => {},
  };
}

function totalDiffers(error: unknown): never {
  const words = error instanceof Error ? TOTAL.exec(error.message) : null;
  if (words === null) throw error;
  const [, id, figure, booked, expected] = words;
  throw differing(`platform id ${id}`, `${figure} ${booked} instead of ${expected}`);
}

const TOTAL = /FUELBRIDGE-TOTAL: (\S+) (\w+?)_amount (\S+) (\S+)/;

/** @param differs `total 18104.38 instead of 18104.37`: Tryton's figure, then the document's */
export const differing = (what: string, differs: string): Refused =>
  new Refused({
    code: "total-differs",
    message: `Tryton would book ${what} with ${differs}`,
    next: "Lines, taxes and totals of the document do not add up: correct it where it comes from, or book it by hand; then retry.",
  });
