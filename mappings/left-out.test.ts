/**
 * A field of the platform's that no mapping brings over is a difference that nobody would see: it is mapped, or the
 * connector's README lists it under "What is not compared".
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Mapping } from "../src/core/contract.ts";
import { Decimal } from "../src/core/decimal.ts";
import { Refused } from "../src/core/errors.ts";
import { type Json, stringifyExact } from "../src/core/json.ts";
import { readCases } from "../src/mapping/cases.ts";
import { mappings } from "./index.ts";
import { everything } from "./references.fixture.ts";

type Path = readonly (string | number)[];

/** Every field of a schema; a list's by its first element. */
function pathsOf(schema: unknown, at: Path = []): Path[] {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodNullable)
    return pathsOf(schema.unwrap(), at);
  if (schema instanceof z.ZodOptional) return pathsOf(schema.unwrap(), at);
  if (schema instanceof z.ZodPipe) return pathsOf(schema.out, at);
  if (schema instanceof z.ZodArray) return pathsOf(schema.element, [...at, 0]);
  if (!(schema instanceof z.ZodObject) || Object.keys(schema.shape).length === 0) return [at];
  return Object.entries(schema.shape).flatMap(([name, part]) => pathsOf(part, [...at, name]));
}

function withValue(record: Json, [step, ...rest]: Path, value: Json): Json {
  if (step === undefined) return value;
  const inner = (record as Record<string | number, Json>)[step] as Json;
  const changed = withValue(inner, rest, value);
  return Array.isArray(record)
    ? [changed, ...(record as readonly Json[]).slice(1)]
    : { ...(record as object), [step]: changed };
}

/** Whatever the schema takes is tried. */
const OTHERS: readonly Json[] = [
  Decimal.of("7"),
  Decimal.of("8"),
  "OVERDUE",
  "ISSUED",
  "IN_TRANSIT",
  "2026-07-01T12:00:00Z",
  "2026-07-02T12:00:00Z",
  "00000000-0000-4000-8000-000000000009",
  "another text",
  { hazmat: false },
];

/** Our own company in the records of the cases. */
const companyIn = (record: Json): string => {
  const { companyId, supplierCompanyId } = record as Record<string, string>;
  return supplierCompanyId ?? companyId ?? "";
};

/** What becomes of a record: a document, or the text of a skip or a refusal; null: it is no such record. */
function mapped(mapping: Mapping, record: Json, us = companyIn(record)) {
  const input = mapping.input.safeParse(record);
  if (!input.success) return null;
  try {
    const out = mapping.map(input.data, everything(us)) as object;
    if ("skip" in out) return { text: stringifyExact(out), is: "other" };
    return { text: stringifyExact(mapping.output.parse(out)), is: "document" };
  } catch (error) {
    if (error instanceof Refused) return { text: error.message, is: "other" };
    throw error;
  }
}

/** The longest record of the cases that becomes a document, with a value in every field that the document bears. */
function fullRecord(mapping: Mapping): Json {
  const [format = "", name = ""] = mapping.name.split("/");
  const { cases } = readCases(join(import.meta.dirname, format, "cases", `${name}.json`));
  const [record] = cases
    .map((one) => one.record)
    .filter((one) => mapped(mapping, one)?.is === "document")
    .toSorted((one, other) => stringifyExact(other).length - stringifyExact(one).length);
  if (record === undefined) throw new Error(`no case of ${mapping.name} has a document`);
  return pathsOf(mapping.input).reduce<Json>((whole, path) => {
    const there = path.reduce<unknown>(
      (inside, step) =>
        (inside as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[step],
      whole,
    );
    if (there !== null && there !== undefined) return whole;
    const filled = OTHERS.map((value) => withValue(whole, path, value));
    return filled.find((one) => mapped(mapping, one)?.is === "document") ?? whole;
  }, record);
}

/** Fields of which no other value makes another document. */
function leftOut(mapping: Mapping): string[] {
  const record = fullRecord(mapping);
  const before = mapped(mapping, record)?.text;
  return pathsOf(mapping.input)
    .filter((path) =>
      OTHERS.map((value) =>
        mapped(mapping, withValue(record, path, value), companyIn(record)),
      ).every((after) => after === null || after.text === before),
    )
    .map((path) => path.filter((step) => step !== 0).join("."));
}

/** The fields in backticks of a row of the README's table. */
function listed(connector: string, name: string): string[] {
  const path = join(import.meta.dirname, `../connectors/${connector}/README.md`);
  const [, section = ""] = readFileSync(path, "utf8").split("## What is not compared");
  const row = section.split("\n").find((line) => line.startsWith(`| ${name} `)) ?? "";
  return [...row.matchAll(/`([^`]+)`/g)].map(([, field = ""]) => field);
}

test.each([
  ["files", "canonical/customer-invoices", "invoice"],
  ["files", "canonical/supplier-invoices", "bill"],
  ["files", "canonical/orders", "order"],
  ["files", "canonical/delivery-tickets", "ticket"],
  ["tryton", "books/customer-invoices", "invoice"],
  ["tryton", "books/supplier-invoices", "bill"],
  ["tryton", "books/orders", "order"],
  ["tryton", "books/delivery-tickets", "ticket"],
  ["tryton", "books/payments-received", "payment"],
  ["tryton", "books/payments-made", "payment"],
] as const)("%s: every field is mapped by %s, or the README lists it", (connector, name, kind) => {
  const mapping = mappings.find((one) => one.name === name);
  if (mapping === undefined) throw new Error(`no mapping ${name}`);
  expect(leftOut(mapping).toSorted()).toEqual(listed(connector, kind).toSorted());
});
