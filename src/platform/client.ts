/**
 * The platform's requests over HTTP: within the budget, with the key, and never to the wrong environment. Each is sent
 * once; what came back or how it failed is told, and answers.ts decides what that means.
 */
import {
  admitting,
  type Budget,
  type Governor,
  type Ledger,
  limitsIn,
  monthAt,
  monthRefusal,
  type Purpose,
  refusedByShare,
  shareOfMinute,
  type Spent,
  usedOf,
  WINDOW_MS,
} from "../core/budget.ts";
import { defined } from "../core/defined.ts";
import { EnvironmentError } from "../core/errors.ts";
import { sumOf } from "../core/groups.ts";
import type { Clock } from "../core/time.ts";
import { type Http, type HttpAnswer, openHttp, TransportError } from "../transport/http.ts";

export interface PlatformOptions {
  /** `https://host/v1/public` */
  readonly url: string;
  readonly apiKey: string;
  /** Which header carries the key; both work identically (specification part 5, rule 1). */
  readonly auth: "bearer" | "x-api-key";
  readonly environment: "live" | "test";
  readonly clock: Clock;
  /** Asked before every request: what it does not admit is not sent. */
  readonly governor: Governor;
  /** Has a write that was admitted sent by another process; left out: it is sent from here. */
  readonly carry?: (request: PlatformRequest) => Promise<Exchange>;
  /** Sent as the user agent. */
  readonly version: string;
  /** For one request and its whole answer; 40 s when left out. */
  readonly deadlineMs?: number;
}

export interface PlatformRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below the base URL, with its query. */
  readonly path: string;
  readonly purpose: Purpose;
  readonly body?: string;
  readonly idempotencyKey?: string;
}

/** What came back, or how it failed. */
export type Exchange =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly text: string;
    }
  /** No byte of the request left this machine. */
  | { readonly kind: "not-sent"; readonly detail: string }
  /** The same: the budget does not allow it before `waitMs` are over. */
  | Held
  /** It may have arrived. */
  | { readonly kind: "torn"; readonly detail: string };

interface Held {
  readonly kind: "held";
  readonly detail: string;
  readonly waitMs: number;
  /** The month allows it: only its turn among others is awaited. */
  readonly turn?: true;
}

/** A success whose body is still arriving: read it to its end, or leave it. */
export interface Download {
  readonly kind: "download";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Throws what tears it, and when it is larger than 32 MiB or the deadline is over. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Ends the connection when it is not read to its end; harmless otherwise. */
  readonly leave: () => void;
}

export interface Exchanger {
  /** @throws EnvironmentError when live and sandbox are mixed up: the daemon must stop */
  exchange(request: PlatformRequest): Promise<Exchange>;
  /** The same for a file of media type `type`. What is not a success of that type is an ordinary answer. */
  download(request: PlatformRequest, type: string): Promise<Download | Exchange>;
  close(): Promise<void>;
}

const HEADERS_MS = 35_000;
const BODY_MS = 10_000;
const DEADLINE_MS = 40_000;
const READ_BYTES_MAX = 8 * 1024 * 1024;
const FILE_BYTES_MAX = 32 * 1024 * 1024;
const JSON_TYPE = "application/json";
const CONNECTIONS = 4;
/**
 * More than writes are ever under way at once: one that counts as sent must leave now, and not once a read has ended.
 */
const WRITE_CONNECTIONS = 256;

type SenderOptions = Omit<PlatformOptions, "governor" | "carry" | "clock">;

/** The lines to the platform: whoever asks there was admitted. */
function openLines(options: SenderOptions) {
  const base = new URL(options.url);
  const root = base.pathname.replace(/\/$/, "");
  const httpOf = (connections: number): Http =>
    openHttp({ origin: base.origin, connections, headersMs: HEADERS_MS, bodyMs: BODY_MS });
  const reads = httpOf(CONNECTIONS);
  const writes = httpOf(WRITE_CONNECTIONS);
  return {
    /** One request, up to the head of its answer. @throws TransportError */
    ask: (request: PlatformRequest, accept: string): Promise<HttpAnswer> =>
      (request.purpose === "write" ? writes : reads).ask({
        method: request.method,
        path: root + request.path,
        headers: headersOf(options, request, accept),
        body: request.body ?? null,
        signal: AbortSignal.timeout(options.deadlineMs ?? DEADLINE_MS),
      }),
    close: async (): Promise<void> => {
      await Promise.all([reads.close(), writes.close()]);
    },
  };
}

/** Sends what another process was admitted to send, and judges no answer: that is for whoever asked. */
export function openSender(options: SenderOptions) {
  const { ask, close } = openLines(options);
  return {
    send: async (request: PlatformRequest): Promise<Exchange> => {
      try {
        return await whole(await ask(request, JSON_TYPE));
      } catch (error) {
        return failure(error);
      }
    },
    close,
  };
}

export function openClient(options: PlatformOptions): Exchanger {
  const lines = openLines(options);
  const { governor, carry } = options;
  let mixedUp: EnvironmentError | null = null;

  function expectRightKey(): void {
    if (mixedUp !== null) throw mixedUp;
  }

  /** Null: it may be sent. What fails in here is no exchange: an error of ours (the count cannot be stored). */
  async function held({ purpose }: PlatformRequest): Promise<Held | null> {
    expectRightKey();
    const admission = await governor.admit(purpose);
    expectRightKey();
    if (admission.admitted) return null;
    const { admitted: _, ...why } = admission;
    return { kind: "held", ...why };
  }

  /** @throws EnvironmentError */
  function hear(answer: Pick<HttpAnswer, "headers" | "status">): void {
    mixedUp = mixUp(options, answer);
    expectRightKey();
    governor.learn(answer.headers, answer.status);
  }

  async function ask(request: PlatformRequest, accept: string): Promise<HttpAnswer> {
    const answer = await lines.ask(request, accept);
    try {
      hear(answer);
    } catch (error) {
      answer.leave();
      throw error;
    }
    return answer;
  }

  async function carried(
    request: PlatformRequest,
    carry: NonNullable<PlatformOptions["carry"]>,
  ): Promise<Exchange> {
    const refused = await held(request);
    if (refused !== null) return refused;
    const came = await carry(request);
    if (came.kind === "answer") hear(came);
    if (came.kind === "not-sent") governor.unsent?.();
    return came;
  }

  /** Where it is admitted, what `read` makes of its answer. */
  async function exchanged<Read>(
    request: PlatformRequest,
    type: string,
    read: (answer: HttpAnswer) => Promise<Read>,
  ): Promise<Read | Exchange> {
    const refused = await held(request);
    if (refused !== null) return refused;
    try {
      return await read(await ask(request, type));
    } catch (error) {
      const failed = failure(error);
      if (failed.kind === "not-sent") governor.unsent?.();
      return failed;
    }
  }

  return {
    exchange: (request) =>
      carry !== undefined && request.purpose === "write"
        ? carried(request, carry)
        : exchanged(request, JSON_TYPE, whole),
    download: (request, type) =>
      exchanged(request, type, async (answer): Promise<Download | Exchange> => {
        const { status, headers, leave } = answer;
        if (status !== 200 || headers["content-type"]?.split(";")[0]?.trim() !== type)
          return whole(answer);
        return { kind: "download", status, headers, body: answer.bytes(FILE_BYTES_MAX), leave };
      }),
    close: lines.close,
  };
}

const whole = async (answer: HttpAnswer): Promise<Exchange> => ({
  kind: "answer",
  status: answer.status,
  headers: answer.headers,
  text: await answer.text(READ_BYTES_MAX),
});

function headersOf(
  options: SenderOptions,
  request: PlatformRequest,
  accept: string,
): Record<string, string> {
  return {
    ...(options.auth === "bearer"
      ? { authorization: `Bearer ${options.apiKey}` }
      : { "x-api-key": options.apiKey }),
    accept,
    "accept-encoding": "identity",
    "user-agent": `fuelbridge/${options.version}`,
    ...(request.body === undefined ? {} : { "content-type": JSON_TYPE }),
    ...(request.idempotencyKey === undefined ? {} : { "idempotency-key": request.idempotencyKey }),
  };
}

/**
 * Test keys are told by a header once they are accepted (specification part 1, convention 6). Without it only a
 * success is proof: a refusal, or the redirect of a proxy, may come from before the key was looked at.
 */
function mixUp(
  { environment, url }: PlatformOptions,
  { headers, status }: Pick<HttpAnswer, "headers" | "status">,
): EnvironmentError | null {
  const isTest = headers["x-svc-sandbox"] === "true";
  // A page of HTML is nobody's success.
  const isProof = isTest || (status < 300 && !/html/i.test(headers["content-type"] ?? ""));
  if (isTest === (environment === "test") || !isProof) return null;
  return new EnvironmentError(
    `The platform at ${url} answered for a ${isTest ? "test" : "live"} key, but platform.environment is "${environment}".`,
    "Set platform.environment to what the API key is for, or use the other key. Nothing more is sent.",
  );
}

/** @throws what no exchange ends with: live and sandbox are mixed up, or an error of ours */
function failure(error: unknown): Exchange {
  if (!(error instanceof TransportError)) throw error;
  return { kind: error.phase, detail: error.message };
}

// The governors of one process: for each key a minute by the monotonic clock and by what the platform tells, and a month by the
// ledgers of the stores. Nothing is remembered here that a new process would have to know.

interface KeyOptions {
  readonly clock: Clock;
  readonly budget: Budget;
}

/** A company, or site, that has a part of the minute and the month of its key. */
interface Sharer {
  readonly site: string;
  readonly weight: number;
  /** What it used of a month (`2026-11`), while it does not work here; null: nobody can tell. */
  readonly away: (month: string) => Spent | null;
}

/** Of one that has its key for itself. */
export const openGovernor = ({ ledger, ...options }: KeyOptions & { readonly ledger: Ledger }) =>
  openKey(options, [{ site: "", weight: 1, away: () => null }]).join("", ledger);

/** One API key in this process: all `sharers` have one minute and one month, by their weights. */
export function openKey({ clock, budget }: KeyOptions, sharers: readonly Sharer[]) {
  const weights = new Map(sharers.map(({ site, weight }) => [site, weight]));
  const minute = new Minute(budget.perMinute, weights);
  const here = new Map<string, Ledger>();
  /** Of those that are away, by site and month. */
  const looked = new Map<string, { readonly spent: Spent; readonly untilMs: number }>();

  function keep(site: string, month: string, spent: Spent): Spent {
    looked.set(`${site} ${month}`, { spent, untilMs: clock.now().monoMs + AWAY_MS });
    return spent;
  }

  function spentBy({ site, weight, away }: Sharer, month: string): Spent {
    const ledger = here.get(site);
    if (ledger !== undefined) return ledger.spent(month);
    const known = looked.get(`${site} ${month}`);
    if (known !== undefined && clock.now().monoMs < known.untilMs) return known.spent;
    // Of what nobody can tell, all that it may have had counts.
    const share = weight / sumOf(weights.values());
    const most: Spent = { lost: Math.ceil(budget.perMonth * share) };
    return keep(site, month, away(month) ?? most);
  }

  /** Requests of all sharers. */
  function spent(month: string): Spent {
    const sum: Partial<Record<keyof Spent, number>> = {};
    for (const sharer of sharers)
      for (const [purpose, requests] of Object.entries(spentBy(sharer, month)) as Counts)
        sum[purpose] = (sum[purpose] ?? 0) + requests;
    return sum;
  }

  const closedUntil = (nowMs: number): number | null =>
    [...here.values()].reduce<number | null>((latest, ledger) => {
      const until = ledger.closedUntil(nowMs);
      return until === null ? latest : Math.max(until, latest ?? 0);
    }, null);

  /** What the month says to a request of this sharer; null: it may go. */
  function refused(site: string, ledger: Ledger, purpose: Purpose, nowMs: number) {
    const month = { spent, closedUntil, ...defined({ haste: ledger.haste }) };
    const { name } = monthAt(nowMs);
    const used = () => new Map(sharers.map((one) => [one.site, usedOf(spentBy(one, name))]));
    return (
      monthRefusal(budget, month, purpose, nowMs) ??
      (weights.size < 2 ? null : refusedByShare({ budget, used: used(), weights }, site, nowMs))
    );
  }

  /** The governor of one of them, until it leaves; `ledger` is its own store's. */
  function join(site: string, ledger: Ledger) {
    here.set(site, ledger);
    const { admit, hurry } = admitting({
      clock,
      refused: (purpose, nowMs) => refused(site, ledger, purpose, nowMs),
      take(purpose, { wallMs, monoMs }) {
        const ms = Math.ceil(minute.waitMs(monoMs, site));
        if (ms > 0) return { ms, detail: "the minute's requests are used up" };
        ledger.spend(wallMs, purpose);
        minute.take(monoMs, site);
        return null;
      },
    });
    return {
      admit,
      hurry,
      learn(headers: Parameters<Governor["learn"]>[0], status: number): void {
        minute.learn(headers, status, clock.now().monoMs);
      },
      /** The last minute, for people. */
      minute: () => minute.view(clock.now().monoMs),
      /** Its store is about to be closed. */
      leave(): void {
        const { name } = monthAt(clock.now().wallMs);
        keep(site, name, ledger.spent(name));
        here.delete(site);
      },
    };
  }
  return { join, spent };
}

type Counts = [keyof Spent, number][];

export type Key = ReturnType<typeof openKey>;
export type ProcessGovernor = Omit<ReturnType<Key["join"]>, "leave">;

/** So long what a sharer that is away has used is believed. */
const AWAY_MS = 60_000;

class Minute {
  readonly #perMinute: number;
  readonly #weights: ReadonlyMap<string, number>;
  /** When those of the last minute were admitted, oldest first, and whose they were. */
  #admitted: { readonly atMs: number; readonly site: string }[] = [];
  readonly #uses = new Map<string, number>();
  readonly #asked = new Map<string, number>();
  /** What the platform says is left of its own window: others may use the same key. */
  #told: { left: number; readonly untilMs: number } | null = null;
  #closedUntilMs = 0;

  constructor(perMinute: number, weights: ReadonlyMap<string, number>) {
    this.#perMinute = perMinute;
    this.#weights = weights;
  }

  /** How long until one more may be sent by `site` (left out: by anybody); 0 or less: now. */
  waitMs(nowMs: number, site?: string): number {
    this.#forget(nowMs);
    const place = this.#admitted.at(-this.#perMinute)?.atMs;
    const told = this.#told !== null && this.#told.left <= 0 ? this.#told.untilMs : nowMs;
    const own = place === undefined ? nowMs : place + WINDOW_MS;
    const wait = Math.max(own, told, this.#closedUntilMs) - nowMs;
    if (site === undefined) return wait;
    this.#asked.set(site, nowMs);
    if (wait > 0) return wait;
    const minute = { limit: this.#perMinute, uses: this.#uses, asked: this.#asked };
    const { own: share, most } = shareOfMinute({ ...minute, weights: this.#weights }, site, nowMs);
    if ((this.#uses.get(site) ?? 0) < share || this.#admitted.length < most) return wait;
    const frees = (this.#admitted[0]?.atMs ?? nowMs) + WINDOW_MS - nowMs;
    return Math.min(Math.max(frees, SHARE_WAITS_MS.least), SHARE_WAITS_MS.most);
  }

  take(nowMs: number, site: string): void {
    this.#admitted.push({ atMs: nowMs, site });
    this.#count(site, 1);
    if (this.#told !== null) this.#told.left--;
  }

  learn(headers: Readonly<Record<string, string>>, status: number, nowMs: number): void {
    this.#forget(nowMs);
    const { pauseMs = 0, left = -1, resetMs = 0 } = limitsIn(headers, status) ?? {};
    this.#closedUntilMs = Math.max(this.#closedUntilMs, nowMs + pauseMs);
    if (left < 0) return;
    // Answers come in any order, and what is under way may not be counted in them: the least is right.
    this.#told ??= { left, untilMs: nowMs + resetMs };
    this.#told.left = Math.min(this.#told.left, left);
  }

  /** `opensInMs`: how long nothing is sent, because the minute is used up; 0: there is room. */
  view(nowMs: number) {
    const opensInMs = Math.max(Math.ceil(this.waitMs(nowMs)), 0);
    return { used: this.#admitted.length, limit: this.#perMinute, opensInMs };
  }

  #count(site: string, requests: number): void {
    this.#uses.set(site, (this.#uses.get(site) ?? 0) + requests);
  }

  #forget(nowMs: number): void {
    const first = this.#admitted.findIndex(({ atMs }) => atMs + WINDOW_MS > nowMs);
    const gone = first < 0 ? this.#admitted.length : first;
    for (const { site } of this.#admitted.slice(0, gone)) this.#count(site, -1);
    if (gone > 0) this.#admitted = this.#admitted.slice(gone);
    if (this.#told !== null && this.#told.untilMs <= nowMs) this.#told = null;
  }
}

/** A site that has had its share of the minute looks again then. */
const SHARE_WAITS_MS = { least: 100, most: 2_000 } as const;
