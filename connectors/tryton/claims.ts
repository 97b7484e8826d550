/**
 * The platform's ids that are taken in `ir.model.data`, where Tryton gives each once. A claim is made before the
 * document and learns its id after it. One without a document was left by a program that was killed in between, unless
 * that program is still at it: it is taken over once no call of its owner can be running.
 */
import { Refused } from "../../src/core/errors.ts";
import type { Books } from "./books.ts";
import { busy, TrytonError } from "./errors.ts";

export interface Claims {
  /** The documents of these names; null while it is not known. Names that nobody took are left out. @throws TrytonError */
  known(names: readonly string[]): Promise<ReadonlyMap<string, number | null>>;
  /**
   * Takes all of them or none, over from programs that were killed too; their own ids in order.
   * @throws TrytonError, `busy` while somebody else may be at it
   */
  take(names: readonly string[]): Promise<number[]>;
  /** What was made for them. @throws TrytonError */
  keep(claims: readonly number[], documents: readonly number[]): Promise<void>;
  /** For what making them failed with: they are dropped when it proves that nothing was made. @throws that error */
  dropping(claims: readonly number[]): (error: unknown) => Promise<never>;
  /** What was made for these names was taken back. @throws TrytonError */
  release(names: readonly string[]): Promise<void>;
}

interface Row {
  readonly id: number;
  readonly fs_id: string;
  readonly db_id: number | null;
  readonly create_date: string;
  readonly write_date: string | null;
}

/** @param model what is made for them: `account.invoice` */
export function openClaims({ tryton, config }: Books, model: string): Claims {
  const call = <T>(method: string, ...params: unknown[]): Promise<T> =>
    tryton.call<T>(`model.ir.model.data.${method}`, params);

  const rowsOf = (names: readonly string[]): Promise<Row[]> => {
    const domain = [
      ["module", "=", MODULE],
      ["model", "=", model],
      ["fs_id", "in", names],
    ];
    const fields = ["fs_id", "db_id", "create_date", "write_date"];
    return call<Row[]>("search_read", domain, 0, null, null, fields);
  };

  /** @throws TrytonError `busy` while the owner of one may still be at it */
  async function dropOld(names: readonly string[]): Promise<void> {
    const left = (await rowsOf(names)).map(({ id }) => id);
    if (left.length === 0) return;
    // By Tryton's clock alone: it says when this write was.
    await call("write", left, { noupdate: true });
    const ownerMs = 2 * config.deadlineMs + config.settleMs;
    for (const { create_date, write_date } of await rowsOf(names)) {
      const age = Date.parse(`${write_date ?? create_date}Z`) - Date.parse(`${create_date}Z`);
      if (age < ownerMs) throw busy("claimed by another send that may be under way", ownerMs - age);
    }
    await call("delete", left);
  }

  return {
    async known(names) {
      const rows = await rowsOf(names);
      return new Map(rows.map(({ fs_id, db_id }) => [fs_id, db_id]));
    },
    async take(names) {
      await dropOld(names);
      const rows = names.map((fs_id) => ({ module: MODULE, model, fs_id, noupdate: true }));
      return call<number[]>("create", rows).catch(busyWhen(/must be unique/));
    },
    async keep(claims, documents) {
      await call("write", ...claims.flatMap((claim, at) => [[claim], { db_id: documents[at] }]));
    },
    dropping: (claims) => async (error) => {
      // One that stays is taken over in its time.
      if (didNothing(error)) await call("delete", claims).catch(() => {});
      throw error;
    },
    async release(names) {
      const left = (await rowsOf(names)).map(({ id }) => id);
      if (left.length > 0) await call("delete", left);
    },
  };
}

const MODULE = "fuelbridge";
const JUST_TAKEN_MS = 1_000;

const didNothing = (error: unknown): boolean =>
  error instanceof Refused ||
  (error instanceof TrytonError && error.kind !== "torn" && error.kind !== "server");

/** Another send of the same document came first: what it made is found the next time. */
export const busyWhen =
  (words: RegExp) =>
  (error: unknown): never => {
    if (error instanceof TrytonError && words.test(error.message))
      throw busy("another send of the same document came first", JUST_TAKEN_MS);
    throw error;
  };
