/**
 * Feeds of the platform as a hub passes them on (ADR 0024): one daemon reads each for all sites under a key, and a site asks it
 * for what is its own. That costs no request at the platform. A place is the hub's own count of what it decided, so what became
 * this site's late is read like all else; a hub that does not know the place (a new store, a restored one) is read anew.
 */
import { z } from "zod";
import type { Examination, Page, Source } from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import { defined } from "../core/defined.ts";
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
        const changes = fed.records.map((record, at) => ({
          ...changeOf(record, whole),
          ...defined({ takesBack: fed.takenBack[at] }),
        }));
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
  readonly takenBack: readonly (readonly string[])[];
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

const Rest = z.object({
  takenBack: z.array(z.array(z.string())),
  next: z.string().nullable(),
  total: z.number().nullable(),
});

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

/** Of a refusal, without the stop at its end. */
function told(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error: { message: string } };
    return error.message.replace(/\.$/, "");
  } catch {
    return "it is no hub";
  }
}

// A comparison reads whole lists of the platform, the same ones at every site: the hub asks for each page once.

/** A difference is told when two comparisons a quarter of an hour apart show it: they see no page both. */
const SHARED_MS = 10 * 60_000;
/** Of all pages together. With more the oldest go, and are asked for again by a site that is far behind the others. */
const SHARED_BYTES = 64 * 1024 * 1024;

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

/** A timer may come a little before its time. */
const EARLY_MS = 100;

interface Shared {
  readonly untilMs: number;
  readonly told: Promise<Told>;
  /** Null: not told yet. */
  bytes: number | null;
}

const inTime = (ms: number, then: () => void): void => void setTimeout(then, ms).unref();

/**
 * As a hub answers that: from the platform, or what it told in the last minutes. Null: it is no page of a list. Nothing is kept
 * for longer, asked for again or not. `after`: has something done after so many ms.
 */
export function sharedLists(platform: Exchanger, clock: Clock, after = inTime) {
  const kept = new Map<string, Shared>();
  let bytes = 0;
  async function ask(path: string): Promise<Told> {
    const exchange = await platform.exchange({ method: "GET", path, purpose: "audit" });
    if (exchange.kind === "answer") return exchange;
    const message = `the hub has no answer of the platform: ${exchange.detail}`;
    return { status: 503, headers: {}, text: JSON.stringify({ error: { message } }) };
  }
  function forget(path: string, page: Shared): void {
    if (kept.get(path) !== page) return;
    kept.delete(path);
    bytes -= page.bytes ?? 0;
  }
  /** It holds no page: whoever waits for the time to call it would keep that one from being collected. */
  function forgetOld(): void {
    const nowMs = clock.now().monoMs + EARLY_MS;
    for (const [path, page] of kept) if (page.untilMs <= nowMs) forget(path, page);
  }
  function keep(path: string, page: Shared, { status, text }: Told): void {
    if (status !== 200) return forget(path, page);
    if (kept.get(path) !== page) return;
    page.bytes = Buffer.byteLength(text);
    bytes += page.bytes;
    // The oldest stand first.
    for (const [one, other] of kept)
      if (bytes > SHARED_BYTES && other.bytes !== null) forget(one, other);
  }
  return (path: string): Promise<Told> | null => {
    if (!isShared(path)) return null;
    const { monoMs } = clock.now();
    const known = kept.get(path);
    if (known !== undefined && known.untilMs > monoMs) return known.told;
    if (known !== undefined) forget(path, known);
    const page: Shared = { untilMs: monoMs + SHARED_MS, told: ask(path), bytes: null };
    kept.set(path, page);
    after(SHARED_MS, forgetOld);
    page.told.then(
      (told) => keep(path, page, told),
      () => forget(path, page),
    );
    return page.told;
  };
}
