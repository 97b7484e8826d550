/**
 * `npm run drill -- --documents 2000 --kills 200 --seed 1 [--two-daemons] [--restore] [--queue bullmq]
 * [--readings all | a,b]`: the whole daemon against
 * the sandbox, killed again and again in bad weather. That it can fail is shown by `--late 90` (a platform that commits
 * later than the settling time and its own hold) and by `--forget` (a store that forgets sends between lives). Prints counts; exits with 1 when anything was doubled, lost or
 * wrong, or did not come to an end, and then says the command that repeats it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { covering, switches } from "./readings.ts";
import { drill } from "./run.ts";

const { values } = parseArgs({
  options: {
    documents: { type: "string", default: "2000" },
    kills: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    settle: { type: "string", default: "2" },
    late: { type: "string", default: "0.6" },
    "two-daemons": { type: "boolean", default: false },
    restore: { type: "boolean", default: false },
    queue: { type: "string", default: "embedded" },
    forget: { type: "boolean", default: false },
    readings: { type: "string", default: "" },
  },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);
// Leaves no daemon behind.
process.once("SIGINT", () => process.exit(130)).once("SIGTERM", () => process.exit(143));
const asked = values.readings;
const sets =
  asked === "all"
    ? covering(Object.keys(switches))
    : [asked.split(",").filter((name) => name !== "")];
for (const name of sets.flat())
  if (!(name in switches))
    throw new Error(`there is no reading "${name}": ${Object.keys(switches).join(", ")}, or all`);
for (const readings of sets) await run(readings);

async function run(readings: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "fuelbridge-drill-"));
  const startedMs = performance.now();
  const outcome = await drill(folder, {
    documents: Number(values.documents),
    kills: Number(values.kills),
    seed: Number(values.seed),
    settle: Number(values.settle),
    late: Number(values.late),
    twoDaemons: values["two-daemons"],
    restore: values.restore,
    bullmq: values.queue === "bullmq",
    forget: values.forget,
    readings,
    progress: (line) => say(`  ${line}`),
  });
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  const { duplicates, lost, wrong, silent, odd, decisions } = outcome;
  const faults = [...outcome.faults].map(([kind, count]) => `${kind} ${count}`).join(", ");
  say(
    `readings ${readings.join(", ") || "as at the start"}: documents ${values.documents}, kills ${outcome.kills} (writes in the air ${outcome.inTheAir}), seed ${values.seed}`,
  );
  if (values["two-daemons"])
    say(`second daemons refused ${outcome.seconds.refused}, took over ${outcome.seconds.tookOver}`);
  if (outcome.harm !== null)
    say(
      `workers killed ${outcome.harm.workersKilled}, Redis killed ${outcome.harm.redisKilled}, paused ${outcome.harm.redisPaused}, flushed ${outcome.harm.redisFlushed}`,
    );
  if (values.restore) say(`backups put back ${outcome.restores}`);
  say(
    `requests ${outcome.requests}, writes ${outcome.writes}, replays ${outcome.replays}, read-backs ${outcome.readBacks}`,
  );
  say(`faults: ${faults}`);
  if (outcome.nights.done + outcome.nights.failed > 0)
    say(`nights: ${outcome.nights.done} ended well, ${outcome.nights.failed} did not`);
  say(
    `decisions by a person: ${decisions.issued} issued, ${decisions.renumbered} renumbered, ${decisions.retried} retried, ${decisions.resolved} resolved, ${decisions.released} stops released`,
  );
  say(
    `duplicates ${duplicates.length}, lost ${lost.length}, fields that differ ${wrong.length}, silent differences ${silent.length}, otherwise odd ${odd.length}, rounds to settle ${outcome.rounds}`,
  );
  say(`${seconds} s`);
  const bad = [...duplicates, ...lost, ...wrong, ...odd];
  for (const line of bad.slice(0, 30)) say(`  ${line}`);
  if (bad.length === 0) rmSync(folder, { recursive: true, force: true });
  else {
    say(
      `repeat: npm run drill -- ${process.argv
        .slice(2)
        .join(" ")
        .replace(
          "--readings all",
          `--readings ${readings.join(",")}`,
        )}; what is left of it: ${folder}`,
    );
    process.exitCode = 1;
  }
}
