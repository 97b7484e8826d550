/** The platform as an endpoint like any other: its feeds and what it takes. */
import { z } from "zod";
import { type Budget, runShareOf, usualBudget } from "../core/budget.ts";
import type { Endpoint, Sink, Source } from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import { defined } from "../core/defined.ts";
import { sliceArray } from "../core/json.ts";
import { type Exchange, openClient, type PlatformOptions } from "./client.ts";
import type { Operation } from "./contract/operation.ts";
import { type ListOperation, operations, pathOf } from "./contract/operations.ts";
import { examinePlatform } from "./examine.ts";
import { platformHoldings } from "./holdings/index.ts";
import { bodyOf } from "./outcomes.ts";
import { sinks, type SourcePart, sources } from "./parts.ts";
import { fetchPdf, type PdfOperation } from "./pdf.ts";
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
      ? walkSource(client, { ...options, ...defined({ detail }) })
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

// An answer that no operation of the API gives: the address is another one, or something answers in between.

type Answer = Extract<Exchange, { kind: "answer" }>;

const PATH = "/v1/public";

/**
 * What came back instead of the API's list of invoices, which every key may read, and what `url` should look like. Null:
 * the API answered, or nothing did.
 */
function misaddressed(exchange: Exchange, url: string): SourceUnavailable | null {
  if (exchange.kind !== "answer") return null;
  const { status, headers } = exchange;
  const isJson = /\bjson\b/.test(headers["content-type"] ?? "");
  if (status >= 300 && status < 400) return redirected(exchange, url);
  if (status === 407) return wrong(exchange, url, PROXY);
  if (status >= 500 && !isJson) return wrong(exchange, url, GATEWAY);
  if (status === 404 || status === 405 || !isJson) return wrong(exchange, url, pathNext(url));
  return null;
}

/** Of an answer that is JSON and no list. */
const noList = (exchange: Answer, url: string): SourceUnavailable =>
  wrong(exchange, url, pathNext(url));

const PROXY =
  "A proxy on the way asks for a login; fuelbridge uses none. Have this machine reach the platform directly.";
const GATEWAY =
  "Something before the platform answered: a gateway or a proxy. Try again in a few minutes; if it stays, ask who looks after the network, or the platform's support.";

function pathNext(url: string): string {
  const { origin, pathname } = new URL(url);
  return `Set platform.url to the base of the API, which ends in ${PATH}: ${origin}${PATH}, if the host is right. Its path is "${pathname}" now. If the path is right, a proxy on the way may have answered.`;
}

function redirected({ status, headers }: Answer, url: string): SourceUnavailable {
  // Without its query, which may carry a session.
  const to = URL.parse(headers["location"] ?? "", url);
  const shown = to === null ? "nowhere" : `${to.origin}${to.pathname}`;
  return new SourceUnavailable(`${url} answered with a redirect (${status}) to ${shown}.`, {
    stop: "configuration",
    next: `Redirects are not followed, because the API key would go along. If the API has moved there, set platform.url to its base, which ends in ${PATH}; a login or block page is a proxy's: ask who looks after the network.`,
  });
}

const wrong = (answer: Answer, url: string, next: string): SourceUnavailable =>
  new SourceUnavailable(`${url} answered ${answer.status} with ${shownBody(answer)}.`, {
    stop: "configuration",
    next,
  });

const TITLE_MAX = 80;

/** In a few words; never the body itself. */
function shownBody({ headers, text }: Answer): string {
  if (text === "") return "nothing in it";
  const [type = ""] = (headers["content-type"] ?? "").split(";");
  if (!/html/i.test(type) && !/^\s*<(?:!doctype html|html)/i.test(text))
    return type === "" ? "a body of no type" : type;
  const title = /<title[^>]*>([^<]*)/i.exec(text)?.[1]?.replaceAll(/\s+/g, " ").trim() ?? "";
  return title === "" ? "an HTML page" : `an HTML page "${title.slice(0, TITLE_MAX)}"`;
}
