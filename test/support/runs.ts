/**
 * How often a test repeats what it proves: a few times in `npm test`, as often as the promise needs in numbers in
 * `npm run test:long`. That runs the tests that bear the tag `numbers`, alone ({@link numbers}) or by their whole suite
 * (`@module-tag numbers`), in the suites that import this file or the connector kit and those named `*.long.test.ts`.
 */
export const numbers = { tags: ["numbers"] };

export const isLongRun: boolean = process.env["FUELBRIDGE_TESTS"] === "long";

/** `FUELBRIDGE_NUMBERS=all npm run test:long`: the numbers that a release is proved with; it takes more than an hour. */
export const areAll: boolean = isLongRun && process.env["FUELBRIDGE_NUMBERS"] === "all";

/** Of a test whose few repetitions in the ordinary run others make many of in the long run: only where all are asked for. */
export const numbersOfAll = areAll ? numbers : {};

/** `all`: where the long run asks fewer than the promise has been proved with. */
export const runs = (ordinary: number, long: number, all = long): number =>
  isLongRun ? (areAll ? all : long) : ordinary;

/**
 * Of the steps 1 to `count` the middle one, after a part of the work, and the last, after all of it; each of them in the
 * long run. What ends before its first step has done nothing: other tests of the ordinary run show that.
 */
export function steps(count: number): number[] {
  const all = Array.from({ length: count }, (_, at) => at + 1);
  return isLongRun ? all : [...new Set([Math.ceil(count / 2), count])];
}

/** `FUELBRIDGE_KILLS=300`: how often a test of kills kills the program at least; null: as often as its promise needs. */
export function killsAsked(): number | null {
  const kills = Number(process.env["FUELBRIDGE_KILLS"] ?? "");
  return Number.isSafeInteger(kills) && kills > 0 ? kills : null;
}
