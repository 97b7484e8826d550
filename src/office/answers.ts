/** What the office answers: the types follow from the functions that make the answers. */
import type { knownDifferences, FlowStatus, monthEnd, Status } from "./status.ts";
import type { auditPage, looksOf, shownTables, backfillState, reconcileCost } from "./people.ts";
import type { Backfills } from "../engine/backfill.ts";
import type { edit } from "./decisions.ts";
import type { documentsOf, lifeOf, Story } from "./documents.ts";
import type { MonthReport } from "./month.ts";
import type { correctionsOf, shownGroup } from "./quarantine.ts";

export type { Field } from "../engine/about.ts";
export type { TraceStep } from "./documents.ts";
export type { FlowStatus, Status, Stop, Warning } from "./status.ts";

/** `groups`: the quarantine groups that it is in now. */
export interface Trace extends Story {
  readonly number: string;
}

export type Caller = Status["callers"][number];
export type DriftStatus = Status["drift"][number];
export type Unread = FlowStatus["unread"][number];
export type MonthEnd = ReturnType<typeof monthEnd>;
export type MonthStatus = ReturnType<MonthReport["status"]>;
export type KnownDifferences = ReturnType<typeof knownDifferences>;
export type KnownDifference = KnownDifferences["differences"][number];
export type ReconcileCost = ReturnType<typeof reconcileCost>;
export type BackfillState = ReturnType<typeof backfillState>;
export type BackfillCost = Awaited<ReturnType<Backfills["cost"]>>;
export type ShownGroup = ReturnType<typeof shownGroup>;
export type QuarantineGroup = Omit<ShownGroup, "deliveries">;
export type Quarantined = ShownGroup["deliveries"][number];
export type ShownCorrection = ReturnType<typeof correctionsOf>[number];
export type Found = ReturnType<typeof documentsOf>;
export type FoundDocument = Found["documents"][number];
export type Life = ReturnType<typeof lifeOf>;
export type SentRequest = Life["requests"][number];
export type Edited = ReturnType<typeof edit>;
export type Look = ReturnType<typeof looksOf>[number];
export type ShownTable = ReturnType<typeof shownTables>[number];
export type AuditEntry = ReturnType<typeof auditPage>["entries"][number];
