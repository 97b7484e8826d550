/** What QuickBooks' faults mean. The first row that matches counts; a write that no row knows is unknown. */
import { errorTable, TRIED_AGAIN } from "../../src/ledger/errors.ts";

export const AUTHORISE =
  "Run `fuelbridge quickbooks authorise` and sign in as an administrator of the company.";
const LOOKED_FOR = "It is looked for and tried again by itself.";

/** Codes of `Fault.Error[].code` without leading zeros; with `invalid_grant` and `no-tokens`, of the tokens (tokens.ts). */
const errors = errorTable({
  "#invalid_grant|no-tokens configuration:credentials not-authorised": AUTHORISE,
  "#invalid_client|unauthorized_client configuration:credentials wrong-client":
    "Correct clientId and clientSecret in the configuration: they are those of the app at developer.intuit.com.",
  "429 busy:60000 throttled": TRIED_AGAIN,
  "#3001 busy:60000 throttled": TRIED_AGAIN,
  "401 configuration:credentials unauthorised": AUTHORISE,
  "#120|3200 configuration:credentials unauthorised": AUTHORISE,
  "403 configuration:scope forbidden":
    "Give the app the scope com.intuit.quickbooks.accounting, sign in as an administrator, and look whether the subscription is paid.",
  "#6190 configuration:scope subscription":
    "The company's administrator renews the subscription of QuickBooks, or takes the company out of read-only.",
  "#wrong-currency configuration:scope wrong-currency":
    "Correct currency or company in the configuration. Nothing is converted.",
  "#multicurrency configuration:scope multicurrency":
    "Set multicurrency: home, where all that comes from the platform is in the company's own currency.",
  "#own-numbers configuration:scope own-numbers":
    "Switch on custom transaction numbers in QuickBooks: Settings, Account and settings, Sales, Sales form content.",
  "#5010 raced raced": TRIED_AGAIN,
  "#600 raced sent-before": TRIED_AGAIN,
  "#6140 raced number-taken": LOOKED_FOR,
  "#6240 raced name-taken": LOOKED_FOR,
  "#6210 data closed-period":
    "An accountant opens the books for that date in QuickBooks (Settings, Advanced, Accounting), or enters the document by hand; it is never booked on another date. Then retry.",
  "#610 data not-in-quickbooks":
    "Somebody deleted or deactivated what the message names: an accountant makes it active in QuickBooks, or corrects the cross-reference; then retry.",
  "#2020|2170|2500 data wrong-reference":
    "Create in QuickBooks what the message names, or correct the cross-reference or the setting that names it; then retry.",
  "#6070 data does-not-add-up":
    "QuickBooks multiplies otherwise than the platform: an accountant enters the document by hand and resolves it here, and whoever looks after fuelbridge is told.",
  "#6540 data deposited":
    "The payment is part of a bank deposit: an accountant takes it out of the deposit in QuickBooks, or corrects it there by hand; then retry.",
  "#6000 data business-rule":
    "An accountant does in QuickBooks what the message asks for, or corrects the document where it comes from; then retry.",
  "400#500|5020|5030 data unsupported":
    "This company's plan of QuickBooks does not have this kind of document: an accountant enters it by hand and resolves it here.",
  "400#\\d+ data refused-by-quickbooks":
    "Correct in QuickBooks what it says, or the document where it comes from; then retry.",
});

/** For the parts of src/ledger that tell people about these books and sort their errors. */
export const QUICKBOOKS = { name: "QuickBooks", errors } as const;
