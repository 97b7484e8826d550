const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/**
 * `2026-11-18T17:59` where the company is, told from its calendar alone: by how long it is until the next day begins
 * there. On a day when clocks are set it is right from the hour on at which they are.
 */
export function localTime(now: Date, dayOf: (instant: string) => string): string {
  const dayAt = (ms: number): string => dayOf(new Date(ms).toISOString());
  const today = dayAt(now.getTime());
  let before = now.getTime();
  let after = before + DAY_MS + 2 * 3_600_000;
  while (after - before > 1000) {
    const middle = Math.floor((before + after) / 2);
    if (dayAt(middle) === today) before = middle;
    else after = middle;
  }
  const minutes = Math.floor((DAY_MS - (after - now.getTime())) / MINUTE_MS + 0.5);
  const bounded = Math.min(Math.max(minutes, 0), 24 * 60 - 1);
  return `${today}T${two(Math.floor(bounded / 60))}:${two(bounded % 60)}`;
}

const two = (value: number): string => String(value).padStart(2, "0");
