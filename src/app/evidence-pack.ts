/** The files of an evidence pack, the same for the command line and the console. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { type EvidenceAbout, evidenceOf, SUMS, sumsOf } from "../reconcile/evidence.ts";
import type { Office } from "../office/questions.ts";
import type { Report } from "../reconcile/report.ts";
import { findingsCsv, headOf } from "../views/match.ts";
import { reportText } from "../views/reconciliation.ts";
import { filesBelow } from "./configuration.ts";
import { version } from "./process.ts";

type Matching = Awaited<ReturnType<Office["findings"]>>;

/** By name, the sums included. `at`: ISO 8601 UTC. @throws FuelbridgeError as the journals */
export function packOf(
  config: Config,
  report: Report,
  { by, at, audit }: Pick<EvidenceAbout, "by" | "at" | "audit">,
  matching: Matching,
): Readonly<Record<string, string>> {
  const about: EvidenceAbout = {
    company: config.company,
    environment: config.platform.environment,
    version,
    at,
    by,
    audit,
    mappings: mappingsOf(config),
  };
  const files = {
    ...evidenceOf(report, about, reportText(report)),
    ...findingsOf(report, matching),
  };
  return { ...files, [SUMS]: sumsOf(files) };
}

/** What papers of the period were found to differ in, those that people have settled among them. */
function findingsOf(
  { period }: Report,
  { last, trouble, findings }: Matching,
): Record<string, string> {
  const own = findings.filter(
    ({ day }) => period === null || (day >= period.from && day <= period.to),
  );
  const settled = own
    .filter(({ state }) => state !== "open")
    .map(({ key, state, cause, note }) => `${state}: ${key}: ${cause} (${note ?? ""})\n`);
  const head =
    last === null ? "Papers were never matched.\n" : `${last.at}: ${headOf(last.report)}\n`;
  return {
    "match.csv": findingsCsv(own),
    "match.txt": [
      head,
      ...(trouble === null ? [] : [`${trouble.at}: not compared: ${trouble.message}\n`]),
      ...(last?.report.notCompared ?? []).map((one) => `Not compared: ${one}\n`),
      ...settled,
    ].join(""),
  };
}

function mappingsOf(config: Config): EvidenceAbout["mappings"] {
  const own = config.mappingsFolder;
  return {
    flows: config.flows.map(({ name, from, to, mapping, options }) => ({
      flow: name,
      from: `${from.endpoint}.${from.name}`,
      to: `${to.endpoint}.${to.name}`,
      mapping,
      options: options ?? null,
    })),
    digests: {
      "shipped mappings": digestOfFolder(join(import.meta.dirname, "..", "..", "mappings")),
      ...(own === null ? {} : { "site's mappings": digestOfFolder(own) }),
      "cross-reference tables": digestOfFolder(config.crossReferences),
    },
  };
}

/** Of the names and bytes of {@link filesBelow} it. */
function digestOfFolder(folder: string): string {
  const hash = createHash("sha256");
  for (const name of filesBelow(folder))
    hash.update(name.slice(folder.length)).update(readFileSync(name));
  return hash.digest("hex");
}
