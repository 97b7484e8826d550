/** What people do in Tryton: wizards, by hand. */
import { accept } from "./books.ts";
import { allInvoices, type Desk, rows } from "./sink.fixture.ts";
import { TrytonWarning } from "./wire.ts";

type Run = readonly [name: string, model: string, ids: readonly number[], states: object];

async function run(desk: Desk, [name, model, ids, states]: Run): Promise<void> {
  const context = { active_model: model, active_id: ids[0], active_ids: ids };
  const call = <T>(step: string, ...params: unknown[]): Promise<T> =>
    desk.clerk.call<T>(`wizard.account.move.${name}.${step}`, params, { context });
  const [session] = await call<[number]>("create");
  const execute = () => call("execute", session, states, name === "cancel" ? name : "unreconcile");
  await execute().catch(async (error: unknown) => {
    if (!(error instanceof TrytonWarning)) throw error;
    await accept({ ...desk.books, tryton: desk.clerk }, [error.warning]);
    await execute();
  });
}

/** The lines of a move are settled with nothing any more. */
export async function unreconcile(desk: Desk, move: number): Promise<void> {
  const lines = await rows<{ id: number }>(desk, "account.move.line", [
    ["move", "=", move],
    ["reconciliation", "!=", null],
  ]);
  const ids = lines.map(({ id }) => id);
  if (ids.length > 0) await run(desk, ["unreconcile_lines", "account.move.line", ids, {}]);
}

/** As people take a payment back: then its move is cancelled. */
export async function takeBack(desk: Desk, move: number): Promise<void> {
  await unreconcile(desk, move);
  await run(desk, ["cancel", "account.move", [move], { default: { description: "bounced" } }]);
}

/** A wizard of one step, as a clerk uses it on one record. */
export async function wizard(
  { clerk }: Pick<Desk, "clerk">,
  name: string,
  state: string,
  values: object,
  [model, id]: readonly [string, number],
): Promise<void> {
  const context = { active_model: model, active_id: id, active_ids: [id] };
  const [session] = await clerk.call<[number]>(`wizard.${name}.create`, [], { context });
  await clerk.call(`wizard.${name}.execute`, [session, values, state], { context });
}

/** A credit note of the whole invoice; with a refund it is cancelled by it. */
export const creditInTryton = (desk: Desk, invoice: number, with_refund: boolean): Promise<void> =>
  wizard(desk, "account.invoice.credit", "credit", { start: { with_refund, invoice_date: null } }, [
    "account.invoice",
    invoice,
  ]).then(async () => {
    if (with_refund) return;
    const drafts = (await allInvoices(desk)).filter(({ state }) => state === "draft");
    await desk.clerk.call("model.account.invoice.post", [drafts.map(({ id }) => id)]);
  });
