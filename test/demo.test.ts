/** The demo as a newcomer starts it, and stops it at once; what it shows in the end is in demo.long.test.ts. */
import { expect, test } from "vitest";
import { exitCodes } from "../src/core/errors.ts";
import { demoCopy } from "./support/demo-copy.ts";

test.skipIf(process.platform === "win32")(
  "Ctrl-C ends the demo with 130 while it is at work, and leaves no process behind",
  { timeout: 600_000 },
  async () => {
    const { demo, processes } = demoCopy();
    const atWork = demo();
    await atWork.said(" requests\n");
    expect(processes().length).toBeGreaterThanOrEqual(2);
    atWork.kill("SIGINT");
    expect(await atWork.ended).toMatchObject({ code: exitCodes.interrupted, err: "" });
    expect(processes()).toEqual([]);
  },
);
