/** What QuickBooks' faults mean. The first row that matches counts; a write that no row knows is unknown. */
import type { ErrorRow } from "../../src/ledger/errors.ts";

const AUTHORISE =
  "Run `fuelbridge quickbooks authorise` and sign in as an administrator of the company.";
const AGAIN = "It is tried again by itself.";
const THROTTLED_MS = 60_000;

/** Codes of `Fault.Error[].code` without leading zeros; with `invalid_grant` and `no-tokens`, of the tokens (tokens.ts). */
export const errors: readonly ErrorRow[] = [
  {
    when: { code: /^(?:invalid_grant|no-tokens)$/ },
    sort: "configuration",
    stop: "credentials",
    code: "not-authorised",
    next: AUTHORISE,
  },
  {
    when: { code: /^(?:invalid_client|unauthorized_client)$/ },
    sort: "configuration",
    stop: "credentials",
    code: "wrong-client",
    next: "Correct clientId and clientSecret in the configuration: they are those of the app at developer.intuit.com.",
  },
  { when: { status: 429 }, sort: "busy", code: "throttled", next: AGAIN, waitMs: THROTTLED_MS },
  {
    when: { code: /^3001$/ },
    sort: "busy",
    code: "throttled",
    next: AGAIN,
    waitMs: THROTTLED_MS,
  },
  {
    when: { status: 401 },
    sort: "configuration",
    stop: "credentials",
    code: "unauthorised",
    next: AUTHORISE,
  },
  {
    when: { code: /^(?:120|3200)$/ },
    sort: "configuration",
    stop: "credentials",
    code: "unauthorised",
    next: AUTHORISE,
  },
  {
    when: { status: 403 },
    sort: "configuration",
    stop: "scope",
    code: "forbidden",
    next: "Give the app the scope com.intuit.quickbooks.accounting, sign in as an administrator, and look whether the subscription is paid.",
  },
  {
    when: { code: /^6190$/ },
    sort: "configuration",
    stop: "scope",
    code: "subscription",
    next: "The company's administrator renews the subscription of QuickBooks, or takes the company out of read-only.",
  },
  {
    when: { code: /^wrong-currency$/ },
    sort: "configuration",
    stop: "scope",
    code: "wrong-currency",
    next: "Correct currency or company in the configuration. Nothing is converted.",
  },
  {
    when: { code: /^multicurrency$/ },
    sort: "configuration",
    stop: "scope",
    code: "multicurrency",
    next: "Set multicurrency: home, where all that comes from the platform is in the company's own currency.",
  },
  {
    when: { code: /^own-numbers$/ },
    sort: "configuration",
    stop: "scope",
    code: "own-numbers",
    next: "Switch on custom transaction numbers in QuickBooks: Settings, Account and settings, Sales, Sales form content.",
  },
  { when: { code: /^5010$/ }, sort: "raced", code: "raced", next: AGAIN },
  { when: { code: /^600$/ }, sort: "raced", code: "sent-before", next: AGAIN },
  {
    when: { code: /^6140$/ },
    sort: "raced",
    code: "number-taken",
    next: "It is looked for and tried again by itself.",
  },
  {
    when: { code: /^6240$/ },
    sort: "raced",
    code: "name-taken",
    next: "It is looked for and tried again by itself.",
  },
  {
    when: { code: /^6210$/ },
    sort: "data",
    code: "closed-period",
    next: "An accountant opens the books for that date in QuickBooks (Settings, Advanced, Accounting), or enters the document by hand; it is never booked on another date. Then retry.",
  },
  {
    when: { code: /^610$/ },
    sort: "data",
    code: "not-in-quickbooks",
    next: "Somebody deleted or deactivated what the message names: an accountant makes it active in QuickBooks, or corrects the cross-reference; then retry.",
  },
  {
    when: { code: /^(?:2020|2170|2500)$/ },
    sort: "data",
    code: "wrong-reference",
    next: "Create in QuickBooks what the message names, or correct the cross-reference or the setting that names it; then retry.",
  },
  {
    when: { code: /^6070$/ },
    sort: "data",
    code: "does-not-add-up",
    next: "QuickBooks multiplies otherwise than the platform: an accountant enters the document by hand and resolves it here, and whoever looks after fuelbridge is told.",
  },
  {
    when: { code: /^6540$/ },
    sort: "data",
    code: "deposited",
    next: "The payment is part of a bank deposit: an accountant takes it out of the deposit in QuickBooks, or corrects it there by hand; then retry.",
  },
  {
    when: { code: /^6000$/ },
    sort: "data",
    code: "business-rule",
    next: "An accountant does in QuickBooks what the message asks for, or corrects the document where it comes from; then retry.",
  },
  {
    when: { code: /^(?:500|5020|5030)$/, status: 400 },
    sort: "data",
    code: "unsupported",
    next: "This company's plan of QuickBooks does not have this kind of document: an accountant enters it by hand and resolves it here.",
  },
  {
    when: { status: 400, code: /^\d+$/ },
    sort: "data",
    code: "refused-by-quickbooks",
    next: "Correct in QuickBooks what it says, or the document where it comes from; then retry.",
  },
];

/** For the parts of src/ledger that tell people about these books and sort their errors. */
export const QUICKBOOKS = { name: "QuickBooks", errors } as const;
