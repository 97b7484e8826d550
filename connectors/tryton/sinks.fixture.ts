/** The sinks of books that a test has opened. */
import type { Sink } from "../../src/core/contract.ts";
import type { Books } from "./books.ts";
import { ledgerOf } from "./index.ts";

const sinkOf =
  (name: string) =>
  (books: Books): Sink =>
    ledgerOf(books).sinks[name] as Sink;

export const invoiceSink = sinkOf("invoices");
export const billSink = sinkOf("bills");
export const paymentSink = sinkOf("payments");
export const orderSink = sinkOf("orders");
export const shipmentSink = sinkOf("shipments");
