/** Who carries requests to the platform: this process, or workers that share its API key over Redis. */
import { z } from "zod";
import { orNull, secret } from "./secret.ts";

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
      username: orNull(z.string().min(1).describe("The user at Redis, where it has users.")),
      password: orNull(
        secret("The password at Redis: ${file:PATH} of a file with mode 0600, or ${VARIABLE}."),
      ),
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

export type QueueConfig = z.output<ReturnType<typeof queueSchema>>;

/** Nothing secret in an address, and none that is not one of Redis. */
function faultOfUrl(text: string): string | null {
  if (!URL.canParse(text)) return "is not an address";
  const { protocol, hostname, username, password, pathname } = new URL(text);
  if (username !== "" || password !== "") return "carries a user name or password";
  if (protocol !== "redis:" && protocol !== "rediss:") return "is no address of Redis";
  if (hostname === "") return "names no host";
  return /^(\/\d*)?$/.test(pathname) ? null : "ends in something that is no number of a database";
}
