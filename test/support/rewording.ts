/**
 * A plugin for Vitest that rewords every message of the product while its modules are loaded: what an object says under
 * one of {@link SAID}, and what an error is made with, goes through {@link reworded}. Not covered: texts in SQL, texts that
 * are handed on by position alone, the values of a difference, and what the command line prints.
 */
import { join } from "node:path";
import type { Plugin } from "vitest/config";

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [part: string]: unknown;
}

/** Names under which the product hands a text for people on. */
const SAID: ReadonlySet<unknown> = new Set(
  "message next detail cause why skip notices each last_error".split(" "),
);
/** What a delivery ended with; a document may have a note of its own, which is data. */
const NOTED = /\/src\/(?:engine|store|report)\//;
const PRODUCT = /\/(?:src|connectors|mappings)\/.*(?<!\.test)\.ts$/;
/** The platform's own words. */
const FOREIGN = /\/src\/sandbox\//;
const ERRORS = /(?:Error|Unavailable|Refused|Fault|Waiting|StoreInUse)$/;

export function rewording(): Plugin {
  const runtime = join(import.meta.dirname, "reworded.ts");
  return {
    name: "rewording",
    enforce: "pre",
    transform(code, file) {
      if (!PRODUCT.test(file) || FOREIGN.test(file)) return null;
      const names = NOTED.test(file) ? new Set([...SAID, "note"]) : SAID;
      const texts = textsIn(this.parse(code, { lang: "ts" }) as unknown as Node, names);
      return texts.length === 0
        ? null
        : `import { reworded as reworded__ } from ${JSON.stringify(runtime)}; ${wrapped(code, texts)}`;
    },
  };
}

/** Inner texts first, so that the ends of outer ones still fit: from the back, by where they begin. */
function wrapped(code: string, texts: readonly Text[]): string {
  const marks = texts.flatMap(({ start, end, name }) => [
    { at: start, order: start - end, text: `${name === null ? "" : `${name}: `}reworded__(` },
    { at: end, order: end - start, text: ")" },
  ]);
  let out = code;
  const fromTheBack = marks.toSorted((one, other) => other.at - one.at || other.order - one.order);
  for (const { at, text } of fromTheBack) out = out.slice(0, at) + text + out.slice(at);
  return out;
}

interface Text {
  readonly start: number;
  readonly end: number;
  /** Of a shorthand property, which becomes a whole one. */
  readonly name: string | null;
}

function textsIn(node: Node, names: ReadonlySet<unknown>): Text[] {
  if (node.type === "ObjectPattern") return [];
  const own = node.type === "ObjectExpression" ? saidIn(node, names) : [];
  const made = node.type === "NewExpression" ? madeWith(node) : [];
  const parts = Object.values(node).flatMap((part) => (Array.isArray(part) ? part : [part]));
  return [...own, ...made, ...parts.filter(isNode).flatMap((part) => textsIn(part, names))];
}

const isNode = (part: unknown): part is Node =>
  typeof part === "object" && part !== null && "type" in part && "start" in part;

function saidIn({ properties }: Node, names: ReadonlySet<unknown>): Text[] {
  return (properties as Node[]).flatMap((property) => {
    const { type, computed, shorthand, method, key, value } = property;
    if (type !== "Property" || computed === true || method === true) return [];
    const { name } = key as Node;
    if (!names.has(name)) return [];
    const { start, end } = value as Node;
    return [{ start, end, name: shorthand === true ? (name as string) : null }];
  });
}

/** Of `new Refused(...)` those arguments that are texts by their look; a code has no space. */
function madeWith({ callee, arguments: args }: Node): Text[] {
  const { name } = callee as Node;
  if (typeof name !== "string" || !ERRORS.test(name)) return [];
  return (args as Node[]).filter(isText).map(({ start, end }) => ({ start, end, name: null }));
}

function isText(node: Node): boolean {
  const { type, value, name, property } = node;
  if (type === "Literal") return typeof value === "string" && value.includes(" ");
  if (type === "Identifier") return SAID.has(name);
  if (type === "MemberExpression") return SAID.has((property as Node)["name"]);
  return type === "TemplateLiteral" || type === "ConditionalExpression";
}
