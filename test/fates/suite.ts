/** The table of fates as tests: one for each event, which names its bad cells. */
import { appendFileSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Counterpart, played, prepared, type Prepared } from "./round.ts";
import { type Cell, events, isBad, type Kind, kinds, nameOf, printed } from "./table.ts";

const SLOW = 1_200_000;

/** Cells that are known to be bad, and how: what is open of them. One that is good again fails its test. */
const open = JSON.parse(readFileSync(new URL("open.json", import.meta.url), "utf8")) as Readonly<
  Record<string, string>
>;

export function fatesOf(counterpart: Counterpart): void {
  describe(`fates with ${counterpart.connector}`, { timeout: SLOW }, () => {
    let base: Prepared;
    const cells: Cell[] = [];
    beforeAll(async () => {
      base = await prepared(counterpart);
    }, SLOW);
    afterAll(() => {
      base?.end();
      const file = process.env["FUELBRIDGE_FATES"];
      const text = file === undefined ? `\n${printed(cells)}` : `${JSON.stringify(cells)}\n`;
      if (file === undefined) process.stdout.write(text);
      else appendFileSync(file, text);
    });
    test("a site in step: nothing is told of it", () => {
      if (`${counterpart.connector}: in step` in open) expect(base.noise).not.toEqual([]);
      else expect(base.noise).toEqual([]);
    });

    for (const event of Object.values(events).flat())
      test(`${event}: no document is doubled, lost or otherwise in silence`, async () => {
        const found = await played(counterpart, base, event, chosen());
        cells.push(...found);
        const bad = found.filter(isBad).map((cell) => `${nameOf(cell)}: ${cell.fate}`);
        const known = found.filter((cell) => nameOf(cell) in open);
        expect(bad.toSorted()).toEqual(
          known.map((cell) => `${nameOf(cell)}: ${open[nameOf(cell)]}`).toSorted(),
        );
      });
  });
}

/** `FATES_KINDS=invoice,bill`: of some kinds only. */
function chosen(): Kind[] | undefined {
  const asked = process.env["FATES_KINDS"]?.split(",");
  return asked === undefined ? undefined : kinds.filter((kind) => asked.includes(kind));
}
