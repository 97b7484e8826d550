/** The mapping of a flow as the configuration says it now, and what it looks things up in. */
import { existsSync } from "node:fs";
import { calendarOf } from "../../core/calendar.ts";
import type { Mapping, References } from "../../core/contract.ts";
import type { Kind } from "../../core/kinds.ts";
import { ConfigurationError } from "../../core/errors.ts";
import { referencesBy } from "../../core/references.ts";
import { type Config, type FlowConfig, mappingOf } from "../../config/config.ts";
import { openTables } from "../../config/crossref.ts";
import { PLATFORM } from "../../config/flows.ts";
import { COUNTERPARTS_MAX } from "../../office/asked.ts";
import type { Office } from "../../office/questions.ts";
import { ask } from "../../app/ask.ts";

export interface OpenMapping {
  readonly config: Config;
  readonly flow: FlowConfig;
  readonly mapping: Mapping;
  /** The side that the flow's records come from. */
  readonly side: "platform" | "erp";
  /** @param find the other side's id; null: there is none */
  readonly references: (find: References["find"]) => References;
}

/** @throws ConfigurationError when there is no such flow */
export function openMapping(config: Config, name: string): OpenMapping {
  const flow = config.flows.find((one) => one.name === name);
  if (flow === undefined)
    throw new ConfigurationError(
      `${config.file} has no flow "${name}".`,
      `Flows: ${config.flows.map((one) => one.name).join(", ")}.`,
    );
  const tables = openTables(config.crossReferences);
  const { currency, timeZone } = config;
  const dayOf = calendarOf(timeZone);
  return {
    config,
    flow,
    mapping: mappingOf(config, flow),
    side: flow.from.endpoint === PLATFORM ? "platform" : "erp",
    references: (find) => referencesBy({ tables, currency, dayOf }, find),
  };
}

/** Asks the store; without one, nothing is stored and nobody is asked. */
export async function fromStore<Result>(
  file: string,
  { state }: Config,
  question: (office: Office | null) => Promise<Result>,
): Promise<Result> {
  return existsSync(state) ? ask(file, question) : question(null);
}

/** Rounds of looking ids up: each can show that more are needed. */
const ROUNDS_MAX = 20;

/**
 * A mapping looks ids up while it works, and a store is asked between: so the work is done again until nothing that it
 * looks up is unknown. A mapping is pure, and doing it again changes nothing.
 */
export async function withLinks<Result>(
  office: Office | null,
  { side }: Pick<OpenMapping, "side">,
  work: (find: References["find"]) => Result,
): Promise<Result> {
  const known = new Map<string, string | null>();
  for (let round = 1; ; round++) {
    const missing = new Map<string, { kind: Kind; id: string }>();
    const result = work((kind, id) => {
      const key = `${kind} ${id}`;
      if (!known.has(key)) missing.set(key, { kind, id });
      return known.get(key) ?? null;
    });
    if (missing.size === 0 || office === null || round === ROUNDS_MAX) return result;
    const asked = [...missing];
    for (let at = 0; at < asked.length; at += COUNTERPARTS_MAX) {
      const some = asked.slice(at, at + COUNTERPARTS_MAX);
      const found = await office.counterparts({ side, asked: some.map(([, one]) => one) });
      for (const [index, [key]] of some.entries()) known.set(key, found[index] ?? null);
    }
  }
}
