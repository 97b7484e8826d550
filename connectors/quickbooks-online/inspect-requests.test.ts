/** What an inspection asks of QuickBooks: reads are metered one by one, in a batch as well, so one query asks for fifty. */
import { expect, test } from "vitest";
import type { Item, Sink } from "../../src/core/contract.ts";
import { parseExact, stringifyExact } from "../../src/core/json.ts";
import { invoiceDocument, itemOf, paymentDocument } from "../example/example.fixture.ts";
import { plain } from "./query.fixture.ts";
import { openCompany } from "./company-server.fixture.ts";
import {
  deliver,
  never,
  opened,
  orderDocument,
  settings,
  sinkOf,
} from "./quickbooks-online.fixture.ts";

/** As many as one look asks for (src/ledger/driver.ts). */
const MANY = 200;

test.each([
  ["invoices", "Invoice", (number: string) => itemOf(invoiceDocument(number))],
  ["orders", "Estimate", (number: string) => itemOf(orderDocument(number))],
] as const)(
  "200 %s that have not changed are inspected with fewer than 15 requests, and a change of one is found",
  async (name, table, make) => {
    const company = await openCompany();
    const sink: Sink = sinkOf(company, name);
    await deliver(sink, make("FL-0"));
    const {
      Id: _id,
      SyncToken: _token,
      ...first
    } = company.rows(table)[0] as object & {
      Id: string;
      SyncToken: string;
    };
    const delivered = Array.from({ length: MANY }, (_, at) => {
      const item: Item = make(`FL-${at}`);
      const text = stringifyExact(first).replaceAll("FL-0", item.number);
      const { Id } =
        at === 0
          ? (company.rows(table)[0] ?? { Id: "" })
          : company.enter(table, plain(parseExact(text)) as object);
      const counterpart = name === "orders" ? `sale ${Id} platform:${item.id}` : Id;
      return { id: item.id, counterpart, body: sink.freeze([item]).body };
    });
    company.asked.length = 0;
    const same = { is: "there", differences: [] };
    expect(await sink.inspect?.(delivered, never)).toEqual(delivered.map(() => same));
    expect(company.asked.length).toBeLessThan(15);
    const [last] = company.rows(table).slice(-1);
    const lines = (last?.["Line"] ?? []) as object[];
    company.edit(table, last?.Id ?? "", { Line: lines.slice(1) });
    const changed = (await sink.inspect?.(delivered, never)) ?? [];
    expect(changed.filter((one) => one.is !== "there" || one.differences.length > 0)).toHaveLength(
      1,
    );
  },
);

test("what was just read is not asked for once more: an invoice takes five requests, its payment seven", async () => {
  const company = await openCompany();
  const { sinks } = opened(settings(company));
  const requestsOf = async (sink: Sink | undefined, item: Item) => {
    company.asked.length = 0;
    const { ids = [] } = await deliver(sink as Sink, item);
    return { requests: company.asked.length, id: String(ids[0]) };
  };
  // The first one makes the customer, and looks up what all share.
  await requestsOf(sinks["invoices"], itemOf(invoiceDocument("FL-1")));
  const { requests, id } = await requestsOf(sinks["invoices"], itemOf(invoiceDocument("FL-2")));
  expect(requests).toBe(5);
  const payment = itemOf(paymentDocument("pay-1", id));
  expect(await requestsOf(sinks["payments"], payment)).toMatchObject({ requests: 7 });
});
