/** Where messages go: a webhook over HTTPS, and a mail server. */
import { createHmac } from "node:crypto";
import type { AlertsConfig, EmailConfig } from "../config/alerts.ts";
import { openHttp } from "../transport/http.ts";
import type { Channel } from "./alerter.ts";
import { type AlertMessage, asText } from "./message.ts";

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
function emailChannel(email: EmailConfig): Channel {
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
