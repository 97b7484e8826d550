/** What the ledger's errors mean. The first row that matches counts; a write that no row knows is unknown. */
import type { ErrorRow } from "../../src/ledger/errors.ts";

export const errors: readonly ErrorRow[] = [
  {
    when: { status: 401 },
    sort: "configuration",
    stop: "credentials",
    code: "unauthorised",
    next: "Correct token in the configuration, or issue a new one in the ledger.",
  },
  {
    when: { status: 403 },
    sort: "configuration",
    stop: "scope",
    code: "forbidden",
    next: "Give the token the right that the message names.",
  },
  {
    // Somebody wrote the record since it was read, or wrote the same one.
    when: { status: 409, code: /^(?:stale|mark-taken)$/ },
    sort: "raced",
    code: "raced",
    next: "It is tried again by itself.",
  },
  {
    // The document was paid since it was read.
    when: { status: 422, code: /^more-than-open$/ },
    sort: "raced",
    code: "raced",
    next: "It is tried again by itself.",
  },
  {
    when: { status: 429 },
    sort: "busy",
    code: "busy",
    next: "It is tried again by itself.",
    waitMs: 5_000,
  },
  {
    when: { status: 422, code: /^closed-period$/ },
    sort: "data",
    code: "closed-period",
    next: "An accountant opens the period in the ledger, or books the document by hand; then retry.",
  },
  {
    when: { status: 422, code: /^unknown-/ },
    sort: "data",
    code: "not-in-ledger",
    next: "Create in the ledger what the message names, or correct the cross-reference that names it; then retry.",
  },
  {
    when: { status: 422 },
    sort: "data",
    code: "refused-by-ledger",
    next: "Correct what the message names in the ledger, or the document where it comes from; then retry.",
  },
];
