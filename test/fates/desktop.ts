/** QuickBooks Desktop in the table of fates: a company file of the tests' own, and a Web Connector that calls. */
import type { Row, Table } from "../../connectors/quickbooks-desktop/company-file.fixture.ts";
import { guidOf } from "../../connectors/quickbooks/text.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { TABLES } from "../quickbooks-desktop/ledger.ts";
import { type DesktopSite, openDesktopSite } from "../quickbooks-desktop/site.ts";
import { NO_NUMBER, platformSide, PRODUCTS } from "./platform.ts";
import { type Counterpart, NO_COPY, NOT_CARRIED } from "./round.ts";
import type { Actor, Held, Side } from "./table.ts";

const TERMINAL = "T-76-TX-2799";
/** Whose records show the platform's id as a GUID. */
const DOCUMENTS = [
  "order to books",
  "purchase to books",
  "ticket to books",
  "invoice to books",
  "bill to books",
] as const;

export const desktop: Counterpart = {
  connector: "quickbooks-desktop",
  async open(folder, backup) {
    const site = await openDesktopSite(folder, backup, {
      scenario: "empty",
      yaml: (yaml) => yaml.replace("  environment: live\n", "  environment: live\n  settle: 1s\n"),
    });
    return { ...site, side: sideOf(site), backup: () => site.books.backup() };
  },
  lacks: {
    ...NOT_CARRIED,
    "delivery to books": "QuickBooks has no document for goods that go out but the invoice",
  },
};

let counter = 0;

function sideOf(site: DesktopSite): Side {
  const { books } = site;
  const row = (table: Table, { id }: Held): Row => {
    const found = books.rows(table).find((one) => one.id === id);
    if (found === undefined) throw new Error(`QuickBooks has no ${table} ${id}`);
    return found;
  };
  const partyIn = ({ fields }: Row): readonly [string, Table] =>
    fields["CustomerRef"] === undefined
      ? [fields["VendorRef"] ?? fields["PayeeEntityRef"] ?? "", "Vendor"]
      : [fields["CustomerRef"], "Customer"];
  const partyOf = (one: Row): string => {
    const [name, table] = partyIn(one);
    return books.rows(table).find(({ fields }) => fields["Name"] === name)?.id ?? name;
  };
  /** Documents show their party's name of now. */
  const rename = (table: Table, name: string): void => {
    const party = books.rows(table).find(({ fields }) => fields["Name"] === name);
    if (party === undefined) throw new Error(`QuickBooks has no ${table} ${name}`);
    books.edit(table, party.id, { Name: `${name} & Sons` });
    for (const one of TABLES.flatMap((each) => books.rows(each)))
      for (const field of ["CustomerRef", "VendorRef", "PayeeEntityRef"])
        if (one.fields[field] === name) one.fields[field] = `${name} & Sons`;
  };
  const cutList = (table: Table) => async () =>
    void books.cuts.push({ name: new RegExp(`<${table}QueryRq`), when: "after" });
  const touch = (table: Table) => async (held: Held) => books.edit(table, held.id, {});
  const partnerIn = ({ fields }: Row): string | undefined =>
    /(?:platform|payment):(\S+)/.exec(fields["Memo"] ?? "")?.[1];

  /** Documents of ours carry the platform's id in a field of their own. */
  const heldOf = (one: Row): Held => {
    const partner = partnerIn(one) ?? one.fields["ExternalGUID"];
    return {
      id: one.id,
      number: one.fields["RefNumber"] ?? one.fields["Memo"] ?? null,
      ...(partner === undefined ? {} : { partner }),
      party: partyOf(one),
      stands: !one.isVoid && one.fields["IsManuallyClosed"] !== "true",
    };
  };
  const isOurs = (one: Row): boolean => heldOf(one).partner !== undefined;
  const documents = (tables: readonly Table[], ours: boolean): Actor => {
    const tableOf = (held: Held): Table =>
      tables.find((table) => books.rows(table).some(({ id }) => id === held.id)) as Table;
    return {
      list: async () =>
        tables.flatMap((table) =>
          books
            .rows(table)
            .filter((one) => isOurs(one) === ours)
            .map(heldOf),
        ),
      void: async (held) => {
        const table = tableOf(held);
        const one = row(table, held);
        one.isVoid = true;
        one.applied = [];
        books.edit(table, held.id, { Memo: `VOID: ${one.fields["Memo"] ?? ""}` });
      },
      remove: async (held) => books.remove(tableOf(held), held.id),
      renumber: async (held) => {
        const RefNumber = `${(held.number ?? "").slice(0, 7)}-NEW`;
        books.edit(tableOf(held), held.id, { RefNumber });
        return RefNumber;
      },
      recode: async (held) => {
        const [name, table] = partyIn(row(tableOf(held), held));
        rename(table, name);
      },
    };
  };
  /** The platform's id of one whose record shows a GUID made of it. */
  const named = (actor: Actor): Actor => ({
    ...actor,
    list: async () => {
      const platform = platformSide(site);
      const ids = (
        await Promise.all(DOCUMENTS.map(async (travels) => (await platform[travels]?.list()) ?? []))
      ).flat();
      return (await actor.list()).map((held) => {
        const found = ids.find(({ id }) => guidOf(id) === held.partner);
        return found === undefined ? held : { ...held, partner: found.id };
      });
    },
  });
  const received = (...tables: Table[]): Actor =>
    named({
      ...documents(tables, true),
      ...(tables.includes("ReceivePayment")
        ? { lacks: { copy: NO_COPY } }
        : { copy: copied(tables) }),
      cutWrite: async (when) =>
        void books.cuts.push({ name: new RegExp(`<(?:${tables.join("|")})AddRq`), when }),
    });
  /** With its memo, which our mark is in; an invoice that is entered by hand is its sum. A GUID is one record's alone. */
  const copied = (tables: readonly Table[]) => async (held: Held, byHand?: boolean) => {
    const table = tables.find((one) => books.rows(one).some(({ id }) => id === held.id)) as Table;
    const one = row(table, held);
    const { fields, lines } = one;
    const { ExternalGUID, ...rest } = fields;
    void ExternalGUID;
    const RefNumber = byHand
      ? `H-${9_000 + ++counter}`
      : `${(rest["RefNumber"] ?? "").slice(0, 9)}-C`;
    const memo = byHand ? { Memo: "by hand" } : {};
    const all =
      byHand && table === "Invoice"
        ? [line(books.total(one).plain())]
        : lines.map((each) => ({ ...each }));
    return heldOf(books.enter(table, { ...rest, ...memo, RefNumber }, all));
  };
  const ordered = (table: Table): Actor => ({
    ...received(table),
    void: undefined,
    lacks: { void: "QuickBooks voids no order: one that is closed is done" },
  });

  const line = (amount: string): Record<string, string> => ({
    ItemRef: "ULSD-CLR",
    Desc: "ULSD",
    Quantity: amount,
    Rate: "1",
    Amount: Decimal.of(amount).fixed(2),
  });
  const invoice = (): Row => {
    const date = books.now.slice(0, 10);
    const customers = books.rows("Customer").map(({ fields }) => fields["Name"] ?? "");
    const party = customers.findLast((name) => name.startsWith("Farm")) ?? "";
    const fields = {
      RefNumber: `FL-${9_000 + ++counter}`,
      TxnDate: date,
      DueDate: date,
      CustomerRef: party,
    };
    return books.enter("Invoice", fields, [line(String(1_000 + counter))]);
  };
  const own: Actor = {
    ...documents(["Invoice"], false),
    make: async () => heldOf(invoice()),
    copy: async (held) => {
      const { fields, lines } = row("Invoice", held);
      const copied = { ...fields, RefNumber: `${fields["RefNumber"]}-C` };
      return heldOf(
        books.enter(
          "Invoice",
          copied,
          lines.map((one) => ({ ...one })),
        ),
      );
    },
    touch: touch("Invoice"),
    cutList: cutList("Invoice"),
  };
  const paidBy = (one: Row): Row | undefined =>
    books.rows("Invoice").find(({ id }) => id === one.applied[0]?.to);
  const settlements: Actor = {
    list: async () =>
      books
        .rows("ReceivePayment")
        .filter((one) => partnerIn(one) === undefined)
        .map((one) => ({
          id: one.id,
          number: paidBy(one)?.fields["RefNumber"] ?? null,
          party: partyOf(one),
          stands: !one.isVoid,
          names: one.applied.map(({ to }) => to),
        })),
    make: async () => {
      const on = invoice();
      const one = books.pay(on.id, books.total(on).fixed(2));
      return { id: one.id, number: on.fields["RefNumber"] ?? null, stands: true, names: [on.id] };
    },
    void: async (held) => {
      const one = row("ReceivePayment", held);
      one.isVoid = true;
      one.applied = [];
      books.edit("ReceivePayment", held.id, { Memo: "VOID:" });
    },
    remove: async (held) => books.remove("ReceivePayment", held.id),
    touch: touch("ReceivePayment"),
    cutList: cutList("ReceivePayment"),
    recode: async (held) => rename("Customer", partyIn(row("ReceivePayment", held))[0]),
    lacks: {
      renumber: "no number of a payment goes to the platform: it is told that the invoice is paid",
      copy: "what is paid cannot be paid again: a second payment stays on the customer's account",
    },
  };
  const parties = (table: "Customer" | "Vendor"): Actor => {
    const prefix = table === "Customer" ? "C" : "V";
    const partyHeld = (one: Row): Held => ({
      id: one.id,
      number: `${prefix}-${one.id}`,
      stands: one.fields["IsActive"] !== "false",
      names: [one.fields["Name"] ?? ""],
    });
    return {
      list: async () => books.rows(table).map(partyHeld),
      make: async () => {
        const Name = `${table === "Customer" ? "Farm" : "Supply"} ${1_000 + ++counter}`;
        return partyHeld(books.enter(table, { Name }));
      },
      recode: async (held) => rename(table, row(table, held).fields["Name"] ?? ""),
      void: async (held) => books.edit(table, held.id, { IsActive: "false" }),
      remove: async (held) => books.remove(table, held.id),
      touch: touch(table),
      cutList: cutList(table),
      lacks: {
        renumber: "the number of a party is its code",
        copy: "QuickBooks has one party of a name",
      },
    };
  };
  const priceHeld = (one: Row): Held => {
    const { Name = "" } = one.fields;
    return {
      id: one.id,
      number: `${TERMINAL} ${PRODUCTS[Name] ?? Name}`,
      stands: one.fields["IsActive"] !== "false",
      names: [`${TERMINAL}|${Name}`],
    };
  };
  const prices: Actor = {
    list: async () => books.rows("Item").map(priceHeld),
    make: async () => {
      const there = books.rows("Item").map(({ fields }) => fields["Name"]);
      const Name = Object.keys(PRODUCTS).find((one) => !there.includes(one)) ?? "";
      const price = "<SalesOrPurchase><Price>2.5</Price></SalesOrPurchase>";
      return priceHeld(books.enter("Item", { Name, "*": price }));
    },
    recode: async (held) => books.edit("Item", held.id, { Name: "ULSD-NEW" }),
    void: async (held) => books.edit("Item", held.id, { IsActive: "false" }),
    remove: async (held) => books.remove("Item", held.id),
    touch: touch("Item"),
    cutList: cutList("Item"),
    lacks: { renumber: NO_NUMBER, copy: "QuickBooks has one item of a name" },
  };
  return {
    "invoice to books": received("Invoice"),
    "bill to books": received("Bill"),
    "payment to books": received("ReceivePayment", "BillPaymentCheck"),
    "order to books": ordered("SalesOrder"),
    "purchase to books": ordered("PurchaseOrder"),
    "ticket to books": received("ItemReceipt"),
    "customer to platform": parties("Customer"),
    "supplier to platform": parties("Vendor"),
    "invoice to platform": own,
    "payment to platform": settlements,
    "price to platform": prices,
  };
}
