/** Every page and every form, and who may. A form that is not here does not exist. */
import { type Act, acts } from "../views/acts.ts";
import { to } from "../views/blocks.ts";
import { addRow, audit, tables, group, needsYou, selectedIn } from "./pages/quarantine.ts";
import { budget, flows, today } from "./pages/status.ts";
import { document, documents, documentsCsv } from "./pages/documents.ts";
import { claim, claimFile, csv as matchCsv, match, matchNow, settle } from "./pages/match.ts";
import {
  compare,
  comparison,
  cost,
  csv,
  evidence,
  monthEnd,
  reconciliation,
} from "./pages/reconciliation.ts";
import { personOf, type Route } from "./route.ts";
import type { Role } from "./users.ts";

const page = (path: string, answer: Route["answer"]): Route => ({
  method: "GET",
  path,
  role: "viewer",
  answer,
});
const form = (role: Role, path: string, answer: Route["answer"]): Route => ({
  method: "POST",
  path,
  role,
  answer,
});

/** The form of an act; what is done about a group leads back to it while it has documents. */
const formOf = ({ form: { path, role }, work }: Act): Route =>
  form(role, path, async (asked) => {
    const { office, params } = asked;
    const values = { ...Object.fromEntries(asked.form), ...params };
    const { group } = params;
    const given =
      group === undefined ? values : { ...values, selector: await selectedIn(asked, values) };
    const { told } = await work(office, given, personOf(asked));
    const isLeft =
      group !== undefined && (await office.quarantine()).some(({ id }) => id === group);
    return {
      to: group === undefined ? "/flows" : isLeft ? to`/needs-you/${group}` : "/needs-you",
      told,
    };
  });

export const routes: readonly Route[] = [
  page("/", today),
  page("/needs-you", needsYou),
  page("/needs-you/:group", group),
  page("/documents", documents),
  page("/documents/csv", documentsCsv),
  page("/documents/:document", document),
  page("/reconciliation", reconciliation),
  page("/reconciliation/cost", cost),
  form("accountant", "/reconciliation", compare),
  page("/reconciliation/:job", comparison),
  page("/reconciliation/:job/csv", csv),
  page("/reconciliation/:job/evidence", evidence),
  page("/month-end", monthEnd),
  page("/match", match),
  form("accountant", "/match", matchNow),
  form("accountant", "/match/accept", settle("accepted")),
  form("accountant", "/match/dispute", settle("disputed")),
  form("accountant", "/match/reopen", settle("open")),
  page("/match/csv", matchCsv),
  page("/match/claim", claim),
  page("/match/claim/csv", claimFile),
  page("/budget", budget),
  page("/flows", flows),
  page("/cross-references", tables),
  form("clerk", "/cross-references/:table", addRow),
  page("/audit", audit),
  ...Object.values<Act>(acts).map(formOf),
];
