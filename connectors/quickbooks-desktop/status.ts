/**
 * What QuickBooks' status codes mean (Intuit, "Status codes in response messages"), each with what a person does. The first
 * row that matches counts. By their ranges: from 2000 on QuickBooks returns no data, and did nothing; so a code that has no
 * row of its own is a person's at once, with QuickBooks' own words. 1000 (internal error), and what lies beyond all ranges,
 * leave unknown what happened: the document is looked for before anything goes again.
 */
import { errorTable, TRIED_AGAIN } from "../../src/ledger/errors.ts";

/** The code of a request that nobody is there to answer. */
export const NOT_HERE = "no-session";
/** The same, because the Web Connector was turned away. */
export const WRONG_PASSWORD = "wrong-password";

const OURS = "This is a fault in fuelbridge: report it with the line of the log.";

/** 3170 and 3180 are whatever QuickBooks could not change or save: its message says why. */
const TEXTS = {
  closed: /closing date|closed period/i,
  inUse:
    /in use|being used|another user|someone else|is (?:currently )?open|locked|single[- ]user/i,
};
const REOPEN =
  "The books are closed for that date: an accountant opens them in QuickBooks (Edit, Preferences, Accounting, Company Preferences), or books it by hand; then retry.";
const CLOSE_IT = `Close the document or the list in QuickBooks where somebody has it open. ${TRIED_AGAIN}`;

export const errors = errorTable(
  {
    [`#${WRONG_PASSWORD} configuration:credentials wrong-password`]:
      "In the Web Connector, click the password of this application and type the configured one.",
    [`#${NOT_HERE} busy:60000 no-session`]:
      "Open the Web Connector on the machine with QuickBooks, and press Update Selected.",
    "#0x80040400 data not-read": OURS,
    "#3161|3171 data closed-period": REOPEN,
    "#3170|3180|3185~closed data closed-period": REOPEN,
    "#1010|3175|3176 busy:60000 in-use": CLOSE_IT,
    "#3170|3180|3185~inUse busy:60000 in-use": CLOSE_IT,
    "#3162 busy:60000 single-user": `QuickBooks does this in single-user mode only: File, Switch to Single-user Mode. ${TRIED_AGAIN}`,
    "#1030|2\\d{3}|3250 configuration:scope not-enabled":
      "This edition of QuickBooks does not have what the message names, or it is switched off: switch it on under Edit, Preferences, or take the flow out of the configuration.",
    "#3260|3261 configuration:scope no-permission":
      "In QuickBooks as Admin: Edit, Preferences, Integrated Applications, Company Preferences; give fuelbridge access, and its user the rights that the message names.",
    "#3100 data name-taken":
      "QuickBooks has another name of this spelling: of a customer, a vendor, an employee or another name. Rename it there, or give the company another code in the cross-reference; then retry.",
    "#3000|3120|3140 data not-in-quickbooks":
      "Create in QuickBooks what the message names, or make it active there, or correct the cross-reference that names it; then retry.",
    "#3170|3185 data not-changed":
      "An accountant reads the message and does in QuickBooks what it asks for, or changes or voids the document there by hand; then retry.",
    "#3180 data not-saved":
      "An accountant reads the message (a credit limit, a field that QuickBooks requires) and does in QuickBooks what it asks for, or corrects the document where it comes from; then retry.",
    "#3200 raced raced": TRIED_AGAIN,
    "#3391 raced raced": TRIED_AGAIN,
    // The formats of fields, what a request consists of, and names within a request (macros).
    "#1060|30\\d{2}|315[012]|91\\d{2} data not-read": OURS,
    "#3[1-9]\\d{2}|[4-8]\\d{3}|90\\d{2} data refused-by-quickbooks":
      "An accountant corrects in QuickBooks what the message names, or the document where it comes from; then retry.",
  },
  TEXTS,
);

/** Info (1: nothing matches) and warnings (500: not all that was asked for is there): it was done. */
export const isDone = (code: number): boolean => code < 1_000;

/**
 * What the Web Connector and QuickBooks say in `hresult` instead of an answer. `parse`: nothing of the document was carried
 * out; every other one leaves unknown what happened, where a document was under way.
 */
const HRESULTS: Readonly<Record<string, readonly [means: string, next: string, sort?: "parse"]>> = {
  "0x80040400": ["QuickBooks could not read the request", OURS, "parse"],
  "0x80040401": [
    "QuickBooks could not be reached",
    "Start QuickBooks on that machine as the user who authorised fuelbridge, then press Update Selected in the Web Connector.",
  ],
  "0x80040402": [
    "QuickBooks failed unexpectedly",
    "Read qbsdklog.txt on that machine, restart QuickBooks, then press Update Selected.",
  ],
  "0x80040408": [
    "QuickBooks could not be started",
    "Start QuickBooks by hand once, close its dialogs, then press Update Selected.",
  ],
  "0x8004040a": [
    "another company file is open",
    "Close it in QuickBooks, or open the right one; then press Update Selected.",
  ],
  "0x8004040d": [
    "QuickBooks ended its session with the Web Connector",
    "Press Update Selected; if it stays so, restart the Web Connector.",
  ],
  "0x80040416": [
    "QuickBooks is not running, and no company file was named",
    "Set companyFile in the configuration to the full path of the .qbw file on that machine, or open it in QuickBooks.",
  ],
  "0x80040420": [
    "the company file does not let fuelbridge in",
    "In QuickBooks as Admin, in single-user mode: Edit, Preferences, Integrated Applications, Company Preferences; allow fuelbridge, also when QuickBooks is not running.",
  ],
};

/**
 * What it means, in words for people, and what a person at that machine should do.
 * @param code as it came: hexadecimal digits in any case @param message what came with it
 */
export function hresultOf(code: string, message = "") {
  const [means, next, sort = "unknown"] = HRESULTS[code.trim().toLowerCase()] ?? [
    "QuickBooks or the Web Connector failed",
    "Read the Web Connector's log (View Log) and qbsdklog.txt on that machine.",
  ];
  return { means, next, sort, says: `${means} (${code}${message === "" ? "" : `: ${message}`})` };
}
