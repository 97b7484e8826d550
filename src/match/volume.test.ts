/** The volume correction beside factors that others have published. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Decimal } from "../core/decimal.ts";
import { volumeCorrection } from "./volume.ts";

const factor = (gravity: number, temperature: number): number =>
  Number(volumeCorrection(Decimal.of(gravity.toFixed(9)), Decimal.of(temperature.toFixed(6))));

/** [kg/m³ at 15 °C, °C, factor to 15 °C] */
function published(): [number, number, number][] {
  const text = readFileSync("test/data/match/table-54b.txt", "utf8");
  let density = 0;
  return text.split("\n").flatMap((line): [number, number, number][] => {
    const [first = "", ...cells] = line.split(" ");
    if (first === "density") density = Number(cells[0]);
    if (!/^-\d+$/.test(first)) return [];
    return cells.map((cell, at) => [density, Number(first) - at / 10, Number(cell)]);
  });
}

/** The gravity at 60 °F of what has this density at 15 °C (59 °F). */
function gravityOf(density: number): number {
  let gravity = 50;
  for (let at = 0; at < 20; at++)
    gravity = (999.016 * 141.5 * factor(gravity, 59)) / density - 131.5;
  return gravity;
}

test("390 published factors of two product groups, to the last digit that is printed", () => {
  const rows = published();
  expect(rows).toHaveLength(390);
  const off = rows.map(([density, celsius, printed]) => {
    const gravity = Number(gravityOf(density).toFixed(6));
    const ours = factor(gravity, celsius * 1.8 + 32) / factor(gravity, 59);
    return Math.abs(ours - printed);
  });
  expect(Math.max(...off)).toBeLessThan(0.0001);
});

const examples = readFileSync("test/data/match/mpms-11-1-examples.txt", "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => line.split(" ") as [string, string, string, string, string]);

test("each product group has several examples of the standard itself", () => {
  const groups = Map.groupBy(examples, ([group]) => group);
  expect([...groups.keys()]).toEqual(["fuel-oil", "jet", "transition", "gasoline"]);
  for (const some of groups.values()) expect(some.length).toBeGreaterThanOrEqual(4);
});

test.each(examples)(
  "the standard's example of %s, %s kg/m³ at %s, at %s degrees is %s",
  (_, density, base, degrees, told) => {
    const gravity = (999.016 * 141.5) / Number(density) - 131.5;
    const at15 = gravityOf(Number(density));
    const ours =
      base === "60F"
        ? factor(gravity, Number(degrees))
        : factor(at15, Number(degrees) * 1.8 + 32) / factor(at15, 59);
    expect(Math.abs(ours - Number(told))).toBeLessThan(0.00003);
  },
);

test.each([
  // A level gauge's manual, and a training manual of the US Army Quartermaster School (QM 5097): table 6B.
  [36, 92, 0.985],
  [56.5, 67.5, 0.995],
])("API gravity %d at %d °F is %d by table 6B", (gravity, temperature, printed) => {
  expect(factor(gravity, temperature)).toBeCloseTo(printed, 4);
});

test("at 60 °F nothing is corrected; outside its range the method says nothing", () => {
  expect(factor(36, 60)).toBe(1);
  for (const [gravity, temperature] of [
    [-1, 60],
    [100.1, 60],
    [36, -58.1],
    [36, 302.1],
  ] as const)
    expect(volumeCorrection(Decimal.of(String(gravity)), Decimal.of(String(temperature)))).toBe(
      null,
    );
});
