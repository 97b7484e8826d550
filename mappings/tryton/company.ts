/** What the mappings must know of our own company, from the table `tryton-company`. */
import type { References } from "../../src/core/contract.ts";
import { Refused } from "../../src/core/errors.ts";
import { cellOf } from "../crossref.ts";

const settingOf = (references: References, setting: string): string =>
  cellOf(references, "tryton-company", setting, "value");

/** The platform's UUID of our own company. @throws NotMapped */
export const ourCompany = (references: References): string => settingOf(references, "companyId");

/**
 * The calendar day (YYYY-MM-DD) of an instant where the company is: an invoice made late on the 31st in Chicago is the
 * old month's. A date without a time arrives as midnight and stays what it says.
 * @throws NotMapped, Refused
 */
export function dayOf(references: References, instant: string): string {
  if (MIDNIGHT.test(instant)) return instant.slice(0, 10);
  return calendar(settingOf(references, "timeZone")).format(new Date(instant));
}

export const dayOrNone = (references: References, instant: string | null): string | null =>
  instant === null ? null : dayOf(references, instant);

const MIDNIGHT = /^.{10}[Tt ]00:00:00(?:\.0+)?\D/;
/** Making one takes longer than a thousand days with it. */
const calendars = new Map<string, Intl.DateTimeFormat>();

function calendar(timeZone: string): Intl.DateTimeFormat {
  const known = calendars.get(timeZone);
  if (known !== undefined) return known;
  try {
    // Canadian days are written YYYY-MM-DD.
    const made = new Intl.DateTimeFormat("en-CA", { timeZone });
    calendars.set(timeZone, made);
    return made;
  } catch {
    throw new Refused({
      code: "unknown-time-zone",
      message: `"${timeZone}" is no time zone`,
      next: 'Correct timeZone in the cross-reference table "tryton-company" (America/Chicago, for example) and retry.',
    });
  }
}
