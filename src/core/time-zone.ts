/**
 * Which names of time zones a configuration may have: those of cities, whose rules for summer time are known. The
 * runtime takes more, and reads `CST` as Chicago, `EST` as Panama, `BST` as Dhaka and `Etc/GMT+6` as six hours west.
 */

/** By the abbreviations that people write for them. */
const CITIES: Readonly<Record<string, readonly string[]>> = {
  E: ["America/New_York", "America/Detroit", "America/Toronto"],
  C: ["America/Chicago", "America/Winnipeg"],
  M: ["America/Denver", "America/Phoenix", "America/Edmonton"],
  P: ["America/Los_Angeles", "America/Vancouver"],
  AK: ["America/Anchorage"],
  H: ["Pacific/Honolulu"],
  A: ["America/Halifax", "America/Puerto_Rico"],
  N: ["America/St_Johns"],
  GM: ["Europe/London"],
  B: ["Europe/London"],
  WE: ["Europe/Lisbon"],
  CE: ["Europe/Berlin", "Europe/Paris"],
  ME: ["Europe/Berlin"],
  EE: ["Europe/Helsinki", "Europe/Athens"],
  I: ["Asia/Kolkata", "Europe/Dublin"],
};

const REGION =
  /^(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Brazil|Canada|Chile|Europe|Indian|Mexico|Pacific|US)\//i;
const ABBREVIATION = /^(AK|GM|WE|CE|ME|EE|[A-Z])[SD]?T(?:\d+[A-Z]+)?$/;
const OFFSET = /^(?:Etc\/)?(?:GMT|UTC)?[+-]?(\d{1,2})(?::?\d\d)?$/i;

/** What is wrong with the name of a time zone, as the end of a sentence that begins with it; null: nothing. */
export function faultOfTimeZone(name: string): string | null {
  if (/^(?:Etc\/)?UTC$/i.test(name)) return null;
  if (REGION.test(name)) return isKnown(name) ? null : "is not a time zone";
  const hours = OFFSET.exec(name)?.[1];
  if (hours !== undefined)
    return `is a difference from UTC, without summer time: ${such(citiesAt(Number(hours)))}`;
  const [, letters = ""] = ABBREVIATION.exec(name.toUpperCase()) ?? [];
  const cities = CITIES[letters];
  if (cities !== undefined || isKnown(name))
    return `is an abbreviation, which does not say when summer time begins: ${such(cities ?? [])}`;
  return "is not a time zone";
}

/** Whether two names are of one zone: `US/Central` is `America/Chicago`. */
export const isSameZone = (one: string, other: string): boolean =>
  one === other || (nameOf(one) !== null && nameOf(one) === nameOf(other));

const such = (cities: readonly string[]): string =>
  `write the zone of a city, such as ${(cities.length === 0 ? ["America/Chicago"] : cities).join(", ")}`;

/** So many hours from UTC in winter, to the west or to the east: which one is meant cannot be told from `GMT+6`. */
const citiesAt = (hours: number): string[] =>
  [...new Set(Object.values(CITIES).flat())].filter(
    (city) => Math.abs(winterOffset(city)) === hours,
  );

function winterOffset(timeZone: string): number {
  const january = new Date(Date.UTC(2026, 0, 15, 12));
  const format = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" });
  const part = format.formatToParts(january).find(({ type }) => type === "timeZoneName");
  const [, sign = "+", hours = "0"] = /GMT([+-])(\d\d)/.exec(part?.value ?? "") ?? [];
  return Number(`${sign}${hours}`);
}

const isKnown = (timeZone: string): boolean => nameOf(timeZone) !== null;

/** The name that stands for all names of a zone; null: there is none such. */
function nameOf(timeZone: string): string | null {
  try {
    return new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}
