/**
 * What QuickBooks' status codes mean (qbXML, "status codes in response messages"), each with what a person does. The first
 * row that matches counts; a write that no row knows is unknown, and is looked for before anything goes again.
 */
import type { ErrorRow, ErrorSort } from "../../src/books/errors.ts";
import { NOT_HERE, WRONG_PASSWORD } from "./mailbox.ts";

type Row = readonly [codes: string, sort: ErrorSort, code: string, next: string];

const MINUTE = 60_000;
/** What a document does again by itself when the next session comes. */
const LATER = "It is tried again by itself.";
const OURS = "This is a fault in fuelbridge: report it with the line of the log.";

const rows: readonly Row[] = [
  [
    NOT_HERE,
    "busy",
    "no-session",
    "Open the Web Connector on the machine with QuickBooks, and press Update Selected.",
  ],
  ["0x80040400", "data", "not-read", OURS],
  [
    "1010|3175|3176|3180",
    "busy",
    "in-use",
    `Close the document or the list in QuickBooks where somebody has it open. ${LATER}`,
  ],
  [
    "1030|3250",
    "configuration",
    "not-enabled",
    "This edition of QuickBooks does not have what the message names, or it is switched off: switch it on under Edit, Preferences, or take the flow out of the configuration.",
  ],
  [
    "3260|3261",
    "configuration",
    "no-permission",
    "In QuickBooks as Admin: Edit, Preferences, Integrated Applications, Company Preferences; give fuelbridge access, and its user the rights that the message names.",
  ],
  ["1060|3010|3020|3030|3031|3070", "data", "not-read", OURS],
  [
    "3100",
    "data",
    "name-taken",
    "QuickBooks has another name of this spelling: of a customer, a vendor, an employee or another name. Rename it there, or give the company another code in the cross-reference; then retry.",
  ],
  [
    "3000|3120|3140",
    "data",
    "not-in-quickbooks",
    "Create in QuickBooks what the message names, or make it active there, or correct the cross-reference that names it; then retry.",
  ],
  [
    "3170",
    "data",
    "not-changed",
    "An accountant reads the message: the period may be closed, or somebody changed the document meanwhile. Open the period or book it by hand; then retry.",
  ],
  ["3200", "raced", "raced", LATER],
  [
    "3210|3153",
    "data",
    "refused-by-quickbooks",
    "An accountant corrects in QuickBooks what the message names, or the document where it comes from; then retry.",
  ],
  ["3391", "raced", "raced", LATER],
];

const turnedAway: ErrorRow = {
  when: { code: new RegExp(`^${WRONG_PASSWORD}$`) },
  sort: "configuration",
  stop: "credentials",
  code: WRONG_PASSWORD,
  next: "In the Web Connector, click the password of this application and type the configured one.",
};

export const errors: readonly ErrorRow[] = [turnedAway, ...rows.map(rowOf)];

function rowOf([codes, sort, code, next]: Row): ErrorRow {
  return {
    when: { code: new RegExp(`^(?:${codes})$`) },
    sort,
    code,
    next,
    ...(sort === "configuration" ? { stop: "scope" as const } : {}),
    ...(sort === "busy" ? { waitMs: MINUTE } : {}),
  };
}

/** 1: nothing matches. 500: not all that was asked for is there. */
const NOTHING = new Set([0, 1, 500]);

/** Info and warnings: it was done. */
export const isDone = (code: number): boolean => code < 1_000;
export const isRead = (code: number): boolean => NOTHING.has(code) || isDone(code);
