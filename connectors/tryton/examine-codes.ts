/** Which columns of the cross-reference tables have codes of Tryton, and what is wrong with these. */
import type { CodeColumn, CodesFound, CodesNamed } from "../../src/books/examine-codes.ts";
import { CODES_MAX } from "../../src/books/codes.ts";
import type { Fault } from "../../src/core/fault.ts";
import type { Books } from "./books.ts";
import { ofCompany, rowsOf } from "./search.ts";

const ALL = ["orders", "shipments", "invoices", "bills"] as const;

/** Of the tables that the mappings in `mappings/books` read. */
export function columnsOf(books: Books): readonly CodeColumn[] {
  const { lookup } = books;
  const coded = (kind: "product" | "unit"): CodesNamed => ({
    what: [kind, `${kind}s`],
    find: async (codes) => ({ faults: await lookup.faults(kind, codes), unknown: [] }),
  });
  const account: CodesNamed = {
    what: ["account", "accounts"],
    async find(codes) {
      const faults = await lookup.faults("account", codes);
      return { faults: new Map([...faults, ...(await unusable(books, codes))]), unknown: [] };
    },
  };
  const party: CodesNamed = {
    what: ["party", "parties"],
    find: (codes) => findParties(books, codes),
  };
  return [
    column("items", "item", coded("product"), ...ALL),
    column("tryton-units", "symbol", coded("unit"), ...ALL),
    column("tryton-taxes", "sales", account, "invoices"),
    column("tryton-taxes", "purchases", account, "bills"),
    column("tryton-accounts", "sales", account, "invoices"),
    column("tryton-accounts", "purchases", account, "bills"),
    column("customers", "account", party, "orders", "shipments", "invoices"),
    column("vendors", "account", party, "orders", "shipments", "bills"),
  ];
}

function* chunks(codes: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < codes.length; at += CODES_MAX) yield codes.slice(at, at + CODES_MAX);
}

const column = (
  table: string,
  column: string,
  names: CodesNamed,
  ...sinks: readonly string[]
): CodeColumn => ({ table, column, names, sinks });

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
