/** What must hold in Business Central before the next document goes: each thing with what to do when it does not. */
import { z } from "zod";
import type { Examination, Needs } from "../../src/core/contract.ts";
import { dayBefore } from "../../src/core/time.ts";
import {
  type Check,
  closingExamination,
  codeChecks,
  exists,
  namedChecks,
} from "../../src/ledger/examine.ts";
import { type CodeKind, openCodes } from "../../src/ledger/codes.ts";
import { faultOf, sorted } from "../../src/ledger/errors.ts";
import { equals, Version } from "../../src/ledger/odata.ts";
import { BOOKS, type Central, coded, dayOrNone, errors, linesOf, named, SIDES } from "./wire.ts";

/** What people name by a code: the sets that may have it, and the field of the code. */
const KINDS = {
  item: { what: "item", sets: "items", called: "number" },
  account: { what: "G/L account", sets: "accounts", called: "number" },
  lineObject: { what: "item or G/L account", sets: "items accounts", called: "number" },
  unit: { what: "unit of measure", sets: "unitsOfMeasure", called: "code" },
  taxGroup: { what: "tax group", sets: "taxGroups", called: "code" },
  dimension: { what: "dimension", sets: "dimensions", called: "code" },
  value: { what: "dimension value", sets: "dimensionValues", called: "code" },
  received: { what: "cash receipt batch", sets: "customerPaymentJournals", called: "code" },
  made: { what: "payment batch", sets: "vendorPaymentJournals", called: "code" },
} as const;

const BLOCKED = ["is blocked", "Take the block off"] as const;
const NOT_DIRECT = ["takes no direct posting", "Allow direct posting on it"] as const;
const Row = z
  .object({
    number: z.string().default(""),
    code: z.string().optional(),
    blocked: z.boolean().default(false),
    directPosting: z.boolean().default(true),
  })
  .transform(({ number, code = number, blocked, directPosting }) => ({
    code,
    active: !blocked && directPosting,
    inactive: blocked ? BLOCKED : NOT_DIRECT,
  }));

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

/** What sinks make, of which side; and Microsoft's permission set for it. */
const WRITES = [
  ["invoices", "sale", "invoices", "D365 SALES DOC, POST"],
  ["bills", "purchase", "invoices", "D365 PURCH DOC, POST"],
  ["orders", "sale", "orders", "D365 SALES DOC, EDIT"],
  ["orders", "purchase", "orders", "D365 PURCH DOC, EDIT"],
  ["invoices orders", "sale", "parties", "D365 CUSTOMER, EDIT"],
  ["bills orders", "purchase", "parties", "D365 VENDOR, EDIT"],
  ["payments", "sale", "payments", "D365 JOURNALS, POST"],
  ["payments", "purchase", "payments", "D365 JOURNALS, POST"],
] as const;
const PROBE = "FUELBRIDGE-DOCTOR";
/** The API posts, or says that there is nothing to post, before it looks at a right. */
const POSTABLE: Examination = {
  what: "right to post",
  fault: null,
  note: `${BOOKS} tells it with the first document that is posted: D365 SALES DOC, POST, D365 PURCH DOC, POST and D365 JOURNALS, POST have it`,
};
const Party = z.object({ number: z.string(), blocked: named });

/** What the company allows. What it allows this user (User Setup) the API does not tell. */
const OPENED_IN = `${BOOKS} (General Ledger Setup, Allow Posting From and To)`;
const Setup = z.object({ allowPostingFrom: dayOrNone, allowPostingTo: dayOrNone });

export function checksOf(
  { wire, config, surroundings }: Central,
  needs: Needs,
  signal: AbortSignal,
): (Check | Examination)[] {
  const codes = openCodes<CodeKind & { readonly sets: string }, z.infer<typeof Row>>({
    books: BOOKS,
    now: () => surroundings.now(),
    async rowsOf({ sets, called }, asked) {
      const conditions = equals(called, asked.map(coded));
      const found = sets.split(" ").map((set) => wire.either(set, conditions, Row, signal));
      const rows = (await Promise.all(found)).flat();
      return asked.flatMap((code) => {
        const those = rows.filter((row) => row.code === coded(code));
        const one = those.find(({ active }) => active) ?? those[0];
        return one === undefined ? [] : [{ ...one, code }];
      });
    },
    codeOf: (_, { code }) => code,
  });
  const names = (kind: keyof typeof KINDS) => codes.named(KINDS[kind]);
  const { accounts, taxCode, journals } = config;
  const { first, second, lines } = config.dimensions;
  const values = Object.values(lines);
  const sets = new Set([...needs.parts].flatMap((part) => SETS[part] ?? []));
  const readable = (set: string): Check =>
    exists(`right to read ${set}`, () => wire.all(set, { $top: "1" }, z.unknown(), signal));
  /**
   * The API tells nobody's rights. So what can never be made is sent: a document whose line is of an item, or a journal line whose
   * dimension is of a code, that is not there; a party under the number of another one. Who may make it is told of that, and nothing
   * of it stays: a record and its parts are one transaction. Where it stays, it is deleted.
   */
  const writable = ([, side, kind, permissions]: (typeof WRITES)[number]): Check => {
    const { parties, party, batches, [kind]: set } = SIDES[side];
    const code = journals?.[side === "sale" ? "received" : "made"] ?? "";
    const line = { lineType: "Item", lineObjectNumber: PROBE, quantity: 1 };
    const dimension = { code: PROBE, valueCode: PROBE };
    const body = (number: string): object => {
      if (kind === "parties") return { number, displayName: PROBE };
      if (kind === "payments") return { documentNumber: PROBE, dimensionSetLines: [dimension] };
      return { [party]: number, [linesOf(set)]: [line] };
    };
    return [
      `right to write ${set}`,
      async () => {
        const some = await wire.all(parties, { $top: "50" }, Party, signal);
        const number = some.find(({ blocked }) => blocked === "")?.number;
        const codes = kind === "payments" ? equals("code", [coded(code)]) : [];
        const [batch] = await wire.either(batches, codes, Version, signal);
        const path = kind === "payments" ? `${batches}(${batch?.id})/${set}` : set;
        // Nobody is there whose document it could be; a batch that is missing is told besides.
        if (number === undefined || codes.length > 0 !== (batch !== undefined)) return null;
        const told = await wire.create(path, body(number), signal).then(
          async (made) => void (await wire.remove(path, made, signal)),
          (error: unknown) => sorted(error, "create", errors),
        );
        if (!told || told.sort === "data" || told.row?.code === "taken") return null;
        if (told.row === null) throw told.error;
        const fault = faultOf(told.row, told.error.message);
        const own = told.row.code === "forbidden" ? ` Microsoft's set for it: ${permissions}.` : "";
        return { ...fault, next: `${fault.next}${own}` };
      },
    ];
  };
  const account = names("account");
  const unit = { ...names("unit"), several: "units of measure" };
  const columns = { product: names("item"), unit, sold: account, bought: account };
  const isWritten = ([sinks]: (typeof WRITES)[number]): boolean =>
    sinks.split(" ").some((sink) => needs.parts.has(sink));
  return [
    ...[...sets].map(readable),
    ...WRITES.filter(isWritten).map(writable),
    ...(sets.has(MONEY) && config.posting === "post" ? [POSTABLE] : []),
    ...namedChecks(account, accounts.revenue, accounts.expense),
    ...namedChecks(names("taxGroup"), taxCode),
    ...namedChecks(names("lineObject"), ...Object.keys(lines)),
    ...namedChecks(names("dimension"), ...values.flatMap(Object.keys)),
    ...namedChecks(names("value"), first, second, ...values.flatMap(Object.values<string>)),
    ...namedChecks(names("received"), journals?.received),
    ...namedChecks(names("made"), journals?.made),
    [
      "days that are open for posting",
      async () => {
        const [setup] = await wire.all("generalLedgerSetup", {}, Setup, signal);
        const { allowPostingFrom: from = null, allowPostingTo: to = null } = setup ?? {};
        return [closingExamination(from === null ? null : dayBefore(from), needs, OPENED_IN, to)];
      },
    ],
    ...codeChecks(BOOKS, columns, needs),
  ];
}
