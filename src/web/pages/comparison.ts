/**
 * One comparison of a period for the screen and for paper: what the sides differ in, counts and sums, and what it does not
 * prove. It says what the report says and judges nothing itself.
 */
import { inDigits, labelOf } from "../../ledger/compare.ts";
import { Decimal } from "../../core/decimal.ts";
import { isGoodsHolding } from "../../core/holdings.ts";
import { ages, type CaseRow } from "../../reconcile/rows.ts";
import { agreeing, isOpen, manyOf, type Side, sides } from "../../reconcile/case.ts";
import type { Report } from "../../reconcile/report.ts";
import { moneyKinds } from "../../reconcile/sums.ts";
import { acceptedIn, agreementOf, limitsOf, unaskedInWords } from "../../reconcile/text.ts";
import type { Reconciling } from "../../office/asked.ts";
import { exactly, link, money, number, plural, right, table, valueIn, whole } from "../parts.ts";
import { type Html, html } from "../html.ts";
import type { Asked, Job } from "../route.ts";

export const periodOf = ({ from, to, flow }: Reconciling): string =>
  `${from ?? ""} to ${to ?? ""}${flow === null ? "" : `, ${flow}`}`;

/** So many differences are shown; the CSV has all. */
const SHOWN = 200;

export function reported(report: Report, job: Job, asked: Asked): Html {
  const accepted = acceptedIn(report);
  const { cases, currency, at: when, strength } = report;
  const open = cases.filter(isOpen);
  const isAsked = strength.every((one) => one.strength === "asked");
  return html`<h1>Reconciliation of ${asked.site.company}, ${periodOf(job.asked)}</h1>
    <p class="quiet">
      ${isAsked ? "Both sides as each says" : "The platform as it says, the ERP as described below,"}
      at ${exactly(when, asked)}. Amounts in ${currency}. Asked by ${job.asked.by}.
    </p>
    ${verdict(report, open)}
    <p class="buttons">
      ${link(`/reconciliation/${job.id}/csv`, "Every document as CSV")}
      ${link(`/reconciliation/${job.id}/evidence`, "Evidence for an auditor (zip)")}
    </p>
    <p class="quiet screen">
      To print, or to keep as PDF, use the browser's own print. The number in the zip's name is its
      seal: note it elsewhere. Unpacked, <code>fuelbridge evidence verify FOLDER --seal SEAL</code>
      checks every file.
    </p>
    ${differences("Differences", "In the period, not the same on both sides", open.filter(isWithin), currency)}
    ${differences(
      "Other days",
      "Not of the period, but open or changed, and not the same on both sides",
      open.filter((row) => !isWithin(row)),
      currency,
    )}
    ${differences("Accepted by a person", "Not the same, and as a person said right until the values change", accepted, currency)}
    <h2>Counts and sums</h2>
    ${totals(report.totals, "Documents of the period, each in one place", currency)}
    ${report.outside.length === 0 ? "" : totals(report.outside, "Not of the period, but open or changed", currency)}
    ${bridges(report)} ${leftOut(cases, currency)} ${months(report)} ${balances(report)}
    ${limits(report)}
    <div class="sign">
      <p>Reconciled by, date</p>
      <p>Reviewed by, date</p>
    </div>`;
}

const isWithin = ({ within }: CaseRow): boolean => within;

function verdict({ cases, agrees, failures, unasked }: Report, open: readonly CaseRow[]): Html {
  if (failures.length > 0)
    return html`<div class="banner bad">
      <p><strong>It cannot be trusted, and nothing was judged.</strong></p>
      ${failures.map((why) => html`<p>${why}</p>`)}
    </div>`;
  const within = open.filter(isWithin).length;
  const others = open.length - within;
  const records = cases.filter(isWithin).length;
  return html`<div class="banner ${agrees ? "good" : "bad"}">
    <p>
      <strong>${agreementOf({ cases, unasked })}.</strong>
      ${within === 0 ? `${plural(records, "record")} of the period, none ${acceptedIn({ cases }).length === 0 ? "" : "other "}different.` : `${number(within)} of ${plural(records, "record")} of the period are not the same on both sides.`}
      ${others === 0 ? "" : `${plural(others, "record")} of other days that ${others === 1 ? "is" : "are"} open or changed ${others === 1 ? "is" : "are"} not the same either.`}
    </p>
    ${unasked.map((one) => html`<p><strong>Not compared:</strong> ${unaskedInWords(one)}</p>`)}
  </div>`;
}

const differences = (
  title: string,
  caption: string,
  rows: readonly CaseRow[],
  currency: string,
): Html =>
  rows.length === 0
    ? html``
    : html`<h2>${title}</h2>
        ${table(
          caption,
          ["Document", "Result", right("Platform"), right("ERP"), "Cause and next step"],
          rows.slice(0, SHOWN).map((row) => caseRow(row, currency)),
        )}
        ${rows.length > SHOWN ? html`<p>and ${number(rows.length - SHOWN)} more, in the CSV.</p>` : ""}`;

const named = (row: CaseRow): Html =>
  html`${link(`/documents?text=${encodeURIComponent(row.number)}`, html`${row.kind} ${whole(row.number)}`)}
    <small
      >${row.party ?? ""}${row.party === null || row.day === null ? "" : ", "}${whole(row.day ?? "")}</small
    >`;

const caseRow = (row: CaseRow, currency: string): (Html | string)[] => [
  named(row),
  html`${row.bucket}${row.overdue ? " for longer than a day" : ""}${fieldsOf(row, currency)}`,
  amountOn(row, "platform", currency),
  amountOn(row, "books", currency),
  row.cause === null
    ? "–"
    : html`${row.cause.message}<br /><strong>Next:</strong>
        ${row.bucket === "with a person" ? link("/needs-you", "Needs you") : row.cause.next}`,
];

/** A side that has no such record has no amount either: zero is what an ended one counts. */
const amountOn = (
  { kind, records, amount, gallons }: CaseRow,
  side: Side,
  currency: string,
): string =>
  records[side].length === 0
    ? "not there"
    : amountOf(kind, { amount: amount[side], gallons: gallons[side] }, currency);

/** Of goods their gallons; parties and prices have neither. */
function amountOf(
  kind: CaseRow["kind"],
  { amount, gallons }: { readonly amount: string; readonly gallons: string },
  currency: string,
): string {
  if (isGoodsHolding(kind)) return `${gallons} gal`;
  return moneyKinds.has(kind) ? money(amount, currency) : "–";
}

/** The fields that differ, each with both values. */
export const fieldsOf = ({ kind, differences }: CaseRow, currency: string): Html =>
  differences.length === 0
    ? html``
    : html`<ul>
        ${differences.map(
          ({ field, platform, books }) =>
            html`<li>
              ${labelOf(kind, field)}: platform
              <strong>${whole(valueIn(field, platform, currency))}</strong>, ERP
              <strong>${whole(valueIn(field, books, currency))}</strong>
            </li>`,
        )}
      </ul>`;

const totals = (rows: Report["totals"], caption: string, currency: string): Html =>
  table(
    caption,
    ["What", "Result", right("Platform"), right("Amount"), right("ERP"), right("Amount")],
    rows.map(({ kind, bucket, platform, books }) => [
      manyOf(kind),
      bucket,
      number(platform.records),
      amountOf(kind, platform, currency),
      number(books.records),
      amountOf(kind, books, currency),
    ]),
  );

const bridges = ({ bridges, currency }: Report): Html =>
  bridges.length === 0
    ? html``
    : table(
        "From the platform's total to the ERP's",
        ["What", right("Platform"), "Less", right("ERP")],
        bridges.map(({ kind, platform, steps, books }) => [
          manyOf(kind),
          money(platform, currency),
          steps.every((step) => !isDifferent(step))
            ? "nothing"
            : steps
                .filter(isDifferent)
                .map(({ bucket, difference }) => `${bucket} ${money(difference, currency)}`)
                .join(", "),
          money(books, currency),
        ]),
      );

/** What makes the totals differ though both sides agree: on one side only, and rightly. */
function leftOut(cases: Report["cases"], currency: string): Html {
  const rows = cases.filter(
    ({ kind, bucket, within, amount }) =>
      within &&
      agreeing.has(bucket) &&
      moneyKinds.has(kind) &&
      !Decimal.of(amount.platform).equals(Decimal.of(amount.books)),
  );
  return rows.length === 0
    ? html``
    : html`${table(
        "Out of scope in the period: the sides differ by these, and agree",
        ["Document", right("Platform"), right("ERP"), "Why it is left out"],
        rows
          .slice(0, SHOWN)
          .map((row) => [
            named(row),
            amountOn(row, "platform", currency),
            amountOn(row, "books", currency),
            row.cause?.message ?? "–",
          ]),
      )}
      ${rows.length > SHOWN ? html`<p>and ${number(rows.length - SHOWN)} more, in the CSV.</p>` : ""}`;
}

const isDifferent = ({ difference }: { readonly difference: string }): boolean =>
  Decimal.of(difference).sign !== 0;

/** Parties whose sums differ; the others are counted. */
function months({ months, currency }: Report): Html {
  if (months.length === 0) return html``;
  const rows = months.filter(isDifferent);
  return html`<h2>By party and month</h2>
    ${table(
      "Parties whose sums differ in the period",
      ["Party", "What", "Month", right("Platform"), right("ERP"), right("Platform less ERP")],
      rows.map(({ kind, party, month, platform, books, difference }) => [
        party,
        manyOf(kind),
        month,
        money(platform, currency),
        money(books, currency),
        money(difference, currency),
      ]),
      "Every party's sums are the same on both sides.",
    )}
    ${alike(months.length - rows.length, rows.length)}`;
}

const alike = (count: number, others: number): Html =>
  others === 0 || count === 0
    ? html``
    : html`<p class="quiet">
        ${plural(count, "more row is", "more rows are")} the same on both sides.
      </p>`;

/** All of what is owed, by age, and the parties where the sides differ. */
function balances({ balances, today, currency }: Report): Html {
  if (balances.length === 0) return html``;
  const columns = [...ages, "total"] as const;
  const kinds = (["invoice", "bill"] as const).filter((kind) =>
    balances.some((one) => one.kind === kind),
  );
  const differing = balances.filter(isDifferent);
  return html`<h2>Open balances on ${today}</h2>
    ${table(
      "What is open, by days past due, of every date",
      ["Owed", "Side", ...AGES.map(right)],
      kinds.flatMap((kind) =>
        sides.map((side) => [
          OWED[kind],
          SIDES[side],
          ...columns.map((column) =>
            money(
              inDigits(
                Decimal.sum(
                  balances.flatMap((one) =>
                    one.kind === kind ? Decimal.of(one[side][column]) : [],
                  ),
                ),
              ),
              currency,
            ),
          ),
        ]),
      ),
    )}
    ${table(
      "Parties whose open balance differs",
      ["Party", "Owed", right("Platform"), right("ERP"), right("Platform less ERP")],
      differing.map(({ kind, party, platform, books, difference }) => [
        party,
        OWED[kind],
        money(platform.total, currency),
        money(books.total, currency),
        money(difference, currency),
      ]),
      "Every party's open balance is the same on both sides.",
    )}
    ${alike(balances.length - differing.length, differing.length)}`;
}

const OWED = { invoice: "by customers", bill: "to suppliers" } as const;
const SIDES: Readonly<Record<Side, string>> = { platform: "platform", books: "ERP" };
const AGES = ["not due", "1 to 30", "31 to 60", "61 to 90", "older", "total"] as const;

/** The same sentences as on a terminal. */
const limits = (report: Report): Html =>
  html`<h2>What this does not prove</h2>
    <ul>
      ${[...report.notices, ...limitsOf(report)].map((one) => html`<li>${one}</li>`)}
    </ul>`;
