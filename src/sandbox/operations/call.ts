/** What an operation is given, and what most operations do: list, read, create and change records of a kind. */
import type { z } from "zod";
import type { Json } from "../../core/json.ts";
import type { Operation } from "../../platform/contract/operation.ts";
import type { OperationId, operations } from "../../platform/contract/operations.ts";
import { type Answer, invalid, json, notFound, success } from "../answer.ts";
import { micros } from "../clock.ts";
import type { PrintedDocument } from "../document.ts";
import type { Key } from "../keys.ts";
import {
  complete,
  type Fields,
  isFields,
  type Kind,
  kinds,
  type ResourceName,
  type Role,
} from "../kinds.ts";
import type { Filters, Sort } from "../lists.ts";
import type { Stored } from "../records.ts";
import { valuesAt } from "../shelves.ts";
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

export type Handlers = {
  readonly [Id in OperationId]: (
    call: Call<Part<Id, "query">, Part<Id, "body">>,
  ) => Answer | PrintedDocument;
};

interface Paging {
  readonly page: number;
  readonly pageSize: number;
  readonly updatedSince?: string | undefined;
  readonly cursor?: string | undefined;
}

/** Which records of a kind a list shows, and in which order. */
interface Selected {
  readonly role?: Role;
  readonly filters: Filters;
  readonly sort?: Sort;
}

/** A page of the list, or of the walk when `updatedSince` or `cursor` is given (rules P1 and P2). */
export const lists =
  <Query extends Paging>(kind: Kind, select: (query: Query, world: World) => Selected) =>
  (call: Call<Query>): Answer => {
    const { world, key, query, now } = call;
    const { page, pageSize, updatedSince, cursor } = query;
    const { role = "own", filters, sort } = select(query, world);
    const shelf = world.records.shelf(kind, key.company, role);
    const listing = { kind, company: key.company, shelf, filters, page, pageSize, sort };
    const isWalk = updatedSince !== undefined || cursor !== undefined;
    return json(
      200,
      isWalk
        ? world.lists.walk({ ...listing, updatedSince, cursor, now })
        : world.lists.page(listing),
    );
  };

/** Everything of the caller's of a kind, as one array. */
export function whole({ world, key }: Call, kind: Kind, filters: Filters, sort: Sort): string {
  const shelf = world.records.shelf(kind, key.company, "own");
  return world.lists.whole(kind, shelf, filters, sort);
}

export const reads =
  (kind: Kind) =>
  (call: Call): Answer =>
    one(200, seen(call, kind));

export const prints =
  (
    kind: Kind,
    document: (record: Fields, name: (id: string) => string | null) => PrintedDocument,
  ) =>
  (call: Call): PrintedDocument =>
    document(seen(call, kind).record, call.world.records.companyName);

export const creates =
  (kind: ResourceName) =>
  (call: Call): Answer =>
    one(201, create(call, kind, checked(call, kind)));

/** Fields that are not sent stay as they are (rule P3). */
export const updates =
  (kind: ResourceName) =>
  (call: Call): Answer => {
    const before = seen(call, kind);
    return one(200, amend(call, kind, before, checked(call, kind)));
  };

/** The record of the path. @throws 404 when there is none that the caller can see (rule V1). */
export function seen({ world, id, key }: Call, kind: Kind): Stored {
  const found = world.records.visible(kind, id, key.company);
  if (found === null) throw notFound(kinds[kind].title);
  return found;
}

export function create(call: Call, kind: ResourceName, given: Fields): Stored {
  const { world, key, at } = call;
  const birth = { owner: key.company, at, next: world.nextNumber() };
  return world.records.put(kind, complete(kind, given, birth), key.company);
}

export function amend(call: Call, kind: ResourceName, before: Stored, changes: Fields): Stored {
  const birth = { owner: before.owner, at: call.at, next: 0 };
  const record = complete(kind, { ...before.record, ...changes, updatedAt: call.at }, birth);
  return call.world.records.put(kind, record, before.owner);
}

export const bornAt = ({ record }: Stored): number => micros(record.createdAt) ?? 0;

export const one = (status: number, { shown }: Stored): Answer => success(status, shown);

export const all = (found: readonly Stored[]): Answer =>
  success(200, `[${found.map(({ shown }) => shown).join(",")}]`);

/** The body without what the contract does not know, its references checked. @throws 400 for a broken reference. */
export function checked(call: Call, kind: ResourceName): Fields {
  const body = known(call);
  for (const [field, target] of Object.entries(kinds[kind].references ?? {}))
    for (const [at, id] of valuesAt(body, [field]).entries())
      if (typeof id === "string" && !isKnownTo(call, target, id)) {
        const path = field.replace(".", `.${at}.`);
        const message = `${path} ${id} does not exist.`;
        throw invalid(message, [{ path, message }]);
      }
  return body;
}

/**
 * Whether a request may refer to a record (readings): one that the caller sees; any terminal, which stand in a
 * directory of all companies; any company, though a test company knows none of the live ones (part 1, convention 6).
 */
function isKnownTo({ world, key }: Call, kind: Kind, id: string): boolean {
  if (kind === "supplier-terminals") return world.records.get(kind, id) !== null;
  if (kind !== "companies") return world.records.visible(kind, id, key.company) !== null;
  const company = world.records.get(kind, id);
  return company !== null && (company.record.sandbox === true) === key.sandbox;
}

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
