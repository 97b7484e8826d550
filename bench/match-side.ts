/**
 * Papers of so many invoices in a process of its own, read from JSON as a store has it: one month of the sandbox with 8 % errors,
 * again and again under other numbers and ids.
 */
import type { AnyPaper } from "../src/match/papers.ts";
import { filled, monthOf, readIn, run } from "../test/support/matched.ts";
import { report } from "./usage.ts";

const invoices = Number(process.env["FUELBRIDGE_INVOICES"] ?? 100_000);
/** Deliveries of a month: each has two invoices. */
const DELIVERIES = 1_000;

const { scene } = monthOf({ trades: DELIVERIES, faults: 80 });
const { orders, "delivery-tickets": tickets, invoices: bills } = scene.records;
/** What is another one in each month: the end of ids, and the beginning of numbers. */
const MONTHLY =
  /(?<="(?:id|orderId)":").{4}|(?<="(?:invoiceNumber|ticketNumber|deliveryTicket|bolNumber)":")/g;
/** Parts of each record's text, between which the month is written. */
const texts = [...orders, ...tickets, ...bills].map((record) =>
  JSON.stringify(record).split(MONTHLY),
);

/** A paper by its place, as a store has it read. */
const paperAt = (seq: number): AnyPaper =>
  readIn(
    (texts[seq % texts.length] as string[]).join(
      Math.floor(seq / texts.length + 1)
        .toString(16)
        .padStart(4, "0"),
    ),
  );

await report(async () => {
  const matching = filled(scene, []);
  for (const records of Object.values(scene.records)) records.length = 0;
  const papers = Math.floor(invoices / DELIVERIES / 2) * texts.length;
  for (let seq = 0; seq < papers; seq++) matching.add(paperAt(seq));
  const { invoices: counted, findings } = run(matching);
  if (findings.length < invoices / 50) throw new Error("errors were not found");
  return counted.all;
});
