/** Tryton's wizards, as its clients use them: a session on one record, that is given back whatever happens in it. */
import type { Tryton } from "./wire.ts";

/** Fills in a form, by its name (`{ start: {…} }`), and goes to a state. */
export type Execute = <Answer>(form: object, state: string) => Promise<Answer>;

/** @param name `account.invoice.pay` @param record model and database id @throws TrytonError, what `run` throws */
export async function wizard(
  { call }: Pick<Tryton, "call">,
  name: string,
  [model, id]: readonly [string, number],
  run: (execute: Execute) => Promise<void>,
): Promise<void> {
  const context = { active_model: model, active_id: id, active_ids: [id] };
  const step = <T>(what: string, ...params: unknown[]): Promise<T> =>
    call<T>(`wizard.${name}.${what}`, params, { context });
  const [session] = await step<[number]>("create");
  try {
    await run((form, state) => step("execute", session, form, state));
  } finally {
    await step("delete", session).catch(() => {});
  }
}
