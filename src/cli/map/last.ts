/** `fuelbridge map FLOW --last 1000`: what the mapping, as it is now, would make of what is stored. */
import type { Item, References, Sink } from "../../core/contract.ts";
import { Refused } from "../../core/errors.ts";
import { parseExact } from "../../core/json.ts";
import { isContentOf } from "../../engine/content.ts";
import { changedFields, type ChangedField } from "../../mapping/differences.ts";
import { explain } from "../../mapping/explain.ts";
import type { Sample } from "../../store/queries.ts";
import type { Answer } from "../answer.ts";
import { openLooking } from "../../app/looking.ts";
import { counted, table } from "../../views/table.ts";
import { fromStore, type OpenMapping, withLinks } from "./mapping.ts";

/**
 * `same`: the document that was sent last. `changed`: another one. `new`: nothing was sent of it, and now it would be.
 * `newer`: the record itself has changed since. `skipped`, `refused`: no document; of what was sent, that is a change.
 */
type Verdict = "same" | "changed" | "new" | "newer" | "skipped" | "refused";

interface Judged {
  readonly verdict: Verdict;
  readonly id: string;
  readonly number: string | null;
  /** It was sent before. */
  readonly sent: boolean;
  /** Of a changed one; null: sent with others, and they cannot be told apart. */
  readonly fields: readonly ChangedField[] | null;
  /** Why it is skipped or refused; else empty. */
  readonly reason: string;
}

export async function mapLast(file: string, opened: OpenMapping, count: number): Promise<Answer> {
  const { config, flow } = opened;
  const endpoints = await openLooking(config, NOBODY_ASKS);
  try {
    const sink = endpoints.get(flow.to.endpoint)?.sinks[flow.to.name] as Sink;
    const judged = await fromStore(file, config, async (office) => {
      const samples = (await office?.samples({ flow: flow.name, text: null, last: count })) ?? [];
      const counterparts = await counterpartsOf(samples, opened, office);
      return withLinks(office, opened, (find) =>
        samples.map((sample, at) =>
          judge(opened, sink, { sample, find, counterpart: counterparts[at] ?? null }),
        ),
      );
    });
    const counts = Object.fromEntries(
      [...Map.groupBy(judged, ({ verdict }) => verdict)].map(([name, of]) => [name, of.length]),
    );
    const differing = judged.filter(isDifferent);
    const data = {
      flow: flow.name,
      mapping: opened.mapping.name,
      looked: judged.length,
      counts,
      differing,
    };
    return { data, text: inWords(data, differing) };
  } finally {
    for (const endpoint of endpoints.values()) await endpoint.close();
  }
}

/** What a receiver calls a document enters some of the bytes that are sent to it. */
const counterpartsOf = (
  samples: readonly Sample[],
  opened: OpenMapping,
  office: Parameters<typeof withLinks>[0],
): Promise<(string | null)[]> =>
  withLinks(office, opened, (find) => samples.map(({ id }) => find(opened.mapping.kind, id)));

/** Nothing is asked of the platform here. */
const NOBODY_ASKS = {
  admit: () => Promise.reject(new Error("fuelbridge map asks the platform nothing")),
  learn: () => {},
};

interface About {
  readonly sample: Sample;
  readonly find: References["find"];
  readonly counterpart: string | null;
}

function judge(
  { mapping, flow, references }: OpenMapping,
  sink: Sink,
  { sample, find, counterpart }: About,
): Judged {
  const { id, text, revision, sent } = sample;
  const { number, outcome } = explain(mapping, parseExact(text), {
    references: references(find),
    options: flow.options,
  });
  const about = { id, number, sent: sent !== null, fields: [], reason: "" };
  if (outcome.is === "skipped") return { ...about, verdict: "skipped", reason: outcome.reason };
  if (outcome.is === "refused") {
    const { code, message } = outcome.fault;
    return { ...about, verdict: "refused", reason: `${code}: ${message}` };
  }
  if (sent === null) return { ...about, verdict: "new" };
  if (!sent.newest) return { ...about, verdict: "newer" };
  const received = sink.concerns?.(outcome.document) ?? outcome.document;
  if (isContentOf(received, sent.content)) return { ...about, verdict: "same" };
  const item: Item = {
    number: number ?? "",
    id,
    revision,
    document: outcome.document,
    counterpart,
  };
  try {
    return { ...about, verdict: "changed", fields: changedFields(sent, sink.freeze([item]).body) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { ...about, verdict: "refused", reason: `${error.fault.code}: ${error.fault.message}` };
  }
}

/** What would go out otherwise than it went before, or not at all any more. */
const isDifferent = ({ verdict, sent }: Judged): boolean =>
  verdict === "changed" || verdict === "new" || (sent && verdict !== "same" && verdict !== "newer");

const SHOWN_MAX = 50;

function inWords(
  {
    flow,
    mapping,
    looked,
    counts,
  }: {
    readonly flow: string;
    readonly mapping: string;
    readonly looked: number;
    readonly counts: Readonly<Record<string, number>>;
  },
  differing: readonly Judged[],
): string {
  const rows = differing.slice(0, SHOWN_MAX).flatMap(({ verdict, id, number, fields, reason }) => {
    const name = number ?? id;
    if (verdict !== "changed") return [[name, verdict, reason || "it was not sent before", "", ""]];
    if (fields === null) return [[name, verdict, "it went with others in one request", "", ""]];
    return fields.map(({ field, before, now }) => [
      name,
      verdict,
      field,
      before ?? "-",
      now ?? "-",
    ]);
  });
  const each = Object.entries(counts).map(([verdict, count]) => `${count} ${verdict}`);
  return [
    `${counted(looked, "stored record")} of the flow ${flow} with the mapping ${mapping}: ${each.join(", ") || "none"}.`,
    ...(rows.length === 0
      ? ["Nothing would differ from what was sent."]
      : ["", table(["NUMBER", "VERDICT", "FIELD", "SENT", "NOW"], rows)]),
    ...(differing.length > SHOWN_MAX
      ? ["", `${differing.length - SHOWN_MAX} more differ; --json has them all.`]
      : []),
  ].join("\n");
}
