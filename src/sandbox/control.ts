/** The control interface: what tests, demos and drills set the scene with (docs/sandbox.md). */
import { z } from "zod";
import { iso } from "./clock.ts";
import {
  ControlError,
  type ControlAnswer,
  type ControlRequest,
  keyOf,
  parsed,
  type Said,
} from "./control-request.ts";
import { addRecords, listRecords, patchRecord } from "./control-records.ts";
import { Fault } from "./faults.ts";
import { generation } from "./generation.ts";
import type { Key } from "./keys.ts";
import { resourceNames } from "./kinds.ts";
import { ReadingsChange } from "./readings.ts";
import { isSceneName } from "./scenes/index.ts";
import type { World } from "./world.ts";

/** Answers a control request; due late writes have been committed before. */
export async function control(world: World, request: ControlRequest): Promise<ControlAnswer> {
  try {
    const [name = ""] = request.segments;
    const route = routes[`${request.method} ${name}`];
    if (route === undefined) throw new ControlError(404, `There is no ${request.path}.`);
    const { status = 200, answer, body = [JSON.stringify(answer)] } = await route(world, request);
    return { status, body };
  } catch (error) {
    if (!(error instanceof ControlError)) throw error;
    return { status: error.status, body: [JSON.stringify({ error: error.message })] };
  }
}

type Route = (world: World, request: ControlRequest) => Said | Promise<Said>;

const routes: Readonly<Record<string, Route>> = {
  "GET keys": plain((world) => ({ answer: { keys: world.keys.all().map(shownKey) } })),

  "POST tokens": plain((world, request) => {
    const { key } = parsed(z.strictObject({ key: z.string() }), request);
    const token = world.transaction(() => world.keys.token(keyOf(world, key), world.clock.now()));
    return { answer: { token } };
  }),

  "POST reset": plain((world, request) => {
    const { scenario = world.scenario } = parsed(
      z.strictObject({ scenario: z.string().optional() }),
      request,
    );
    if (!isSceneName(scenario)) throw new ControlError(400, `There is no scenario ${scenario}.`);
    world.reset(scenario);
    return { answer: { scenario, now: iso(world.clock.now()) } };
  }),

  "GET clock": plain((world) => ({ answer: { now: iso(world.clock.now()) } })),

  "POST clock": plain((world, request) => {
    const shape = z.strictObject({ advanceSeconds: z.number().min(0).max(3_153_600_000) });
    world.clock.advance(parsed(shape, request).advanceSeconds);
    return { answer: { now: iso(world.clock.now()) } };
  }),

  "GET state": plain((world) => {
    const now = world.clock.now();
    const counts = world.records.counts();
    const records = Object.fromEntries(resourceNames.map((name) => [name, counts[name] ?? 0]));
    const { scenario, limits, faults } = world;
    return {
      answer: { scenario, now: iso(now), records, limits: limits.all(now), faults: faults.list() },
    };
  }),

  "GET records": (world, request) => listRecords(world, request),
  "POST records": (world, request) => addRecords(world, request),
  "PATCH records": (world, request) => patchRecord(world, request),

  "POST generate": plain((world, request) => generation(world, request)),

  "POST faults": plain((world, request) => {
    const fault = parsed(Fault, request);
    if (fault.key !== undefined) keyOf(world, fault.key);
    return { status: 201, answer: { id: world.faults.arm(fault) } };
  }),

  "GET faults": plain((world) => ({ answer: { faults: world.faults.list() } })),

  "DELETE faults": plain((world) => {
    world.faults.clear();
    return { answer: { faults: [] } };
  }),

  "POST limits": plain((world, request) => {
    const count = z.int().min(0).optional();
    const shape = z.strictObject({ key: z.string(), perMinute: count, monthlyCap: count });
    const { key, perMinute, monthlyCap } = parsed(shape, request);
    keyOf(world, key);
    return { answer: world.limits.change(key, perMinute, monthlyCap) };
  }),

  "GET readings": plain((world) => ({ answer: world.readings.values() })),

  "POST readings": plain((world, request) => {
    world.readings.change(parsed(ReadingsChange, request));
    return { answer: world.readings.values() };
  }),

  "GET requests": plain((world, request) => {
    const { since = "0", last, method, path } = request.query;
    if (!/^\d{1,15}$/.test(since)) throw new ControlError(400, "since is not a sequence number.");
    if (last !== undefined && !/^\d{1,6}$/.test(last))
      throw new ControlError(400, "last is not a number of requests.");
    const requests = world.log.list({
      since: Number(since),
      last: last === undefined ? null : Number(last),
      method: method?.toUpperCase() || null,
      path: path || null,
    });
    return { answer: { requests } };
  }),
};

/** A route without anything after its name. */
function plain(route: Route): Route {
  return (world, request) => {
    if (request.segments.length > 1) throw new ControlError(404, `There is no ${request.path}.`);
    return route(world, request);
  };
}

function shownKey({ name, value, company, type, scopes, sandbox }: Key) {
  return { name, key: value, companyId: company, companyType: type, scopes, sandbox };
}
