/** The platform as an endpoint like any other: its feeds and what it takes. */
import { z } from "zod";
import { type Budget, runShareOf, usualBudget } from "../core/budget.ts";
import type { Cell, Endpoint, Examination, Needs, Sink, Source } from "../core/contract.ts";
import { defined } from "../core/defined.ts";
import { SourceUnavailable } from "../core/errors.ts";
import { sliceArray } from "../core/json.ts";
import { bodyOf } from "./answers.ts";
import { type Exchange, openClient, type PlatformOptions } from "./client.ts";
import type { Operation } from "./contract/operation.ts";
import { type ListOperation, operations, pathOf } from "./contract/operations.ts";
import { SupplierTerminal } from "./contract/place.ts";
import { RackPrice } from "./contract/pricing.ts";
import { pages } from "./contract/primitives.ts";
import {
  examineFeeds,
  type Asking as HubAsking,
  type HubAddress,
  hubSource,
  sharedLists,
  withSharedLists,
} from "./hub.ts";
import { platformHoldings } from "./holdings/index.ts";
import { sinks, type SourcePart, sources } from "./parts.ts";
import {
  fetchPdf,
  listed,
  type PdfOperation,
  type ReadContext,
  recordIn,
  unreadable,
} from "./reading.ts";
import { firstOf, openSink, ourselves, type Ourselves, type SinkPart } from "./sinks/write.ts";
import { listingSource, walkSource } from "./walk.ts";

/*
 * What the platform knows of the names that this site's tables give it. It takes prices for any terminal and product, so
 * a name that it does not know yet stops nothing: it is noted. Lists of at most {@link LIST_PAGES} pages are read.
 */

interface Asking {
  readonly reader: ReadContext;
  readonly ourselves: Ourselves;
}

const LIST_PAGES = 10;

/** Costs a request a page of terminals and of prices where prices are written, and up to four for our own company. */
async function examinePlatform(
  { reader, ourselves }: Asking,
  needs: Needs,
  signal: AbortSignal,
): Promise<Examination[]> {
  const writesPrices = needs.parts.has("rackPrices");
  const terminals = writesPrices ? needs.column("terminals", "terminal") : [];
  const products = writesPrices ? needs.column("products", "product") : [];
  const names = (list: ListOperation, nameOf: (record: string) => string | undefined) =>
    namesIn(reader, list, nameOf, signal);
  return [
    ...(await companyExaminations(needs.ourselves, ourselves)),
    ...(await known(terminals, "terminal", () =>
      names("listSupplierTerminals", (record) => recordIn(SupplierTerminal, record)?.terminalCode),
    )),
    ...(await known(products, "product", () =>
      names("listRackPrices", (record) => recordIn(RackPrice, record)?.product),
    )),
  ];
}

/** A wrong id would book what we bought as sold. */
async function companyExaminations(
  cells: readonly Cell[],
  ourselves: Ourselves,
): Promise<Examination[]> {
  const [first] = cells;
  if (first === undefined) return [];
  const what = `${first.file} line ${first.line}: our own company`;
  try {
    const us = await ourselves();
    if (us === null)
      return [
        { what, fault: null, note: "the platform does not tell yet which company the key is of" },
      ];
    const isUs = us === first.value.toLowerCase();
    const fault = {
      code: "another-company",
      message: `the API key is of the company ${us}, the table says ${first.value}`,
      next: `Write ${us} into ${first.file} line ${first.line}, or use the API key of the other company.`,
    };
    return [{ what, fault: isUs ? null : fault }];
  } catch (error) {
    return [{ what, fault: unreadable(error) }];
  }
}

async function known(
  cells: readonly Cell[],
  name: string,
  read: () => Promise<ReadonlySet<string>>,
): Promise<Examination[]> {
  const [first] = cells;
  if (first === undefined) return [];
  const count = new Set(cells.map(({ value }) => value)).size;
  const what = `${first.file}: ${count} ${name}${count === 1 ? "" : "s"}`;
  try {
    const there = await read();
    const unknown = cells.filter(({ value }) => !there.has(value));
    const shown = unknown.slice(0, SHOWN_MAX).map(({ value, line }) => `${value} (line ${line})`);
    const more = unknown.length > SHOWN_MAX ? ` and ${unknown.length - SHOWN_MAX} more` : "";
    if (unknown.length === 0) return [{ what, fault: null }];
    const note = `new to the platform, which takes them as they are written: ${shown.join(", ")}${more}`;
    return [{ what, fault: null, note }];
  } catch (error) {
    return [{ what, fault: unreadable(error) }];
  }
}

const SHOWN_MAX = 5;

/** @throws SourceUnavailable */
async function namesIn(
  reader: ReadContext,
  list: ListOperation,
  nameOf: (record: string) => string | undefined,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const { pageSize }: Operation = operations[list];
  const query = { pageSize: String(pageSize?.max ?? pages.max) };
  const names = new Set<string>();
  let read = 0;
  for await (const { records } of listed(reader, list, query, signal)) {
    for (const name of records.map(nameOf)) if (name !== undefined) names.add(name);
    if (++read === LIST_PAGES) break;
  }
  return names;
}

export interface EndpointOptions extends PlatformOptions {
  readonly overlapMs: number;
  /** Overrides the settling times of all operations; null keeps each its own. */
  readonly settleMs: number | null;
  /** The calendar day (`YYYY-MM-DD`) of an instant where the company is. */
  readonly dayOf: (instant: string) => string;
  /** Says how much of the month one run may read; the usual one when left out. */
  readonly budget?: Budget;
  /** Where feeds are read in the platform's place, and by which rules of what is whose. Null or left out: at the platform. */
  readonly hub?: HubAddress | null;
  readonly rules?: string;
}

export interface PlatformEndpoint extends Endpoint {
  /** The bytes of a record's PDF. @throws NoFile, EnvironmentError */
  fetchPdf(operation: PdfOperation, id: string): Promise<Uint8Array>;
  /** Of a hub: lists for the comparisons of its sites. */
  readonly lists: ReturnType<typeof sharedLists>;
}

/** Writes of a flow under way at once that workers send: the ways to Redis and back are longer than the platform's answer. */
const CARRIED_AT_ONCE = 32;

export function openPlatform(options: EndpointOptions): PlatformEndpoint {
  const client = openClient(options);
  const { overlapMs, clock, budget = usualBudget } = options;
  const readBack = { client, clock, purpose: "read-back" } as const;
  const us = ourselves(readBack);
  const context = { ...readBack, settleMs: options.settleMs, ourselves: us };
  const reader = { client, clock, purpose: "audit", dayOf: options.dayOf } as const;
  const atOnce = defined({ atOnce: options.carry && CARRIED_AT_ONCE });
  const reading = { overlapMs, pagesPerRun: runShareOf(budget), clock };
  const hub = hubOf(options);
  const sourceOf = ({ list, query = {}, detail }: SourcePart, name: string): Source => {
    const { cursorWalk }: Operation = operations[list];
    if (hub !== null) return hubSource(hub, name, cursorWalk !== true);
    const read = { list, query, ...reading };
    return cursorWalk
      ? walkSource(client, { ...read, ...defined({ detail }) })
      : listingSource(client, read);
  };

  const first = (list: ListOperation, query: Readonly<Record<string, string>>) =>
    firstOf(context, { list, query, item: z.unknown() }, 1);

  return {
    sources: mapped<SourcePart, Source>(sources, sourceOf),
    sinks: mapped<SinkPart, Sink>(sinks, (part) => ({ ...openSink(part, context), ...atOnce })),
    holdings: platformHoldings(
      hub === null ? reader : { ...reader, client: withSharedLists(hub, client) },
      us,
    ),
    lists: sharedLists(client, clock),
    async examine(signal, needs) {
      // A part that is written, too, may be no feed.
      const feeds = [...needs.parts].filter((name) => name in sources && !(name in sinks));
      return [
        ...(hub === null ? [] : await examineFeeds(hub, feeds)),
        ...(await examinePlatform({ reader, ourselves: us }, needs, signal)),
      ];
    },
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
    async close() {
      await Promise.all([client.close(), hub?.client.close()]);
    },
  };
}

const mapped = <In, Out>(
  parts: Readonly<Record<string, In>>,
  open: (part: In, name: string) => Out,
): Record<string, Out> =>
  Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, open(part, name)]));

/** No request of a site to its hub is one of the month's. */
function hubOf(options: EndpointOptions): HubAsking | null {
  const { hub = null, rules = "" } = options;
  if (hub === null) return null;
  const governor = { admit: async () => ({ admitted: true as const }), learn: () => {} };
  const { url, token: apiKey } = hub;
  return { client: openClient({ ...options, url, apiKey, auth: "bearer", governor }), url, rules };
}

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
