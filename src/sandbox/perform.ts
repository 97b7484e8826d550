import type { z } from "zod";
import type { Json } from "../core/json.ts";
import { type Answer, invalid } from "./answer.ts";
import { iso } from "./clock.ts";
import type { PrintedDocument } from "./document.ts";
import type { Key } from "./keys.ts";
import type { Call } from "./operations/call.ts";
import { handlers } from "./operations/index.ts";
import type { Match } from "./routes.ts";
import type { World } from "./world.ts";

/** Checks a request against the contract and carries it out. @throws Refusal */
export function perform(
  world: World,
  key: Key,
  { name, operation, id }: Match,
  query: Readonly<Record<string, string>>,
  body: Json | undefined,
  now: number,
): Answer | PrintedDocument {
  if (operation.path.includes("{id}") && operation.textId !== true && !UUID.test(id))
    throw invalid("The id of the path is not a UUID.", [{ path: "id", message: "not a UUID" }]);
  const call: Call = {
    world,
    key,
    operation,
    now,
    at: iso(now),
    id,
    query: operation.query === undefined ? {} : checked(operation.query, query, "The query"),
    body: operation.body === undefined ? undefined : checked(operation.body, body, "The body"),
    raw: body ?? null,
  };
  const handle = handlers[name] as (call: Call) => Answer | PrintedDocument;
  return operation.method === "GET" ? world.lagging.read(now, () => handle(call)) : handle(call);
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function checked(schema: z.ZodType, value: unknown, what: string): unknown {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const issues = error.issues.map(({ path, message }) => ({ path: path.join("."), message }));
  const [first] = issues;
  throw invalid(
    first === undefined
      ? `${what} is not valid.`
      : `${what} is not valid: ${[first.path, first.message].filter(Boolean).join(": ")}.`,
    issues,
  );
}
