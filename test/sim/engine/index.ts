/**
 * `npm run sim:engine -- --seeds 20000 [--from 1] [--threads 2] [--notes]`: the whole engine over both sides as models, a seed
 * at a time on each thread (by default as many as there are cores). Says after each 1,000 seeds how far it is. Exits with 1
 * when anything was lost, doubled, wrong, silent or stuck; each such seed is printed, and at the end the smallest plan that
 * still shows it. `--from N --seeds 1 --notes` repeats one with its log; `--mutant NAME` puts an old fault back (mutants.ts)
 * and ends with its first finding.
 */
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { putBack } from "./mutants.ts";
import type { Verdict } from "./run.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    notes: { type: "boolean", default: false },
    mutant: { type: "string" },
    threads: { type: "string", default: String(availableParallelism()) },
  },
});
if (values.mutant !== undefined) putBack(values.mutant);
const { answerNames } = await import("./platform.ts");
const { faults, planOf, shrunk, simulate } = await import("./run.ts");
const [from, seeds] = [Number(values.from), Number(values.seeds)];
const print = (line: string): void => void process.stdout.write(`${line}\n`);

const kinds = ["lost", "doubled", "wrong", "silent", "stuck"] as const;
const counts = new Map<string, number>(kinds.map((kind) => [kind, 0]));
const hits = new Map<string, number>();
let first = null as { readonly seed: number; readonly problem: string } | null;
let [taken, delivered, persons] = [0, 0, 0];
const startedMs = performance.now();
const take = (seed: number, verdict: Verdict): void => {
  delivered += verdict.delivered;
  persons += verdict.persons;
  for (const [name, count] of verdict.hits) hits.set(name, (hits.get(name) ?? 0) + count);
  for (const problem of verdict.problems) {
    const kind = problem.slice(0, problem.indexOf(":"));
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    if (first === null || seed < first.seed) first = { seed, problem };
    print(`seed ${seed}: ${problem}`);
  }
  if (values.notes) for (const line of verdict.notes) print(line);
  if (++taken % 1_000 === 0) print(`${taken} seeds, with a finding: ${first?.seed ?? "none"}`);
};
let next = from;
/** One seed after the other, until none is left. */
async function work(verdictOf: (seed: number) => Promise<Verdict>): Promise<void> {
  while (next < from + seeds) {
    const seed = next++;
    take(seed, await verdictOf(seed));
    if (first !== null && values.mutant !== undefined) next = from + seeds;
  }
}
const threads = values.mutant === undefined && !values.notes ? Number(values.threads) : 1;
if (threads === 1) await work((seed) => simulate(planOf(seed)));
else
  await Promise.all(
    Array.from({ length: threads }, async () => {
      const thread = new Worker(new URL("thread.ts", import.meta.url));
      await work(async (seed) => {
        thread.postMessage(seed);
        return ((await once(thread, "message")) as [Verdict])[0];
      });
      await thread.terminate();
    }),
  );
const seconds = (performance.now() - startedMs) / 1_000;
print(
  `seeds ${from} to ${from + seeds - 1} in ${seconds.toFixed(0)} s, ${(seeds / seconds).toFixed(1)} a second`,
);
print(kinds.map((kind) => `${kind} ${counts.get(kind)}`).join(", "));
print(`documents on both sides ${delivered}, with a person ${persons}`);
const expected = [...faults, ...answerNames.map((name) => `answer ${name}`)];
const never = expected.filter((name) => !hits.has(name));
print(
  `kinds of faults, kill points and answers that occurred: ${expected.length - never.length} of ${expected.length}`,
);
if (never.length > 0) print(`never: ${never.join(", ")}`);
if (values.notes)
  for (const [name, count] of [...hits].toSorted(([one], [other]) => (one < other ? -1 : 1)))
    print(`  ${name} ${count}`);
if (first !== null) print(`first: seed ${first.seed}: ${first.problem}`);
if (first !== null && values.mutant === undefined) {
  const { weather, deeds } = await shrunk(
    planOf(first.seed),
    first.problem.slice(0, first.problem.indexOf(":")),
  );
  print(`smallest plan: ${JSON.stringify({ weather, deeds })}`);
}
process.exitCode = first === null ? 0 : 1;
