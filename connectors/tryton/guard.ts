/**
 * What keeps an invoice or a payment from being made twice, beyond being looked for (ADR 0015): Tryton takes the same one as
 * often as it is sent, and two programs that send it in the same second both find nothing. `search` keeps nobody else out;
 * `claim` lets one send through, for a name can be taken once in `ir.model.data`; `module` has the database refuse the second
 * one when it is made.
 */
import { Refused } from "../../src/core/errors.ts";
import { sorted } from "../../src/ledger/errors.ts";
import { LedgerError } from "../../src/ledger/port.ts";
import type { Books } from "./books.ts";
import * as rpc from "./rows.ts";
import { busy, TRYTON, TrytonError } from "./wire.ts";

/** Marks are external ids; records are database ids. Every method @throws LedgerError */
export interface Guard {
  /** The ERP refuses a second one by itself: the mark goes with the values. */
  readonly isErps: boolean;
  /** Records by their marks, as far as this guard keeps them. */
  known(marks: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /**
   * Makes all of them or none. @param make their records in order; null where it does not know one
   * @throws LedgerError when another send may be under way or came first, what `make` throws
   */
  create<Made extends number | null>(
    marks: readonly string[],
    make: () => Promise<readonly Made[]>,
  ): Promise<readonly Made[]>;
  /** What was made for these was taken back. */
  release(marks: readonly string[]): Promise<void>;
}

type DocumentType = "in" | "out";

/** @param model what is made: `account.invoice` @param type of the document: both sides may be companies of one database */
export const openGuard = (books: Books, model: string, type: DocumentType): Guard =>
  ({ search: () => noGuard, claim: claimGuard, module: moduleGuard })[books.config.guard](
    books,
    model,
    type,
  );

/** Nobody else is kept out. */
export const noGuard: Guard = {
  isErps: false,
  known: async () => new Map(),
  create: (_, make) => make(),
  release: async () => {},
};

/** A name that is taken. `db_id` null: what it was taken for is not made, or not known to be. */
const CLAIM = {
  ...rpc.texts("fs_id create_date"),
  ...rpc.idsOrNone("db_id"),
  ...rpc.textsOrNone("write_date"),
};

const MODULE = "fuelbridge";
const JUST_TAKEN_MS = 1_000;

/**
 * A claim is made before the document and learns its record after it. One without a document was left by a program that
 * was killed in between, unless that program is still at it: it is taken over once no call of its owner can be running.
 * What is taken back gives its claim back.
 */
function claimGuard(books: Books, model: string, type: DocumentType): Guard {
  const { tryton, config } = books;
  /** The longest time that a claim's owner may still be at it, ms. */
  const ownerMs = 2 * config.deadlineMs + config.settleMs;
  const call = <T>(method: string, ...params: unknown[]): Promise<T> =>
    tryton.call<T>(`model.ir.model.data.${method}`, params);
  const ending = async () => `.${type}.${(await tryton.session()).company}`;
  const namesOf = async (marks: readonly string[]): Promise<string[]> => {
    const end = await ending();
    return marks.map((mark) => `${mark}${end}`);
  };
  async function claimsOf(marks: readonly string[]) {
    const names = { "module =": MODULE, "model =": model, "fs_id in": await namesOf(marks) };
    return rpc.rowsOf(books, "ir.model.data", rpc.where(names), CLAIM);
  }
  const drop = (ids: readonly number[]): Promise<void> => call("delete", ids);
  const leftOf = async (marks: readonly string[]): Promise<number[]> =>
    (await claimsOf(marks)).map(({ id }) => id);

  /** @throws LedgerError while the owner of one may still be at it */
  async function dropOld(marks: readonly string[]): Promise<void> {
    const left = await leftOf(marks);
    if (left.length === 0) return;
    // Written without a change: its age is then up to now, by Tryton's clock.
    await call("write", left, { noupdate: true });
    for (const { create_date, write_date } of await claimsOf(marks)) {
      const ageMs = Date.parse(`${write_date ?? create_date}Z`) - Date.parse(`${create_date}Z`);
      if (ageMs < ownerMs)
        throw busy("claimed by another send that may be under way", ownerMs - ageMs);
    }
    await drop(left);
  }

  return {
    isErps: false,
    async known(marks) {
      const all = marks.length === 0 ? [] : await claimsOf(marks);
      const end = (await ending()).length;
      return new Map(
        all.flatMap(({ fs_id, db_id }) =>
          db_id === null ? [] : [[fs_id.slice(0, -end), db_id] as const],
        ),
      );
    },
    async create(marks, make) {
      await dropOld(marks);
      const values = { module: MODULE, model, noupdate: true };
      const names = await namesOf(marks);
      const claims = names.map((fs_id) => ({ ...values, fs_id }));
      const taken = await call<number[]>("create", claims).catch(busyWhen(/must be unique/));
      const made = await make().catch(async (error: unknown) => {
        // One that stays is taken over in its time.
        if (didNothing(error)) await drop(taken).catch(() => {});
        throw error;
      });
      const kept = taken.flatMap((claim, at) => {
        const record = made[at] ?? null;
        return record === null ? [] : [[claim], { db_id: record }];
      });
      if (kept.length > 0) await call("write", ...kept);
      return made;
    },
    async release(marks) {
      const left = await leftOf(marks);
      if (left.length > 0) await drop(left);
    },
  };
}

const didNothing = (error: unknown): boolean =>
  error instanceof Refused ||
  (error instanceof LedgerError && sorted(error, "create", TRYTON.errors).sort !== "unknown");

/** Another send of the same document came first: what it made is found the next time. */
const busyWhen =
  (words: RegExp) =>
  (error: unknown): never => {
    if (error instanceof TrytonError && words.test(error.message))
      throw busy("another send of the same document came first", JUST_TAKEN_MS);
    throw error;
  };

/** The server module of `server-module/`: the platform's id is unique there. */
const moduleGuard = (books: Books, model: string, type: DocumentType): Guard => ({
  ...noGuard,
  isErps: true,
  async known(marks) {
    if (marks.length === 0) return new Map();
    const domain = rpc.where({
      ...(await rpc.ofCompany(books)),
      "external_id in": marks,
      ...(model === "account.invoice" ? { "type =": type } : {}),
    });
    const rows = await rpc.rowsOf(books, model, domain, rpc.texts("external_id"));
    return new Map(rows.map(({ id, external_id }) => [external_id, id]));
  },
  create: (_, make) => make().catch(busyWhen(/FUELBRIDGE-DUPLICATE/)),
});
