/** What an operation is given, and the words all of them use. */
import type { z } from "zod";
import type { Json } from "../../core/json.ts";
import type { Operation } from "../../platform/contract/operation.ts";
import type { OperationId, operations } from "../../platform/contract/operations.ts";
import { type Answer, invalid, json, notFound, success } from "../answer.ts";
import { micros } from "../clock.ts";
import type { PrintedDocument } from "../document.ts";
import type { Key } from "../keys.ts";
import { complete } from "../complete.ts";
import { type Fields, isFields, type Kind, type ResourceName } from "../kinds.ts";
import type { Stored } from "../records.ts";
import type { Filters, Sort } from "../selection.ts";
import type { Role } from "../shelves.ts";
import type { World } from "../world.ts";

type Table = typeof operations;
type Inferred<T> = T extends z.ZodType ? z.infer<T> : undefined;
type Part<Id extends OperationId, Name extends string> =
  Table[Id] extends Record<Name, infer S> ? Inferred<S> : undefined;

export interface Call<Query = unknown, Body = unknown> {
  readonly world: World;
  readonly key: Key;
  readonly operation: Operation;
  readonly now: number;
  /** The same, ISO 8601. */
  readonly at: string;
  /** The `{id}` of the path, or nothing. */
  readonly id: string;
  readonly query: Query;
  readonly body: Body;
  /** The body as it was sent, without defaults. */
  readonly raw: Json;
}

type Handler<Id extends OperationId> = (
  call: Call<Part<Id, "query">, Part<Id, "body">>,
) => Answer | PrintedDocument;

export type Handlers<Ids extends OperationId> = { readonly [Id in Ids]: Handler<Id> };

/** A page of the list, or of the walk when `updatedSince` or `cursor` is given (rules P1 and P2). */
export function list(
  call: Call<Paging>,
  kind: Kind,
  role: Role,
  filters: Filters,
  sort?: Sort,
): Answer {
  const { world, key, query, now } = call;
  const { page, pageSize, updatedSince, cursor } = query;
  const shelf = world.records.shelf(kind, key.company, role);
  const listing = { kind, company: key.company, shelf, filters, page, pageSize };
  const body =
    updatedSince === undefined && cursor === undefined
      ? world.lists.page(sort === undefined ? listing : { ...listing, sort })
      : world.lists.walk({ ...listing, updatedSince, cursor, now });
  return json(200, body);
}

interface Paging {
  readonly page: number;
  readonly pageSize: number;
  readonly updatedSince?: string | undefined;
  readonly cursor?: string | undefined;
}

/** The record of the path. @throws 404 when there is none that the caller can see (rule V1). */
export function seen(call: Call, kind: Kind, what: string, ...roles: readonly Role[]): Stored {
  const { world, id, key } = call;
  const found = world.records.visible(kind, id, key.company, roles.length === 0 ? ["own"] : roles);
  if (found === null) throw notFound(what);
  return found;
}

export function create(call: Call, kind: ResourceName, given: Fields): Stored {
  const { world, key, at } = call;
  const birth = { owner: key.company, at, next: world.nextNumber() };
  return world.records.put(kind, complete(kind, given, birth), key.company);
}

/** Fields that are not sent stay as they are (rule P3). */
export function amend(call: Call, kind: ResourceName, before: Stored, changes: Fields): Stored {
  const birth = { owner: before.owner, at: call.at, next: 0 };
  const record = complete(kind, { ...before.record, ...changes, updatedAt: call.at }, birth);
  return call.world.records.put(kind, record, before.owner);
}

export const bornAt = ({ record }: Stored): number => micros(record.createdAt) ?? 0;

export const one = (status: number, { shown }: Stored): Answer => success(status, shown);

export const all = (found: readonly Stored[]): Answer =>
  success(200, `[${found.map(({ shown }) => shown).join(",")}]`);

/** The body without what the contract does not know: unknown fields are ignored, at every depth. */
export function known(call: Call): Fields {
  const schema = call.operation.body;
  const body = schema === undefined ? {} : strip(schema, call.body as Json);
  return isFields(body) ? body : {};
}

function strip(schema: z.ZodType, value: Json): Json {
  const def = schema.def as unknown as Definition;
  const inner = def.innerType ?? (def.in?.def.type === "transform" ? def.out : def.in);
  if (inner !== undefined) return strip(inner, value);
  if (def.element !== undefined && Array.isArray(value))
    return value.map((item: Json) => strip((def as { element: z.ZodType }).element, item));
  if (def.shape === undefined || Object.keys(def.shape).length === 0 || !isFields(value))
    return value;
  const fields = Object.entries(def.shape).flatMap(([name, schema]): [string, Json][] => {
    const given = value[name];
    return given === undefined ? [] : [[name, strip(schema, given)]];
  });
  return Object.fromEntries(fields);
}

interface Definition {
  /** What is optional, nullable or has a default; a pipe has two ends, one of which is a transform. */
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly out?: z.ZodType;
  readonly element?: z.ZodType;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
}

/** References to records that do not exist, or that the caller cannot see, are invalid (readings). */
export function requireRecord(
  call: Call,
  kind: Kind,
  field: string,
  id: Json | undefined,
  ...roles: readonly Role[]
): void {
  if (typeof id !== "string") return;
  const { world, key } = call;
  if (world.records.visible(kind, id, key.company, roles.length === 0 ? ["own"] : roles) === null)
    throw unknownReference(field, id);
}

/** Companies know each other by id; a test company knows none of the live ones (part 1, convention 6). */
export function requireCompany(call: Call, field: string, id: Json | undefined): void {
  if (typeof id !== "string") return;
  const company = call.world.records.get("companies", id);
  if (company === null || (company.record.sandbox === true) !== call.key.sandbox)
    throw unknownReference(field, id);
}

export function unknownReference(field: string, id: string): Error {
  const message = `${field} ${id} does not exist.`;
  return invalid(message, [{ path: field, message }]);
}
