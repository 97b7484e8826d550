/** The table of operations as OpenAPI 3.1. Schemas and limits are those that client and sandbox check with. */
import { z } from "zod";
import * as ticket from "./delivery-ticket.ts";
import { ErrorEnvelope, errorStatuses, Meta, type Operation } from "./operation.ts";
import * as invoice from "./invoice.ts";
import * as network from "./network.ts";
import { groupOf, type OperationId, operations, summaries } from "./operations.ts";
import * as order from "./order.ts";
import * as place from "./place.ts";
import * as pricing from "./pricing.ts";
import { decimal, integer, type PageSize } from "./primitives.ts";

/** JSON, as OpenAPI has it. */
type Node = Readonly<Record<string, unknown>>;

interface OpenApi extends Node {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Node>>>>;
}

/** `servers`: where the API answers; without them, an address to fill in. */
export function openApi(servers: readonly Node[] = SERVERS): OpenApi {
  const paths: Record<string, Record<string, Node>> = {};
  for (const [id, operation] of Object.entries(operations))
    (paths[operation.path] ??= {})[operation.method.toLowerCase()] = operationOf(
      id as OperationId,
      operation,
    );
  const { schemas } = z.toJSONSchema(named, { ...CONVERSION, uri: (id) => SCHEMAS + id });
  const groups = new Set(Object.values<Operation>(operations).map(groupOf));
  return {
    openapi: "3.1.0",
    info: {
      title: "Fuel logistics platform",
      version: "v1",
      description:
        "The operations that fuelbridge knows the contract of. Within v1 answers may gain fields, and enums values: " +
        "readers must accept both.",
    },
    servers,
    security: secured(),
    tags: [...groups].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
        bearer: { type: "http", scheme: "bearer", description: "An API key, or an access token." },
      },
      headers: HEADERS,
      parameters: { IdempotencyKey },
      responses: Object.fromEntries(Object.entries(FAILURES).map(failureOf)),
      schemas: Object.fromEntries(
        Object.entries(schemas).map(([id, schema]) => [id, bare(schema)]),
      ),
    },
  };
}

const SERVERS = [
  { url: "https://{host}/v1/public", variables: { host: { default: "api.example.com" } } },
];

const SCHEMAS = "#/components/schemas/";

/** Every schema of the contract by the name that it has there. */
const named = z.registry<{ id: string }>();
const parts = [{ Meta, ErrorEnvelope }, network, ticket, invoice, place, order, pricing];
for (const part of parts)
  for (const [id, schema] of Object.entries(part))
    if (schema instanceof z.ZodType && !id.endsWith("Query")) named.add(schema, { id });

/** The wire's side of a schema, before defaults and transforms; what only zod knows is told here. */
const CONVERSION = {
  io: "input",
  unrepresentable: "any",
  override({ zodSchema, jsonSchema }) {
    if (zodSchema === decimal) jsonSchema.type = "number";
    if (zodSchema === integer) jsonSchema.type = "integer";
    // A field that must not be sent.
    if (zodSchema instanceof z.ZodUndefined) jsonSchema.not = {};
    // A number of a request, JS number or Decimal: its type is in its meta data.
    if (zodSchema instanceof z.ZodUnion) delete jsonSchema.anyOf;
    // What the format says already.
    if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  },
} as const satisfies z.core.ToJSONSchemaParams;

/** A reference where the schema has a name, else the schema itself. */
function schemaOf(schema: z.ZodType): Node {
  const { id } = named.get(schema) ?? {};
  if (id !== undefined) return { $ref: SCHEMAS + id };
  if (schema instanceof z.ZodOptional) return schemaOf(schema.unwrap() as z.ZodType);
  return bare(z.toJSONSchema(schema, CONVERSION));
}

/** Within OpenAPI a schema needs neither its dialect nor an address of its own. */
const bare = (schema: object): Node =>
  Object.fromEntries(
    Object.entries(schema).filter(([keyword]) => keyword !== "$schema" && keyword !== "$id"),
  );

function operationOf(id: OperationId, operation: Operation): Node {
  const { scope, body, success, inferred, idempotencyKey } = operation;
  const parameters = [...pathParameters(operation), ...queryParameters(operation)];
  if (idempotencyKey) parameters.push({ $ref: "#/components/parameters/IdempotencyKey" });
  return {
    operationId: id,
    summary: summaries[id],
    ...(inferred && { description: "Inferred: the specification has its rules, not its body." }),
    tags: [groupOf(operation)],
    ...(scope && { security: secured(scope) }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: !(body instanceof z.ZodOptional),
        content: { "application/json": { schema: schemaOf(body) } },
      },
    }),
    responses: {
      [success.status]: successOf(operation),
      ...Object.fromEntries(
        statusesOf(operation).map((status) => [
          status,
          { $ref: `#/components/responses/${status}` },
        ]),
      ),
    },
  };
}

/** In OpenAPI 3.1 a scheme that is not OAuth may name what the key must hold. */
const secured = (...scopes: readonly string[]) => [{ apiKey: scopes }, { bearer: scopes }];

const pathParameters = ({ path, textId }: Operation): Node[] =>
  path.includes("{id}")
    ? [
        {
          name: "id",
          in: "path",
          required: true,
          schema: { type: "string", ...(textId ? {} : { format: "uuid" }) },
        },
      ]
    : [];

function queryParameters({ query, pageSize }: Operation): Node[] {
  const properties = query === undefined ? {} : z.toJSONSchema(query, CONVERSION).properties;
  return Object.entries({ ...properties, ...(pageSize && paging(pageSize)) }).map(
    ([name, schema]) => ({ name, in: "query", schema }),
  );
}

/** Query values are text to the schema. */
const paging = ({ default: size, max }: PageSize) => ({
  page: { type: "integer", minimum: 1, default: 1 },
  pageSize: { type: "integer", minimum: 1, maximum: max, default: size },
});

const IdempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  required: true,
  description: "The same key and body is the same write, for 24 hours.",
  schema: { type: "string", pattern: "^[A-Za-z0-9_-]{16,200}$" },
};

const whole = (description: string) => ({ description, schema: { type: "integer" } });
const text = (description: string, more: Node = {}) => ({
  description,
  schema: { type: "string", ...more },
});

const HEADERS: Readonly<Record<string, Node>> = {
  "RateLimit-Limit": whole("Requests in a window."),
  "RateLimit-Remaining": whole("Requests left in this window."),
  "RateLimit-Reset": whole("Seconds until the window ends."),
  "RateLimit-Policy": text("Limit and window in seconds.", { examples: ["600;w=60"] }),
  "Retry-After": whole("Seconds to wait."),
  "X-SVC-Sandbox": text("Answers to a test key only.", { const: "true" }),
  "Idempotency-Replayed": text("The answer of the first request, again.", { const: "true" }),
};

const headers = (...more: readonly string[]) =>
  Object.fromEntries(
    [...Object.keys(HEADERS).filter((name) => name.startsWith("RateLimit-")), ...more].map(
      (name) => [name, { $ref: `#/components/headers/${name}` }],
    ),
  );

function successOf({ success, idempotencyKey }: Operation): Node {
  const { kind, data } = success;
  const content = {
    one: () => json(data && schemaOf(data)),
    array: () => json({ type: "array", items: data && schemaOf(data) }),
    list: () => json({ type: "array", items: data && schemaOf(data) }, Meta),
    pdf: () => ({ "application/pdf": { schema: { type: "string", format: "binary" } } }),
    none: () => undefined,
  }[kind]();
  return {
    description:
      { one: "A record.", array: "All records.", list: "A page.", pdf: "A file." }[
        kind as string
      ] ?? "Done.",
    headers: headers("X-SVC-Sandbox", ...(idempotencyKey ? ["Idempotency-Replayed"] : [])),
    ...(content && { content }),
  };
}

/** The success envelope (specification part 1, conventions 2 and 3). */
const json = (data: Node | undefined, meta?: z.ZodType) => ({
  "application/json": {
    schema: {
      type: "object",
      required: ["success", "data", ...(meta ? ["meta"] : [])],
      properties: { success: { const: true }, data, ...(meta && { meta: schemaOf(meta) }) },
    },
  },
});

const FAILURES: Readonly<Record<number, string>> = {
  400: "The request is not what the contract says",
  401: "No credentials, or not valid ones",
  403: "The key may not do this",
  404: "It does not exist, or not for this company",
  409: "The Idempotency-Key is in use",
  410: "The version is retired",
  429: "A limit is exceeded",
  504: "It took too long; a write may have taken place",
};

/** The row's own, and those of part 4 (W1) and part 7. */
function statusesOf({ errors, idempotencyKey, query, body, path }: Operation): number[] {
  const checked = query !== undefined || body !== undefined || path.includes("{id}");
  const more = [...(checked ? [400] : []), ...(idempotencyKey ? [400, 409] : [])];
  return [...new Set([...errors, 401, 403, 410, 429, 504, ...more])].sort((a, b) => a - b);
}

function failureOf([status, description]: readonly [string, string]): [string, Node] {
  const codes = Object.entries(errorStatuses)
    .filter(([, of]) => String(of) === status)
    .map(([code]) => code);
  const waits = status === "409" || status === "429" ? ["Retry-After"] : [];
  return [
    status,
    {
      description: `${description}${codes.length > 0 ? `: ${codes.join(", ")}` : ""}.`,
      headers: headers(...waits),
      content: { "application/json": { schema: schemaOf(ErrorEnvelope) } },
    },
  ];
}
