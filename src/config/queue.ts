/** Who carries requests to the platform: this process, or workers that share its API key over Redis. */
import { z } from "zod";
import { secret } from "./secret.ts";

export type QueueConfig =
  | { readonly type: "embedded" }
  | {
      readonly type: "bullmq";
      /** Of Redis; without user name and password. */
      readonly url: string;
      readonly username: string | null;
      readonly password: string | null;
      readonly site: string;
    };

const TYPE = "embedded (this process) or bullmq (workers, over Redis).";

/** `name`: what a site may be called. */
export const queueSchema = (name: RegExp) =>
  z.union([
    z.strictObject({ type: z.literal("embedded").describe(TYPE) }),
    z.strictObject({
      type: z.literal("bullmq").describe(TYPE),
      url: z
        .string()
        .superRefine((text, context) => {
          const message = faultOfUrl(text);
          if (message !== null) context.addIssue({ code: "custom", message });
        })
        .describe("The address of Redis: redis://HOST:6379, or rediss://HOST:6379 over TLS."),
      username: z.string().min(1).optional().describe("The user at Redis, where it has users."),
      password: secret(
        "The password at Redis: ${file:PATH} of a file with mode 0600, or ${VARIABLE}.",
      ).optional(),
      site: z
        .string()
        .regex(name)
        .max(40)
        .default("main")
        .describe(
          "Which of the daemons with this API key it is: up to 40 lower-case letters, digits and hyphens, different for each.",
        ),
    }),
  ]);

type QueueSettings = z.output<ReturnType<typeof queueSchema>>;

export const queueOf = (settings: QueueSettings): QueueConfig =>
  settings.type === "embedded"
    ? settings
    : { ...settings, username: settings.username ?? null, password: settings.password ?? null };

/** Nothing secret in an address, and none that is not one of Redis. */
function faultOfUrl(text: string): string | null {
  if (!URL.canParse(text)) return "is not an address";
  const { protocol, hostname, username, password, pathname } = new URL(text);
  if (username !== "" || password !== "") return "carries a user name or password";
  if (protocol !== "redis:" && protocol !== "rediss:") return "is no address of Redis";
  if (hostname === "") return "names no host";
  return /^(\/\d*)?$/.test(pathname) ? null : "ends in something that is no number of a database";
}
