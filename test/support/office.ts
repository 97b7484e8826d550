/** What people ask of an engine of the test's own. */
import { usualBudget } from "../../src/core/budget.ts";
import type { Daemon } from "../../src/engine/daemon.ts";
import type { Engine, Flow } from "../../src/engine/engine.ts";
import { monthReport } from "../../src/office/month.ts";
import { type Office, storeOffice as officeOver } from "../../src/office/questions.ts";
import type { OfficeParts } from "../../src/office/status.ts";

type Named = "engine" | "flows" | "daemon" | "version" | "startedAt";

/** Over a store, with the usual budget; of the rest what the test names. */
export function storeOffice(given: Pick<OfficeParts, Named> & Partial<OfficeParts>): Office {
  const { engine, flows } = given;
  const { store, clock } = engine;
  const spent = (month: string) => store.journal.spent(month);
  const month = { spent, store, clock, flows, budget: usualBudget, minute: () => null };
  const parts = {
    endpoints: new Map(),
    month: monthReport(month),
    trouble: () => null,
    warnings: () => [],
    auditor: { waiting: null },
    matcher: { alertAbove: null },
    nightly: null,
    backfills: { list: () => [] },
    ...given,
  };
  return officeOver(parts as unknown as OfficeParts);
}

/** `daemon`: null where none runs. */
export const officeOn = (engine: Engine, flows: readonly Flow[], daemon: Daemon | null = null) =>
  storeOffice({ engine, flows, daemon, version: "0", startedAt: new Date(0) });
