/** The `example` section of a configuration. */
import { z } from "zod";
import { batch, lineAccounts, posting, secret, waiting } from "../../src/ledger/settings.ts";

export const ExampleConfig = z.strictObject({
  url: z
    .url({ protocol: /^https?$/, error: "is not an http or https address" })
    .describe("The address of the ledger: http://127.0.0.1:8090."),
  token: secret("Its access token"),
  accounts: lineAccounts.describe("Accounts by their codes."),
  posting,
  batch,
  ...waiting(
    [30_000, "", 100],
    60_000,
    "How long a call may still be running in the ledger after its deadline.",
  ),
});

export type ExampleConfig = z.infer<typeof ExampleConfig>;
