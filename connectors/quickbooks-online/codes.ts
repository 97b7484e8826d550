/** Names that people use in QuickBooks, and the ids behind them. */
import type { Surroundings } from "../../src/core/contract.ts";
import { type CodeKind, type Codes, openCodes } from "../../src/ledger/codes.ts";
import { AccountRow, ItemRow } from "./rows.ts";
import { having } from "./tables.ts";
import type { Wire } from "./wire.ts";

export interface NamedRow {
  /** What it is called: the name, or the account's number. */
  readonly code: string;
  readonly id: string;
}

export const ITEM: CodeKind = { what: "item", called: "name" };
export const ACCOUNT: CodeKind = { what: "account", called: "number or name" };
export const CLASS: CodeKind = { what: "class", called: "name" };
export const LOCATION: CodeKind = { what: "location", called: "name" };

export interface Names {
  readonly codes: Codes<CodeKind, NamedRow>;
  /** @throws Refused when there is none, or several */
  id(kind: CodeKind, code: string): Promise<string>;
  /** What documents call it, where one named it; else as QuickBooks calls it. */
  codeOf(kind: CodeKind, id: string, otherwise: string | null): string;
}

const NamedEntity = ItemRow.pick({ Id: true, Name: true });

const never = new AbortController().signal;

export function openNames(wire: Wire, { now }: Pick<Surroundings, "now">): Names {
  const named = new Map<string, string>();
  const codes = openCodes<CodeKind, NamedRow>({
    books: "QuickBooks",
    now,
    rowsOf: async (kind, desired, most) => {
      const rows =
        kind === ACCOUNT
          ? await accounts(wire, desired)
          : await byName(wire, ENTITIES.get(kind) ?? "Item", desired);
      for (const { code, id } of rows) named.set(`${kind.what} ${id}`, code);
      return most === null ? rows : rows.slice(0, most);
    },
    codeOf: (_, { code }) => code,
  });
  return {
    codes,
    id: async (kind, code) => (await codes.row(kind, code)).id,
    codeOf: (kind, id, otherwise) => named.get(`${kind.what} ${id}`) ?? otherwise ?? id,
  };
}

const ENTITIES = new Map([
  [ITEM, "Item"],
  [CLASS, "Class"],
  [LOCATION, "Department"],
] as const);

async function byName(
  wire: Wire,
  entity: "Item" | "Class" | "Department",
  names: readonly string[],
): Promise<NamedRow[]> {
  const rows = await having(wire, entity, NamedEntity, { Name: names }, never);
  return rows.flatMap(({ Id, Name }) => desiredAs(names, Name).map((code) => ({ code, id: Id })));
}

/** By number and by name: an account whose number is another's name is told twice. */
async function accounts(wire: Wire, desired: readonly string[]): Promise<NamedRow[]> {
  const rows: NamedRow[] = [];
  for (const field of ["AcctNum", "Name"] as const)
    for (const row of await having(wire, "Account", AccountRow, { [field]: desired }, never))
      for (const code of desiredAs(desired, row[field] ?? ""))
        if (!rows.some((one) => one.code === code && one.id === row.Id))
          rows.push({ code, id: row.Id });
  return rows;
}

/** QuickBooks compares names without regard to case. */
const desiredAs = (desired: readonly string[], name: string): string[] => [
  ...new Set(desired.filter((one) => one.toLowerCase() === name.toLowerCase())),
];
