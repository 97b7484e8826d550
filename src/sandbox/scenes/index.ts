/** What the sandbox's database holds when it starts, and what `generate` adds. Only data: no I/O, no server. */
import { conformance, empty, type Scene } from "./conformance.ts";
import { demo } from "./demo.ts";

export { companies } from "./companies.ts";
export type { Scene } from "./conformance.ts";
export { generate } from "./generate.ts";

const scenes = { empty, conformance, demo };

export type SceneName = keyof typeof scenes;

export const isSceneName = (name: string): name is SceneName => Object.hasOwn(scenes, name);

/** Ids and content are the same for every `now`; only times move. The records are the caller's to change. */
export const scene = (name: SceneName, now: Date): Scene => scenes[name](now);
