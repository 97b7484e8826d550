/** Which columns of the cross-reference tables have codes of Tryton, and what is wrong with these. */
import {
  bookColumns,
  type CodeColumn,
  type CodesFound,
  partiesFound,
} from "../../src/books/examine-codes.ts";
import { wrongAccount } from "../../src/books/examine-company.ts";
import type { Fault } from "../../src/core/fault.ts";
import type { Books } from "./books.ts";
import { TRYTON } from "./errors.ts";
import { ofCompany, rowsOf } from "./search.ts";

/** Of the tables that the mappings in `mappings/books` read. */
export function columnsOf(books: Books): readonly CodeColumn[] {
  const { faults } = books.lookup;
  return bookColumns("tryton", {
    product: async (codes) => ({ faults: await faults("product", codes) }),
    unit: async (codes) => ({ faults: await faults("unit", codes) }),
    async account(codes) {
      const absent = await faults("account", codes);
      return { faults: new Map([...absent, ...(await unusable(books, codes))]) };
    },
    party: (codes) => findParties(books, codes),
  });
}

/** Accounts that Tryton books nothing on: closed ones, and headings, which have no type. */
async function unusable(
  books: Books,
  codes: readonly string[],
): Promise<ReadonlyMap<string, Fault>> {
  const unfit = ["OR", ["closed", "=", true], ["type", "=", null]];
  const domain = [["code", "in", codes], await ofCompany(books), unfit];
  const rows = await rowsOf<CodeRow>(books, "account.account", domain, "code closed");
  const next = "Name an open account with a type in the table, or open this one in Tryton.";
  const why = ({ closed }: CodeRow) => (closed ? "is closed" : "is a heading, without type");
  return new Map(rows.map((row) => [row.code, wrongAccount(row.code, why(row), next)]));
}

interface CodeRow {
  readonly code: string;
  readonly closed?: unknown;
  readonly active?: unknown;
}

async function findParties(books: Books, codes: readonly string[]): Promise<CodesFound> {
  const domain = [["code", "in", codes]];
  const search = { inactive: true } as const;
  const rows = await rowsOf<CodeRow>(books, "party.party", domain, "code active", search);
  const isActive = new Map(rows.map(({ code, active }) => [code, Boolean(active)]));
  return partiesFound(TRYTON.name, codes, isActive);
}
