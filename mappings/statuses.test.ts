/** Orders and tickets that do not count on the platform (any more), where nobody knows what was booked of them. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { bookedOrders as orders, bookedTickets as deliveryTickets } from "./goods.ts";
import type { References } from "../src/core/contract.ts";
import { parseExact, stringifyExact } from "../src/core/json.ts";
import { readCases, referencesOf } from "../src/mapping/cases.ts";

const baseOf = (name: string) => {
  const { cases } = readCases(join(import.meta.dirname, `books/cases/${name}.json`));
  const one = cases.find(({ expected }) => "document" in expected);
  if (one === undefined) throw new Error(`no case of ${name} has a document`);
  const references: References = { ...referencesOf(one), find: () => null };
  const wasLost = (): boolean => true;
  const record = (more: object) => ({ ...(one.record as object), ...more });
  return { record, references, wasLost };
};

const shown = (value: unknown): unknown => parseExact(stringifyExact(value));

test.each(["DRAFT", "POSTED", "BIDDING", "ASSIGNED"])(
  "an order that is %s is skipped, and looked for where it may have been booked before",
  (status) => {
    const { record, references, wasLost } = baseOf("orders");
    const order = orders.input.parse(parseExact(stringifyExact(record({ status }))));
    expect(orders.map(order, references)).toEqual({ skip: status.toLowerCase() });
    const document = orders.output.parse(orders.map(order, { ...references, wasLost }));
    expect(shown(document)).toMatchObject({
      status: "taken-back",
      platformStatus: status,
      lines: [],
    });
    expect(orders.figures(document).gallons?.plain()).toBe("0");
  },
);

test("so is a ticket that is a draft, without lines and whatever became of its order", () => {
  const { record, references, wasLost } = baseOf("delivery-tickets");
  const more = {
    status: "DRAFT",
    productLines: null,
    orderId: "00000000-0000-4000-8000-0000000000ff",
  };
  const ticket = deliveryTickets.input.parse({ ...record({}), ...more });
  expect(deliveryTickets.map(ticket, references)).toEqual({ skip: "draft" });
  const document = deliveryTickets.output.parse(
    deliveryTickets.map(ticket, { ...references, wasLost }),
  );
  expect(document).toMatchObject({
    status: "taken-back",
    platformStatus: "DRAFT",
    lines: [],
    order: null,
  });
});
