import type { Command } from "commander";
import { faultOfDay } from "../core/time.ts";
import { ConfigurationError, exitCodes, EnvironmentError } from "../core/errors.ts";
import { sha256Hex } from "../core/keys.ts";
import { counted } from "../core/text.ts";
import type { AuditEntry } from "../office/answers.ts";
import type { Office } from "../office/questions.ts";
import type { Answer } from "./answer.ts";
import { ask, askOf } from "../app/ask.ts";
import { addCommand, thisPerson } from "./command.ts";
import { table, type Table } from "../views/blocks.ts";
import { asCsv } from "../views/csv.ts";
import { lined } from "../views/text.ts";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { ABOUT, SUMS, verified } from "../reconcile/evidence.ts";
import { agreementOf } from "../views/reconciliation.ts";
import type { AuditHead } from "../office/asked.ts";
import { loadConfiguration } from "../app/configuration.ts";
import { packOf } from "../app/evidence-pack.ts";

/** One row for each entry, for spreadsheets; with `--json` the same as a list. */
export function audit(program: Command): void {
  addCommand(program, "audit", "who did what, when and why, as CSV", async (given) => {
    const { from = null, to = null, head } = given.options;
    if (given.options["verify"] !== undefined) return checked(given.file, head ?? null);
    for (const day of [from, to]) expectDay(day);
    const people = given.options["people"] !== undefined;
    const entries = await ask(given.file, (office) => all(office, { from, to, people }));
    return { data: given.json ? { entries } : null, text: asCsv(auditTable(entries)) };
  })
    .option("--from <day>", "the first day (default: the first entry's)")
    .option("--to <day>", "the last day (default: today)")
    .option("--people", "what people decided alone")
    .option("--verify", "is every entry as it was written? names the first that is not")
    .option("--head <entry:hash>", "with --verify: the newest entry as it was noted earlier");
}

/** Exit 0 only when all entries are as they were written, and the one that was noted is among them. */
async function checked(file: string, head: string | null): Promise<Answer> {
  const noted = head === null ? null : /^(\d{1,15}):([0-9a-f]{64})$/.exec(head);
  if (head !== null && noted === null)
    throw new ConfigurationError(
      `"${head}" is not the head of an audit.`,
      "Give it as `fuelbridge audit --verify` printed it: the entry's number, a colon and its hash.",
    );
  const asked = noted === null ? null : { entry: Number(noted[1]), hash: noted[2] ?? "" };
  const found = await ask(file, (office) => office.checkAudit(asked));
  const { entries, broken } = found;
  const text =
    broken === null
      ? lined(
          `All ${counted(entries, "entry", "entries")} of the audit are as they were written.`,
          found.head && `Head, to be noted elsewhere: ${found.head.entry}:${found.head.hash}`,
        )
      : lined(
          broken.how === "missing"
            ? `Entry ${broken.entry} of the audit is missing; those before it are as they were written.`
            : `Entry ${broken.entry} of the audit is not as it was written; those before it are.`,
          "  next: Somebody wrote into the store by hand. Keep it, and compare it with a backup: `fuelbridge audit` lists both.",
        );
  return {
    data: found,
    text,
    exitCode: broken === null ? exitCodes.ok : exitCodes.runtime,
  };
}

interface Asked {
  readonly from: string | null;
  readonly to: string | null;
  readonly people: boolean;
}

async function all(office: Office, asked: Asked): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for (let after: number | null = 0; after !== null;) {
    const page = await office.audit({ ...asked, after });
    entries.push(...page.entries);
    after = page.next;
  }
  return entries;
}

const auditTable = (entries: readonly AuditEntry[]): Table =>
  table("", entries, [
    ["entry", ({ entry }) => entry],
    ["at", ({ at }) => at],
    ["who", ({ who }) => who ?? "fuelbridge"],
    ["what", ({ event }) => event],
    ["flow", ({ flow }) => flow ?? ""],
    ["number", ({ number }) => number ?? ""],
    ["delivery", ({ delivery }) => delivery ?? ""],
    ["request", ({ request }) => request ?? ""],
    ["detail", ({ detail }) => detail],
    ["why", ({ reason }) => reason ?? ""],
  ]);

/** @throws ConfigurationError */
function expectDay(day: string | null): void {
  const fault = day === null ? null : faultOfDay(day);
  if (fault !== null)
    throw new ConfigurationError(
      `"${day}" ${fault}.`,
      "Give days as 2026-11-22, with --from and --to.",
    );
}

/** A pack for auditors: a folder of files with their SHA-256 sums. */
export function evidence(program: Command): void {
  const parent = program.command("evidence").description("what both sides hold, for an auditor");
  addCommand(
    parent,
    "make <folder>",
    "reconcile a period and write rows, totals, journals and sums into a new folder",
    ({ file, args: [folder = ""], options }) =>
      make(file, folder, { from: options["from"] ?? null, to: options["to"] ?? null }),
  )
    .option(
      "--from <day>",
      "the first day (default: the first of this month; up to the 10th, of the month before)",
    )
    .option("--to <day>", "the last day (default: today)");
  addCommand(
    parent,
    "verify <folder>",
    "is every file as it was when the pack was made?",
    async ({ file, args: [folder = ""], options }) =>
      verify(folder, options["seal"] ?? null, options["audit"] === undefined ? null : file),
  )
    .option("--seal <sha256>", "the seal that was noted then")
    .option("--audit", "is the store's audit as it was then, too? asks the store of --config");
}

type Days = { readonly from: string | null; readonly to: string | null };

/** @throws EnvironmentError when the folder has files, or cannot be written */
async function make(file: string, folder: string, { from, to }: Days): Promise<Answer> {
  const path = resolve(folder);
  if (existsSync(path) && readdirSync(path).length > 0)
    throw new EnvironmentError(`${path} has files already.`, "Name a new folder, or an empty one.");
  const config = await loadConfiguration(file);
  const by = thisPerson();
  const { report, audit, matching } = await askOf(
    config,
    async (office) => ({
      report: await office.reconcile({ from, to, flow: null, by }),
      audit: await office.auditHead(),
      matching: await office.findings(),
    }),
    "evidence make",
  );
  const about = { by, at: new Date().toISOString(), audit };
  const { [SUMS]: sums = "", ...files } = packOf(config, report, about, matching);
  mkdirSync(path, { recursive: true });
  for (const [name, text] of [...Object.entries(files), [SUMS, sums] as const])
    writeFileSync(join(path, name), text);
  const seal = sha256Hex(sums);
  return {
    data: { folder: path, seal, agrees: report.agrees, files: Object.keys(files) },
    text: [
      `The evidence is in ${path}: ${Object.keys(files).length} files and ${SUMS}.`,
      report.agrees
        ? "Both sides agree."
        : `${agreementOf(report)}: cases.csv and run.json say where.`,
      `Seal, to be noted elsewhere: ${seal}`,
      `fuelbridge evidence verify ${folder} --seal ${seal}`,
    ].join("\n"),
    exitCode: report.agrees ? exitCodes.ok : exitCodes.runtime,
  };
}

/**
 * `file`: the configuration whose store is asked for its audit; null: none is asked.
 * @throws EnvironmentError when it is no pack, or has no head of an audit that is asked for
 */
async function verify(folder: string, seal: string | null, file: string | null): Promise<Answer> {
  const path = resolve(folder);
  if (!existsSync(join(path, SUMS)))
    throw new EnvironmentError(
      `There is no ${SUMS} in ${path}.`,
      "Name a folder that `fuelbridge evidence make` wrote.",
    );
  const names = readdirSync(path).filter((name) => name !== SUMS);
  const files = new Map(names.map((name) => [name, readFileSync(join(path, name))]));
  const found = verified(files, readFileSync(join(path, SUMS), "utf8"));
  const sealed = seal === null ? null : seal === found.seal;
  const head = headIn(files.get(ABOUT)?.toString("utf8") ?? "");
  if (file !== null && head === null)
    throw new EnvironmentError(
      `${join(path, ABOUT)} has no head of an audit.`,
      "The pack was made by an older version, or from a store without entries: verify it without --audit.",
    );
  const audit = file === null ? null : await ask(file, (office) => office.checkAudit(head));
  const broken = audit?.broken ?? null;
  const wrong = lined(
    found.changed.map((name) => `changed: ${name}`),
    found.missing.map((name) => `missing: ${name}`),
    found.extra.map((name) => `not of the pack: ${name}`),
    sealed === false && `the seal is ${found.seal}, not the one that was noted`,
    broken &&
      `the store's audit is not the one of the pack: entry ${broken.entry} is ${broken.how}`,
  );
  return {
    data: { ...found, sealed, head, audit },
    text:
      wrong ||
      lined(
        `All ${files.size} files are as they were when the pack was made. Seal: ${found.seal}`,
        head && inWords(head, audit !== null),
      ),
    exitCode: wrong === "" ? exitCodes.ok : exitCodes.runtime,
  };
}

const inWords = ({ entry, hash }: AuditHead, wasAsked: boolean): string =>
  wasAsked
    ? `The store's audit is as it was written, and has the entry ${entry} that the pack names.`
    : `Head of the audit then: ${entry}:${hash}. To check the store against it: --audit`;

const Noted = z.object({
  audit: z.object({ entry: z.int().min(1), hash: z.string().regex(/^[0-9a-f]{64}$/) }),
});

/** What the pack says of the audit; null: nothing, or nothing that can be read. */
function headIn(about: string): AuditHead | null {
  try {
    return Noted.safeParse(JSON.parse(about)).data?.audit ?? null;
  } catch {
    return null;
  }
}
