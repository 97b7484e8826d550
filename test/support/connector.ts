/** What the suites of the connector kit have in common: their parts, and an engine's side of a connector. */
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import type {
  Change,
  Connector,
  Endpoint,
  Item,
  Memory,
  Notebook,
  Outgoing,
  Page,
  Sink,
  Surroundings,
} from "../../src/core/contract.ts";
import { defined } from "../../src/core/defined.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Fault } from "../../src/core/record.ts";
import type { Json } from "../../src/core/json.ts";
import type { Answer } from "../../src/core/outcome.ts";
import { isLongRun } from "./runs.ts";
import { surroundingsIn } from "./surroundings.ts";

export type Config = Record<string, unknown>;

/** At once, or later. */
type Soon<T> = T | Promise<T>;

/** A receiver of the test's own with a configuration for it; nothing in it is shared with another ground. */
export interface Ground {
  readonly folder: string;
  /** It is right: every source and sink of the kit is in it. */
  readonly config: Config;
  /** The same, but nobody answers there. */
  readonly unreachable: Config;
  /** The same with a password that is wrong; `has none`: there is nothing that could be wrong. */
  readonly wrongCredentials: Config | "has none";
  /** Records for this source: three pages or more. */
  fill(source: string): Soon<void>;
  /** What the receiver has of this document, finished or not, one text each, without ids that differ from run to run. */
  effects(sink: string, item: Item): Soon<readonly string[]>;
  /** Sends it, and cuts the sender off after the receiver's nth step; `over`: the send had fewer. */
  interrupt(
    sink: string,
    request: Outgoing,
    step: number,
  ): Promise<{ readonly over: boolean; readonly answer: Answer | null }>;
  /** Backs up what the receiver has; the function puts it back. Left out with the trait `restored`. */
  readonly backup?: () => Soon<() => Soon<void>>;
  /** A person changes a field of a delivered document that cannot be corrected from here. With `changed`. */
  readonly change?: (sink: string, item: Item) => Soon<void>;
  /** A code that every document of this sink uses is no longer there; the function puts it back. With `codes`. */
  readonly vanish?: (sink: string) => Soon<() => Soon<void>>;
  /** Sets the receiver's clock ahead of ours by so many ms, or behind. With `clock`. */
  readonly clock?: (aheadMs: number) => Soon<void>;
  /** Who keeps the list of customers by hand. Left out: no code of a party can change there, or there are no parties. */
  readonly clerk?: Clerk;
  /** What the one invoice of the ground has to pay, and what its party has on account, in cents' digits. With `paying`. */
  readonly money?: () => Soon<{ readonly open: string; readonly onAccount: string }>;
}

/** What a person does to customers, who have no id of the platform. */
export interface Clerk {
  enter(code: string): Soon<unknown>;
  recode(code: string, now: string): Soon<unknown>;
  /** Left out: nothing that has documents can be deleted. */
  remove?(code: string): Soon<unknown>;
  /** Codes of all, those of the ground too. */
  codes(): Soon<readonly string[]>;
}

/** What receivers that keep documents have. */
export type Trait =
  | "batches"
  | "batches-cut-off"
  | "restored"
  | "changed"
  | "cancellation"
  | "codes"
  | "clock"
  | "shared-code"
  | "held";

export interface Documents {
  readonly good: Item;
  readonly refused: Item;
  /** Two or more that go with `good` in one request. With `batches`. */
  readonly others?: readonly Item[];
  /** `good`, void on the platform. With `cancellation`. */
  readonly voided?: Item;
  /** What this sink does not have, each with the reason: its tests are listed as skipped. */
  readonly lacks?: Readonly<Partial<Record<Trait, string>>>;
  /** What bears the tag `numbers`: for a kit that runs in the long run alone. */
  readonly long?: readonly Trait[];
}

/** Payments of an invoice, by the sinks `invoices` and `payments`. */
export interface Paying {
  /** Open on the platform. */
  readonly open: Item;
  /** The same, paid there: it is settled as one, at once. */
  readonly paid: Item;
  /** What it comes to: `20129.33`. */
  readonly total: string;
  /** @param invoice its id in the books */
  readonly payment: (id: string, invoice: string, amount: string) => Item;
  /** What these books do not have, each with the reason: its test is listed as skipped. */
  readonly lacks?: Readonly<Partial<Record<"covering" | "onAccount", string>>>;
}

export interface Kit {
  readonly connector: Connector;
  readonly ground: () => Promise<Ground>;
  /** Configurations that are wrong in one field, which the refusal must name. */
  readonly bad: readonly { readonly field: string; readonly config: (good: Config) => Config }[];
  readonly sources: readonly string[];
  /** Why the receiver's clock cannot be set; left out: it can ({@link Ground.clock}). */
  readonly lacksClock?: string;
  readonly sinks: Readonly<Record<string, Documents>>;
  /** Left out: it keeps no payments of invoices. */
  readonly paying?: Paying;
  /** Its grounds have {@link Ground.clerk}. */
  readonly hasClerk?: true;
  /** The steps of a send after which it is cut off; left out: all of them, in the ordinary run two. */
  readonly steps?: readonly number[];
}

const STEPS_MAX = 60;
export const SENT = "2026-11-21T12:00:00.000Z";
export const never = new AbortController().signal;

/** Null: it was not refused. Refused when it was frozen counts as well. */
export async function refusalOf(sink: Sink, ...items: readonly Item[]): Promise<Fault | null> {
  try {
    const { outcome, fault } = await deliver(sink, items);
    return outcome === "refused" ? (fault ?? null) : null;
  } catch (error) {
    if (error instanceof Refused) return error.fault;
    throw error;
  }
}

export function isDone(answer: Answer): Answer {
  expect(answer, JSON.stringify(answer)).toMatchObject({ outcome: "done" });
  return answer;
}

export const stepsOf = ({ steps }: Kit): readonly number[] =>
  steps ?? (isLongRun ? Array.from({ length: STEPS_MAX }, (_, index) => index + 1) : [1, 3]);

export function open(
  kit: Kit,
  { folder, config }: Ground,
  other: Config = config,
  notebook?: Notebook,
): Endpoint {
  const surroundings: Surroundings = surroundingsIn(folder, {
    ...defined({ notebook }),
    pause: (ms, signal) => pause(ms, undefined, signal === undefined ? {} : { signal }),
  });
  const endpoint = kit.connector.open(kit.connector.config.parse(other), surroundings);
  onTestFinished(() => endpoint.close());
  return endpoint;
}

export function sinkOf(endpoint: Endpoint, name: string): Sink {
  const sink = endpoint.sinks[name];
  if (sink === undefined) throw new Error(`the configuration has no sink ${name}`);
  return sink;
}

export const requestOf = (sink: Sink, items: readonly Item[]): Outgoing => ({
  ...sink.freeze(items),
  key: `fb1_${items.map(({ id }) => id).join("_")}`,
  items,
  firstSentAt: null,
});

export async function deliver(
  sink: Sink,
  items: readonly Item[],
  signal: AbortSignal = never,
  memory?: Memory,
): Promise<Answer> {
  const request = requestOf(sink, items);
  await sink.prepare?.(request, never);
  return sink.send({ ...request, firstSentAt: SENT }, signal, memory);
}

/** {@link Ground.interrupt} of a receiver that counts `loses` down with each change, and loses the answer to the last of them. */
export const losing =
  (receiver: { loses: number }, opened: () => Endpoint): Ground["interrupt"] =>
  async (sink, request, step) => {
    receiver.loses = step;
    const answer = await opened().sinks[sink]?.send(request, never);
    const over = receiver.loses > 0;
    receiver.loses = 0;
    return { over, answer: answer ?? null };
  };

/** An engine's side of reading: pages are kept, batches remembered, the position stored as text. */
export async function read(
  endpoint: Endpoint,
  name: string,
  before: readonly Page[],
  options: { pages?: number; signal?: AbortSignal; each?: AbortController } = {},
): Promise<Page[]> {
  const source = endpoint.sources[name];
  if (source === undefined) throw new Error(`the configuration has no source ${name}`);
  const pages: Page[] = [];
  if (options.pages === 0) return pages;
  const position = JSON.parse(JSON.stringify(before.at(-1)?.position ?? null)) as Json;
  const seen = before.flatMap(({ arrival }) => arrival ?? []);
  const reading = {
    signal: options.signal ?? never,
    known: (id: string) => {
      const at = seen.findLastIndex((arrival) => arrival.id === id);
      const name = seen[at]?.name;
      return name === undefined ? null : { name, at: SENT, since: seen.length - 1 - at };
    },
    stored: () => false,
  };
  for await (const page of source.read(position, reading)) {
    pages.push(page);
    if (page.arrival !== undefined) seen.push(page.arrival);
    options.each?.abort();
    if (pages.length === options.pages) break;
  }
  return pages;
}

/** By id, what the store would have in the end. */
export const recordsOf = (pages: readonly Page[]): Record<string, string> =>
  Object.fromEntries(
    pages.flatMap(({ changes }) => changes.map(({ id, text }: Change) => [id, text] as const)),
  );
