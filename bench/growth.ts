/**
 * How much longer 1,000 records take in a store of a million documents than in one of ten thousand: stored, delivered,
 * changed, and read again unchanged. In CPU milliseconds of one process each; the stores are filled by statements.
 */
import { table } from "../src/views/text.ts";
import { inChild, inFolder, median, say, verdict, whole } from "./support.ts";

/** CPU milliseconds for 1,000 records, by step. */
export type Steps = Readonly<Record<"insert" | "deliver" | "update" | "unchanged", number>>;

const TIMES_MAX = 1.3;

export async function benchGrowth(few: number, many: number, rounds: number): Promise<void> {
  const of = async (documents: number): Promise<Steps[]> => {
    const sides: Steps[] = [];
    for (let round = 0; round < rounds; round++)
      sides.push(
        await inFolder((folder) =>
          inChild<Steps>("growth-side.ts", {
            FUELBRIDGE_FOLDER: folder,
            FUELBRIDGE_DOCUMENTS: String(documents),
          }),
        ),
      );
    return sides;
  };
  const [small, large] = [await of(few), await of(many)];
  const names = Object.keys(small[0] ?? {}) as (keyof Steps)[];
  const rows = names.map((name) => {
    const [one, other] = [small, large].map((sides) => median(sides.map((side) => side[name])));
    const times = (other ?? Number.NaN) / (one ?? Number.NaN);
    return [
      name,
      `${(one ?? 0).toFixed(0)} ms`,
      `${(other ?? 0).toFixed(0)} ms`,
      times.toFixed(2),
      `<= ${TIMES_MAX}`,
      verdict(times <= TIMES_MAX),
    ];
  });
  const head = ["1,000 RECORDS", `OF ${whole(few)}`, `OF ${whole(many)}`, "TIMES", "TARGET", ""];
  say("", table(head, rows));
}
