/**
 * Which calendar day (`YYYY-MM-DD`) an instant is where the company is: an invoice made late on the 31st in Chicago is the old
 * month's, although it was the 1st in Greenwich. A date without a time arrives as midnight and stays what it says.
 */
export function calendarOf(timeZone: string): (instant: string) => string {
  const format = new Intl.DateTimeFormat("en", {
    timeZone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  });
  return (instant) => {
    if (/^.{10}[Tt ]00:00:00(?:\.0+)?\D/.test(instant)) return instant.slice(0, 10);
    const parts = format.formatToParts(new Date(instant));
    const part = (type: string) => parts.find((candidate) => candidate.type === type)?.value;
    return `${part("year")}-${part("month")}-${part("day")}`;
  };
}
