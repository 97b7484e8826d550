import { idempotencyKey } from "../core/keys.ts";
import type { Engine } from "./engine.ts";

/** From business identity, never from chance or time: the same intent has the same key after any restart. */
export function keyOf(
  engine: Engine,
  identity: { operation: string; number: string; revision: string; generation: number },
): string {
  const { company, environment } = engine;
  return idempotencyKey({ company, environment, ...identity });
}
