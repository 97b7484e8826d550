/** Connections and their freight rates (specification part 4, Connections and freight rates). */
import { invalid, noContent, notFound } from "../answer.ts";
import type { Fields } from "../kinds.ts";
import type { Stored } from "../records.ts";
import {
  all,
  amend,
  bornAt,
  type Call,
  create,
  type Handlers,
  known,
  list,
  one,
  seen,
  unknownReference,
} from "./call.ts";

/** A text that is in no name. */
const NO_NAME = "\u0000";

export const connections: Handlers<
  | "listConnections"
  | "getConnection"
  | "listFreightRates"
  | "createFreightRate"
  | "updateFreightRate"
  | "deleteFreightRate"
> = {
  listConnections(call) {
    const { direction, status, search } = call.query;
    const { connectionSearch } = call.world.readings.values();
    const finds = search !== undefined && connectionSearch === "nothing" ? NO_NAME : search;
    return list(call, "connections", direction, { status, search: finds });
  },

  getConnection(call) {
    return one(200, seen(call, "connections", "The connection", "all"));
  },

  listFreightRates(call) {
    seen(call, "connections", "The connection", "all");
    return all(ratesOn(call, call.id));
  },

  createFreightRate(call) {
    if (call.body.connectionId.toLowerCase() !== call.id.toLowerCase())
      throw invalid("connectionId differs from the connection of the path.");
    seen(call, "connections", "The connection", "all");
    const body = known(call);
    checkTerminal(call, body);
    const rate = { ...body, connectionId: call.id };
    return one(201, create(call, "freight-rates", rate));
  },

  updateFreightRate(call) {
    const rate = seen(call, "freight-rates", "The freight rate");
    const body = known(call);
    checkTerminal(call, body);
    return one(200, amend(call, "freight-rates", rate, body));
  },

  deleteFreightRate(call) {
    const rate = seen(call, "freight-rates", "The freight rate");
    call.world.records.remove("freight-rates", rate.record.id);
    return noContent;
  },
};

/** The saved rate of a connection that fits the lane of a calculation best; null when none does. */
export function savedRate(call: Call, connectionId: string): Fields | null {
  const { world, key } = call;
  if (world.records.visible("connections", connectionId, key.company, ["all"]) === null)
    throw notFound("The connection");
  const lane = call.body as Fields;
  const fitting = ratesOn(call, connectionId)
    .map(({ record }) => ({ record, fit: fitOf(record, lane) }))
    .filter(({ fit }) => fit >= 0)
    .sort((one, other) => other.fit - one.fit);
  return fitting[0]?.record ?? null;
}

/** How many fields of the lane a rate names; -1 when it names another lane. An open field fits every lane. */
function fitOf(rate: Fields, lane: Fields): number {
  const zip = typeof lane.destinationZip === "string" ? lane.destinationZip : "";
  const prefix = typeof rate.destinationZipPrefix === "string" ? rate.destinationZipPrefix : null;
  if (prefix !== null && !zip.startsWith(prefix)) return -1;
  const whole = typeof rate.destinationZip === "string" ? rate.destinationZip : null;
  if (whole !== null && whole !== zip.slice(0, 5)) return -1;
  let fit = (prefix === null ? 0 : 1) + (whole === null ? 0 : 2);
  for (const field of ["originTerminalId", "originCity", "originState", "product"]) {
    const [named, asked] = [rate[field] ?? null, lane[field] ?? null];
    if (named === null) continue;
    if (named !== asked && asked !== null) return -1;
    if (named === asked) fit += 1;
  }
  return fit;
}

/** The caller's own rates on a connection, newest first. */
function ratesOn({ world, key }: Call, connectionId: string): Stored[] {
  const rates = world.records.children("freight-rates", connectionId);
  return rates
    .filter(({ owner }) => owner === key.company)
    .sort((one, other) => bornAt(other) - bornAt(one));
}

/** Terminals stand in a directory of all companies, so any of them will do. */
function checkTerminal({ world }: Call, { originTerminalId }: Fields): void {
  if (typeof originTerminalId !== "string") return;
  if (world.records.get("supplier-terminals", originTerminalId) === null)
    throw unknownReference("originTerminalId", originTerminalId);
}
