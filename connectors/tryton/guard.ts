/**
 * What keeps an invoice or a payment from being made twice, beyond being looked for. Tryton itself takes the same one as
 * often as it is sent.
 *
 * `search` keeps nobody else out: two programs that send the same document in the same second both find nothing and
 * both book it. `claim` lets one of them through: an id can be taken once in `ir.model.data`. `module` has the database
 * refuse the second one when it is made.
 */
import { Refused } from "../../src/core/errors.ts";
import type { Books } from "./books.ts";
import { busy, TrytonError } from "./errors.ts";
import type { InvoiceType } from "./invoice-facts.ts";
import { ofCompany, rowsOf } from "./search.ts";

export interface Guard {
  /** Tryton refuses a second one by itself: the platform's id goes with the values, as `external_id`. */
  readonly isModule: boolean;
  /** Database ids by the platform's id, as far as this guard keeps them. @throws TrytonError */
  known(ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /**
   * Makes all of them or none. @param make their database ids in order; null where it does not know one
   * @throws TrytonError (`busy` when another send may be under way or came first), what `make` throws
   */
  create<Made extends number | null>(
    ids: readonly string[],
    make: () => Promise<readonly Made[]>,
  ): Promise<readonly Made[]>;
  /** What was made for these was taken back. @throws TrytonError */
  release(ids: readonly string[]): Promise<void>;
}

/** @param model what is made: `account.invoice` @param type of the document: both sides may be companies of one database */
export function openGuard(books: Books, model: string, type: InvoiceType): Guard {
  switch (books.config.guard) {
    case "search":
      return {
        isModule: false,
        known: async () => new Map(),
        create: (_, make) => make(),
        release: async () => {},
      };
    case "claim":
      return claimGuard(books, model, type);
    case "module":
      return moduleGuard(books, model, type);
  }
}

/**
 * Ids that are taken in `ir.model.data`, where Tryton gives each once. A claim is made before the document and learns its
 * id after it. One without a document was left by a program that was killed in between, unless that program is still at
 * it: it is taken over once no call of its owner can be running. What is taken back gives its claim back.
 */
function claimGuard(books: Books, model: string, type: InvoiceType): Guard {
  const { tryton, config } = books;
  const call = <T>(method: string, ...params: unknown[]): Promise<T> =>
    tryton.call<T>(`model.ir.model.data.${method}`, params);

  const suffix = async () => `.${type}.${(await tryton.session()).company}`;
  const namesOf = async (ids: readonly string[]): Promise<string[]> => {
    const ending = await suffix();
    return ids.map((id) => `${id}${ending}`);
  };
  const claimsOf = (names: readonly string[]): Promise<Claim[]> => {
    const domain = [
      ["module", "=", MODULE],
      ["model", "=", model],
      ["fs_id", "in", names],
    ];
    return rowsOf(books, "ir.model.data", domain, "fs_id db_id create_date write_date");
  };
  const idsOf = async (names: readonly string[]): Promise<number[]> =>
    (await claimsOf(names)).map(({ id }) => id);

  /** @throws TrytonError `busy` while the owner of one may still be at it */
  async function dropOld(names: readonly string[]): Promise<void> {
    const left = await idsOf(names);
    if (left.length === 0) return;
    // By Tryton's clock alone: it says when this write was.
    await call("write", left, { noupdate: true });
    const ownerMs = 2 * config.deadlineMs + config.settleMs;
    for (const { create_date, write_date } of await claimsOf(names)) {
      const age = Date.parse(`${write_date ?? create_date}Z`) - Date.parse(`${create_date}Z`);
      if (age < ownerMs) throw busy("claimed by another send that may be under way", ownerMs - age);
    }
    await call("delete", left);
  }

  return {
    isModule: false,
    async known(ids) {
      if (ids.length === 0) return new Map();
      const ending = await suffix();
      const claims = await claimsOf(await namesOf(ids));
      return new Map(
        claims.flatMap(({ fs_id, db_id }) =>
          db_id === null ? [] : [[fs_id.slice(0, -ending.length), db_id] as const],
        ),
      );
    },
    async create(ids, make) {
      const names = await namesOf(ids);
      await dropOld(names);
      const rows = names.map((fs_id) => ({ module: MODULE, model, fs_id, noupdate: true }));
      const taken = await call<number[]>("create", rows).catch(busyWhen(/must be unique/));
      const made = await make().catch(async (error: unknown) => {
        // One that stays is taken over in its time.
        if (didNothing(error)) await call("delete", taken).catch(() => {});
        throw error;
      });
      const kept = taken.flatMap((claim, at) =>
        made[at] === null ? [] : [[claim], { db_id: made[at] }],
      );
      if (kept.length > 0) await call("write", ...kept);
      return made;
    },
    async release(ids) {
      const left = await idsOf(await namesOf(ids));
      if (left.length > 0) await call("delete", left);
    },
  };
}

interface Claim {
  readonly id: number;
  readonly fs_id: string;
  readonly db_id: number | null;
  readonly create_date: string;
  readonly write_date: string | null;
}

const MODULE = "fuelbridge";
const JUST_TAKEN_MS = 1_000;

const didNothing = (error: unknown): boolean =>
  error instanceof Refused ||
  (error instanceof TrytonError && error.kind !== "torn" && error.kind !== "server");

/** Another send of the same document came first: what it made is found the next time. */
const busyWhen =
  (words: RegExp) =>
  (error: unknown): never => {
    if (error instanceof TrytonError && words.test(error.message))
      throw busy("another send of the same document came first", JUST_TAKEN_MS);
    throw error;
  };

/** The server module of `server-module/`: the platform's id is unique there. */
const moduleGuard = (books: Books, model: string, type: InvoiceType): Guard => ({
  isModule: true,
  async known(ids) {
    if (ids.length === 0) return new Map();
    const domain = [
      await ofCompany(books),
      ["external_id", "in", ids],
      ...(model === "account.invoice" ? [["type", "=", type]] : []),
    ];
    const rows = await rowsOf<{ id: number; external_id: string }>(
      books,
      model,
      domain,
      "external_id",
    );
    return new Map(rows.map(({ id, external_id }) => [external_id, id]));
  },
  create: (_, make) => make().catch(busyWhen(/FUELBRIDGE-DUPLICATE/)),
  release: async () => {},
});
