/**
 * What keeps an invoice or a payment from being made twice, beyond being looked for. Tryton itself takes the same one as
 * often as it is sent.
 *
 * `search` keeps nobody else out: two programs that send the same document in the same second both find nothing and
 * both book it. `claim` lets one of them through: an id can be taken once in `ir.model.data`. `module` has the database
 * refuse the second one when it is made.
 */
import { busyWhen, openClaims } from "./claims.ts";
import type { Books } from "./books.ts";
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

/** See claims.ts: one claim each, and what is taken back gives its claim back. */
function claimGuard(books: Books, model: string, type: InvoiceType): Guard {
  const claims = openClaims(books, model);
  const namesOf = async (ids: readonly string[]): Promise<string[]> => {
    const { company } = await books.tryton.session();
    return ids.map((id) => `${id}.${type}.${company}`);
  };
  return {
    isModule: false,
    async known(ids) {
      const names = await namesOf(ids);
      const known = ids.length === 0 ? null : await claims.known(names);
      return new Map(
        ids.flatMap((id, at) => {
          const made = known?.get(names[at] as string) ?? null;
          return made === null ? [] : [[id, made] as const];
        }),
      );
    },
    async create(ids, make) {
      const taken = await claims.take(await namesOf(ids));
      const made = await make().catch(claims.dropping(taken));
      const kept = made.filter((id) => id !== null);
      if (kept.length > 0)
        await claims.keep(
          taken.filter((_, at) => made[at] !== null),
          kept,
        );
      return made;
    },
    release: async (ids) => claims.release(await namesOf(ids)),
  };
}

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
    const rows = await rowsOf<ModuleRow>(books, model, domain, "external_id");
    return new Map(rows.map(({ id, external_id }) => [external_id, id]));
  },
  create: (_, make) => make().catch(busyWhen(/FUELBRIDGE-DUPLICATE/)),
  release: async () => {},
});

interface ModuleRow {
  readonly id: number;
  readonly external_id: string;
}
