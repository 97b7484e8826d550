/** What is told, as JSON and as text, and where it goes: a webhook over HTTPS, and a mail server. */
import { createHash, createHmac } from "node:crypto";
import type { AlertsConfig } from "../config/schema.ts";
import type { AlertRow } from "../store/journal.ts";
import { openHttp } from "../transport/http.ts";

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

interface Said {
  readonly title: string;
  readonly detail: string;
  readonly next: string;
  /** ISO 8601 UTC. */
  readonly since: string;
}

export interface Changes {
  readonly began: readonly AlertRow[];
  readonly over: readonly AlertRow[];
  readonly standing: readonly AlertRow[];
}

export function messageOf(company: string, changes: Changes, atMs: number): AlertMessage {
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

const said = ({ title, detail, next, sinceMs }: AlertRow): Said => ({
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
