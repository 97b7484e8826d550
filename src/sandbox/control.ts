/** The control interface: what tests, demos and drills set the scene with (docs/sandbox.md). */
import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import { type Json, parseExact, stringifyExact } from "../core/json.ts";
import type { Key } from "./keys.ts";
import {
  complete,
  type Fields,
  isFields,
  isResource,
  type RawRecord,
  type ResourceName,
  resourceNames,
} from "./kinds.ts";
import type { Stored } from "./records.ts";
import { Fault } from "./requests.ts";
import { companies, generate, isSceneName } from "./scenes/index.ts";
import { iso, ReadingsChange } from "./settings.ts";
import type { World } from "./world.ts";

interface ControlRequest {
  readonly method: string;
  /** Below the control root. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: string;
}

/** JSON text in pieces: there may be a million records. */
export interface ControlAnswer {
  readonly status: number;
  readonly body: Iterable<string>;
}

/** What a bad control request gets. */
class ControlError extends Error {
  readonly status: 400 | 404;

  constructor(status: 400 | 404, message: string) {
    super(message);
    this.name = "ControlError";
    this.status = status;
  }
}

/** Answers a control request; due late writes have been committed before. */
export async function control(world: World, request: ControlRequest): Promise<ControlAnswer> {
  try {
    const [, name = "", ...rest] = request.path.split("/");
    const route = routes[`${request.method} ${name}`];
    const [resource = "", id = ""] = rest;
    // Companies come with the parties that are created: they can be counted, and are not put there.
    const isCounted = request.method === "GET" && resource === "companies";
    const isKnown = rest.length === 0 || isResource(resource) || isCounted;
    if (route === undefined || rest.length !== (route.segments ?? 0) || !isKnown)
      throw new ControlError(404, `There is no ${request.path}.`);
    const given = route.body?.safeParse(readJson(request, JSON.parse));
    const [issue] = given?.error?.issues ?? [];
    if (issue !== undefined)
      throw new ControlError(400, `${issue.path.join(".")} ${issue.message}`.trim());
    const asked = { request, query: request.query, resource: resource as ResourceName, id };
    const answer = await route.answer(world, given?.data as never, asked);
    const body = isPieces(answer) ? answer : [stringifyExact(answer)];
    return { status: route.status ?? 200, body };
  } catch (error) {
    if (!(error instanceof ControlError)) throw error;
    return { status: error.status, body: [JSON.stringify({ error: error.message })] };
  }
}

const isPieces = (answer: object): answer is Generator<string> => Symbol.iterator in answer;

interface Asked extends Pick<ControlRequest, "query"> {
  readonly request: ControlRequest;
  /** What the path names after the route. */
  readonly resource: ResourceName;
  readonly id: string;
}

interface Route<Body = never> {
  /** How many segments follow the name in the path. */
  readonly segments?: number;
  readonly status?: number;
  /** None at all is an empty object. */
  readonly body?: z.ZodType<Body>;
  answer(world: World, body: Body, asked: Asked): object | Promise<object>;
}

const route = <Body>(made: Route<Body>): Route => made as unknown as Route;

const count = z.int().min(0).max(10_000_000).default(0);
const limit = z.int().min(0).optional();

const routes: Readonly<Record<string, Route>> = {
  "GET keys": { answer: (world) => ({ keys: world.keys.all().map(shownKey) }) },
  "POST tokens": route({
    body: z.strictObject({ key: z.string() }),
    answer: (world, { key }) => ({
      token: world.transaction(() => world.keys.token(keyOf(world, key), world.clock.now())),
    }),
  }),

  "POST reset": route({
    body: z.strictObject({ scenario: z.string().optional() }),
    answer(world, { scenario = world.scenario }) {
      if (!isSceneName(scenario)) throw new ControlError(400, `There is no scenario ${scenario}.`);
      world.reset(scenario);
      return { scenario, now: iso(world.clock.now()) };
    },
  }),

  "GET clock": { answer: (world) => ({ now: iso(world.clock.now()) }) },
  "POST clock": route({
    body: z.strictObject({ advanceSeconds: z.number().min(0).max(3_153_600_000) }),
    answer(world, { advanceSeconds }) {
      world.clock.advance(advanceSeconds);
      return { now: iso(world.clock.now()) };
    },
  }),

  "GET state": {
    answer(world) {
      const now = world.clock.now();
      const counts = world.records.counts();
      const records = Object.fromEntries(resourceNames.map((name) => [name, counts[name] ?? 0]));
      const [limits, faults] = [world.keys.limits(now), world.faults.list()];
      return { scenario: world.scenario, now: iso(now), records, limits, faults };
    },
  },

  "GET records": {
    segments: 1,
    answer: (world, _, { query: { key }, resource }) =>
      pieces(world.records.texts(resource, key ? keyOf(world, key).company : null)),
  },
  "POST records": route({
    segments: 1,
    status: 201,
    body: z.strictObject({ key: z.string(), records: z.array(z.looseObject({})) }),
    answer(world, body, { request, resource }) {
      const key = keyOf(world, body.key);
      const given = exactly(request).records as readonly Fields[];
      const added = asOthers(world, () => given.map((raw) => add(world, key, resource, raw)));
      return pieces([added.map(({ record }) => stringifyExact(record))]);
    },
  }),
  "PATCH records": {
    segments: 2,
    answer(world, _, { request, resource, id }) {
      const before = world.records.get(resource, id);
      if (before === null) throw new ControlError(404, `There is no ${resource} ${id}.`);
      const changes = exactly(request);
      return asOthers(world, () => change(world, resource, before, changes)).record;
    },
  },

  "POST generate": route({
    body: z.strictObject({
      key: z.string(),
      orders: count,
      deliveryTickets: count,
      invoices: count,
      rackPrices: count,
      seed: z.int().optional(),
    }),
    async answer(world, { key, seed, ...counts }) {
      const records = generate({
        ...counts,
        // Ids repeat with the seed, so every call without one gets its own.
        seed: seed ?? 1_000_000 + world.sql.next("generations"),
        companyId: keyOf(world, key).company,
        payerCompanyId: companies.customer.id,
        now: new Date(world.clock.now()),
      });
      const { epoch } = world;
      for (let more = true; more && world.epoch === epoch; await setImmediate())
        more = asOthers(world, () => {
          for (let added = 0; added < BATCH; added++) {
            const { done, value } = records.next();
            if (done === true) return false;
            world.add(value.resource, value.record);
          }
          return true;
        });
      return counts;
    },
  }),

  "POST faults": route({
    status: 201,
    body: Fault,
    answer(world, fault) {
      if (fault.key !== undefined) keyOf(world, fault.key);
      return { id: world.faults.arm(fault) };
    },
  }),
  "GET faults": { answer: (world) => ({ faults: world.faults.list() }) },
  "DELETE faults": {
    answer(world) {
      world.faults.clear();
      return { faults: [] };
    },
  },

  "POST limits": route({
    body: z.strictObject({ key: z.string(), perMinute: limit, monthlyCap: limit }),
    answer: (world, { key, ...limits }) =>
      world.keys.limit(keyOf(world, key).name, world.clock.now(), limits),
  }),

  "GET readings": { answer: (world) => world.readings.values() },
  "POST readings": route({
    body: ReadingsChange,
    answer(world, change) {
      world.readings.change(change);
      return world.readings.values();
    },
  }),

  "GET requests": {
    answer(world, _, { query: { since = "0", last, method, path } }) {
      if (!/^\d{1,15}$/.test(since)) throw new ControlError(400, "since is not a sequence number.");
      if (last !== undefined && !/^\d{1,6}$/.test(last))
        throw new ControlError(400, "last is not a number of requests.");
      const requests = world.log.list({
        since: Number(since),
        last: Number(last ?? -1),
        method: method?.toUpperCase() || null,
        path: path || null,
      });
      return { requests };
    },
  },
};

/** Records per transaction: requests are answered in between, and a large one writes fewer pages twice. */
const BATCH = 20_000;

/** Writes that are none of the client's, together. */
const asOthers = <T>(world: World, work: () => T): T =>
  world.transaction(() => world.lagging.others(work));

/** A key by its name. @throws ControlError */
function keyOf(world: World, name: string): Key {
  const key = world.keys.get(name);
  if (key === null) throw new ControlError(400, `There is no key named ${name}.`);
  return key;
}

const shownKey = ({ value: key, company: companyId, type: companyType, ...rest }: Key) => {
  const { name, scopes, sandbox } = rest;
  return { name, key, companyId, companyType, scopes, sandbox };
};

/** The body as an object whose numbers keep their digits. @throws ControlError */
function exactly(request: ControlRequest): Fields {
  const value = readJson(request, parseExact) as Json;
  if (!isFields(value)) throw new ControlError(400, "The body is not a JSON object.");
  return value;
}

function readJson({ body }: ControlRequest, parse: (text: string) => unknown): unknown {
  try {
    return body.trim() === "" ? {} : parse(body);
  } catch {
    throw new ControlError(400, "The body is not JSON.");
  }
}

function* pieces(portions: Iterable<readonly string[]>): Generator<string> {
  let before = '{"records":[';
  for (const texts of portions) {
    if (texts.length === 0) continue;
    yield before + texts.join(",");
    before = ",";
  }
  yield before === "," ? "]}" : `${before}]}`;
}

/** Any field as given, the rest by default. Records belong to the key's company unless they say another. */
function add(world: World, key: Key, resource: ResourceName, given: Fields): Stored {
  const at = iso(world.clock.now());
  const owner = ownerIn(given, key.company);
  const record = complete(resource, given, { owner, at, next: world.nextNumber() });
  if (world.records.get(resource, record.id) !== null)
    throw new ControlError(400, `${resource} ${record.id} exists already.`);
  return put(world, resource, record, owner);
}

function change(world: World, resource: ResourceName, before: Stored, changes: Fields): Stored {
  const updatedAt = iso(world.clock.now());
  const record = { ...before.record, updatedAt, ...changes, id: before.record.id };
  return put(world, resource, record, ownerIn(changes, before.owner));
}

const ownerIn = ({ companyId }: Fields, usual: string): string =>
  typeof companyId === "string" ? companyId : usual;

/** A payment moves its invoice's `updatedAt` (readings, Lists). */
function put(world: World, resource: ResourceName, record: RawRecord, owner: string): Stored {
  const { records, clock } = world;
  const stored = records.put(resource, record, owner);
  const { invoiceId } = record;
  if (resource !== "payments" || typeof invoiceId !== "string") return stored;
  const invoice = records.get("invoices", invoiceId);
  const updatedAt = iso(clock.now());
  if (invoice !== null) records.put("invoices", { ...invoice.record, updatedAt }, invoice.owner);
  return stored;
}
