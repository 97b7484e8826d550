/** The reference page is the generated one, and what it says of uses is what happens. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { freightRate, invoice, party, price, terminal } from "../../test/conformance/samples.ts";
import type { Row } from "../../test/conformance/support.ts";
import { never, reading, usePlatform } from "../../test/platform/support.ts";
import type { Item } from "../core/contract.ts";
import { operations, pathOf, targetOf } from "./contract/operations.ts";
import { readsOf, referencePage, sinks, sources } from "./parts.ts";

const PAGE = join(import.meta.dirname, "..", "..", "docs", "platform-api.md");
const sourceNames = Object.keys(sources) as (keyof typeof sources)[];
const sinkNames = Object.keys(sinks) as (keyof typeof sinks)[];

test("docs/platform-api.md is the generated page", () => {
  expect(
    readFileSync(PAGE, "utf8"),
    "write it anew: fuelbridge openapi --markdown > docs/platform-api.md",
  ).toBe(referencePage());
});

test("what frozen requests ask for is an operation of the table, with the id escaped", () => {
  expect(pathOf("listOrders")).toBe("/orders");
  expect(pathOf("listTerminalPrices", "a b/c")).toBe("/pricing/terminal/a%20b%2Fc");
  expect(targetOf("markInvoicePaid", "i-1")).toBe("PUT /invoices/i-1/mark-paid");
});

describe("an end of a flow asks for what the page says, and for nothing else", () => {
  const platform = usePlatform("conformance");
  const { control } = platform;

  async function asked(work: Promise<void>): Promise<string[]> {
    await work;
    const requests = await control.requests();
    const ids = requests.map(({ method, path }) => operationOf(String(method), String(path)));
    return [...new Set(ids)].toSorted();
  }

  function operationOf(method: string, path: string): string {
    const found = Object.entries(operations).find(
      ([, row]) =>
        row.method === method && new RegExp(`^${row.path.replace("{id}", "[^/]+")}$`).test(path),
    );
    return found?.[0] ?? `${method} ${path}`;
  }

  test.each(sourceNames)("source %s", async (name) => {
    await control.readings({ listsCarryLines: false });
    // All invoices of the scenario are the supplier's, for the customer to pay.
    const key = /^(?:invoicesPayable|paymentsMade)$/.test(name) ? "customer" : "supplier";
    const { [name]: source } = platform.endpoint({}, key).sources;
    const read = async (): Promise<void> => {
      for await (const page of source?.read(null, reading()) ?? [])
        expect(page.changes).not.toEqual([]);
    };
    expect(await asked(read())).toEqual([...readsOf(sources[name])].toSorted());
  });

  const first = async (resource: string) => (await control.stored(resource, "supplier"))[0] ?? {};

  /** Something new, and for an upsert the same once it is there. */
  async function itemsFor(name: keyof typeof sinks): Promise<Partial<Item>[]> {
    const { id: invoiceId } = await first("invoices");
    const { id: orderId } = await first("orders");
    const { id: ticketId } = await first("delivery-tickets");
    const { id: freightRateId, connectionId } = await first("freight-rates");
    const { id: terminalId } = await first("supplier-terminals");
    const upsert = (document: Row, id: unknown) => [
      { document },
      { document, counterpart: String(id) },
    ];
    const items = {
      invoices: [{ document: invoice() }],
      customers: [{ document: party() }],
      suppliers: [{ document: party() }],
      rackPrices: [{ document: price() }],
      paidInvoices: [{ document: { invoiceId } }],
      tickets: upsert({ ticketNumber: "T-1" }, ticketId),
      ticketSignatures: [{ document: { ticketId, receiverName: "R. Diaz" } }],
      freightRates: upsert(freightRate(connectionId), freightRateId),
      endedFreightRates: [{ document: { freightRateId, connectionId } }],
      supplierTerminals: upsert(terminal(), terminalId),
      orderNotes: [{ document: { orderId, content: "SO-1" } }],
    };
    return items[name];
  }

  test.each(sinkNames)("sink %s", async (name) => {
    const items = await itemsFor(name);
    const sink = platform.sink(name);
    const work = async (): Promise<void> => {
      for (const [at, item] of items.entries()) {
        const full = { number: "1", id: "1", revision: "r1", counterpart: null, ...item };
        const frozen = sink.freeze([full as Item]);
        const key = `fb1_test_0123456789abcdef_${at}`;
        const request = { ...frozen, key, items: [full], firstSentAt: null };
        expect(await sink.send(request, never)).toMatchObject({ outcome: "done" });
        await sink.find(request, never);
      }
    };
    expect(await asked(work())).toEqual([...sinks[name].uses].toSorted());
  });
});
