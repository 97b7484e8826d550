/** How a mapping is written: with the options of its flow as a last argument. */
import type { z } from "zod";
import type { Mapping, References, Skip } from "./contract.ts";

/** A mapping as it is written: what reads the options of the flow gets them as its last argument. */
export interface WrittenMapping<In, Out, Options, Name extends string = string> extends Omit<
  Mapping<In, Out>,
  "name" | "number" | "map" | "tables" | "options" | "using"
> {
  readonly name: Name;
  readonly options?: z.ZodType<Options>;
  readonly tables?: Mapping["tables"] | ((options: Options) => Mapping["tables"]);
  number(record: In, options: Options): string;
  /** @throws Refused, NotMapped, WaitsFor */
  map(record: In, references: References, options: Options): Out | Skip;
}

/** Until a flow sets options, those hold that its schema makes of none. */
export function defineMapping<In, Out, Options = unknown, const Name extends string = string>(
  written: WrittenMapping<In, Out, Options, Name>,
): Mapping<In, Out> & { readonly name: Name } {
  const { options: schema, tables, ...rest } = written;
  const using = (options: Options) => {
    const needed = typeof tables === "function" ? tables(options) : tables;
    return {
      ...rest,
      number: (record: In) => written.number(record, options),
      map: (record: In, references: References) => written.map(record, references, options),
      ...(needed === undefined ? {} : { tables: needed }),
      ...(schema === undefined ? {} : { options: schema, using }),
    };
  };
  return using((schema?.safeParse({}).data ?? {}) as Options);
}
