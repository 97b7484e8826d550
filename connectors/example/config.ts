/** The `example` section of a configuration. */
import { z } from "zod";
import { batch, deadlineMs, posting, secret, settleMs } from "../../src/ledger/settings.ts";

export const ExampleConfig = z.strictObject({
  url: z
    .url({ protocol: /^https?$/, error: "is not an http or https address" })
    .describe("The address of the ledger: http://127.0.0.1:8090."),
  token: secret("Its access token"),
  accounts: z
    .strictObject({
      revenue: z.string().min(1).describe("Invoice lines that name no account."),
      expense: z.string().min(1).describe("Bill lines that name no account."),
    })
    .describe("Accounts by their codes."),
  posting,
  batch,
  settleAfterMs: z
    .int()
    .min(0)
    .default(26 * 3_600_000)
    .describe(
      "How long an invoice that is paid on the platform waits for its payments, ms; then it is settled as one. " +
        "0: at once.",
    ),
  deadlineMs: deadlineMs(30_000, "", 100),
  settleMs: settleMs(
    60_000,
    "How long a call may still be running in the ledger after its deadline.",
  ),
});

export type ExampleConfig = z.infer<typeof ExampleConfig>;
