/**
 * A person corrects one field of a document in quarantine (ADR 0054). What was received stays as it is; the correction
 * is applied before the mapping at the next retry. Amounts, quantities and what names a document are not corrected here.
 */
import { corrected, type Leaf, leavesIn } from "../core/correction.ts";
import { Decimal } from "../core/decimal.ts";
import { type Json, parseExact } from "../core/json.ts";
import { revisionOf } from "../core/keys.ts";
import { isFinal } from "../core/request-state.ts";
import { endpointOf, type Engine, type Flow } from "../engine/engine.ts";
import { faultOf } from "../engine/freeze.ts";
import { referencesOf } from "../engine/looked-up.ts";
import { didYouMean } from "../config/problems.ts";
import { aboutOf } from "./about.ts";
import { whyNotCorrected } from "./correctable.ts";
import { type Chosen, select } from "./decisions.ts";
import type { Edited, Editing, Person } from "./desk.ts";
import { OfficeError } from "./office.ts";

/** @throws OfficeError for a field or value that cannot be corrected here, with where it can */
export function edit(
  engine: Engine,
  flows: readonly Flow[],
  selector: string,
  { field, value }: Editing,
  person: Person,
): Edited {
  const { store, clock } = engine;
  const chosen = onlyOne(select(engine, flows, selector), selector);
  const { row, flow } = chosen;
  expectUnsent(engine, chosen);
  const text = store.waits.text(row.delivery) ?? "";
  const received = recordOf(text);
  const leaf = leafOf(received, field, [row.recordId, row.number, row.version]);
  const was = textOf(leaf, chosen);
  const standing = store.corrections.standing(row.record);
  const before = corrected(text, standing);
  const old = standing.find((one) => one.field === field)?.value ?? was ?? "";
  if (value === old)
    throw new OfficeError(`${field} is "${value}" already.`, "Give the value that it should have.");
  const others = standing.filter((one) => one.field !== field);
  const after =
    value === (was ?? "")
      ? corrected(text, others)
      : corrected(text, [...others, { field, was, value }]);
  expectSame(chosen, field, { before, after });

  const revised = store.transaction(() => {
    const atMs = clock.now().wallMs;
    // As if the source had told it: the revision before and the content (ADR 0008).
    const known = store.deliveries.carried(row.delivery)?.revision ?? "";
    const revision = revisionOf(null, known, after);
    const { record, delivery } = row;
    const why = { who: person.by, reason: person.note, atMs };
    store.corrections.correct({ record, delivery, field, was, value, revision, ...why });
    const detail = `${field}: "${old}" is "${value}" now: ${person.note}`;
    store.journal.audit(atMs, { flow: flow.flow, delivery, event: "corrected", detail, person });
    return revision;
  });
  const still = stillWrong(engine, flow, after);
  return { delivery: String(row.delivery), field, was: old, value, revision: revised, still };
}

function onlyOne(chosen: readonly Chosen[], selector: string): Chosen {
  const [first] = chosen;
  if (first !== undefined && chosen.length === 1) return first;
  throw new OfficeError(
    `"${selector}" is ${chosen.length} deliveries, and a field is corrected in one document at a time.`,
    "Name one delivery by its number: `fuelbridge quarantine show GROUP` lists them.",
  );
}

/** @throws OfficeError for what was sent: the bytes that left are what counts */
function expectUnsent({ store }: Engine, { row, flow }: Chosen): void {
  const name = row.number ?? row.recordId;
  const state = row.request === null ? null : store.requests.get(row.request)?.machine.state;
  if (state === null || state === undefined || state === "rejected" || state === "cancelled")
    return;
  if (!isFinal(state))
    throw new OfficeError(
      `${name} was sent, and nobody knows yet whether it arrived, so it cannot be corrected.`,
      "Decide that first: look for it at the receiver; `fuelbridge quarantine resolve` when it is there, `retry` when it is not.",
    );
  throw new OfficeError(
    `${name} was delivered to "${endpointOf(flow.to)}", so it cannot be corrected here.`,
    "Correct it where it comes from: the newer version is taken by itself.",
  );
}

function recordOf(text: string): Json {
  try {
    return parseExact(text);
  } catch {
    throw new OfficeError(
      "The record could not be read, so it has no fields to correct.",
      "Correct it where it comes from: the corrected one is taken by itself.",
    );
  }
}

/** @throws OfficeError with fields of nearly that name that may be corrected */
function leafOf(record: Json, field: string, known: readonly (string | null)[]): Leaf {
  const leaves = leavesIn(record);
  const leaf = leaves.find((one) => one.field === field);
  if (leaf !== undefined) return leaf;
  const able = leaves.filter((one) => whyNotCorrected(one, known) === null);
  const names = able.map((one) => one.field);
  const ending = names.filter((name) => name.split(".").at(-1) === field).slice(0, NAMED_MAX);
  throw new OfficeError(
    `The document has no field "${field}".`,
    didYouMean(field, ending.length > 0 ? ending : names.slice(0, NAMED_MAX)),
  );
}

/** So many fields are named. */
const NAMED_MAX = 40;

/** @throws OfficeError when it is nothing that may be corrected here */
function textOf({ field, value }: Leaf, { row }: Chosen): string | null {
  const names = [row.recordId, row.number, row.version];
  const why = whyNotCorrected({ field, value }, names);
  if (why === null && (value === null || typeof value === "string")) return value;
  throw new OfficeError(
    `${field} cannot be corrected here: ${why}.`,
    "Correct it where it comes from: the corrected document is taken by itself.",
  );
}

/** @throws OfficeError when the record is worse with it, or says another amount or number */
function expectSame(
  { flow }: Chosen,
  field: string,
  { before, after }: { readonly before: string; readonly after: string },
): void {
  const schema = flow.mapping.input;
  const [old, now] = [before, after].map((text) => schema.safeParse(parseExact(text)));
  const refused = now?.success === false ? complaintAt(now.error.issues, field) : null;
  if (refused !== null)
    throw new OfficeError(
      `${field} does not take that value: ${refused}.`,
      "Give a value of the kind that the field had, and look at a document that went through.",
    );
  if (now?.success === true && valueAt(now.data, field) instanceof Decimal)
    throw new OfficeError(
      `${field} cannot be corrected here: it is an amount, a quantity or a price.`,
      "Correct it where it comes from: the corrected document is taken by itself.",
    );
  const [one, other] = [aboutOf(flow, before), aboutOf(flow, after)];
  const isKnown = old?.success === true && now?.success === true;
  const isSame =
    one.number === other.number &&
    one.currency === other.currency &&
    (one.amount?.plain() ?? null) === (other.amount?.plain() ?? null);
  if (isKnown && !isSame)
    throw new OfficeError(
      `${field} cannot be corrected here: the document would have another number, amount or currency.`,
      "Correct it where it comes from: the corrected document is taken by itself.",
    );
}

/** What the schema says against that field; null: nothing. Its places count from 0. */
function complaintAt(
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
  field: string,
): string | null {
  const found = issues.find(({ path }) => {
    const way = path.map((part) => (typeof part === "number" ? part + 1 : String(part))).join(".");
    return way === field;
  });
  return found === undefined ? null : found.message.replace(/\.$/, "");
}

function valueAt(value: unknown, field: string): unknown {
  let at = value;
  for (const part of field.split(".")) {
    if (typeof at !== "object" || at === null) return undefined;
    at = Array.isArray(at)
      ? (at as unknown[])[Number(part) - 1]
      : (at as Readonly<Record<string, unknown>>)[part];
  }
  return at;
}

/** What keeps it from being mapped even so; null: it goes out at the next retry, as far as can be told. */
function stillWrong(engine: Engine, flow: Flow, text: string): string | null {
  const record = flow.mapping.input.safeParse(parseExact(text));
  if (!record.success) {
    const [issue] = record.error.issues;
    return `${issue?.path.join(".") ?? "record"}: ${issue?.message ?? "does not fit"}`;
  }
  try {
    flow.mapping.map(record.data, referencesOf(engine, flow));
    return null;
  } catch (error) {
    return faultOf(error).message;
  }
}
