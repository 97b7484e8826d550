import { stringify } from "csv-stringify/sync";
import type { Command } from "commander";
import { faultOfDay } from "../core/calendar.ts";
import { ConfigurationError } from "../core/errors.ts";
import { guarded } from "../core/spreadsheet.ts";
import type { AuditEntry } from "../report/desk.ts";
import type { Office } from "../report/office.ts";
import { ask } from "./ask.ts";
import { addCommand, configured } from "./command.ts";

/** One row for each entry, for spreadsheets; with `--json` the same as a list. */
export function audit(program: Command): void {
  configured(
    addCommand(program, "audit", "who did what, when and why, as CSV", async (given) => {
      const { from = null, to = null } = given.options;
      for (const day of [from, to]) expectDay(day);
      const people = given.options["people"] !== undefined;
      const entries = await ask(given.file, (office) => all(office, { from, to, people }));
      return { data: given.json ? { entries } : null, text: asCsv(entries) };
    })
      .option("--from <day>", "the first day (default: the first entry's)")
      .option("--to <day>", "the last day (default: today)")
      .option("--people", "what people decided alone"),
  );
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
