/**
 * Feeds of the platform as a hub passes them on (ADR 0024): one daemon reads each for all sites under a key, and a site asks it
 * for what is its own. That costs no request at the platform. A place is the hub's own count of what it decided, so what became
 * this site's late is read like all else; a hub that does not know the place (a new store, a restored one) is read anew.
 */
import { z } from "zod";
import type { Examination, Page, Source } from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import { type Json, sliceArray } from "../core/json.ts";
import { type WalkPosition, unread } from "../core/watermark.ts";
import type { Clock } from "../core/time.ts";
import type { Exchange, Exchanger } from "./client.ts";
import { addressOf, changeOf, unreadable } from "./reading.ts";

export interface HubAddress {
  /** `http://127.0.0.1:8791` */
  readonly url: string;
  readonly token: string;
}

/** What a source asks. `rules`: of what is whose, as this site names them. */
export interface Asking {
  readonly client: Exchanger;
  readonly url: string;
  readonly rules: string;
}

/** Without a hub its flow begins anew. */
interface Position extends WalkPosition {
  readonly hub: string | null;
}

/** What a person can do about a hub that refuses, by the status of its answer. */
const NEXT: Readonly<Record<number, string>> = {
  401: "Give this site the token that the hub has for it: hub.tokens there, platform.hub.token here.",
  404: "Add a flow to the hub's configuration that reads this, or pause the flow here.",
  409: "Write the same rules under sites at the hub and at every site, and start their daemons again.",
};

const NOT_KNOWN = 410;
const AGAIN_MS = 5_000;

/** `name`: of the source (`orders`); `whole`: its list tells nothing of changes, and all of it is read each time. */
export function hubSource(asking: Asking, name: string, whole: boolean): Source {
  return {
    ...(whole ? { whole } : {}),
    via: "hub",
    async *read(position, { signal }) {
      let after = whole ? null : ((position as Position | null)?.hub ?? null);
      const seen = new Set<string>();
      while (!signal.aborted) {
        const fed = await ask(asking, name, after);
        if (fed === null) {
          after = null;
          continue;
        }
        const changes = fed.records.map((record) => changeOf(record, whole));
        for (const { id } of changes) seen.add(id);
        const { next, total } = fed;
        const at: Position = { ...unread, hub: next ?? after };
        const list = { name, total: total ?? 0, isLast: next === null };
        const page: Page = { changes, position: whole ? null : (at as unknown as Json) };
        yield whole ? { ...page, list: { ...list, isComplete: seen.size >= list.total } } : page;
        if (next === null) return;
        after = next;
      }
    },
  };
}

/** For `doctor`: does the hub answer for these sources, under the same rules? It costs no request at the platform. */
export const examineFeeds = (asking: Asking, names: readonly string[]): Promise<Examination[]> =>
  Promise.all(
    names.map(async (name) => {
      const what = `feed ${name} at the hub ${asking.url}`;
      try {
        await ask(asking, name, null);
        return { what, fault: null };
      } catch (error) {
        return { what, fault: unreadable(error) };
      }
    }),
  );

interface Fed {
  readonly records: readonly string[];
  readonly next: string | null;
  readonly total: number | null;
}

/** Null: the hub does not know this place. @throws SourceUnavailable that names the hub */
async function ask(
  { client, url, rules }: Asking,
  name: string,
  after: string | null,
): Promise<Fed | null> {
  const path = addressOf(`/feeds/${name}`, { rules, ...(after === null ? {} : { after }) });
  const exchange = await client.exchange({ method: "GET", path, purpose: "poll" });
  if (exchange.kind !== "answer")
    throw away(`The hub at ${url} cannot be reached: ${exchange.detail}.`);
  const { status, text } = exchange;
  if (status === NOT_KNOWN && after !== null) return null;
  if (status !== 200) throw away(`The hub at ${url} answered ${status}: ${told(text)}.`, status);
  const fed = fedIn(text);
  if (fed === null) throw away(`What answers at ${url} is no hub.`);
  return fed;
}

const Rest = z.object({ next: z.string().nullable(), total: z.number().nullable() });

function fedIn(text: string): Fed | null {
  try {
    const data = sliceArray(text, "data");
    return data && { records: data.elements, ...Rest.parse(JSON.parse(data.rest)) };
  } catch {
    return null;
  }
}

const away = (message: string, status = 0): SourceUnavailable =>
  new SourceUnavailable(message, {
    next:
      NEXT[status] ?? "It goes on by itself once the hub can be asked; nothing is lost meanwhile.",
    waitMs: AGAIN_MS,
  });

/** Of a refusal. */
function told(text: string): string {
  try {
    return (JSON.parse(text) as { error: { message: string } }).error.message;
  } catch {
    return "it is no hub";
  }
}

// A comparison reads whole lists of the platform, the same ones at every site: the hub asks for each page once.

/** A difference is told when two comparisons a quarter of an hour apart show it: they see no page both. */
const SHARED_MS = 10 * 60_000;
/** Of up to 500 records each. */
const PAGES_MAX = 300;

/** A page of a list that says the same to every site: no search for what one of them looks for. */
const isShared = (path: string): boolean =>
  /^\/[\w/-]+\?/.test(path) && !/[?&](search|invoiceId)=/.test(path);

/** As a site's comparisons ask: pages of lists at the hub, all else at the platform. */
export const withSharedLists = (hub: Asking, platform: Exchanger): Exchanger => ({
  ...platform,
  exchange: (request) =>
    isShared(request.path)
      ? hub.client.exchange({ ...request, path: addressOf("/lists", { page: request.path }) })
      : platform.exchange(request),
});

/** What the platform said. */
type Told = Pick<Extract<Exchange, { kind: "answer" }>, "status" | "headers" | "text">;

/** As a hub answers that: from the platform, or what it told in the last minutes. Null: it is no page of a list. */
export function sharedLists(platform: Exchanger, clock: Clock) {
  const kept = new Map<string, { readonly untilMs: number; readonly told: Promise<Told> }>();
  async function ask(path: string): Promise<Told> {
    const exchange = await platform.exchange({ method: "GET", path, purpose: "audit" });
    if (exchange.kind !== "answer" || exchange.status !== 200) kept.delete(path);
    if (exchange.kind === "answer") return exchange;
    const message = `the hub has no answer of the platform: ${exchange.detail}`;
    return { status: 503, headers: {}, text: JSON.stringify({ error: { message } }) };
  }
  return (path: string): Promise<Told> | null => {
    if (!isShared(path)) return null;
    const { monoMs } = clock.now();
    // The oldest stand first.
    for (const [known, { untilMs }] of kept)
      if (untilMs <= monoMs || kept.size >= PAGES_MAX) kept.delete(known);
    const known = kept.get(path) ?? { untilMs: monoMs + SHARED_MS, told: ask(path) };
    kept.set(path, known);
    known.told.catch(() => kept.delete(path));
    return known.told;
  };
}
