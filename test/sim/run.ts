/** One document on its way through the request machine and the model, with crashes at every persisted step. */
import type { Moment } from "../../src/core/time.ts";
import type { Policy } from "../../src/core/outcome.ts";
import {
  advance,
  type Event,
  freshRequest,
  isFinal,
  nextAction,
  type RequestState,
} from "../../src/core/request.ts";
import { Platform, randomOf, type Weather } from "./model.ts";

export interface Outcome {
  readonly state: RequestState["state"];
  readonly effects: number;
  readonly steps: number;
  /** From the first step to the last, ms. */
  readonly tookMs: number;
}

const STEPS_MAX = 2_000;
const HOUR = 3_600_000;

/** `jumps`: how often a crash comes with a wall clock that is up to 30 hours off. */
export function simulate(seed: number, weather: Weather, policy: Policy, jumps: number): Outcome {
  const random = randomOf(seed);
  const platform = new Platform(weather, random);
  let boot = 0;
  let bootAt = 0;
  let machine = 0;
  let machineAt = 0;
  let wallOffset = 0;
  let time = 0;
  let request = freshRequest;
  const now = (): Moment => ({
    boot: String(boot),
    monoMs: time - bootAt,
    wallMs: time + wallOffset,
    machine: { boot: String(machine), upMs: time - machineAt },
  });
  const apply = (event: Event): void => {
    request = advance(request, event, policy).next;
  };
  /** True when the process died: what was not stored is lost, and it starts again after a while. */
  const crashes = (): boolean => {
    if (random() >= weather.crash) return false;
    const isLong = random() < 0.2;
    time += isLong ? Math.floor(random() * 48 * HOUR) : Math.floor(random() * 60_000);
    if (random() < jumps) wallOffset += Math.floor((random() * 2 - 1) * 30 * HOUR);
    // After half of the long rests the machine was started again, too.
    if (isLong && boot % 2 === 0) {
      machine++;
      machineAt = time;
    }
    boot++;
    bootAt = time;
    apply({ type: "restart", at: now() });
    return true;
  };

  let steps = 0;
  for (; steps < STEPS_MAX; steps++) {
    if (isFinal(request.state) || request.state === "manual") break;
    if (crashes()) continue;
    const action = nextAction(request, policy, now());
    if (action.do === "wait") {
      time += Math.max(action.until.monoMs - (time - bootAt), 1);
    } else if (action.do === "renew") {
      apply({ type: "renew", at: now() });
    } else if (action.do === "read") {
      if (action.preflight) apply({ type: "preflight", at: now() });
      if (crashes()) continue;
      const finding = platform.read(time);
      time += 50;
      if (crashes()) continue;
      apply({ type: "finding", at: now(), finding });
    } else if (action.do === "send") {
      apply({ type: "send", at: now() });
      if (crashes()) continue;
      const { answer, at } = platform.write(request.generation, time);
      time = at;
      if (crashes()) continue;
      apply({ type: "answer", at: now(), answer, chance: random() });
    }
  }
  return { state: request.state, effects: platform.effects.length, steps, tookMs: time };
}
