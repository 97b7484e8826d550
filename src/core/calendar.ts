/**
 * Which calendar day (`YYYY-MM-DD`) an instant (ISO 8601 with a zone) is in `timeZone` (IANA): an invoice made late on the
 * 31st in Chicago is the old month's, although it was the 1st in Greenwich. A midnight is an instant like any other; a
 * date without a time stays what it says. @throws RangeError for a text that is no instant
 */
export function calendarOf(timeZone: string): (instant: string) => string {
  const format = new Intl.DateTimeFormat("en", {
    timeZone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  });
  return (instant) => {
    if (DATE_ONLY.test(instant)) return instant.slice(0, 10);
    const parts = format.formatToParts(new Date(instant));
    const part = (type: string) => parts.find((candidate) => candidate.type === type)?.value;
    return `${part("year")}-${part("month")}-${part("day")}`;
  };
}

const DATE_ONLY = /^\d{4}-\d\d-\d\d$/;
const MIDNIGHT = /^\d{4}-\d\d-\d\d[Tt ]00:00:00(?:\.0+)?(?:[Zz]|[+-]\d\d:?\d\d)$/;

/**
 * Of a field that names a day and is written as an instant (due, requested, delivered): a midnight, in whatever zone, is
 * the day itself, without a time (`2026-12-01`); any other instant stays as it is. Never of what tells when something
 * happened (made, changed, paid): that is an instant, at midnight too.
 */
export const namedDay = (instant: string): string =>
  MIDNIGHT.test(instant) ? instant.slice(0, 10) : instant;

/** What is wrong with a day that people wrote, as the end of a sentence that begins with it; null: nothing. */
export function faultOfDay(text: string): string | null {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  if (year === undefined) return "is not a day of the form YYYY-MM-DD";
  const last = new Date(Date.UTC(Number(year), Number(month), 0));
  if (Number(month) < 1 || Number(month) > 12) return "has no such month";
  const days = last.getUTCDate();
  if (Number(day) >= 1 && Number(day) <= days) return null;
  return `is no day of the calendar: that month has ${days} days`;
}

/** `20261118` as `2026-11-18`; null: it is no day of the calendar. */
export function dayOfDigits(text: string): string | null {
  const day = text.replace(/^(\d{4})(\d\d)(\d\d)$/, "$1-$2-$3");
  return faultOfDay(day) === null && day !== text ? day : null;
}
