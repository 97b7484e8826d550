/** What must hold in Business Central before the next document goes: each thing with what to do when it does not. */
import type { Examination, Needs } from "../../src/core/contract.ts";
import type { Fault } from "../../src/core/record.ts";
import { z } from "zod";
import {
  type Check,
  codeExaminations,
  type CodesNamed,
  examined,
} from "../../src/ledger/examine.ts";
import type { BusinessCentralConfig } from "./config.ts";
import { coded } from "./rows.ts";
import { BOOKS, equals, errors, type Wire } from "./wire.ts";

/** What people name by a code: one and several of it, the set, and the field of the code. */
const KINDS = {
  item: ["item", "items", "items", "number"],
  account: ["G/L account", "G/L accounts", "accounts", "number"],
  unit: ["unit of measure", "units of measure", "unitsOfMeasure", "code"],
  taxGroup: ["tax group", "tax groups", "taxGroups", "code"],
  received: ["cash receipt batch", "batches", "customerPaymentJournals", "code"],
  made: ["payment batch", "batches", "vendorPaymentJournals", "code"],
} as const;
type Kind = keyof typeof KINDS;

const Row = z.object({
  number: z.string().optional(),
  code: z.string().optional(),
  blocked: z.boolean().default(false),
  directPosting: z.boolean().default(true),
});

export async function examine(
  wire: Wire,
  config: BusinessCentralConfig,
  signal: AbortSignal,
  needs: Needs,
): Promise<readonly Examination[]> {
  const books = { name: BOOKS, errors };

  /** Why these cannot be used. @throws LedgerError */
  async function faults(kind: Kind, codes: readonly string[]): Promise<Map<string, Fault>> {
    const [what, , set, field] = KINDS[kind];
    const found = await wire.either(set, equals(field, codes.map(coded)), Row, signal);
    const each = new Map(found.map((row) => [row.number ?? row.code, row]));
    const told = new Map<string, Fault>();
    for (const code of codes) {
      const row = each.get(coded(code));
      const [is, next] =
        row === undefined
          ? [`has no ${what} ${code}`, `Create it in ${BOOKS}`]
          : row.blocked
            ? [`has blocked the ${what} ${code}`, `Take the block off in ${BOOKS}`]
            : row.directPosting
              ? []
              : [`posts nothing directly on the ${what} ${code}`, `Allow direct posting on it`];
      if (is !== undefined)
        told.set(code, {
          code: "not-in-business-central",
          message: `${BOOKS} ${is}`,
          next: `${next}, or correct what names it; then retry.`,
          field: what,
        });
    }
    return told;
  }

  const setting = (kind: Kind, code: string | undefined): Check[] =>
    code === undefined
      ? []
      : [[`${KINDS[kind][0]} ${code}`, async () => (await faults(kind, [code])).get(code) ?? null]];
  const names = (kind: Kind): CodesNamed => {
    const [what, several] = KINDS[kind];
    return { what, several, find: async (codes) => ({ faults: await faults(kind, codes) }) };
  };
  const { accounts, taxCode, journals } = config;
  const account = names("account");
  const columns = { product: names("item"), unit: names("unit"), sold: account, bought: account };
  return [
    ...(await examined(
      books,
      [
        ...setting("account", accounts.revenue),
        ...setting("account", accounts.expense),
        ...setting("taxGroup", taxCode),
        ...setting("received", journals?.received),
        ...setting("made", journals?.made),
      ],
      signal,
    )),
    ...(await codeExaminations(books, columns, needs, signal)),
  ];
}
