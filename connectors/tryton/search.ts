/** Fields by their names, and database ids of Tryton, inactive records too. */
import { PAGE_RECORDS } from "../../src/books/holdings.ts";
import type { Books } from "./books.ts";

/** Of `number lines(amount product.code)`: `number`, `lines.amount`, `lines.product.code`. */
export const fieldsIn = (names: string): string[] =>
  names
    .replaceAll(/(\S+)\(([^)]*)\)/g, (_, part: string, of: string) =>
      of.trim().replaceAll(/\S+/g, (name) => `${part}.${name}`),
    )
    .trim()
    .split(/\s+/);

/** The first {@link PAGE_RECORDS} after an id, of those in a domain. @throws TrytonError */
export const idsIn =
  ({ tryton }: Books, model: string, domain: readonly unknown[] = []) =>
  (id: number, signal: AbortSignal): Promise<number[]> =>
    tryton.call<number[]>(
      `model.${model}.search`,
      [[["id", ">", id], ...domain], 0, PAGE_RECORDS, [["id", "ASC"]]],
      { context: { active_test: false }, signal },
    );

/** Those with one of these values in a field. @throws TrytonError */
export const idsNamed =
  ({ tryton }: Books, model: string, field: string) =>
  (values: readonly string[], signal: AbortSignal): Promise<number[]> =>
    tryton.call<number[]>(
      `model.${model}.search`,
      [[[field, "in", values]], 0, null, [["id", "ASC"]]],
      { context: { active_test: false }, signal },
    );
