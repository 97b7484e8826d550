/** Mappings that were renamed: a configuration may keep the old name, which nothing lists any more. */
import { type Document, type Group, isGroup } from "./document.ts";

/** The mappings of `tryton/` serve all books now. */
const presentName = (mapping: string): string => mapping.replace(/^tryton\//, "books/");

/** The same document, in which every flow names its mapping as it is called now. Places in the file stay the same. */
export const withPresentNames = (document: Document): Document => ({
  value: withFlows(document.value),
  problems: document.problems,
  scalars: document.scalars,
  place: (path, part) => document.place(path, part),
  broken: (path) => document.broken(path),
  source: (path) => document.source(path),
});

function withFlows(value: unknown): unknown {
  if (!isGroup(value) || !isGroup(value["flows"])) return value;
  const flows = Object.entries(value["flows"]).map(([name, flow]): [string, unknown] => {
    const mapping = isGroup(flow) ? flow["mapping"] : undefined;
    if (typeof mapping !== "string") return [name, flow];
    return [name, { ...(flow as Group), mapping: presentName(mapping) }];
  });
  return { ...value, flows: Object.fromEntries(flows) };
}
