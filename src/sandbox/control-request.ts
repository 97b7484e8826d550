import type { z } from "zod";
import { type Json, parseExact } from "../core/json.ts";
import type { Key } from "./keys.ts";
import { type Fields, isFields } from "./kinds.ts";
import type { World } from "./world.ts";

export interface ControlRequest {
  readonly method: string;
  /** Below the control root. */
  readonly path: string;
  readonly segments: readonly string[];
  readonly query: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a route says: an object, or JSON text in pieces. */
export interface Said {
  readonly status?: number;
  readonly answer?: object;
  readonly body?: Iterable<string>;
}

export interface ControlAnswer {
  readonly status: number;
  readonly body: Iterable<string>;
}

/** What a bad control request gets. */
export class ControlError extends Error {
  readonly status: 400 | 404;

  constructor(status: 400 | 404, message: string) {
    super(message);
    this.name = "ControlError";
    this.status = status;
  }
}

/** A key by its name. @throws ControlError */
export function keyOf(world: World, name: string): Key {
  const key = world.keys.get(name);
  if (key === null) throw new ControlError(400, `There is no key named ${name}.`);
  return key;
}

/** The body by a schema; none at all is an empty object. @throws ControlError */
export function parsed<T>(schema: z.ZodType<T>, request: ControlRequest): T {
  const { success, data, error } = schema.safeParse(readJson(request, JSON.parse));
  if (success) return data;
  const [issue] = error.issues;
  throw new ControlError(400, `${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`.trim());
}

/** The body as an object whose numbers keep their digits. @throws ControlError */
export function exactly(request: ControlRequest): Fields {
  const value = readJson(request, parseExact) as Json;
  if (!isFields(value)) throw new ControlError(400, "The body is not a JSON object.");
  return value;
}

function readJson({ body }: ControlRequest, parse: (text: string) => unknown): unknown {
  try {
    return body.trim() === "" ? {} : parse(body);
  } catch {
    throw new ControlError(400, "The body is not JSON.");
  }
}
