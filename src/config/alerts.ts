/** Whom to tell of what is wrong, and when. */
import { z } from "zod";
import { duration } from "../core/duration.ts";
import { secret } from "./secret.ts";

export interface AlertsConfig {
  /** Null: no webhook. */
  readonly webhook: { readonly url: string; readonly key: string | null } | null;
  /** Null: no e-mail. */
  readonly email: EmailConfig | null;
  /** How long changes are collected before they are told in one message, ms. */
  readonly collectMs: number;
  /** How long a side cannot be reached before that is told, ms. */
  readonly unreachableMs: number;
  /** Minutes of the day in the site's time zone; what is not urgent waits for `to`. Null: none. */
  readonly quiet: { readonly from: number; readonly to: number } | null;
}

export interface EmailConfig {
  readonly host: string;
  readonly port: number;
  /** `starttls`: refused where the server has none. */
  readonly tls: "starttls" | "implicit" | "none";
  readonly user: string | null;
  readonly password: string | null;
  readonly from: string;
  readonly to: readonly string[];
}

const mailbox = z
  .string()
  .regex(/^[^\s@<>,;]+@[^\s@<>,;]+$/)
  .meta({ description: "An e-mail address, for example office@example.com." });

const timeOfDay = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/)
  .meta({ description: "A time of the day in timeZone, for example 19:00." });

export const alerts = z
  .strictObject({
    webhook: z
      .strictObject({
        url: secret(
          "Where messages are posted as JSON: ${file:PATH} or ${VARIABLE}, since such addresses are secrets. https only.",
        ).refine(isWebhook, "is no https address"),
        key: secret(
          "Signs each message (HMAC-SHA-256, header X-Fuelbridge-Signature): ${file:PATH} or ${VARIABLE}.",
        ).optional(),
      })
      .optional()
      .describe("Messages as JSON over HTTPS: url and key."),
    email: z
      .strictObject({
        host: z.string().min(1).describe("The mail server, for example smtp.example.com."),
        port: z.int().min(1).max(65_535).default(587).describe("Its port: a number."),
        tls: z
          .enum(["starttls", "implicit", "none"])
          .default("starttls")
          .describe(
            "starttls (port 587), implicit (port 465) or none (this machine's own server).",
          ),
        user: z.string().min(1).optional().describe("The user at the mail server."),
        password: secret(
          "Its password: ${file:PATH} of a file with mode 0600, or ${VARIABLE}.",
        ).optional(),
        from: mailbox,
        to: z.array(mailbox).min(1).describe("Who gets the messages: a list of e-mail addresses."),
      })
      .optional()
      .describe("Messages by e-mail: host, port, tls, user, password, from and to."),
    collect: duration("How long changes are collected before they are told in one message").default(
      120_000,
    ),
    unreachable: duration("How long a side cannot be reached before that is told").default(
      1_800_000,
    ),
    quietHours: z
      .strictObject({ from: timeOfDay, to: timeOfDay })
      .optional()
      .describe("When only what is urgent is told: from and to, in timeZone."),
  })
  .describe("Whom to tell when something goes wrong, or is well again: webhook and email.");

type AlertsSettings = z.output<typeof alerts>;

export function alertsOf(settings: AlertsSettings): AlertsConfig {
  const { webhook, email, collect, unreachable, quietHours } = settings;
  return {
    webhook: webhook === undefined ? null : { url: webhook.url, key: webhook.key ?? null },
    email:
      email === undefined
        ? null
        : { ...email, user: email.user ?? null, password: email.password ?? null },
    collectMs: collect,
    unreachableMs: unreachable,
    quiet:
      quietHours === undefined
        ? null
        : { from: minuteOf(quietHours.from), to: minuteOf(quietHours.to) },
  };
}

function isWebhook(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.test(url.hostname));
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+)$/;

const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
