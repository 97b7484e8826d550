/** What the daemon and its clients on this machine agree on: where to find each other, what can be asked, and how. */
import { join } from "node:path";
import { z } from "zod";
import type { Office } from "./office.ts";

/** `admin.json` in the state folder: only who may read the store can talk to the daemon. */
export const Address = z.object({
  port: z.int().min(1).max(65_535),
  token: z.string().min(1),
  pid: z.int().positive(),
});
export type Address = z.infer<typeof Address>;

/** Records, and ids of the other side, that one question may ask for. */
const SAMPLES_MAX = 10_000;
export const COUNTERPARTS_MAX = 2_000;

export const addressFile = (stateFolder: string): string => join(stateFolder, "admin.json");

const text = z.string().min(1).max(1000);

const person = z.strictObject({ by: text, note: text });

const reconciling = z.strictObject({
  from: text.nullable(),
  to: text.nullable(),
  flow: text.nullable(),
  by: text,
});

const day = z.string().regex(/^\d{4}-\d{2}-\d{2}$/);
const backfilling = person.extend({ flow: text, from: text, to: text, share: z.number() });
const auditing = z.strictObject({
  from: day.nullable(),
  to: day.nullable(),
  after: z.int().min(0),
  people: z.boolean(),
});

const sampling = z.strictObject({
  flow: text,
  text: text.nullable(),
  last: z.int().min(1).max(SAMPLES_MAX),
});

const counterparts = z.strictObject({
  side: z.enum(["platform", "erp"]),
  asked: z.array(z.strictObject({ kind: text, id: text })).max(COUNTERPARTS_MAX),
});

/** Every question of an {@link Office} with its arguments; no other name can be called. */
export const questions = {
  status: z.tuple([]),
  budget: z.tuple([]),
  admit: z.tuple([]),
  toBook: z.tuple([]),
  notebook: z.tuple([text]),
  reconcileCost: z.tuple([reconciling]),
  reconcile: z.tuple([reconciling]),
  differences: z.tuple([]),
  trace: z.tuple([text]),
  samples: z.tuple([sampling]),
  counterparts: z.tuple([counterparts]),
  quarantine: z.tuple([]),
  quarantineShow: z.tuple([text, z.int().min(1).optional(), z.int().min(0).optional()]),
  retry: z.tuple([text, z.boolean().optional(), person.optional()]),
  resolve: z.tuple([
    text,
    z.strictObject({ by: text, note: text, receiverId: text.optional(), amount: text.optional() }),
  ]),
  assign: z.tuple([text, z.strictObject({ by: text, note: text, to: text.nullable() })]),
  remark: z.tuple([text, z.strictObject({ by: text, note: text })]),
  edit: z.tuple([text, z.strictObject({ field: text, value: z.string().max(1000) }), person]),
  audit: z.tuple([auditing]),
  backup: z.tuple([]),
  backfillCost: z.tuple([backfilling]),
  backfill: z.tuple([backfilling]),
  backfillBegin: z.tuple([backfilling]),
  backfills: z.tuple([]),
  auditHead: z.tuple([]),
  checkAudit: z.tuple([z.strictObject({ entry: z.int().min(1), hash: text }).nullable()]),
  runNow: z.tuple([text, person.optional()]),
  release: z.tuple([text, text, text.optional()]),
  documents: z.tuple([z.strictObject({ text: text.nullable(), before: text.nullable() })]),
  document: z.tuple([text]),
  lately: z.tuple([]),
  runs: z.tuple([]),
  deeds: z.tuple([text.nullable()]),
  pause: z.tuple([text, person]),
  goOn: z.tuple([text, person]),
  acceptList: z.tuple([text, person]),
  settleUnread: z.tuple([text, text, person]),
  tables: z.tuple([]),
  addRow: z.tuple([
    z.strictObject({ table: text, cells: z.record(text, z.string().max(1000)) }),
    person,
  ]),
  wasDone: z.tuple([
    z.enum(["user added", "user removed", "password changed", "logged in", "log-in failed"]),
    person,
  ]),
} satisfies Record<keyof Office, z.ZodType>;

export type Question = keyof typeof questions;

export const isQuestion = (name: string): name is Question => Object.hasOwn(questions, name);

export const Asked = z.object({ args: z.array(z.unknown()) });

/** `office`: an OfficeError. `failure`: anything else, in words. */
export const Refusal = z.object({
  error: z.object({
    kind: z.enum(["office", "failure"]),
    code: z.string(),
    message: z.string(),
    next: z.string(),
  }),
});
export type Refusal = z.infer<typeof Refusal>;
