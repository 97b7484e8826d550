/** Whom to tell of what is wrong, and when. */
import { z } from "zod";
import { duration } from "../core/settings.ts";
import { orNull, secret } from "./secret.ts";

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
        key: orNull(
          secret(
            "Signs each message (HMAC-SHA-256, header X-Fuelbridge-Signature): ${file:PATH} or ${VARIABLE}.",
          ),
        ),
      })
      .optional()
      .describe("Messages as JSON over HTTPS: url and key.")
      .transform((webhook) => webhook ?? null),
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
        user: orNull(z.string().min(1).describe("The user at the mail server.")),
        password: orNull(
          secret("Its password: ${file:PATH} of a file with mode 0600, or ${VARIABLE}."),
        ),
        from: mailbox,
        to: z.array(mailbox).min(1).describe("Who gets the messages: a list of e-mail addresses."),
      })
      .optional()
      .describe("Messages by e-mail: host, port, tls, user, password, from and to.")
      .transform((email) => email ?? null),
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
  .describe("Whom to tell when something goes wrong, or is well again: webhook and email.")
  .transform(({ collect, unreachable, quietHours, ...channels }) => ({
    ...channels,
    collectMs: collect,
    unreachableMs: unreachable,
    /** Minutes of the day in the site's time zone; what is not urgent waits for `to`. Null: none. */
    quiet:
      quietHours === undefined
        ? null
        : { from: minuteOf(quietHours.from), to: minuteOf(quietHours.to) },
  }));

export type AlertsConfig = z.output<typeof alerts>;
export type EmailConfig = NonNullable<AlertsConfig["email"]>;

function isWebhook(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.test(url.hostname));
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+)$/;

const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
