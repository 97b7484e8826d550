/** Raw records: put there, changed and counted without any rule of the platform. */
import { z } from "zod";
import { stringifyExact } from "../core/json.ts";
import { iso } from "./clock.ts";
import {
  ControlError,
  type ControlRequest,
  exactly,
  keyOf,
  parsed,
  type Said,
} from "./control-request.ts";
import type { Key } from "./keys.ts";
import { complete } from "./complete.ts";
import { type Fields, isResource, type RawRecord, type ResourceName } from "./kinds.ts";
import type { Stored } from "./records.ts";
import type { World } from "./world.ts";

export function listRecords(world: World, request: ControlRequest): Said {
  // Companies come with the parties that are created: they can be counted, and are not put there.
  const isCompanies = request.segments[1] === "companies" && request.segments.length === 2;
  const resource = isCompanies ? "companies" : resourceOf(request, 2);
  const { key } = request.query;
  const owner = key === undefined || key === "" ? null : keyOf(world, key).company;
  return { body: pieces(world.records.texts(resource, owner)) };
}

export function addRecords(world: World, request: ControlRequest): Said {
  const resource = resourceOf(request, 2);
  const shape = z.strictObject({ key: z.string(), records: z.array(z.looseObject({})) });
  const key = keyOf(world, parsed(shape, request).key);
  const given = exactly(request).records as readonly Fields[];
  const added = world.transaction(() =>
    world.lagging.others(() => given.map((raw) => add(world, key, resource, raw))),
  );
  return { status: 201, body: pieces([added.map(({ record }) => stringifyExact(record))]) };
}

export function patchRecord(world: World, request: ControlRequest): Said {
  const resource = resourceOf(request, 3);
  const id = request.segments[2] ?? "";
  const before = world.records.get(resource, id);
  if (before === null) throw new ControlError(404, `There is no ${resource} ${id}.`);
  const changes = exactly(request);
  const { record } = world.transaction(() =>
    world.lagging.others(() => change(world, resource, before, changes)),
  );
  return { body: [stringifyExact(record)] };
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

function resourceOf({ segments, path }: ControlRequest, length: number): ResourceName {
  const [, resource = ""] = segments;
  if (segments.length !== length || !isResource(resource))
    throw new ControlError(404, `There is no ${path}.`);
  return resource;
}

/** Any field as given, the rest by default. Records belong to the key's company unless they say another. */
function add(world: World, key: Key, resource: ResourceName, given: Fields): Stored {
  const at = iso(world.clock.now());
  const owner = typeof given.companyId === "string" ? given.companyId : key.company;
  const record = complete(resource, given, { owner, at, next: world.nextNumber() });
  if (world.records.get(resource, record.id) !== null)
    throw new ControlError(400, `${resource} ${record.id} exists already.`);
  return put(world, resource, record, owner, at);
}

function change(world: World, resource: ResourceName, before: Stored, changes: Fields): Stored {
  const at = iso(world.clock.now());
  const record = { ...before.record, updatedAt: at, ...changes, id: before.record.id };
  const owner = "companyId" in changes ? changes.companyId : before.owner;
  return put(world, resource, record, typeof owner === "string" ? owner : before.owner, at);
}

/** A payment moves its invoice's `updatedAt` (readings, Lists). */
function put(
  world: World,
  resource: ResourceName,
  record: RawRecord,
  owner: string,
  at: string,
): Stored {
  const stored = world.records.put(resource, record, owner);
  const { invoiceId } = record;
  if (resource !== "payments" || typeof invoiceId !== "string") return stored;
  const invoice = world.records.get("invoices", invoiceId);
  if (invoice !== null)
    world.records.put("invoices", { ...invoice.record, updatedAt: at }, invoice.owner);
  return stored;
}
