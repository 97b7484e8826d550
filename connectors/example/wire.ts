/** The ledger's HTTP, where one call is one transaction, and what its errors mean. */
import { z } from "zod";
import { errorTable, TRIED_AGAIN } from "../../src/ledger/errors.ts";
import { openRest, type Rest } from "../../src/ledger/rest.ts";
import type { ExampleConfig } from "./config.ts";

const Told = z
  .object({ error: z.object({ code: z.string(), message: z.string() }) })
  .transform(({ error }) => error);

export const openWire = ({ url, token, deadlineMs }: ExampleConfig): Rest =>
  openRest({ url, deadlineMs, headers: { authorization: `Bearer ${token}` }, error: Told });

/** What the ledger's errors mean. The first row that matches counts; a write that no row knows is unknown. */
export const errors = errorTable({
  "401 configuration:credentials unauthorised":
    "Correct token in the configuration, or issue a new one in the ledger.",
  "403 configuration:scope forbidden": "Give the token the right that the message names.",
  // Somebody wrote the record since it was read, or wrote the same one; or the document was paid since.
  "409#stale|mark-taken raced raced": TRIED_AGAIN,
  "422#more-than-open raced raced": TRIED_AGAIN,
  "429 busy:5000 busy": TRIED_AGAIN,
  "422#closed-period data closed-period":
    "An accountant opens the period in the ledger, or books the document by hand; then retry.",
  "422#unknown-.* data not-in-ledger":
    "Create in the ledger what the message names, or correct the cross-reference that names it; then retry.",
  "422 data refused-by-ledger":
    "Correct what the message names in the ledger, or the document where it comes from; then retry.",
});
