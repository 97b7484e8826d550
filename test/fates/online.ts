/** QuickBooks Online in the table of fates: a company of the tests' own behind Intuit's interface. */
import type { Company, Record_ } from "../../connectors/quickbooks-online/company.fixture.ts";
import type { Decimal } from "../../src/core/decimal.ts";
import { openOnlineSite } from "../quickbooks-online/site.ts";
import { today } from "../tryton/ledger.ts";
import { d, NO_NUMBER, PRODUCTS } from "./platform.ts";
import { type Counterpart, NO_COPY, NOT_CARRIED } from "./round.ts";
import type { Actor, Held, Side } from "./table.ts";

const TERMINAL = "T-76-TX-2799";
const NO_DELIVERY = "QuickBooks Online has no document for a delivery that is not an invoice";

export const online: Counterpart = {
  connector: "quickbooks-online",
  async open(folder, backup) {
    const site = await openOnlineSite(folder, backup, { scenario: "empty", yaml: quick });
    return { ...site, side: sideOf(site.books), backup: () => site.books.backup() };
  },
  lacks: {
    ...NOT_CARRIED,
    "ticket to books": NO_DELIVERY,
    "delivery to books": NO_DELIVERY,
  },
};

/** Nothing waits for what settles late: the company commits at once. */
const quick = (yaml: string): string =>
  yaml
    .replace("sameName: suffix\n", "sameName: suffix\n    settleMs: 0\n")
    .replace("  environment: live\n", "  environment: live\n  settle: 1s\n");

let counter = 0;

function sideOf(books: Company): Side {
  const row = (table: string, { id }: Held): Record_ => {
    const found = books.rows(table).find(({ Id }) => Id === id);
    if (found === undefined) throw new Error(`QuickBooks has no ${table} ${id}`);
    return found;
  };
  const markIn = ({ PrivateNote }: Record_): string | undefined =>
    /(?:platform|payment):(\S+)/.exec(String(PrivateNote))?.[1];
  const refOf = (one: Record_): { readonly table: string; readonly id: string } => {
    const ref = (one["CustomerRef"] ?? one["VendorRef"]) as { value: string };
    return { table: one["CustomerRef"] === undefined ? "Vendor" : "Customer", id: ref.value };
  };
  const rename = async (table: string, id: string): Promise<void> =>
    books.edit(table, id, {
      DisplayName: `${String(row(table, { id, number: null, stands: true })["DisplayName"])} & Sons`,
    });
  const cutWrite = (path: RegExp) => async (when: "before" | "after") => {
    const before = books.cuts;
    let isOver = false;
    books.cuts = (request, asked) => {
      if (isOver || !path.test(asked)) return before?.(request, asked) ?? null;
      isOver = true;
      return when;
    };
  };
  const cutList = (table: string) => async () => void books.cutReads.push(new RegExp(table));
  const touch = (table: string) => async (held: Held) => books.edit(table, held.id, {});
  const noteIn = ({ PrivateNote }: Record_): string =>
    typeof PrivateNote === "string" ? PrivateNote : "";
  const voided = (one: Record_): boolean =>
    noteIn(one).startsWith("Voided") ||
    one["TxnStatus"] === "Rejected" ||
    one["TxnStatus"] === "Closed" ||
    one["POStatus"] === "Closed";

  const heldOf = (one: Record_): Held => {
    const partner = markIn(one);
    return {
      id: one.Id,
      number: String(one["DocNumber"] ?? one["PaymentRefNum"] ?? one["PrivateNote"]),
      ...(partner === undefined ? {} : { partner }),
      party: refOf(one).id,
      stands: !voided(one),
    };
  };
  const documents = (tables: readonly string[], isOurs: boolean): Actor => {
    const tableOf = (held: Held): string =>
      tables.find((table) => books.rows(table).some(({ Id }) => Id === held.id)) ?? "";
    return {
      list: async () =>
        tables.flatMap((table) =>
          books
            .rows(table)
            .filter((one) => (markIn(one) !== undefined) === isOurs)
            .map(heldOf),
        ),
      void: async (held) => {
        const one = row(tableOf(held), held);
        if (tableOf(held) === "Estimate")
          books.edit("Estimate", held.id, { TxnStatus: "Rejected" });
        else if (tableOf(held) === "PurchaseOrder")
          books.edit("PurchaseOrder", held.id, { POStatus: "Closed" });
        else {
          for (const line of one["Line"] as Record<string, unknown>[]) line["Amount"] = d(0);
          const PrivateNote = `Voided - ${noteIn(one)}`;
          books.edit(tableOf(held), held.id, { PrivateNote, TotalAmt: d(0), Balance: d(0) });
        }
      },
      remove: async (held) => books.delete(tableOf(held), held.id),
      renumber: async (held) => {
        const DocNumber = `${String(held.number).slice(0, 14)}-NEW`;
        const isPayment = /Payment/.test(tableOf(held));
        books.edit(tableOf(held), held.id, {
          [isPayment ? "PaymentRefNum" : "DocNumber"]: DocNumber,
        });
        return DocNumber;
      },
      recode: async (held) => {
        const { table, id } = refOf(row(tableOf(held), held));
        await rename(table, id);
      },
    };
  };
  const received = (...tables: string[]): Actor => ({
    ...documents(tables, true),
    cutWrite: cutWrite(new RegExp(`^(?:${tables.map((one) => one.toLowerCase()).join("|")}) `)),
    ...(tables.includes("Payment") ? { lacks: { copy: NO_COPY } } : { copy: copied(tables) }),
  });
  /** With its memo, which our mark is in; an invoice that is entered by hand is its sum. */
  const copied = (tables: readonly string[]) => async (held: Held, byHand?: boolean) => {
    const table = tables.find((one) => books.rows(one).some(({ Id }) => Id === held.id)) ?? "";
    const { Id, SyncToken, MetaData, LinkedTxn, ...rest } = row(table, held);
    void [Id, SyncToken, MetaData, LinkedTxn];
    const DocNumber = byHand
      ? `HAND-${9_000 + ++counter}`
      : `${String(rest["DocNumber"]).slice(0, 19)}-C`;
    const isSum = byHand && table === "Invoice";
    const sum = isSum ? { Line: lineOf(rest["TotalAmt"] as Decimal) } : {};
    const memo = byHand ? { PrivateNote: "by hand", ...sum } : {};
    return heldOf(books.enter(table, { ...rest, ...memo, DocNumber, Balance: rest["TotalAmt"] }));
  };

  const item = (): Record_ => books.rows("Item").find(({ Name }) => Name === "ULSD-CLR") as Record_;
  const lineOf = (total: Decimal): readonly object[] => [
    {
      DetailType: "SalesItemLineDetail",
      Amount: total,
      Description: "ULSD",
      SalesItemLineDetail: {
        ItemRef: { value: item().Id, name: "ULSD-CLR" },
        Qty: total,
        UnitPrice: d(1),
      },
    },
    { DetailType: "SubTotalLineDetail", Amount: total, SubTotalLineDetail: {} },
  ];
  const invoice = (): Record_ => {
    const total = d(1_000 + ++counter);
    const customer = books
      .rows("Customer")
      .findLast((one) => String(one["DisplayName"]).startsWith("Farm")) as Record_;
    const TxnDate = today();
    return books.enter("Invoice", {
      DocNumber: `FL-${9_000 + counter}`,
      TxnDate,
      DueDate: TxnDate,
      CustomerRef: { value: customer.Id, name: customer["DisplayName"] },
      Line: lineOf(total),
    });
  };
  const own: Actor = {
    ...documents(["Invoice"], false),
    make: async () => heldOf(invoice()),
    copy: async (held) => {
      const { DocNumber, TxnDate, DueDate, CustomerRef, Line } = row("Invoice", held);
      const number = `${String(DocNumber)}-COPY`;
      return heldOf(
        books.enter("Invoice", { DocNumber: number, TxnDate, DueDate, CustomerRef, Line }),
      );
    },
    touch: touch("Invoice"),
    cutList: cutList("Invoice"),
  };
  const paidOf = (one: Record_): string =>
    /"TxnId":"(\d+)"/.exec(JSON.stringify(one["Line"]))?.[1] ?? "";
  const settlements: Actor = {
    list: async () =>
      books
        .rows("Payment")
        .filter((one) => markIn(one) === undefined)
        .map((one) => {
          const on = books.rows("Invoice").find(({ Id }) => Id === paidOf(one));
          return {
            id: one.Id,
            number: String(on?.["DocNumber"]),
            party: refOf(one).id,
            stands: !voided(one),
          };
        }),
    make: async () => {
      const on = invoice();
      const one = books.settle(on, String(on["TxnDate"]));
      return { id: one.Id, number: String(on["DocNumber"]), stands: true, names: [on.Id] };
    },
    void: async (held) => {
      const PrivateNote = "Voided - ";
      const one = row("Payment", held);
      const on = books.rows("Invoice").find(({ Id }) => Id === paidOf(one)) as Record_;
      const open = { Balance: on["TotalAmt"], LinkedTxn: [] };
      books.edit("Invoice", on.Id, open);
      books.edit("Payment", held.id, { PrivateNote, TotalAmt: d(0), Line: [] });
    },
    remove: async (held) => books.delete("Payment", held.id),
    touch: touch("Payment"),
    cutList: cutList("Payment|Invoice"),
    recode: async (held) => rename("Customer", refOf(row("Payment", held)).id),
    lacks: {
      renumber: "no number of a payment goes to the platform: it is told that the invoice is paid",
      copy: "what is paid cannot be paid again: a second payment stays on the customer's account",
    },
  };
  const parties = (table: "Customer" | "Vendor"): Actor => {
    const prefix = table === "Customer" ? "C" : "V";
    const word = table === "Customer" ? "Farm" : "Supply";
    const partyOf = (one: Record_): Held => ({
      id: one.Id,
      number: `${prefix}-${one.Id}`,
      stands: one["Active"] !== false,
      names: [String(one["DisplayName"])],
    });
    return {
      list: async () => books.rows(table).map(partyOf),
      make: async () =>
        partyOf(books.enter(table, { DisplayName: `${word} ${1_000 + ++counter}` })),
      recode: async (held) => rename(table, held.id),
      void: async (held) => books.edit(table, held.id, { Active: false }),
      touch: touch(table),
      cutList: cutList(table),
      lacks: {
        renumber: "the number of a party is its code",
        remove: "QuickBooks deletes no party: it is made inactive",
        copy: "QuickBooks has one party of a name",
      },
    };
  };
  const priceOf = (one: Record_): Held => ({
    id: one.Id,
    number: `${TERMINAL} ${PRODUCTS[String(one["Name"])] ?? String(one["Name"])}`,
    stands: one["Active"] !== false,
    names: [`${TERMINAL}|${String(one["Name"])}`],
  });
  const priced = (): Record_[] => books.rows("Item").filter((one) => "UnitPrice" in one);
  const prices: Actor = {
    list: async () => priced().map(priceOf),
    make: async () => {
      const there = priced().map(({ Name }) => String(Name));
      const next = Object.keys(PRODUCTS).find((one) => !there.includes(one));
      const one = books.rows("Item").find(({ Name }) => Name === next) as Record_;
      books.edit("Item", one.Id, { UnitPrice: d("2.5") });
      return priceOf(one);
    },
    recode: async (held) => books.edit("Item", held.id, { Name: "ULSD-NEW" }),
    void: async (held) => books.edit("Item", held.id, { Active: false }),
    touch: touch("Item"),
    cutList: cutList("Item"),
    lacks: {
      renumber: NO_NUMBER,
      remove: "QuickBooks deletes no item: it is made inactive",
      copy: "QuickBooks has one item of a name",
    },
  };
  return {
    "invoice to books": received("Invoice"),
    "bill to books": received("Bill"),
    "payment to books": received("Payment", "BillPayment"),
    "order to books": received("Estimate"),
    "purchase to books": received("PurchaseOrder"),
    "customer to platform": parties("Customer"),
    "supplier to platform": parties("Vendor"),
    "invoice to platform": own,
    "payment to platform": settlements,
    "price to platform": prices,
  };
}
