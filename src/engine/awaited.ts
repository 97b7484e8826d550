/** The cause of a document that waits for another one, and how it hears what became of that. */
import type { FaultCode } from "../core/faults.ts";
import type { Fault } from "../core/record.ts";
import { WaitsFor } from "../core/errors.ts";
import type { Engine, Flow } from "./engine.ts";
import { otherId } from "../store/deliveries.ts";
import { howToGoOn } from "./schedule.ts";

/** The cause of a document that `flow` cannot deliver before the document it names is. */
export function awaitedFault(engine: Engine, flow: Flow, { kind, id, fault }: WaitsFor): Fault {
  const bringing = engine.flows.filter((one) => one.mapping.kind === kind);
  const same = bringing.find(({ side }) => side === flow.side);
  const other = bringing.find(({ side }) => side !== flow.side);
  const found = same === undefined ? null : engine.store.openRecords.newest(same.flow, id);
  const closed = found?.closed ?? null;
  if (closed !== null) return endedFault(fault, kind, { closed });
  // The other side's documents are numbered by the ERP too: then it may be one of those, and on its way here.
  if (other !== undefined && (same === undefined || flow.side === "erp")) return fault;
  const because = (code: FaultCode, why: string, next: string): Fault => ({
    ...fault,
    code,
    message: `${fault.message}, ${why}`,
    next,
  });
  if (same === undefined)
    return because(
      "waits-without-flow",
      `and no flow delivers any ${kind}`,
      `Add a flow that delivers each ${kind}, or enter this by hand and close it here.`,
    );
  const skipped = found?.skipped ?? null;
  if (skipped !== null) return endedFault(fault, kind, { skipped });
  if (found === null && same.paused)
    return because(
      "waits-without-flow",
      `and the flow "${same.name}" is paused`,
      `${howToGoOn(engine, same)} This goes out by itself once the ${kind} is delivered.`,
    );
  if (found === null && hasRead(engine, same))
    return because(
      "waits-for-unread",
      `which the flow "${same.name}" has not read`,
      `It goes out by itself once the ${kind} is delivered. If it stays: the ${kind} is not in what ${same.from} tells; see to it there, or enter this by hand and close it here.`,
    );
  return fault;
}

/** Why a document ended without being delivered: by a rule, or by a person, who said this. */
type Undelivered = { readonly skipped: string } | { readonly closed: string };

/**
 * What waits for this record hears at once how it ended, and that it no longer has. Call it inside the transaction that
 * stores that. `ended`: null where it is to be delivered after all.
 */
export function tellWaiting(
  { store }: Engine,
  { mapping: { kind }, side }: Flow,
  recordId: string,
  ended: Undelivered | null,
  at: number,
): void {
  const link = store.links.find(kind, side, recordId);
  for (const waiting of store.causes.waitingFor(
    kind,
    recordId,
    link === null ? recordId : otherId(link, side),
  )) {
    const { fault } = new WaitsFor(kind, recordId);
    // What it was delivered as before stands.
    if (ended !== null && link !== null) store.deliveries.reopen(waiting);
    else store.causes.add(waiting, ended === null ? fault : endedFault(fault, kind, ended), at);
  }
}

/** A rule may come to another result by itself; what a person closed, a person has closed for what waits for it, too. */
function endedFault(fault: Fault, kind: string, ended: Undelivered): Fault {
  const [code, why, next]: readonly [FaultCode, string, string] =
    "skipped" in ended
      ? [
          "waits-for-skipped",
          `which is skipped: ${ended.skipped}`,
          `The ${kind} is not delivered for that reason. Change that where it comes from, or in the configuration: then the ${kind} is delivered, and this goes out by itself. Or enter this by hand and close it here.`,
        ]
      : [
          "waits-for-closed",
          `which was closed by hand (${ended.closed})`,
          `The ${kind} will not be delivered: enter this by hand as well, then close it here. Only a newer version of the ${kind} that is delivered lets this go out by itself.`,
        ];
  return { ...fault, code, message: `${fault.message}, ${why}`, next };
}

/** Its last reading ended without an error. */
function hasRead({ store }: Engine, { name }: Flow): boolean {
  const row = store.flows.find(name);
  return row !== null && row.last_run_ms !== null && row.last_error === null;
}
