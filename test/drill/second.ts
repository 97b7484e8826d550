/**
 * A second daemon on a store that one works on. It is refused with words and exit code 3 and leaves no trace; if the
 * first one dies while it waits for the store, it is the only one and may go on.
 */
import { exitCodes } from "../../src/core/errors.ts";
import { remoteOffice } from "../../src/office/remote.ts";
import type { Random } from "../../src/sandbox/scenes/random.ts";
import type { Running } from "../support/site-program.ts";
import type { Site } from "./site.ts";

export interface Seconds {
  refused: number;
  tookOver: number;
}

const SENTENCE =
  /is in use by (?:another fuelbridge process|process \d+)\.\n {2}Only one (?:daemon|process) may/;

/** Resolves to the daemon that is there afterwards: the first, or the one that took over from it. @throws Error */
export async function second(
  site: Site,
  first: Running,
  random: Random,
  seconds: Seconds,
): Promise<Running> {
  const other = site.start(random.pick(["run", "once"]));
  if (random.chance(0.5)) {
    expectRefusal(await other.ended);
    seconds.refused++;
    const status = await (await remoteOffice(site.state))?.status();
    if (status?.daemon?.pid !== first.pid)
      throw new Error(`after a second daemon was refused, ${status?.daemon?.pid} answers`);
    return first;
  }
  first.kill("SIGKILL");
  await first.ended;
  const works = other.said('"fuelbridge runs"').then(
    () => true,
    () => false,
  );
  if (await works) {
    seconds.tookOver++;
    return other;
  }
  const said = await other.ended;
  // `once` may have taken over and finished; otherwise it was refused before the first one was gone.
  if (said.code === exitCodes.environment) {
    expectRefusal(said);
    seconds.refused++;
  } else if (said.code === exitCodes.ok || said.code === exitCodes.runtime) seconds.tookOver++;
  else throw new Error(`the second daemon ended with ${said.code}: ${said.out}${said.err}`);
  const next = site.start("run");
  await next.said('"fuelbridge runs"');
  return next;
}

function expectRefusal({ code, out, err }: Awaited<Running["ended"]>): void {
  if (code !== exitCodes.environment || !SENTENCE.test(err))
    throw new Error(`a second daemon was not refused: ${code}: ${out}${err}`);
}
