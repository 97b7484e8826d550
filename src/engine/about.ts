/** What people know a document by, as its flow's mapping reads it off the record: number, party, amount, day. */
import type { About } from "../core/contract.ts";
import { type Json, parseExact } from "../core/json.ts";
import type { Engine, Flow } from "./engine.ts";

/** A record that its source could not read, or that does not fit, says nothing. */
export function aboutOf(flow: Flow | undefined, text: string | null): About & { number?: string } {
  return flow === undefined ? {} : aboutRecord(flow, readText(text));
}

/** What a record's text says; undefined: it cannot be read, or there is none. */
export function readText(text: string | null): Json | undefined {
  try {
    return text === null ? undefined : parseExact(text);
  } catch {
    return undefined;
  }
}

/** The same of a record that was read already. */
export function aboutRecord(
  flow: Flow | undefined,
  read: Json | undefined,
): About & { number?: string } {
  if (flow === undefined || read === undefined) return {};
  try {
    const record = flow.mapping.input.safeParse(read);
    if (!record.success) return {};
    return { number: flow.mapping.number(record.data), ...flow.mapping.about?.(record.data) };
  } catch {
    return {};
  }
}

/** The day of the document where it tells one. `dayOf`: the company's day of an instant. */
export const dayIn = ({ day = null }: About, dayOf: Engine["dayOf"]): string | null =>
  day === null || day.length === 10 ? day : dayOf(day);
