import type { Operation } from "../platform/contract/operation.ts";
import { type OperationId, operations } from "../platform/contract/operations.ts";

export interface Match {
  readonly name: OperationId;
  readonly operation: Operation;
  /** The decoded `{id}`, or nothing. */
  readonly id: string;
}

const routes = (Object.entries(operations) as [OperationId, Operation][]).map(
  ([name, operation]) => {
    const pattern = new RegExp(`^${operation.path.replace("{id}", "([^/]+)")}$`);
    return { name, operation, pattern };
  },
);

/** Null for a path or method that the contract does not have: both are 404 (readings). */
export function matchRoute(method: string, path: string): Match | null {
  for (const { name, operation, pattern } of routes) {
    if (operation.method !== method) continue;
    const found = pattern.exec(path);
    const id = found === null ? null : decoded(found[1] ?? "");
    if (id !== null) return { name, operation, id };
  }
  return null;
}

function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
