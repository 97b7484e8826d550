/** What sources tell of a company file that changes, and what they survive: iterators, stamps, clocks, deletions. */
import { describe, expect, test } from "vitest";
import { invoiceDocument, itemOf } from "../example/example.fixture.ts";
import type { CompanyFile } from "./company-file.fixture.ts";
import { desk, PLATFORM_ID } from "./desk.fixture.ts";
import { desktopMemo } from "./wire.ts";
import {
  bookedCustomers as customers,
  bookedInvoices as invoices,
  bookedPaidInvoices as paidInvoices,
  bookedRackPrices as rackPrices,
} from "../../mappings/platform/records.ts";
import { everything } from "../../mappings/references.fixture.ts";
import type { Mapping, References } from "../../src/core/contract.ts";
import { parseExact } from "../../src/core/json.ts";
import { PartyRecord, PriceRecord } from "../../src/ledger/documents.ts";
import { LedgerError } from "../../src/ledger/port.ts";
import { ledgerSink } from "../../src/ledger/driver.ts";
import { never, recordsOf, SENT } from "../../test/support/connector.ts";

describe("parties", () => {
  test("are told under codes that no rename changes, jobs not at all, deleted ones as inactive", async () => {
    const { file, customer, read } = desk();
    const street = "<Addr1>Acme Oil</Addr1><Addr2>12 Farm Rd</Addr2><City>Lubbock</City>";
    file.edit("Customer", customer.id, {
      Notes: `platform:${PLATFORM_ID}`,
      Phone: "806 555 0100",
      "*": `<BillAddress>${street}<State>TX</State><PostalCode>79401</PostalCode></BillAddress>`,
    });
    file.enter("Customer", { Name: "Yard 3", FullName: "Acme:Yard 3", ParentRef: "Acme" });
    const vendor = file.enter("Vendor", { Name: "Sabine", IsActive: "false" });
    const notices: string[] = [];
    const told = async () => {
      const pages = await read("parties");
      notices.push(...pages.flatMap((page) => page.notices ?? []));
      return Object.values(recordsOf(pages)).map((text) => PartyRecord.parse(parseExact(text)));
    };
    expect(await told()).toEqual([
      {
        code: `C-${customer.id}`,
        name: "Acme Oil",
        isCustomer: true,
        isSupplier: false,
        companyId: PLATFORM_ID,
        email: null,
        phone: "806 555 0100",
        street: "12 Farm Rd",
        city: "Lubbock",
        state: "US-TX",
        zip: "79401",
        country: "US",
        active: true,
      },
      expect.objectContaining({ code: `V-${vendor.id}`, name: "Sabine", active: false }),
    ]);
    file.remove("Customer", customer.id);
    expect(await told()).toMatchObject([{ code: `C-${customer.id}`, name: "Acme", active: false }]);
    expect(notices).toEqual([expect.stringContaining(`C-${customer.id} no more`)]);
  });

  test("are held for reconciliation, inactive ones as ended, each in its role", async () => {
    const { file, customer, holdings } = desk();
    file.edit("Customer", customer.id, { Notes: `platform:${PLATFORM_ID}` });
    file.enter("Customer", { Name: "Yard 3", FullName: "Acme:Yard 3", ParentRef: "Acme" });
    const vendor = file.enter("Vendor", { Name: "Sabine", IsActive: "false" });
    const scope = { dated: null, changedSince: null, open: true };
    const held: unknown[] = [];
    for await (const page of holdings.list("party", scope, null, never))
      held.push(...page.holdings);
    expect(held).toMatchObject([
      { id: `C-${customer.id}`, role: "customer", mark: PLATFORM_ID, facts: { state: "open" } },
      { id: `V-${vendor.id}`, role: "supplier", mark: null, facts: { state: "ended" } },
    ]);
  });

  test("are found by these codes after a rename, and no second one is made", async () => {
    const { file, customer, books } = desk();
    file.edit("Customer", customer.id, { Name: "Acme Renamed" });
    const party = { code: `C-${customer.id}`, name: "Acme Oil", companyId: PLATFORM_ID };
    const sink = ledgerSink(books, "invoice");
    const items = [itemOf(invoiceDocument("FL-9", { party }))];
    const request = { ...sink.freeze(items), key: "k", items, firstSentAt: null };
    expect(await sink.send(request, never)).toMatchObject({ outcome: "done" });
    expect(await sink.find({ ...request, firstSentAt: SENT }, never)).toMatchObject({
      found: "exact",
    });
    file.remove("Customer", customer.id);
    const again = [itemOf(invoiceDocument("FL-10", { party }))];
    const refused = { ...sink.freeze(again), key: "k2", items: again, firstSentAt: null };
    expect(await sink.send(refused, never)).toMatchObject({ fault: { code: "party-gone" } });
    expect(file.rows("Customer")).toEqual([]);
  });
});

describe("invoices", () => {
  test.for([true, false])(
    "are told with what was paid on them, and when a payment is deleted; a payment stamps its invoice: %s",
    async (stampsPaid) => {
      const { file, invoice, invoices, customer } = desk();
      file.stampsPaid = stampsPaid;
      const { id } = invoice({ PONumber: "PO 7", DueDate: "2026-12-21" }, "60.00", "40.00");
      const told = async () => (await invoices("paidInvoices")).get(id);
      expect(await told()).toMatchObject({
        number: id,
        state: "posted",
        reference: "PO 7",
        partyCode: `C-${customer.id}`,
        lines: [{ product: "ULSD-CLR" }, {}],
        paidByOthers: null,
      });
      expect(await told()).toBeUndefined();
      file.pay(id, "30.00");
      expect(String((await told())?.paidByOthers)).toBe("30.00");
      file.now = "2026-11-24T09:00:00";
      const last = file.pay(id, "70.00");
      expect(await told()).toMatchObject({ state: "paid", paidDate: "2026-11-24" });
      file.remove("ReceivePayment", last.id);
      expect(await told()).toMatchObject({ state: "posted", paidDate: null });
    },
  );

  test.for<[what: string, settle: (file: CompanyFile, id: string) => void, clearedBy: RegExp]>([
    ["a payment", (file, id) => file.pay(id, "100.00"), /^money$/],
    [
      "a credit memo",
      (file, id) => file.pay(id, "100.00", { by: "CreditMemo" }),
      /^credit memo \S+ of 100\.00$/,
    ],
    [
      "a payment and a credit memo",
      (file, id) => {
        file.pay(id, "60.00");
        file.pay(id, "40.00", { by: "CreditMemo" });
      },
      /^credit memo \S+ of 40\.00$/,
    ],
    [
      "a payment with a discount",
      (file, id) => file.pay(id, "98.00", { discount: "2.00" }),
      /^discount in payment \S+ of 2\.00$/,
    ],
  ])("paid means paid with money: %s", async ([, settle, clearedBy]) => {
    const { file, invoice, invoices } = desk();
    const { id } = invoice({}, "100.00");
    settle(file, id);
    expect((await invoices("paidInvoices")).get(id)).toMatchObject({
      state: "paid",
      clearedBy: expect.stringMatching(clearedBy),
    });
  });

  test("of the platform are told as its own, and what it paid as paid by it", async () => {
    const { file, invoice, invoices } = desk();
    const memo = (mark: string) => desktopMemo({ number: "INV-1", mark, text: null });
    const { id } = invoice({ Memo: memo(PLATFORM_ID) });
    file.edit("ReceivePayment", file.pay(id, "100.00").id, { Memo: memo("payment-1") });
    const record = (await invoices()).get(id);
    expect(record).toMatchObject({ platformId: PLATFORM_ID, state: "paid", paidByPlatform: true });
  });

  test("that are void or deleted are told as cancelled, under the id that links have", async () => {
    const { file, invoice, invoices, wire } = desk();
    const [one, other] = [invoice(), invoice({ RefNumber: "FL-2" })];
    expect((await invoices()).get(one.id)).toMatchObject({ number: "FL-1", state: "posted" });
    await wire.write(
      [{ name: "TxnVoid", values: { TxnVoidType: "Invoice", TxnID: one.id } }],
      never,
    );
    file.remove("Invoice", other.id);
    const told = await invoices();
    expect(told.get(one.id)).toMatchObject({ number: one.id, state: "cancelled" });
    expect(told.get(other.id)).toMatchObject({
      number: other.id,
      state: "cancelled",
      description: "deleted in QuickBooks at 2026-11-21T12:00:00 (number FL-2)",
    });
  });

  test("that share a number are work for a person, and taxes and jobs are told as such", async () => {
    const { file, invoice, read, invoices, customer } = desk({ taxItems: ["2300"] });
    file.enter("Customer", { Name: "Yard 3", FullName: "Acme:Yard 3", ParentRef: "Acme" });
    const { id } = invoice({ CustomerRef: "Acme:Yard 3" }, "90.00");
    file.rows("Invoice")[0]?.lines.push({ ItemRef: "2300", Amount: "10.00", Desc: "Excise" });
    const record = (await invoices()).get(id);
    expect(record).toMatchObject({
      partyCode: `C-${customer.id}`,
      lines: [{ product: "ULSD-CLR" }],
      taxes: [{ description: "Excise" }],
    });
    expect([record?.untaxed, record?.tax, record?.total].map(String)).toEqual([
      "90.00",
      "10.00",
      "100.00",
    ]);
    const twin = invoice();
    const [page] = (await read("invoices")).filter(({ changes }) => changes.length > 0);
    expect(page?.changes).toMatchObject([{ id: twin.id, fault: { code: "number-twice" } }]);
  });
});

test("what is told goes through the shipped mappings to the platform", async () => {
  const { file, customer, invoice, read } = desk({ prices: { list: "Lubbock" } });
  const { id } = invoice({ PONumber: "PO 7", Memo: "thank you" });
  file.pay(id, "100.00");
  file.enter("Item", { Name: "ULSD", "*": "<SalesPrice>3.1</SalesPrice>" });
  const references: References = {
    ...everything("us"),
    counterpart: (kind, called) =>
      [`customer C-${customer.id}`, `invoice ${id}`].includes(`${kind} ${called}`)
        ? PLATFORM_ID
        : "",
    row: () => ({ product: "diesel", terminal: PLATFORM_ID }),
  };
  const mapped = async (name: Parameters<typeof read>[0], mapping: Mapping<never>) => {
    const [text = ""] = Object.values(recordsOf(await read(name)));
    const record = mapping.input.parse(parseExact(text));
    return mapping.output.parse(mapping.map(record, references));
  };
  const all = [
    await mapped("parties", customers as Mapping<never>),
    await mapped("invoices", invoices as Mapping<never>),
    await mapped("paidInvoices", paidInvoices as Mapping<never>),
    await mapped("prices", rackPrices as Mapping<never>),
  ];
  expect(all).toMatchObject([
    { name: "Acme Oil", externalId: `C-${customer.id}` },
    {
      invoiceNumber: "FL-1",
      poNumber: "PO 7",
      notes: "thank you",
      payerCompanyId: PLATFORM_ID,
    },
    { invoiceId: PLATFORM_ID, paidAt: "2026-11-21T12:00:00Z" },
    { terminalId: PLATFORM_ID, unit: "gal" },
  ]);
});

describe("a walk", () => {
  const MANY = 620;
  const filled = () => {
    const all = desk();
    for (let at = 1; at < MANY; at++) all.file.enter("Customer", { Name: `C ${at}` });
    return all;
  };
  const once = (ids: readonly string[], count: number): void => {
    expect(ids).toHaveLength(count);
    expect(new Set(ids).size).toBe(count);
  };

  test("tells each record once, though its iterator is lost with its session, and nothing again", async () => {
    const { file, hooks, ids, read } = filled();
    let continued = 0;
    hooks.before = (xml) => {
      if (xml.includes('iterator="Continue"') && ++continued === 1) file.sessionOver();
    };
    once(await ids("parties"), MANY);
    expect(continued).toBe(2);
    expect(await read("parties")).toEqual([]);
  });

  test("that is broken off goes on after its last page; what changed meanwhile is told", async () => {
    const { file, hooks, told, read } = filled();
    const codes = file.rows("Customer").map(({ id }) => `C-${id}`);
    const [first = "", second = ""] = codes.toSorted();
    let details = 0;
    hooks.before = (xml) => {
      if (xml.includes("<CustomerQueryRq") && xml.includes("<ListID>") && ++details === 3)
        throw new LedgerError("torn", "the session is over, and the answer did not come");
    };
    await expect(read("parties")).rejects.toMatchObject({ name: "SourceUnavailable" });
    once(told, 100);
    file.now = "2026-11-21T12:05:00";
    file.edit("Customer", first.slice(2), { Phone: "1" });
    hooks.before = (xml) => {
      // While the details are read.
      if (!xml.includes("<ListID>") || file.now > "2026-11-21T12:06:00") return;
      file.now = "2026-11-21T12:07:00";
      file.edit("Customer", second.slice(2), { Phone: "2" });
    };
    await read("parties");
    expect(told.toSorted()).toEqual([...codes, first].toSorted());
    const after = recordsOf(await read("parties"));
    expect(after[second]).toContain('"phone":"2"');
    // What was told before the break is told once more, and then never again.
    expect(Object.keys(after).toSorted()).toEqual(
      codes
        .toSorted()
        .filter((code) => code !== first)
        .slice(0, 99),
    );
    expect(await read("parties")).toEqual([]);
  });

  test("misses nothing when summer time ends, or when a clock that was a year ahead is put right", async () => {
    const { file, customer, clock, ids } = desk();
    const edited = async (at: string): Promise<string[]> => {
      file.now = at;
      file.edit("Customer", customer.id, { Phone: at });
      return ids("parties");
    };
    clock.ms = Date.parse("2026-11-01T08:00:00Z");
    for (const at of [
      "2026-11-01T01:59:59",
      "2026-11-01T01:00:00",
      "2027-11-01T01:00:00",
      "2026-11-01T01:30:00",
    ])
      expect(await edited(at), at).toEqual([`C-${customer.id}`]);
    expect(await ids("parties")).toEqual([]);
  });

  test("that comes after more than the 90 days that QuickBooks tells of deletions says so", async () => {
    const { clock, read } = desk();
    await read("parties");
    clock.ms += 91 * 86_400_000;
    const [page] = await read("parties");
    expect(page?.notices).toEqual([expect.stringContaining("fuelbridge reconcile")]);
  });
});

test("prices of items and of price levels are rack prices of their lists; a percentage is none, and neither is one of two in one list", async () => {
  const { file, read } = desk({ prices: { list: "Lubbock", of: "purchase", levels: true } });
  const item = (Name: string, inner: string) => file.enter("Item", { Name, "*": inner });
  const ulsd = item(
    "Fuel:ULSD",
    "<SalesPrice>3.1</SalesPrice><PurchaseCost>2.41375</PurchaseCost>",
  );
  item("Fuel:E10", "<SalesOrPurchase><Price>2.05</Price></SalesOrPurchase>");
  item("Fee", "<SalesOrPurchase><PricePercent>3.0</PricePercent></SalesOrPurchase>");
  const line = (name: string, price: string) =>
    `<PriceLevelPerItemRet><ItemRef><FullName>${name}</FullName></ItemRef>${price}</PriceLevelPerItemRet>`;
  const level = (Name: string, inner: string) => file.enter("PriceLevel", { Name, "*": inner });
  const price = "<CustomPrice>2.5</CustomPrice>";
  const percent = "<CustomPricePercent>5.0</CustomPricePercent>";
  level("Amarillo", line("Fuel:ULSD", price) + line("Fuel:E10", percent));
  const lubbock = level("Lubbock", line("Fuel:ULSD", price));
  /** What is told last of each price. */
  const told = async (): Promise<Record<string, string>> => {
    const changes = (await read("prices")).flatMap((page) => page.changes);
    return Object.fromEntries(
      changes.map(({ id, text, fault }) => {
        if (fault !== undefined) return [id, fault.code];
        const record = PriceRecord.parse(parseExact(text));
        return [id, `${record.list} ${record.product} ${String(record.price)} ${record.unit}`];
      }),
    );
  };
  expect(await told()).toEqual({
    "Lubbock|Fuel:ULSD": "no-single-price",
    "Lubbock|Fuel:E10": "Lubbock Fuel:E10 2.05 gal",
    "Amarillo|Fuel:ULSD": "Amarillo Fuel:ULSD 2.5 gal",
    "Amarillo|Fuel:E10": "no-constant",
  });
  // Whichever of the two was changed last, none of them goes; once one is gone, the other one counts.
  file.edit("Item", ulsd.id, {});
  expect(await told()).toEqual({ "Lubbock|Fuel:ULSD": "no-single-price" });
  file.edit("PriceLevel", lubbock.id, { Name: "Plainview" });
  expect(await told()).toEqual({
    "Lubbock|Fuel:ULSD": "Lubbock Fuel:ULSD 2.41375 gal",
    "Plainview|Fuel:ULSD": "Plainview Fuel:ULSD 2.5 gal",
  });
  file.remove("PriceLevel", lubbock.id);
  file.remove("Item", ulsd.id);
  expect((await read("prices")).flatMap(({ notices = [] }) => notices)).toEqual([
    expect.stringContaining("item Fuel:ULSD no more"),
    expect.stringContaining("price level Plainview no more"),
  ]);
});
