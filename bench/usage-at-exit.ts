/** Imported before a command: what it took is written to the file that FUELBRIDGE_USAGE names when it ends. */
import { writeFileSync } from "node:fs";
import { peakMb } from "../test/support/memory.ts";

const file = process.env["FUELBRIDGE_USAGE"];
process.on("exit", () => {
  const { user, system } = process.cpuUsage();
  const usage = { cpuSeconds: (user + system) / 1_000_000, peakMb: peakMb() };
  if (file !== undefined) writeFileSync(file, JSON.stringify(usage));
});
