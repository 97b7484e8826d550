/** The platform as an endpoint like any other: its feeds and what it takes. */
import { z } from "zod";
import { type Budget, runShareOf, usualBudget } from "../core/budget.ts";
import type { Endpoint, Sink, Source } from "../core/contract.ts";
import { sliceArray } from "../core/json.ts";
import { openClient, type PlatformOptions } from "./client.ts";
import type { Operation } from "./contract/operation.ts";
import { type ListOperation, operations, pathOf } from "./contract/operations.ts";
import { examinePlatform } from "./examine.ts";
import { platformHoldings } from "./holdings/index.ts";
import { misaddressed, noList } from "./misaddressed.ts";
import { bodyOf } from "./outcomes.ts";
import { fetchPdf, type PdfOperation } from "./pdf.ts";
import { sinks, type SourcePart, sources } from "./parts.ts";
import { firstOf, ourselves } from "./sinks/read-back.ts";
import { openSink, type SinkPart } from "./sinks/write.ts";
import { listingSource, walkSource } from "./walk.ts";

export interface EndpointOptions extends PlatformOptions {
  readonly overlapMs: number;
  /** Overrides the settling times of all operations; null keeps each its own. */
  readonly settleMs: number | null;
  /** The calendar day (`YYYY-MM-DD`) of an instant where the company is. */
  readonly dayOf: (instant: string) => string;
  /** Says how much of the month one run may read; the usual one when left out. */
  readonly budget?: Budget;
}

export interface PlatformEndpoint extends Endpoint {
  /** The bytes of a record's PDF. @throws NoFile, EnvironmentError */
  fetchPdf(operation: PdfOperation, id: string): Promise<Uint8Array>;
}

export function openPlatform(options: EndpointOptions): PlatformEndpoint {
  const client = openClient(options);
  const { overlapMs, clock, budget = usualBudget } = options;
  const readBack = { client, clock, purpose: "read-back" } as const;
  const us = ourselves(readBack);
  const context = { ...readBack, settleMs: options.settleMs, ourselves: us };
  const reader = { client, clock, purpose: "audit", dayOf: options.dayOf } as const;
  const reading = { overlapMs, pagesPerRun: runShareOf(budget), clock };
  const sourceOf = ({ list, query = {}, detail }: SourcePart): Source => {
    const { cursorWalk }: Operation = operations[list];
    const options = { list, query, ...reading };
    return cursorWalk
      ? walkSource(client, { ...options, ...(detail === undefined ? {} : { detail }) })
      : listingSource(client, options);
  };

  const first = (list: ListOperation, query: Readonly<Record<string, string>>) =>
    firstOf(context, { list, query, item: z.unknown() }, 1);

  return {
    sources: mapped<SourcePart, Source>(sources, sourceOf),
    sinks: mapped<SinkPart, Sink>(sinks, (part) => openSink(part, context)),
    holdings: platformHoldings(reader, us),
    examine: (signal, needs) => examinePlatform({ reader, ourselves: us }, needs, signal),
    async check() {
      const path = `${pathOf("listInvoices")}?pageSize=1`;
      const request = { method: "GET", path, purpose: "check" } as const;
      const exchange = await client.exchange(request);
      const wrong = misaddressed(exchange, options.url);
      if (wrong !== null) throw wrong;
      const answer = bodyOf(exchange, "The platform", new Date(clock.now().wallMs));
      if (sliceArray(answer.text, "data") === null) throw noList(answer, options.url);
    },
    async knowsUs() {
      const connections = await first("listConnections", { direction: "all" });
      const invoices = await first("listInvoices", { role: "issuer" });
      const known = [
        ...(connections.length > 0 ? ["connections"] : []),
        ...(invoices.length > 0 ? ["invoices"] : []),
      ];
      return known.length === 0 ? null : known.join(" and ");
    },
    fetchPdf: (operation, id) => fetchPdf(client, operation, id, new Date(clock.now().wallMs)),
    close: () => client.close(),
  };
}

const mapped = <In, Out>(
  parts: Readonly<Record<string, In>>,
  open: (part: In) => Out,
): Record<string, Out> =>
  Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, open(part)]));
