import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { useSandbox } from "../../../test/conformance/support.ts";
import { openApi } from "./openapi.ts";
import type { Operation } from "./operation.ts";
import { groupOf, operations } from "./operations.ts";

interface Described {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security?: readonly object[];
  readonly parameters?: readonly { $ref?: string; name?: string; schema?: object }[];
  readonly requestBody?: { required: boolean };
  readonly responses: Readonly<Record<string, unknown>>;
}

const document = openApi();
const schemas = (document["components"] as { schemas: Record<string, object> }).schemas;
const described = ({ method, path }: Operation): Described =>
  document.paths[path]?.[method.toLowerCase()] as unknown as Described;
const rows: [string, Operation][] = Object.entries(operations);

test("it is valid OpenAPI 3.1, whatever its servers", async () => {
  for (const servers of [undefined, [{ url: "/v1" }]]) {
    const validator = new Validator();
    const copy = JSON.parse(JSON.stringify(openApi(servers))) as Record<string, unknown>;
    expect(await validator.validate(copy)).toEqual({ valid: true });
    expect(validator.version).toBe("3.1");
  }
});

test("it has the operations of the table and no others", () => {
  const ids = Object.values(document.paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => String(operationId)),
  );
  expect(ids.toSorted()).toEqual(Object.keys(operations).toSorted());
});

test.each(rows)("%s says what its row says", (id, operation) => {
  const { operationId, summary, tags, security, parameters, requestBody, responses } =
    described(operation);
  expect({ operationId, tags }).toEqual({ operationId: id, tags: [groupOf(operation)] });
  expect(summary).toMatch(/^[A-Z].+\.$/);
  expect(security !== undefined).toBe(operation.scope !== undefined);
  expect(requestBody !== undefined).toBe(operation.body !== undefined);
  const names = (parameters ?? []).map(({ $ref, name }) => name ?? $ref);
  const key = "#/components/parameters/IdempotencyKey";
  expect(names.includes(key)).toBe(operation.idempotencyKey);
  expect(names.includes("id")).toBe(operation.path.includes("{id}"));
  expect(names.includes("pageSize")).toBe(operation.pageSize !== undefined);
  const keyed = operation.idempotencyKey ? [400, 409] : [];
  for (const status of [operation.success.status, ...operation.errors, ...keyed, 401, 429])
    expect(responses).toHaveProperty(String(status));
});

test("nothing refers to what is not there, and nothing is there in vain", () => {
  const text = JSON.stringify(document);
  const used = new Set(text.match(/#\/components\/[^"]+/g));
  const components = Object.entries(document["components"] as Record<string, object>);
  const there = components
    .filter(([kind]) => kind !== "securitySchemes")
    .flatMap(([kind, members]) =>
      Object.keys(members).map((name) => `#/components/${kind}/${name}`),
    );
  expect([...used].toSorted()).toEqual(there.toSorted());
});

describe("what zod does not know of itself", () => {
  const field = (schema: string, name: string): unknown =>
    (schemas[schema] as { properties: Record<string, unknown> }).properties[name];

  test("numbers are numbers, counts are integers", () => {
    expect(field("Invoice", "total")).toEqual({ type: "number" });
    expect(field("Payment", "surchargeAmount")).toEqual({
      type: ["number", "null"],
      default: null,
    });
    expect(field("Allocation", "dailyUsed")).toEqual({ type: "integer" });
    expect(field("FreightCalculate", "gallons")).toEqual({ type: "integer", minimum: 1 });
    expect(field("UpsertTerminal", "lat")).toEqual({
      anyOf: [{ type: "number", minimum: -90, maximum: 90 }, { type: "null" }],
    });
    expect(field("BulkRackPrice", "prices")).toMatchObject({
      items: { properties: { price: { type: "number", exclusiveMinimum: 0, maximum: 999_999 } } },
    });
  });

  test("texts have their limits, enums of answers are open", () => {
    const limits = { type: "string", minLength: 1, maxLength: 50 };
    expect(field("CreateInvoice", "invoiceNumber")).toEqual(limits);
    expect(field("Payment", "status")).toEqual({
      type: "string",
      description: "PENDING, PROCESSING, SUCCEEDED, FAILED, REFUNDED; v1 may gain others.",
    });
    expect(field("CreateDeliveryTicket", "status")).toMatchObject({
      enum: ["DRAFT", "ISSUED", "SIGNED", "VOID"],
    });
    expect(field("UpdateFreightRate", "connectionId")).toEqual({ not: {} });
  });

  test("queries have their defaults", () => {
    const schemaOf = (operation: Operation, name: string) =>
      described(operation).parameters?.find((parameter) => parameter.name === name)?.schema;
    expect(schemaOf(operations.listInvoices, "role")).toMatchObject({ default: "issuer" });
    expect(schemaOf(operations.listRackPrices, "pageSize")).toEqual({
      type: "integer",
      minimum: 1,
      maximum: 500,
      default: 50,
    });
    expect(schemaOf(operations.listOrders, "updatedSince")).toEqual({
      type: "string",
      format: "date-time",
    });
  });
});

describe("the sandbox", () => {
  const sandbox = useSandbox();

  test("serves it with its own roots, and asks for no credentials", async () => {
    const answer = await fetch(new URL("/openapi.json", sandbox.urls().baseUrl));
    expect(answer.headers.get("content-type")).toContain("application/json");
    const roots = [{ url: "/v1/public" }, { url: "/v1" }];
    expect(await answer.json()).toEqual(JSON.parse(JSON.stringify(openApi(roots))));
  });
});
