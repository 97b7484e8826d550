/** The platform as an endpoint like any other: its feeds and what it takes. */
import { z } from "zod";
import { type Budget, runShareOf, usualBudget } from "../core/budget.ts";
import type { Endpoint } from "../core/contract.ts";
import { sliceArray } from "../core/json.ts";
import { openClient, type PlatformOptions } from "./client.ts";
import { pages, widePages } from "./contract/operation.ts";
import { examinePlatform } from "./examine.ts";
import { platformHoldings } from "./holdings/index.ts";
import { listingSource } from "./listing.ts";
import { misaddressed, noList } from "./misaddressed.ts";
import { bodyOf } from "./outcomes.ts";
import { deliveryTickets, ticketSignatures } from "./sinks/delivery-tickets.ts";
import { endedFreightRates, freightRates } from "./sinks/freight-rates.ts";
import { invoices } from "./sinks/invoices.ts";
import { markPaid } from "./sinks/mark-paid.ts";
import { orderNotes } from "./sinks/order-notes.ts";
import { ourselves } from "./sinks/ourselves.ts";
import { firstOf } from "./sinks/read-back.ts";
import { parties } from "./sinks/parties.ts";
import { rackPrices } from "./sinks/rack-prices.ts";
import { supplierTerminals } from "./sinks/supplier-terminals.ts";
import { walkSource } from "./walk.ts";

const Anything = z.unknown();

export interface EndpointOptions extends PlatformOptions {
  readonly overlapMs: number;
  /** Overrides the settling times of all operations; null keeps each its own. */
  readonly settleMs: number | null;
  /** The calendar day (`YYYY-MM-DD`) of an instant where the company is. */
  readonly dayOf: (instant: string) => string;
  /** Says how much of the month one run may read; the usual one when left out. */
  readonly budget?: Budget;
}

export function openPlatform(options: EndpointOptions): Endpoint {
  const client = openClient(options);
  const { overlapMs, clock, budget = usualBudget } = options;
  const pagesPerRun = runShareOf(budget);
  const surroundings = { client, clock, settleMs: options.settleMs };
  const us = ourselves(surroundings);
  const reader = { client, clock, dayOf: options.dayOf };
  const feed = (path: string, lines: string, query: Readonly<Record<string, string>> = {}) =>
    walkSource(client, { path, query, lines, overlapMs, pagesPerRun, clock });
  const listing = (path: string, pageSize: number, query: Readonly<Record<string, string>> = {}) =>
    listingSource(client, { path, query, pageSize, pagesPerRun, clock });

  return {
    sources: {
      orders: feed("/orders", "lines"),
      deliveryTickets: feed("/delivery-tickets", "productLines"),
      invoicesIssued: feed("/invoices", "lineItems", { role: "issuer" }),
      // A feed of its own: what we must pay (specification part 4, query `role`).
      invoicesPayable: feed("/invoices", "lineItems", { role: "payer" }),
      // Lists that take no updatedSince.
      paymentsReceived: listing("/payments", pages.max, { role: "issuer" }),
      paymentsMade: listing("/payments", pages.max, { role: "payer" }),
      connections: listing("/connections", widePages.max),
    },
    sinks: {
      invoices: invoices(surroundings),
      customers: parties(surroundings, "customer", us),
      suppliers: parties(surroundings, "supplier", us),
      rackPrices: rackPrices(surroundings),
      paidInvoices: markPaid(surroundings),
      tickets: deliveryTickets(surroundings),
      ticketSignatures: ticketSignatures(surroundings),
      freightRates: freightRates(surroundings),
      endedFreightRates: endedFreightRates(surroundings),
      supplierTerminals: supplierTerminals(surroundings),
      orderNotes: orderNotes(surroundings),
    },
    holdings: platformHoldings(reader, us),
    examine: (signal, needs) => examinePlatform({ reader, ourselves: us }, needs, signal),
    async check() {
      const request = { method: "GET", path: "/invoices?pageSize=1", purpose: "check" } as const;
      const exchange = await client.exchange(request);
      const wrong = misaddressed(exchange, options.url);
      if (wrong !== null) throw wrong;
      const answer = bodyOf(exchange, "The platform", new Date(clock.now().wallMs));
      if (sliceArray(answer.text, "data") === null) throw noList(answer, options.url);
    },
    async knowsUs() {
      const connections = await firstOf(surroundings, "/connections?direction=all", Anything, 1);
      const invoices = await firstOf(surroundings, "/invoices?role=issuer", Anything, 1);
      const known = [
        ...(connections.length > 0 ? ["connections"] : []),
        ...(invoices.length > 0 ? ["invoices"] : []),
      ];
      return known.length === 0 ? null : known.join(" and ");
    },
    close: () => client.close(),
  };
}

/** What the configuration may name after `platform.`. */
export const platformSources = [
  "orders",
  "deliveryTickets",
  "invoicesIssued",
  "invoicesPayable",
  "paymentsReceived",
  "paymentsMade",
  "connections",
] as const;
export const platformSinks = [
  "invoices",
  "customers",
  "suppliers",
  "rackPrices",
  "paidInvoices",
  "tickets",
  "ticketSignatures",
  "freightRates",
  "endedFreightRates",
  "supplierTerminals",
  "orderNotes",
] as const;
