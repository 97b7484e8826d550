/** Layouts of records and documents that have a schema already: its fields are the layout's. */
import { z } from "zod";
import type { CellType } from "../cells.ts";
import type { Field, Fields, Layout } from "./table.ts";

/** Which schemas are more than text. */
export type Types = ReadonlyMap<z.ZodType, CellType>;

export function fromSchema<R>(
  schema: z.ZodType<R>,
  types: Types,
  rest: Pick<Layout<R>, "name" | "restates" | "key">,
): Layout<R> {
  const shape = Object.entries((schema as unknown as z.ZodObject).shape);
  const lists = shape.filter(([, one]) => one instanceof z.ZodArray);
  const head = shape.filter(([, one]) => !(one instanceof z.ZodArray));
  return {
    ...rest,
    head: fieldsOf(head, types),
    lists: Object.fromEntries(
      lists.map(([name, list]) => {
        const { shape } = (list as z.ZodArray<z.ZodObject>).element;
        return [name, fieldsOf(Object.entries(shape), types)];
      }),
    ),
    optional: [],
    record: schema,
  };
}

const fieldsOf = (shape: readonly (readonly [string, z.ZodType])[], types: Types): Fields =>
  Object.fromEntries(shape.map(([name, schema]) => [name, fieldOf(schema, types)]));

function fieldOf(schema: z.ZodType, types: Types): Field {
  const type = typeOf(schema, types);
  if (schema.safeParse(null).success || schema.safeParse(undefined).success)
    return { type, filled: false, schema };
  return type === "text" && schema.safeParse("").success
    ? { type, filled: false, blank: true, schema }
    : { type, filled: true, schema };
}

function typeOf(schema: z.ZodType, types: Types): CellType {
  const known = types.get(schema);
  if (known !== undefined) return known;
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional)
    return typeOf(schema.unwrap() as z.ZodType, types);
  if (schema instanceof z.ZodDefault) return typeOf(schema.unwrap() as z.ZodType, types);
  return schema instanceof z.ZodBoolean ? "flag" : "text";
}
