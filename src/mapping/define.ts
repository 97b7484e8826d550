/** Mappings that a site defines: checked where they are defined, so that a mistake is told with its line. */
import { shipped } from "../../mappings/index.ts";
import { kinds as knownKinds } from "../core/kinds.ts";
import { defineMapping as define, type Mapping, type WrittenMapping } from "../core/contract.ts";
import { MappingMistake } from "./mistake.ts";
import { expectParts, mappingParts } from "./parts.ts";

const NAME = /^[a-z0-9][a-z0-9-]*\/[a-z0-9][a-z0-9-]*$/;

/** Where each mapping of a site was defined: a stack whose first frame in the site's folder is that line. */
const defined = new WeakMap<object, string>();

/** The stack of the call that defined it; null: neither `defineMapping` nor `extend` made it. */
export const definedAt = (value: unknown): string | null =>
  typeof value === "object" && value !== null ? (defined.get(value) ?? null) : null;

/**
 * A mapping of the site's own: one kind of record in, one kind of document out.
 * @throws MappingMistake when a part of it is missing, or does not go with the shipped mappings to the same sink
 */
export function defineMapping<In, Out, Options = unknown, const Name extends string = string>(
  written: WrittenMapping<In, Out, Options, Name>,
): Mapping<In, Out> & { readonly name: Name } {
  expectWhole(written as WrittenMapping<unknown, unknown, unknown>);
  return remembered(define(written));
}

/** @throws MappingMistake for a name that no site's mapping may have */
export function expectName(name: unknown): void {
  if (typeof name !== "string" || !NAME.test(name))
    throw new MappingMistake(
      `the name ${JSON.stringify(name)} is no name of a mapping`,
      'Write FOLDER/NAME in lower-case letters, digits and hyphens, for example "site/invoices".',
    );
  if (shipped.some((one) => one.name === name))
    throw new MappingMistake(
      `the mapping ${name} comes with fuelbridge`,
      'Take another name, for example one that begins with "site/", and name it in the flow.',
    );
}

/** @returns the mapping, with the place that it is defined at kept for {@link definedAt} */
export function remembered<Made extends object>(mapping: Made): Made {
  defined.set(mapping, new Error("defined here").stack ?? "");
  return mapping;
}

function expectWhole(written: WrittenMapping<unknown, unknown, unknown>): void {
  expectParts(mappingParts, written);
  expectName(written.name);
  const { name, kind, writes, posts } = written;
  if (!Object.hasOwn(knownKinds, kind))
    throw new MappingMistake(
      `the mapping ${name} is of the kind ${kind}, which fuelbridge does not know`,
      `Write one of: ${Object.keys(knownKinds).join(", ")}. Links are kept by kind.`,
    );
  const alike = shipped.filter((one) => one.writes === writes);
  const kinds = new Set<string>(alike.map((one) => one.kind));
  if (alike.length > 0 && !kinds.has(kind))
    throw new MappingMistake(
      `the mapping ${name} writes to ${writes} and is of the kind ${kind}`,
      `Write kind: "${[...kinds].join('" or "')}". Links are kept by kind: a document of another kind would be delivered a second time.`,
    );
  if (posts !== true && alike.some((one: Mapping) => one.kind === kind && one.posts === true))
    throw new MappingMistake(
      `the mapping ${name} writes to ${writes} without posts: true`,
      "Add posts: true. It keeps an amount that changes after posting from being overwritten.",
    );
}
