/** The control interface: what tests, demos and drills set the scene with (sandbox-control, Control requests). */
import { z } from "zod";
import { type Json, parseExact, stringifyExact } from "../core/json.ts";
import { iso } from "./clock.ts";
import { ControlError, generation } from "./generation.ts";
import { Fault } from "./faults.ts";
import type { Key } from "./keys.ts";
import {
  complete,
  type Fields,
  isFields,
  isResource,
  type RawRecord,
  type ResourceName,
} from "./kinds.ts";
import { ReadingsChange } from "./readings.ts";
import type { Stored } from "./records.ts";
import { isSceneName } from "./scenes/index.ts";
import type { World } from "./world.ts";

export interface ControlRequest {
  readonly method: string;
  /** Below the control root. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ControlAnswer {
  readonly status: number;
  readonly body: string;
}

/** Answers a control request; due late writes have been committed before. */
export async function control(world: World, request: ControlRequest): Promise<ControlAnswer> {
  try {
    const [first = "", second, third, ...rest] = request.path.split("/").filter(Boolean);
    const route = rest.length === 0 ? routes[`${request.method} ${first}`] : undefined;
    if (route === undefined) throw new ControlError(404, `There is no ${request.path}.`);
    const { status = 200, answer } = await route(world, { ...request, segments: [second, third] });
    return { status, body: stringifyExact(answer) };
  } catch (error) {
    if (!(error instanceof ControlError)) throw error;
    return { status: error.status, body: JSON.stringify({ error: error.message }) };
  }
}

interface Request extends ControlRequest {
  readonly segments: readonly [resource: string | undefined, id: string | undefined];
}
interface Said {
  readonly status?: number;
  readonly answer: object;
}
type Route = (world: World, request: Request) => Said | Promise<Said>;

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

  "GET records": inResource((world, request, resource) => {
    const { key } = request.query;
    const owner = key === undefined || key === "" ? null : keyOf(world, key).company;
    return { answer: { records: world.records.all(resource, owner).map(({ record }) => record) } };
  }),

  "POST records": inResource((world, request, resource) => {
    const { key, records } = parsed(
      z.strictObject({ key: z.string(), records: z.array(z.looseObject({})) }),
      request,
    );
    const owner = keyOf(world, key);
    const given = (exactly(request).records ?? []) as readonly Fields[];
    if (records.length !== given.length) throw new ControlError(400, "records is not an array.");
    const added = world.transaction(() => given.map((raw) => added1(world, owner, resource, raw)));
    return { status: 201, answer: { records: added.map(({ record }) => record) } };
  }),

  "PATCH records": (world, request) => {
    const [resource = "", id = ""] = request.segments;
    if (!isResource(resource)) throw new ControlError(404, `There is no resource ${resource}.`);
    const before = world.records.get(resource, id);
    if (before === null) throw new ControlError(404, `There is no ${resource} ${id}.`);
    const changes = exactly(request);
    const after = world.transaction(() => patched(world, resource, before, changes));
    return { answer: after.record };
  },

  "POST generate": plain((world, request) => generation(world, parsedJson(request), keyOf)),

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
    const { since = "0", method, path } = request.query;
    if (!/^\d{1,15}$/.test(since)) throw new ControlError(400, "since is not a sequence number.");
    const requests = world.log.list(Number(since), method?.toUpperCase() || null, path || null);
    return { answer: { requests } };
  }),
};

/** A route without anything after its name. */
function plain(route: Route): Route {
  return (world, request) => {
    if (request.segments[0] !== undefined)
      throw new ControlError(404, `There is no ${request.path}.`);
    return route(world, request);
  };
}

/** A route with the name of a resource behind it. */
function inResource(
  route: (world: World, request: Request, resource: ResourceName) => Said,
): Route {
  return (world, request) => {
    const [resource = "", id] = request.segments;
    if (!isResource(resource) || id !== undefined)
      throw new ControlError(404, `There is no ${request.path}.`);
    return route(world, request, resource);
  };
}

function shownKey({ name, value, company, type, scopes, sandbox }: Key) {
  return { name, key: value, companyId: company, companyType: type, scopes, sandbox };
}

function keyOf(world: World, name: string): Key {
  const key = world.keys.get(name);
  if (key === null) throw new ControlError(400, `There is no key named ${name}.`);
  return key;
}

/** Creates a raw record: any field as given, the rest by default, no checks. */
function added1(world: World, key: Key, resource: ResourceName, given: Fields): Stored {
  const at = iso(world.clock.now());
  const owner = typeof given.companyId === "string" ? given.companyId : key.company;
  const record = complete(resource, given, { owner, at, next: world.nextNumber() });
  if (world.records.get(resource, record.id) !== null)
    throw new ControlError(400, `${resource} ${record.id} exists already.`);
  const stored = world.records.put(resource, record, owner);
  if (resource === "payments") touchInvoice(world, record, at);
  return stored;
}

function patched(world: World, resource: ResourceName, before: Stored, changes: Fields): Stored {
  const at = iso(world.clock.now());
  const record: RawRecord = {
    ...before.record,
    updatedAt: at,
    ...changes,
    id: before.record.id,
  };
  const owner = typeof record.companyId === "string" ? record.companyId : before.owner;
  const stored = world.records.put(resource, record, owner);
  if (resource === "payments") touchInvoice(world, record, at);
  return stored;
}

/** A payment moves its invoice's `updatedAt` (readings, Lists). */
function touchInvoice(world: World, payment: RawRecord, at: string): void {
  const invoice = world.records.get("invoices", String(payment.invoiceId));
  if (invoice !== null)
    world.records.put("invoices", { ...invoice.record, updatedAt: at }, invoice.owner);
}

function parsed<T>(schema: z.ZodType<T>, request: ControlRequest): T {
  const { success, data, error } = schema.safeParse(parsedJson(request));
  if (success) return data;
  const [issue] = error.issues;
  throw new ControlError(400, `${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`.trim());
}

function parsedJson({ body }: ControlRequest): unknown {
  try {
    return body.trim() === "" ? {} : (JSON.parse(body) as unknown);
  } catch {
    throw new ControlError(400, "The body is not JSON.");
  }
}

/** The body as an object whose numbers keep their digits. */
function exactly(request: ControlRequest): Fields {
  parsedJson(request);
  const value: Json = request.body.trim() === "" ? {} : parseExact(request.body);
  if (!isFields(value)) throw new ControlError(400, "The body is not a JSON object.");
  return value;
}
