import { stringify } from "csv-stringify/sync";
import type { Command } from "commander";
import { faultOfDay } from "../core/time.ts";
import { ConfigurationError, exitCodes } from "../core/errors.ts";
import { guarded } from "../core/text.ts";
import type { AuditEntry } from "../office/answers.ts";
import type { Office } from "../office/questions.ts";
import type { Answer } from "./answer.ts";
import { ask } from "../app/ask.ts";
import { addCommand } from "./command.ts";
import { counted } from "../views/table.ts";

/** One row for each entry, for spreadsheets; with `--json` the same as a list. */
export function audit(program: Command): void {
  addCommand(program, "audit", "who did what, when and why, as CSV", async (given) => {
    const { from = null, to = null, head } = given.options;
    if (given.options["verify"] !== undefined) return checked(given.file, head ?? null);
    for (const day of [from, to]) expectDay(day);
    const people = given.options["people"] !== undefined;
    const entries = await ask(given.file, (office) => all(office, { from, to, people }));
    return { data: given.json ? { entries } : null, text: asCsv(entries) };
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
      ? [
          `All ${counted(entries, "entry", "entries")} of the audit are as they were written.`,
          ...(found.head === null
            ? []
            : [`Head, to be noted elsewhere: ${found.head.entry}:${found.head.hash}`]),
        ]
      : [
          broken.how === "missing"
            ? `Entry ${broken.entry} of the audit is missing; those before it are as they were written.`
            : `Entry ${broken.entry} of the audit is not as it was written; those before it are.`,
          "  next: Somebody wrote into the store by hand. Keep it, and compare it with a backup: `fuelbridge audit` lists both.",
        ];
  return {
    data: found,
    text: text.join("\n"),
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

const COLUMNS = "entry at who what flow number delivery request detail why".split(" ");

const asCsv = (entries: readonly AuditEntry[]): string =>
  stringify(
    entries.map(({ entry, at, who, event, flow, number, delivery, request, detail, reason }) => [
      entry,
      at,
      guarded(who ?? "fuelbridge"),
      guarded(event),
      flow,
      guarded(number ?? ""),
      delivery,
      request,
      guarded(detail),
      guarded(reason ?? ""),
    ]),
    { header: true, columns: COLUMNS },
  );

/** @throws ConfigurationError */
function expectDay(day: string | null): void {
  const fault = day === null ? null : faultOfDay(day);
  if (fault !== null)
    throw new ConfigurationError(
      `"${day}" ${fault}.`,
      "Give days as 2026-11-22, with --from and --to.",
    );
}
