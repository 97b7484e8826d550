/**
 * What keeps a document from being made twice in books that take the same one as often as it is sent, beyond being looked
 * for (ADR 0015). Two programs that send the same document in the same second both find nothing and would both book it.
 */
import { Refused } from "../core/errors.ts";
import { type ErrorRow, LedgerError } from "./port.ts";
import { sorted } from "./errors.ts";

/** Marks are {@link Desired.mark}; records are the books' own ids of them. Every method @throws LedgerError */
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

/** Nobody else is kept out. */
export const noGuard: Guard = {
  isErps: false,
  known: async () => new Map(),
  create: (_, make) => make(),
  release: async () => {},
};

/** A mark that is taken in a table of the ERP which takes each once. */
export interface Claim {
  readonly id: number;
  readonly mark: string;
  /** Null: what it was taken for is not made, or not known to be. */
  readonly record: number | null;
  /** By the ERP's clock, from when it was taken to when it was last written, ms. */
  readonly ageMs: number;
}

/** What an ERP adds for claims. Every method @throws LedgerError */
export interface Claims {
  /** Sorts what `make` fails with. */
  readonly errors: readonly ErrorRow[];
  /** The longest time that a claim's owner may still be at it, ms. */
  readonly ownerMs: number;
  of(marks: readonly string[]): Promise<readonly Claim[]>;
  /** Takes all of these or none; their ids in order. @throws LedgerError when one is taken */
  take(marks: readonly string[]): Promise<readonly number[]>;
  /** Writes claims without changing what they say: their ages are then up to now. */
  touch(ids: readonly number[]): Promise<void>;
  /** Writes what they were taken for, by their ids. */
  keep(records: ReadonlyMap<number, number>): Promise<void>;
  drop(ids: readonly number[]): Promise<void>;
  /** What is thrown while another send has it: it goes on after `waitMs`. */
  busy(message: string, waitMs: number): LedgerError;
}

/**
 * A claim is made before the document and learns its record after it. One without a document was left by a program that
 * was killed in between, unless that program is still at it: it is taken over once no call of its owner can be running.
 * What is taken back gives its claim back.
 */
export function claimGuard(claims: Claims): Guard {
  const idsOf = async (marks: readonly string[]): Promise<number[]> =>
    (await claims.of(marks)).map(({ id }) => id);

  /** @throws LedgerError while the owner of one may still be at it */
  async function dropOld(marks: readonly string[]): Promise<void> {
    const left = await idsOf(marks);
    if (left.length === 0) return;
    await claims.touch(left);
    for (const { ageMs } of await claims.of(marks))
      if (ageMs < claims.ownerMs) {
        const why = "claimed by another send that may be under way";
        throw claims.busy(why, claims.ownerMs - ageMs);
      }
    await claims.drop(left);
  }

  return {
    isErps: false,
    async known(marks) {
      const all = marks.length === 0 ? [] : await claims.of(marks);
      return new Map(
        all.flatMap(({ mark, record }) => (record === null ? [] : [[mark, record] as const])),
      );
    },
    async create(marks, make) {
      await dropOld(marks);
      const taken = await claims.take(marks);
      const made = await make().catch(async (error: unknown) => {
        // One that stays is taken over in its time.
        if (didNothing(error, claims.errors)) await claims.drop(taken).catch(() => {});
        throw error;
      });
      const kept = taken.flatMap((claim, at) => {
        const record = made[at] ?? null;
        return record === null ? [] : [[claim, record] as const];
      });
      if (kept.length > 0) await claims.keep(new Map(kept));
      return made;
    },
    async release(marks) {
      const left = await idsOf(marks);
      if (left.length > 0) await claims.drop(left);
    },
  };
}

const didNothing = (error: unknown, errors: readonly ErrorRow[]): boolean =>
  error instanceof Refused ||
  (error instanceof LedgerError && sorted(error, "create", errors).sort !== "unknown");
