/** Tryton's JSON-RPC in a few lines of its own: what proves the connector must not lean on it. */
import { Decimal } from "../../src/core/decimal.ts";
import type { Books } from "../support/tryton.ts";
import { testedSeries } from "../support/tryton-releases.ts";

export interface Rpc {
  /** `account.invoice.create`, and its parameters without the trailing context. @throws Error with what Tryton says */
  call<Result>(method: string, ...params: readonly unknown[]): Promise<Result>;
  /** Every row there is of a model, oldest first. */
  rows<Row>(model: string, domain: readonly unknown[], ...fields: string[]): Promise<Row[]>;
  /** The id of the one row that says so. */
  one(model: string, field: string, value: string): Promise<number>;
  create(model: string, values: object): Promise<number>;
  /** A wizard's first step, with a form `start` or null for none, and more steps. `on`: the record it is called for. */
  wizard(
    name: string,
    step: string,
    start: object | null,
    on: readonly [string, number],
    ...more: readonly (readonly [string, object])[]
  ): Promise<void>;
}

export async function logIn(
  { url, database }: Pick<Books, "url" | "database">,
  { user, password }: Books["admin"],
): Promise<Rpc> {
  const ask = async (method: string, params: readonly unknown[], authorization?: string) => {
    const response = await fetch(`${url}/${database}/${testedSeries === "6.0" ? "" : "rpc/"}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(authorization && { authorization }) },
      body: JSON.stringify({ id: 1, method, params }, written),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method}: HTTP ${response.status}`);
    const { result, error } = JSON.parse(text, revived) as { result: unknown; error?: unknown };
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error).slice(0, 300)}`);
    return result;
  };
  const [id, key] = (await ask("common.db.login", [user, { password }, "en"])) as [number, string];
  const session = `Session ${Buffer.from(`${user}:${id}:${key}`).toString("base64")}`;
  const { company, employee } = (await ask(
    "model.res.user.get_preferences",
    [true, {}],
    session,
  )) as Record<string, unknown>;
  const own = { company, employee, language: "en" };
  const call = <Result>(method: string, params: readonly unknown[], context = {}) =>
    ask(method, [...params, { ...own, ...context }], session) as Promise<Result>;
  return {
    call: (method, ...params) => call(`model.${method}`, params),
    rows: (model, domain, ...fields) =>
      call(`model.${model}.search_read`, [domain, 0, null, [["id", "ASC"]], fields]),
    async one(model, field, value) {
      const found = await call<number[]>(`model.${model}.search`, [
        [[field, "=", value]],
        0,
        2,
        null,
      ]);
      if (found.length !== 1) throw new Error(`${found.length} of ${model} with ${field} ${value}`);
      return found[0] as number;
    },
    create: async (model, values) => (await call<[number]>(`model.${model}.create`, [[values]]))[0],
    async wizard(name, step, start, [active_model, active_id], ...more) {
      const context = { active_model, active_id, active_ids: [active_id] };
      const [session] = await call<[number]>(`wizard.${name}.create`, [], context);
      for (const [state, forms] of [[step, start === null ? {} : { start }] as const, ...more]) {
        const execute = () => call(`wizard.${name}.execute`, [session, forms, state], context);
        await execute().catch(async (error: unknown) => {
          // As people do who read the warning and go on.
          const [, warning] = /"UserWarning",\["([^"]+)"/.exec(String(error)) ?? [];
          if (warning === undefined || testedSeries === "6.0") throw error;
          await call("model.res.user.warning.skip", [warning, false]);
          await execute();
        });
      }
      await call(`wizard.${name}.delete`, [session], context);
    },
  };
}

/** What the first form of the pay wizard has in this release only. `party`: the invoice's. */
export const payForm = (party: number | undefined): object =>
  testedSeries === "6.0" ? { currency_digits: 2 } : { payee: party };

/** `2026-11-21` as Tryton takes it. */
export function day(text: string): object {
  const [year, month, day] = text.split("-").map(Number);
  return { __class__: "date", year, month, day };
}

const decimalOf = (value: Decimal): object => ({ __class__: "Decimal", decimal: value.text });

/** JSON.stringify has called toJSON already: the value as it was stands in its holder. */
function written(this: unknown, key: string, value: unknown): unknown {
  const original = (this as Record<string, unknown>)[key];
  return original instanceof Decimal ? decimalOf(original) : value;
}

function revived(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("__class__" in value)) return value;
  const { __class__: kind, decimal, year, month, day } = value as Record<string, unknown>;
  if (kind === "Decimal") return Decimal.of(String(decimal));
  if (kind !== "date") return value;
  return [year, month, day].map((part) => String(part).padStart(2, "0")).join("-");
}
