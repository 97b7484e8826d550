/** What is looked at in books before the next document goes, one thing at a time. */
import { Refused } from "../core/errors.ts";
import type { Examination } from "../core/examination.ts";
import type { Fault } from "../core/fault.ts";
import type { Books } from "./port.ts";
import { unavailable } from "./errors.ts";

/** What it is, and what is wrong with it. The second @throws Refused, a fault of the books */
export type Check = readonly [what: string, look: () => Promise<Fault | null>];

type Named = Pick<Books, "name" | "errors">;

/** It is there. @param find @throws Refused when it is not */
export const exists = (what: string, find: () => Promise<unknown>): Check => [
  what,
  async () => {
    await find();
    return null;
  },
];

/** Not being able to look is a fault as well. */
export async function faultOf(books: Named, [, look]: Check): Promise<Fault | null> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof Refused) return error.fault;
    const { message, next } = unavailable(error, books);
    return { code: "unreadable", message, next };
  }
}

/** One after the other. @throws the signal's reason */
export async function examined(
  books: Named,
  looks: readonly Check[],
  signal: AbortSignal,
): Promise<Examination[]> {
  const examinations: Examination[] = [];
  for (const look of looks) {
    signal.throwIfAborted();
    examinations.push({ what: look[0], fault: await faultOf(books, look) });
  }
  return examinations;
}

/**
 * The release of the ERP. Documents go to one that no test runs against as well: what it has changed shows as refusals.
 * @param tested series that tests run against: `8.0`
 */
export async function releaseExamination(
  books: Named,
  tested: readonly string[],
  ask: () => Promise<{ readonly version: string; readonly series: string }>,
  signal: AbortSignal,
): Promise<Examination> {
  let release: Awaited<ReturnType<typeof ask>> | undefined;
  const asked = async () => void (release = await ask());
  const [told] = await examined(books, [exists(`release of ${books.name}`, asked)], signal);
  if (release === undefined) return told as Examination;
  const what = `${books.name} ${release.version}`;
  if (tested.includes(release.series)) return { what, fault: null };
  return {
    what,
    fault: null,
    note: `fuelbridge is tested with ${books.name} ${tested.join(" and ")}, not with ${release.series}: try it on a copy of the books first`,
  };
}
