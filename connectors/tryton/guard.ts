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
import type { InvoiceDocument } from "./documents.ts";
import { TrytonFault } from "./fault.ts";
import { figuresOf } from "./invoice-values.ts";
import { isRefusal, Waiting } from "./outcome.ts";

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

interface Claim {
  readonly id: number;
  readonly fs_id: string;
  readonly db_id: number | null;
  readonly create_date: string;
  readonly write_date: string | null;
}

/**
 * A claim is made before the invoice and learns its id after it. One without an invoice was left by a program that was
 * killed in between, unless that program is still at it: it is taken over once no call of its owner can be running.
 */
function claimGuard(books: Books): Guard {
  const { tryton, config } = books;
  const call = <T>(method: string, ...params: unknown[]): Promise<T> =>
    tryton.call<T>(`model.ir.model.data.${method}`, params);
  // The two sides of one invoice may be companies of one database.
  const nameOf = async ({ id, type }: InvoiceDocument): Promise<string> =>
    `${id}.${type}.${(await tryton.session()).company}`;

  async function claims(documents: readonly InvoiceDocument[]): Promise<Map<string, Claim>> {
    const names = new Map<string, string>();
    for (const document of documents) names.set(await nameOf(document), document.id);
    const domain = [
      ["module", "=", MODULE],
      ["model", "=", "account.invoice"],
      ["fs_id", "in", [...names.keys()]],
    ];
    const fields = ["fs_id", "db_id", "create_date", "write_date"];
    const rows = await call<Claim[]>("search_read", domain, 0, null, null, fields);
    return new Map(rows.map((row) => [names.get(row.fs_id) as string, row]));
  }

  /** @throws Waiting while the owner of one may still be at it */
  async function dropOld(documents: readonly InvoiceDocument[]): Promise<void> {
    const left = [...(await claims(documents)).values()].map(({ id }) => id);
    if (left.length === 0) return;
    // By Tryton's clock alone: it says when this write was.
    await call("write", left, { noupdate: true });
    const ownerMs = 2 * config.deadlineMs + config.settleMs;
    for (const { create_date, write_date } of (await claims(documents)).values()) {
      const age = Date.parse(`${write_date ?? create_date}Z`) - Date.parse(`${create_date}Z`);
      if (age < ownerMs)
        throw new Waiting("claimed by another send that may be under way", ownerMs - age);
    }
    await call("delete", left);
  }

  return {
    async known(documents) {
      const found = await claims(documents);
      return new Map(
        [...found].flatMap(([id, { db_id }]) => (db_id === null ? [] : [[id, db_id] as const])),
      );
    },
    async create(prepared) {
      const documents = prepared.map(({ document }) => document);
      await dropOld(documents);
      const rows: object[] = [];
      for (const document of documents)
        rows.push({
          module: MODULE,
          model: "account.invoice",
          fs_id: await nameOf(document),
          noupdate: true,
        });
      const claimed = await call<number[]>("create", rows).catch(busyWhen(/must be unique/));
      try {
        const made = await createAll(books, prepared);
        await call("write", ...claimed.flatMap((claim, at) => [[claim], { db_id: made[at] }]));
        return made;
      } catch (error) {
        if (isRefusal(error)) await call("delete", claimed);
        throw error;
      }
    },
    async release(documents) {
      const found = [...(await claims(documents)).values()].map(({ id }) => id);
      if (found.length > 0) await call("delete", found);
    },
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

const MODULE = "fuelbridge";
const JUST_TAKEN_MS = 1_000;

/** Another send of the same document came first: what it made is found the next time. */
const busyWhen =
  (words: RegExp) =>
  (error: unknown): never => {
    if (error instanceof TrytonFault && words.test(error.message))
      throw new Waiting("another send of the same document came first", JUST_TAKEN_MS);
    throw error;
  };

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
