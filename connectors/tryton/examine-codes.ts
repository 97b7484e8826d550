/** Which columns of the cross-reference tables have codes of Tryton, and what is wrong with these. */
import { bookColumns, type CodeColumn, type CodesFound } from "../../src/books/examine-codes.ts";
import { CODES_MAX } from "../../src/books/codes.ts";
import type { Fault } from "../../src/core/fault.ts";
import type { Books } from "./books.ts";
import { ofCompany, rowsOf } from "./search.ts";

/** Of the tables that the mappings in `mappings/books` read. */
export function columnsOf(books: Books): readonly CodeColumn[] {
  const { faults } = books.lookup;
  return bookColumns("tryton", {
    product: async (codes) => ({ faults: await faults("product", codes), unknown: [] }),
    unit: async (codes) => ({ faults: await faults("unit", codes), unknown: [] }),
    async account(codes) {
      const absent = await faults("account", codes);
      return { faults: new Map([...absent, ...(await unusable(books, codes))]), unknown: [] };
    },
    party: (codes) => findParties(books, codes),
  });
}

function* chunks(codes: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < codes.length; at += CODES_MAX) yield codes.slice(at, at + CODES_MAX);
}

/** Accounts that Tryton books nothing on: closed ones, and headings, which have no type. */
async function unusable(
  books: Books,
  codes: readonly string[],
): Promise<ReadonlyMap<string, Fault>> {
  const faults = new Map<string, Fault>();
  const unfit = ["OR", ["closed", "=", true], ["type", "=", null]];
  for (const chunk of chunks(codes)) {
    const domain = [["code", "in", chunk], await ofCompany(books), unfit];
    const rows = await rowsOf<CodeRow>(books, "account.account", domain, "code closed");
    for (const { code, closed } of rows)
      faults.set(code, {
        code: "wrong-account",
        message: closed
          ? `account ${code} is closed`
          : `account ${code} is a heading, without type`,
        next: "Name an open account with a type in the table, or open this one in Tryton.",
      });
  }
  return faults;
}

interface CodeRow {
  readonly code: string;
  readonly closed?: unknown;
  readonly active?: unknown;
}

/** One that is missing is made with its first document; one that is not active keeps its code from being made. */
async function findParties(books: Books, codes: readonly string[]): Promise<CodesFound> {
  const active = new Map<string, boolean>();
  for (const chunk of chunks(codes)) {
    const domain = [["code", "in", chunk]];
    const search = { inactive: true } as const;
    const rows = await rowsOf<CodeRow>(books, "party.party", domain, "code active", search);
    for (const row of rows) active.set(row.code, Boolean(row.active));
  }
  const inactive = codes.filter((code) => active.get(code) === false);
  return {
    faults: new Map(
      inactive.map((code) => [
        code,
        {
          code: "party-inactive",
          message: `the party ${code} is not active in Tryton`,
          next: `Activate the party ${code} in Tryton, or name another one in the table.`,
        },
      ]),
    ),
    unknown: codes.filter((code) => !active.has(code)),
  };
}
