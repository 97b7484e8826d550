/**
 * Tells people when something goes wrong and when it is over: once for each change, also across restarts. What is known
 * as told, and what waits to be sent, is in the store; one transaction moves the first and writes the second.
 */
import type { Clock } from "../core/time.ts";
import type { AlertRow, Condition } from "../store/journal.ts";
import type { Store } from "../store/store.ts";
import { createHash, createHmac } from "node:crypto";
import type { AlertsConfig } from "../config/schema.ts";
import { openHttp } from "../transport/http.ts";
import { PAUSED } from "../core/budget.ts";
import type { FlowStatus, Status } from "../office/answers.ts";
import { concernsOf, pathOf } from "../office/concerns.ts";

interface AlerterParts {
  readonly store: Pick<Store, "alerts" | "transaction">;
  readonly clock: Clock;
  readonly company: string;
  readonly channels: readonly Channel[];
  readonly conditions: () => Promise<readonly Condition[]>;
  /** How long changes are collected into one message, ms. */
  readonly collectMs: number;
  /** Is the wall clock (ms UTC) in the hours in which only what is urgent is told? */
  readonly isQuiet: (wallMs: number) => boolean;
  readonly note: (event: string, details: Record<string, unknown>) => void;
}

const EVERY_MS = 15_000;
/** After the first failure, doubled for each further one up to the longest. */
const RETRY_MS = 60_000;
const RETRY_LONGEST_MS = 3_600_000;
/** What no channel has taken by then is given up: its conditions stand in `status`. */
const GIVE_UP_MS = 3 * 24 * 3_600_000;

/** Looks and sends until `signal` aborts. It never ends for a failure of its own: it is noted. */
export async function runAlerts(parts: AlerterParts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await lookAndSend(parts).catch((error: unknown) => parts.note("alerts failed", { error }));
    await parts.clock.pause(EVERY_MS, signal);
  }
}

/** One look at what is wrong, and one attempt at each message that is due. */
export async function lookAndSend(parts: AlerterParts): Promise<void> {
  const { store, clock, conditions } = parts;
  const now = await conditions();
  store.transaction(() => {
    const atMs = clock.now().wallMs;
    note(parts, now, atMs);
    tell(parts, atMs);
  });
  await deliver(parts);
}

/** Compares what is wrong now with what is known. What came and went untold leaves nothing. */
function note({ store }: AlerterParts, now: readonly Condition[], atMs: number): void {
  const known = new Map(store.alerts.all().map((row) => [row.key, row]));
  for (const condition of now) {
    const before = known.get(condition.key);
    known.delete(condition.key);
    if (before === undefined)
      store.alerts.put({ ...condition, state: "new", sinceMs: atMs, changedMs: atMs });
    // It is back before anybody was told that it is over.
    else if (before.state === "over") store.alerts.put({ ...before, ...condition, state: "told" });
    else if (differs(before, condition)) store.alerts.put({ ...before, ...condition });
  }
  for (const row of known.values()) {
    if (row.state === "new") store.alerts.drop(row.key);
    else if (row.state === "told") store.alerts.put({ ...row, state: "over", changedMs: atMs });
  }
}

const differs = (row: AlertRow, { title, detail, next, urgent }: Condition): boolean =>
  row.title !== title || row.detail !== detail || row.next !== next || row.urgent !== urgent;

/** Everything that waits goes into one message, once the oldest of it has waited long enough. */
function tell(parts: AlerterParts, atMs: number): void {
  const { store, channels, collectMs, company, isQuiet } = parts;
  const rows = store.alerts.all();
  const waiting = rows.filter(({ state }) => state !== "told");
  const able = isQuiet(atMs) ? waiting.filter(({ urgent }) => urgent) : waiting;
  // A clock that was set back must not silence anybody.
  if (!able.some(({ changedMs }) => Math.abs(atMs - changedMs) >= collectMs)) return;
  const changes: Changes = {
    began: able.filter(({ state }) => state === "new"),
    over: able.filter(({ state }) => state === "over"),
    standing: rows.filter(
      (row) => row.state === "told" || (row.state === "new" && !able.includes(row)),
    ),
  };
  const message = messageOf(company, changes, atMs);
  const body = JSON.stringify(message);
  for (const { name } of channels)
    store.alerts.queue({ channel: name, id: message.id, body, atMs });
  for (const row of changes.began) store.alerts.put({ ...row, state: "told", changedMs: atMs });
  for (const { key } of changes.over) store.alerts.drop(key);
}

async function deliver({ store, clock, channels, note }: AlerterParts): Promise<void> {
  for (const row of store.alerts.due(clock.now().wallMs)) {
    const channel = channels.find(({ name }) => name === row.channel);
    try {
      await channel?.send(JSON.parse(row.body) as AlertMessage);
      store.transaction(() => store.alerts.done(row.message));
    } catch (error) {
      const atMs = clock.now().wallMs;
      const isOver = atMs - row.createdMs >= GIVE_UP_MS;
      note(isOver ? "alert given up" : "alert not sent", { channel: row.channel, error });
      const waitMs = Math.min(RETRY_MS * 2 ** row.attempts, RETRY_LONGEST_MS);
      store.transaction(() =>
        isOver ? store.alerts.done(row.message) : store.alerts.postpone(row.message, atMs + waitMs),
      );
    }
  }
}

/* What is told, as JSON and as text, and where it goes: a webhook over HTTPS, and a mail server. */

/** Somewhere that messages go. */
export interface Channel {
  /** `webhook` or `email`. */
  readonly name: string;
  /** @throws Error when nobody took it */
  send(message: AlertMessage): Promise<void>;
}

export interface AlertMessage {
  /** The same for every attempt: receivers can tell a repetition by it. */
  readonly id: string;
  readonly company: string;
  /** ISO 8601 UTC. */
  readonly at: string;
  /** `trouble`: something is wrong. `ok`: nothing is any more. `test`: somebody tries the channel. */
  readonly status: "trouble" | "ok" | "test";
  readonly subject: string;
  readonly began: readonly Said[];
  readonly over: readonly Said[];
  /** What was told before and is still so. */
  readonly standing: readonly Said[];
}

interface Changes {
  readonly began: readonly AlertRow[];
  readonly over: readonly AlertRow[];
  readonly standing: readonly AlertRow[];
}

function messageOf(company: string, changes: Changes, atMs: number): AlertMessage {
  const { began, over, standing } = changes;
  const at = new Date(atMs).toISOString();
  const isOk = began.length + standing.length === 0;
  const keys = [...began, ...over].map(({ key, state, changedMs }) => [key, state, changedMs]);
  const digest = createHash("sha256")
    .update(JSON.stringify([company, keys]))
    .digest("hex");
  return {
    id: digest.slice(0, 32),
    company,
    at,
    status: isOk ? "ok" : "trouble",
    subject: `fuelbridge ${company}: ${subjectOf(changes, isOk)}`,
    began: began.map(said),
    over: over.map(said),
    standing: standing.map(said),
  };
}

export const testMessage = (company: string, atMs: number, id: string): AlertMessage => ({
  id,
  company,
  at: new Date(atMs).toISOString(),
  status: "test",
  subject: `fuelbridge ${company}: test of the alerts`,
  began: [],
  over: [],
  standing: [],
});

type Said = ReturnType<typeof said>;
const said = ({ title, detail, next, sinceMs }: AlertRow) => ({
  title,
  detail,
  next,
  since: new Date(sinceMs).toISOString(),
});

function subjectOf({ began, over, standing }: Changes, isOk: boolean): string {
  if (isOk) return "in step again";
  const [first] = began;
  if (first === undefined) return `${over.length} settled, ${standing.length} left`;
  const more = began.length - 1;
  return more === 0 ? first.title : `${first.title}, and ${more} more`;
}

const TEST =
  "Somebody tries whether messages of fuelbridge arrive here. They do. Nothing need be done.";

/** For people: what began, what is over, what stands. */
function asText({ status, company, at, began, over, standing }: AlertMessage): string {
  return [
    ...(status === "test" ? [TEST, ""] : []),
    ...part("WRONG SINCE THE LAST MESSAGE", began, true),
    ...part("OVER", over, false),
    ...part("STILL WRONG", standing, false),
    ...(status === "ok" ? ["Nothing is wrong any more.", ""] : []),
    `${company}, ${at}`,
    "",
  ].join("\n");
}

/** `full`: with what was found and what to do. */
function part(title: string, rows: readonly Said[], full: boolean): string[] {
  if (rows.length === 0) return [];
  const lines = rows.flatMap(({ title, detail, next, since }) => [
    `- ${title}`,
    ...(full ? [`  ${detail.replaceAll("\n", "\n  ")}`, `  Next: ${next}`] : []),
    `  since ${since}`,
  ]);
  return [title, ...lines, ""];
}

/** How long a receiver may take for one message. */
const TIMEOUT_MS = 20_000;
const ANSWER_BYTES_MAX = 65_536;

export const channelsOf = ({ webhook, email }: AlertsConfig): Channel[] => [
  ...(webhook === null ? [] : [webhookChannel(webhook)]),
  ...(email === null ? [] : [emailChannel(email)]),
];

/** `text` is what chat programs show; the rest is for programs. */
function webhookChannel({ url, key }: NonNullable<AlertsConfig["webhook"]>): Channel {
  const { origin, pathname, search } = new URL(url);
  return {
    name: "webhook",
    async send(message) {
      const http = openHttp({
        origin,
        connections: 1,
        headersMs: TIMEOUT_MS,
        bodyMs: TIMEOUT_MS,
      });
      try {
        const body = JSON.stringify({
          text: `${message.subject}\n\n${asText(message)}`,
          ...message,
        });
        const answer = await http.ask({
          method: "POST",
          path: pathname + search,
          headers: {
            "content-type": "application/json; charset=utf-8",
            "user-agent": "fuelbridge",
            "x-fuelbridge-id": message.id,
            ...(key === null ? {} : { "x-fuelbridge-signature": signatureOf(body, key) }),
          },
          body,
          signal: AbortSignal.timeout(TIMEOUT_MS),
          reset: true,
        });
        await answer.text(ANSWER_BYTES_MAX);
        if (answer.status < 200 || answer.status > 299)
          throw new Error(`the webhook answered ${answer.status}`);
      } finally {
        await http.close();
      }
    },
  };
}

/** Of the body's UTF-8 bytes. */
const signatureOf = (body: string, key: string): string =>
  `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;

/** One address that is refused does not keep it from the others; when all are, it failed. */
function emailChannel(email: NonNullable<AlertsConfig["email"]>): Channel {
  const { host, port, tls, user, password, from, to } = email;
  return {
    name: "email",
    async send(message: AlertMessage) {
      const { createTransport } = await import("nodemailer");
      const transport = createTransport({
        host,
        port,
        secure: tls === "implicit",
        requireTLS: tls === "starttls",
        ignoreTLS: tls === "none",
        connectionTimeout: TIMEOUT_MS,
        greetingTimeout: TIMEOUT_MS,
        socketTimeout: TIMEOUT_MS,
        disableFileAccess: true,
        disableUrlAccess: true,
        ...(user === null ? {} : { auth: { user, pass: password ?? "" } }),
      });
      try {
        await transport.sendMail({
          from,
          to: [...to],
          subject: message.subject,
          text: asText(message),
          messageId: `<${message.id}@${domainOf(from)}>`,
          date: new Date(message.at),
          headers: { "auto-submitted": "auto-generated" },
        });
      } finally {
        transport.close();
      }
    },
  };
}

const domainOf = (mailbox: string): string => mailbox.slice(mailbox.lastIndexOf("@") + 1);

/* Of what is wrong now, what people are told unasked: a side that cannot be reached for a moment is not. */

/** Where the console is, without a slash at its end: messages link to it; null: there is none. */
type ConsoleUrl = string | null;

interface Limits {
  /** How long a side cannot be reached before that counts, ms. */
  readonly unreachableMs: number;
}

/** `nowMs`: the wall clock, ms UTC. */
export function conditionsOf(
  status: Status,
  { unreachableMs }: Limits,
  nowMs: number,
  console: ConsoleUrl = null,
): Condition[] {
  const isLong = (since: string | null): boolean =>
    since !== null && nowMs - Date.parse(since) >= unreachableMs;
  // The queue or its workers.
  const brief = status.stops.filter(
    ({ breaker, since }) => breaker === "receiver" && !isLong(since),
  );
  const untold = new Set([
    ...brief.map(({ breaker, scope }) => `stop ${breaker} ${scope}`),
    ...status.flows.filter((flow) => !isOwn(flow)).map(flowKey),
  ]);
  return [
    ...unreachable(status.flows, isLong),
    ...concernsOf(status)
      .filter(({ key }) => !untold.has(key))
      .map(({ key, urgent, title, since, detail, next, retryAt, page }) => ({
        key,
        urgent,
        title,
        detail: key.startsWith("late ") ? `Since ${since}: ${detail}` : detail,
        next: [
          next,
          retryAt !== null && ` It is tried again by itself at ${retryAt}.`,
          page !== null && console !== null && `\n${console}${pathOf(page)}`,
        ]
          .filter(Boolean)
          .join(""),
      })),
  ];
}

const flowKey = ({ name, lastError }: FlowStatus): string => `flow ${name} ${lastError?.code}`;

/** What stops one flow alone; a stop is told as such, and a side that cannot be read for all its flows. */
const isOwn = ({ lastError, state }: FlowStatus): boolean =>
  state !== PAUSED && (lastError?.code === "failed" || lastError?.code === "configuration");

/** A side that does not answer is one condition, however many flows read it. */
function unreachable(
  flows: readonly FlowStatus[],
  isLong: (since: string | null) => boolean,
): Condition[] {
  const failing = flows.filter(
    ({ lastError, failingSince }) => lastError?.code === "unavailable" && isLong(failingSince),
  );
  return [...Map.groupBy(failing, ({ from }) => from.split(".", 1)[0] ?? from)].map(
    ([side, those]) => ({
      key: `unreachable ${side}`,
      urgent: true,
      title: `${side} cannot be read`,
      detail: `${those.map(({ name }) => name).join(", ")}: ${those[0]?.lastError?.message ?? ""}`,
      next: those[0]?.lastError?.next ?? "",
    }),
  );
}

/** `quiet`: minutes of the day in `timeZone` (IANA), over midnight where `from` is later than `to`; null: none. */
export function quietHours(
  quiet: { readonly from: number; readonly to: number } | null,
  timeZone: string,
): (wallMs: number) => boolean {
  if (quiet === null) return () => false;
  const { from, to } = quiet;
  const format = new Intl.DateTimeFormat("en", {
    timeZone,
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  return (wallMs) => {
    const parts = format.formatToParts(new Date(wallMs));
    const part = (type: string): number =>
      Number(parts.find((candidate) => candidate.type === type)?.value);
    const minute = part("hour") * 60 + part("minute");
    return from <= to ? minute >= from && minute < to : minute >= from || minute < to;
  };
}
