/** What the contract expects of the records of a list, for what the platform tells beyond it (src/core/shape.ts). */
import { z } from "zod";
import { Lookout, type Shape } from "../../core/shape.ts";
import type { Operation } from "./operation.ts";
import { type ListOperation, operations } from "./operations.ts";
import { knownIn } from "./primitives.ts";

/** A new one, which has seen no record yet. */
export function lookoutOf(list: ListOperation): Lookout {
  const { success }: Operation = operations[list];
  return new Lookout(shapeOf(success.data, "") ?? { fields: new Map() });
}

/** Null: nothing is known of what it has. */
function shapeOf(schema: unknown, prefix: string): Shape | null {
  const inner = bare(schema);
  if (inner instanceof z.ZodArray) return shapeOf(inner.element, prefix);
  if (!(inner instanceof z.ZodObject)) return null;
  const members = Object.entries<z.ZodType>(inner.shape);
  if (members.length === 0) return null;
  const fields = members.map(([name, member]) => {
    const path = `${prefix}${name}`;
    const isRequired = !(member instanceof z.ZodOptional || member instanceof z.ZodDefault);
    const own = { values: knownIn(bare(member)), inner: shapeOf(member, `${path}.`) };
    return [name, { path, isRequired, ...own }] as const;
  });
  return { fields: new Map(fields) };
}

/** Without what lets it be null or left out, or prepares it. */
function bare(schema: unknown): unknown {
  if (schema instanceof z.ZodPipe) return bare(schema.out);
  return schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault
    ? bare(schema.unwrap())
    : schema;
}
