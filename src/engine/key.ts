import { idempotencyKey } from "../core/keys.ts";
import type { Engine } from "./engine.ts";

/** From business identity, never from chance or time (reliability 2.3). */
export function keyOf(
  engine: Engine,
  identity: { operation: string; number: string; revision: string; generation: number },
): string {
  const { company, environment } = engine;
  return idempotencyKey({ company, environment, ...identity });
}
