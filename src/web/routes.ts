/** Every page and every form, and who may. A form that is not here does not exist. */
import { addRow, audit, tables } from "./pages/tables.ts";
import { budget } from "./pages/budget.ts";
import { document, documents } from "./pages/documents.ts";
import { backfill, flowForms, flows } from "./pages/flows.ts";
import { assign, edit, remark } from "./pages/handling.ts";
import { claim, claimFile, csv as matchCsv, match, matchNow, settle } from "./pages/match.ts";
import { found, group, needsYou, resolve, retry } from "./pages/needs-you.ts";
import {
  compare,
  comparison,
  cost,
  csv,
  evidence,
  reconciliation,
} from "./pages/reconciliation.ts";
import { today } from "./pages/today.ts";
import type { Route } from "./route.ts";
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

export const routes: readonly Route[] = [
  page("/", today),
  page("/needs-you", needsYou),
  page("/needs-you/:group", group),
  form("accountant", "/needs-you/:group/retry", retry),
  form("accountant", "/needs-you/:group/resolve", resolve),
  form("accountant", "/needs-you/:group/link", found),
  form("accountant", "/needs-you/:group/edit", edit),
  form("accountant", "/needs-you/:group/assign", assign),
  form("accountant", "/needs-you/:group/note", remark),
  page("/documents", documents),
  page("/documents/:document", document),
  page("/reconciliation", reconciliation),
  page("/reconciliation/cost", cost),
  form("accountant", "/reconciliation", compare),
  page("/reconciliation/:job", comparison),
  page("/reconciliation/:job/csv", csv),
  page("/reconciliation/:job/evidence", evidence),
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
  form("operator", "/flows/:flow/backfill", backfill),
  ...flowForms,
  page("/cross-references", tables),
  form("accountant", "/cross-references/:table", addRow),
  page("/audit", audit),
];
