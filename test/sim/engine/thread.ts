/** A thread of the simulation: takes a seed, gives its verdict. */
import { parentPort } from "node:worker_threads";
import { planOf, simulate } from "./run.ts";

parentPort?.on("message", (seed: number) => {
  void simulate(planOf(seed)).then((verdict) => parentPort?.postMessage(verdict));
});
