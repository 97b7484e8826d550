/**
 * Papers of so many invoices in a process of its own, read from JSON as a store has it: one month of the sandbox with 8 % errors,
 * again and again under other numbers and ids.
 */
import { filled, monthOf, readIn, run } from "../test/support/matched.ts";
import { report } from "./usage.ts";

const invoices = Number(process.env["FUELBRIDGE_INVOICES"] ?? 100_000);
/** Deliveries of a month: each has two invoices. */
const DELIVERIES = 1_000;

const { scene } = monthOf({ trades: DELIVERIES, faults: 80 });
const matching = filled(scene, []);
const { orders, "delivery-tickets": tickets, invoices: bills } = scene.records;
const texts = [...orders, ...tickets, ...bills].map((record) => JSON.stringify(record));
scene.records["rack-prices"].length = 0;

const IDS = /"(id|orderId|invoiceNumber|ticketNumber|deliveryTicket|bolNumber)":"/g;

await report(async () => {
  for (let month = 1; month * DELIVERIES * 2 <= invoices; month++)
    for (const text of texts) matching.add(readIn(text.replaceAll(IDS, `"$1":"${month}-`)));
  const { invoices: counted, findings } = run(matching);
  if (findings.length < invoices / 50) throw new Error("errors were not found");
  return counted.all;
});
