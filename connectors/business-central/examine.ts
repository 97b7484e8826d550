/** What must hold in Business Central before the next document goes: each thing with what to do when it does not. */
import { z } from "zod";
import type { Examination, Needs } from "../../src/core/contract.ts";
import type { Fault } from "../../src/core/record.ts";
import { dayBefore } from "../../src/core/time.ts";
import {
  type Check,
  closingExamination,
  codeExaminations,
  type CodesNamed,
  examined,
  exists,
  namedChecks,
} from "../../src/ledger/examine.ts";
import { faultOf as rowFault, sorted } from "../../src/ledger/errors.ts";
import { equals, Version } from "../../src/ledger/odata.ts";
import type { LedgerSide } from "../../src/ledger/port.ts";
import type { BusinessCentralConfig } from "./config.ts";
import { BOOKS, coded, dayOrNone, errors, linesOf, named, SIDES, type Wire } from "./wire.ts";

/** What people name by a code: one and several of it, the set, and the field of the code. */
const KINDS = {
  item: ["item", "items", "items", "number"],
  account: ["G/L account", "G/L accounts", "accounts", "number"],
  unit: ["unit of measure", "units of measure", "unitsOfMeasure", "code"],
  taxGroup: ["tax group", "tax groups", "taxGroups", "code"],
  dimension: ["dimension", "dimensions", "dimensions", "code"],
  value: ["dimension value", "dimension values", "dimensionValues", "code"],
  received: ["cash receipt batch", "batches", "customerPaymentJournals", "code"],
  made: ["payment batch", "batches", "vendorPaymentJournals", "code"],
} as const;

const Row = z.object({
  number: z.string().optional(),
  code: z.string().optional(),
  blocked: z.boolean().default(false),
  directPosting: z.boolean().default(true),
});

/** What each sink and source reads: a set that the permissions lack answers with 403. */
const { sale, purchase } = SIDES;
const MONEY = "generalLedgerEntries";
const SETS: Readonly<Record<string, readonly string[]>> = {
  invoices: [sale.parties, sale.invoices, sale.memos, MONEY],
  paidInvoices: [sale.invoices, sale.memos, MONEY],
  bills: [purchase.parties, purchase.invoices, purchase.memos, MONEY],
  payments: [sale.batches, purchase.batches, MONEY],
  orders: [sale, purchase].flatMap(({ parties, orders, moved }) => [parties, orders, moved]),
  customers: [sale.parties],
  suppliers: [purchase.parties],
  prices: ["items"],
};

/** Where each sink makes documents, with the field in which the probe of {@link examine} is found again. */
const WRITES: Readonly<Record<string, readonly [side: LedgerSide, set: string, field: string]>> = {
  invoices: ["sale", sale.invoices, "externalDocumentNumber"],
  bills: ["purchase", purchase.invoices, "vendorInvoiceNumber"],
  orders: ["sale", sale.orders, "externalDocumentNumber"],
};
const PROBE = "FUELBRIDGE-DOCTOR";
const Party = z.object({ number: z.string(), blocked: named });

/** What a line is of. */
const LINE_OBJECT = "item or G/L account";

const Setup = z.object({ allowPostingFrom: dayOrNone, allowPostingTo: dayOrNone });
type Setup = z.infer<typeof Setup>;

export async function examine(
  wire: Wire,
  config: BusinessCentralConfig,
  signal: AbortSignal,
  needs: Needs,
): Promise<readonly Examination[]> {
  const books = { name: BOOKS, errors };

  /** Why these cannot be used. @throws LedgerError */
  const names = (kind: keyof typeof KINDS): CodesNamed => {
    const [what, several, set, field] = KINDS[kind];
    return {
      what,
      several,
      async find(codes) {
        const found = await wire.either(set, equals(field, codes.map(coded)), Row, signal);
        const each = new Map(found.map((row) => [row.number ?? row.code, row]));
        const faults = codes.flatMap((code) => {
          const row = each.get(coded(code));
          const isUsable = row?.blocked === false && row.directPosting;
          return isUsable ? [] : [[code, faultOf(what, code, row)] as const];
        });
        return { faults: new Map(faults) };
      },
    };
  };
  const { accounts, taxCode, journals, dimensions } = config;
  const { first, second, lines } = dimensions;
  const values = Object.values(lines);
  const sets = new Set([...needs.parts].flatMap((part) => SETS[part] ?? []));
  const readable = (set: string): Check =>
    exists(`right to read ${set}`, async () => {
      for await (const _ of wire.pages(set, { $top: "1" }, z.unknown(), signal)) break;
    });
  /**
   * The API tells nobody's rights. So a document is made whose line is of an item that is not there: who may make one is told of
   * the item, and nothing of it stays, for a document and its lines are one transaction. Where it stays, it is deleted.
   */
  const writable = ([side, set, field]: (typeof WRITES)[string]): Check => [
    `right to write ${set}`,
    async () => {
      const { parties, party } = SIDES[side];
      let number: string | undefined;
      for await (const { rows } of wire.pages(parties, { $top: "50" }, Party, signal))
        number ??= rows.find(({ blocked }) => blocked === "")?.number;
      // Nobody is there whose document it could be.
      if (number === undefined) return null;
      const line = { lineType: "Item", lineObjectNumber: PROBE, quantity: 1 };
      const body = { [party]: number, [field]: PROBE, [linesOf(set)]: [line] };
      const told = await wire.create(set, body, signal).then(
        () => null,
        (error: unknown) => sorted(error, "create", errors),
      );
      for (const made of await wire.either(set, equals(field, [PROBE]), Version, signal))
        await wire.remove(set, made, signal);
      if (told === null || told.sort === "data") return null;
      if (told.row === null) throw told.error;
      return rowFault(told.row, told.error.message);
    },
  ];
  const [item, account] = [names("item"), names("account")];
  const lineObject: CodesNamed = {
    what: LINE_OBJECT,
    async find(codes) {
      const [items, booked] = [await item.find(codes), await account.find(codes)];
      const neither = codes.filter((code) => items.faults.has(code) && booked.faults.has(code));
      return { faults: new Map(neither.map((code) => [code, faultOf(LINE_OBJECT, code)])) };
    },
  };
  const columns = { product: item, unit: names("unit"), sold: account, bought: account };
  return [
    ...(await examined(
      books,
      [
        ...[...sets].map(readable),
        ...Object.entries(WRITES).flatMap(([part, one]) =>
          needs.parts.has(part) ? [writable(one)] : [],
        ),
        ...namedChecks(account, accounts.revenue, accounts.expense),
        ...namedChecks(names("taxGroup"), taxCode),
        ...namedChecks(lineObject, ...Object.keys(lines)),
        ...namedChecks(names("dimension"), ...new Set(values.flatMap(Object.keys))),
        ...namedChecks(
          names("value"),
          ...new Set([first, second, ...values.flatMap((its) => Object.values(its))]),
        ),
        ...namedChecks(names("received"), journals?.received),
        ...namedChecks(names("made"), journals?.made),
        ["days that are open for posting", async () => [await postingDays(wire, needs, signal)]],
      ],
      signal,
    )),
    ...(await codeExaminations(books, columns, needs, signal)),
  ];
}

function faultOf(what: string, code: string, row?: z.infer<typeof Row>): Fault {
  const [is, next] =
    row === undefined
      ? [`has no ${what} ${code}`, `Create it in ${BOOKS}`]
      : row.blocked
        ? [`has blocked the ${what} ${code}`, `Take the block off in ${BOOKS}`]
        : [`posts nothing directly on the ${what} ${code}`, `Allow direct posting on it`];
  return {
    code: "not-in-business-central",
    message: `${BOOKS} ${is}`,
    next: `${next}, or correct what names it; then retry.`,
    field: what,
  };
}

/** What the company allows. What it allows this user (User Setup) the API does not tell. @throws LedgerError */
async function postingDays(wire: Wire, needs: Needs, signal: AbortSignal): Promise<Examination> {
  const rows: Setup[] = [];
  for await (const page of wire.pages("generalLedgerSetup", {}, Setup, signal))
    rows.push(...page.rows);
  const { allowPostingFrom: from = null, allowPostingTo: to = null } = rows[0] ?? {};
  const where = `${BOOKS} (General Ledger Setup, Allow Posting From and To)`;
  return closingExamination(from === null ? null : dayBefore(from), needs, where, to);
}
