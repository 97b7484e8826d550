/** The `example` section of a configuration. */
import { z } from "zod";
import {
  batch,
  deadlineMs,
  posting,
  secret,
  settleAfter,
  settleMs,
} from "../../src/ledger/settings.ts";

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
  settleAfter,
  deadlineMs: deadlineMs(30_000, "", 100),
  settleMs: settleMs(
    60_000,
    "How long a call may still be running in the ledger after its deadline.",
  ),
});

export type ExampleConfig = z.infer<typeof ExampleConfig>;
