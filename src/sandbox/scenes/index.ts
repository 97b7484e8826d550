/** What the sandbox's database holds when it starts, and what `generate` adds. Only data: no I/O, no server. */
import { conformance, empty, type Scene } from "./conformance.ts";
import { demo } from "./demo.ts";
import { month, type MonthOptions } from "./month.ts";

export { companies } from "./companies.ts";
export type { Scene } from "./conformance.ts";
export { generate } from "./generate.ts";
export { month, type MonthOptions } from "./month.ts";

const scenes = {
  empty,
  conformance,
  demo,
  month: (now: Date, options: MonthOptions = {}) => month(now, options).scene,
};

export type SceneName = keyof typeof scenes;

export const isSceneName = (name: string): name is SceneName => Object.hasOwn(scenes, name);

/**
 * Ids and content are the same for every `now`; only times move (in `month` the prices with the days). The records are the
 * caller's to change.
 */
export const scene = (name: SceneName, now: Date, options?: MonthOptions): Scene =>
  scenes[name](now, options);
