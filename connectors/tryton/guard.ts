/**
 * What keeps a document from being booked twice, beyond being looked for. Tryton itself takes the same invoice as often
 * as it is sent.
 *
 * `search` keeps nobody else out: two programs that send the same document in the same second both find nothing and
 * both book it. `claim` lets one of them through: an id can be taken once in `ir.model.data`. `module` has the database
 * refuse the second one when it is made.
 */
import type { Books } from "./books.ts";
import { busyWhen, openClaims } from "./claims.ts";
import type { InvoiceDocument } from "../../src/books/documents.ts";

/** A document and the values that its invoice is made with. */
export interface Prepared {
  readonly document: InvoiceDocument;
  readonly values: object;
}

export interface Guard {
  /** Invoices by the platform's id, as far as this guard keeps them. @throws TrytonFault */
  known(documents: readonly InvoiceDocument[]): Promise<ReadonlyMap<string, number>>;
  /** Makes all of them or none; their ids in order. @throws TrytonFault, Refused */
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
      if (documents.length === 0) return new Map();
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

/** The server module of `server-module/`: the platform's id is unique there. */
function moduleGuard({ tryton }: Books): Guard {
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
    create: (prepared) =>
      tryton
        .call<number[]>("model.account.invoice.create", [
          prepared.map(({ document, values }) => ({ ...values, external_id: document.id })),
        ])
        .catch(busyWhen(/FUELBRIDGE-DUPLICATE/)),
    release: async () => {},
  };
}
