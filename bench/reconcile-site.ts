/**
 * The whole of a reconciliation in a process of its own, as `fuelbridge reconcile` runs it on a site: the platform over
 * HTTP, files as books, the store with a link for every invoice. What is measured begins once all invoices are
 * delivered, and ends with the report as text, as CSV and as both journals.
 */
import { composeDaemon } from "../src/app/compose.ts";
import { loadConfiguration } from "../src/app/configuration.ts";
import { openLog } from "../src/log.ts";
import { agreementJournal, asCsv, periodJournal } from "../src/reconcile/evidence.ts";
import { reportText } from "../src/views/reconciliation.ts";
import { PLANTED } from "./reconcile.ts";
import { moveDueDates } from "./support.ts";
import { report } from "./usage.ts";

/** All that the sandbox generated: its records are of the last 30 days. */
const PERIOD_DAYS = 62;
const { FUELBRIDGE_CONFIG: file = "", FUELBRIDGE_INVOICES: invoices = "" } = process.env;
const config = await loadConfiguration(file);
const log = openLog({ level: "error", secrets: config.secrets, to: "stderr" });
const daemon = await composeDaemon(config, log);
const never = new AbortController().signal;
await daemon.once(never);
await moveDueDates(process.env["FUELBRIDGE_CONTROL_URL"] ?? "", PLANTED);

await report(async () => {
  const from = new Date(Date.now() - PERIOD_DAYS * 86_400_000).toISOString().slice(0, 10);
  const told = await daemon.office.reconcile({ from, to: null, flow: null, by: "bench" });
  const cases = told.cases.filter(({ bucket }) => bucket === "differs");
  if (told.cases.length !== Number(invoices) || cases.length !== PLANTED)
    throw new Error(
      `${cases.length} of ${PLANTED} differences in ${told.cases.length} cases: ${told.failures.join("; ")}`,
    );
  const written = [reportText(told), asCsv(told), periodJournal(told)];
  written.push(agreementJournal(told, "month.journal"));
  if (written.some((text) => text === "")) throw new Error("a form of the report is empty");
  return told.cases.length;
});
await daemon.close();
