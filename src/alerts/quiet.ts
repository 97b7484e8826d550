/** Hours of the day in which only what is urgent is told. */

/** `quiet`: minutes of the day in `timeZone` (IANA), over midnight where `from` is later than `to`; null: none. */
export function quietHours(
  quiet: { readonly from: number; readonly to: number } | null,
  timeZone: string,
): (wallMs: number) => boolean {
  if (quiet === null) return () => false;
  const { from, to } = quiet;
  const format = new Intl.DateTimeFormat("en", {
    timeZone,
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  return (wallMs) => {
    const parts = format.formatToParts(new Date(wallMs));
    const part = (type: string): number =>
      Number(parts.find((candidate) => candidate.type === type)?.value);
    const minute = part("hour") * 60 + part("minute");
    return from <= to ? minute >= from && minute < to : minute >= from || minute < to;
  };
}
