/** Finds a document, and shows the life of one. */
import { labelOf } from "../../ledger/compare.ts";
import { Decimal } from "../../core/decimal.ts";
import { holdingKindOf, type Kind, kinds } from "../../core/kinds.ts";
import type { Field, Life, SentRequest } from "../../office/answers.ts";
import { fieldsOf } from "../../office/documents.ts";
import {
  at,
  beside,
  type Blocks,
  exactly,
  facts,
  folded,
  heading,
  line,
  link,
  plural,
  quiet,
  say,
  section,
  strong,
  table,
  title,
  to,
  valueIn,
} from "../../views/blocks.ts";
import { correctionsTable, foundView, stateMark, storyTable } from "../../views/documents.ts";
import { bytes, html, verbatim } from "../../views/html.ts";
import { further } from "../parts.ts";
import type { Answer, Asked } from "../route.ts";

export async function documents({ office, query }: Asked): Promise<Answer> {
  const text = (query.get("text") ?? "").trim().slice(0, 200);
  const found = await office.documents({
    text: text === "" ? null : text,
    before: query.get("before") || null,
  });
  const search = html`<search>
    <form method="get" action="/documents">
      <label for="text">Number, party, amount or date</label>
      <div class="line">
        <input
          id="text"
          name="text"
          type="search"
          value="${verbatim(text)}"
          maxlength="200"
          placeholder="INV-118, Prairie Fuel, 20,712.42 or 2026-11-22"
        />
        <button type="submit">Search</button>
      </div>
    </form>
  </search>`;
  return {
    title: text === "" ? "Documents" : `Documents: ${text}`,
    body: [
      title("Documents"),
      search,
      foundView(found, text),
      further("/documents", { text, before: found.next }),
    ],
  };
}

export async function document({ office, params, site }: Asked): Promise<Answer> {
  const life = await office.document(params["document"] ?? "");
  const body = [
    line(link("/documents", "Documents")),
    title(life.summary),
    line(
      stateMark(life),
      life.groups.map((group) => [
        " ",
        link(to`/needs-you/${group}`, life.clears ? "What it waits for" : "What to do about it"),
      ]),
    ),
    facts([
      ["Kind", life.kind.replaceAll("-", " ")],
      ["Flow", `${life.flow}: ${life.from} to ${life.to}`],
      ["Id on the platform", life.platformId],
      ["Id in the ERP", life.erpId],
      ["Id of the record", life.recordId],
      ["Mapping", life.mapping],
    ]),
    section("Where both sides differ", differences(life, site.currency)),
    section("Corrected here", correctionsTable(life.corrections)),
    section("Its life", storyTable(life.story)),
    sides(life),
    section(
      "Versions",
      table("Versions that came, the newest first", life.versions, [
        ["Came", ({ receivedAt }) => at(receivedAt)],
        ["Version", ({ version }) => version],
        ["From", ({ origin }) => origin],
        ["What became of it", ({ stands }) => stands],
      ]),
    ),
    heading("What was sent, byte by byte"),
    life.requests.length === 0 ? quiet("Nothing was sent for it.") : life.requests.map(request),
  ];
  return { title: life.summary, body };
}

function differences({ kind, differences: rows }: Life, currency: string): Blocks {
  const known = isKind(kind) ? holdingKindOf(kind) : null;
  return table("Fields that differ", rows, [
    ["Field", ({ field }) => (known === null ? field : labelOf(known, field))],
    ["Platform", ({ field, platform }) => strong(valueIn(field, platform, currency))],
    ["ERP", ({ field, books }) => strong(valueIn(field, books, currency))],
  ]);
}

const isKind = (kind: string): kind is Kind => Object.hasOwn(kinds, kind);

/** The record as it came, and what was made of it, with the values that stand on one side only marked. */
function sides({ record, requests: [newest] }: Life): Blocks {
  const sent = newest === undefined ? [] : fieldsOf(newest.body);
  return section(
    "Both sides' fields",
    quiet(
      "Marked with *: a value that the other column does not have. A mapping leaves some out, and looks some up.",
    ),
    beside(
      fields("As it came", record, newest === undefined ? null : valuesOf(sent)),
      newest === undefined
        ? quiet("Nothing was sent for it.")
        : fields("As it was sent", sent, valuesOf(record)),
    ),
  );
}

const valuesOf = (values: readonly Field[]): ReadonlySet<string> =>
  new Set(values.map(({ value }) => plainOf(value)));

/** Numbers are compared by value: `8000` is `8000.00`. */
const plainOf = (value: string): string => (Decimal.is(value) ? Decimal.of(value).plain() : value);

const FIELDS_SHOWN = 120;

const fields = (
  caption: string,
  values: readonly Field[],
  other: ReadonlySet<string> | null,
): Blocks => [
  table(caption, values.slice(0, FIELDS_SHOWN), [
    ["Field", ({ path }) => path],
    ["Value", ({ value }) => [other !== null && !other.has(plainOf(value)) && "* ", value]],
  ]),
  values.length > FIELDS_SHOWN && line(say`and ${values.length - FIELDS_SHOWN} more fields.`),
];

const request = (one: SentRequest): Blocks =>
  folded(
    say`${one.operation}: ${one.state}, ${one.sentAt === null ? "not sent" : say`sent ${exactly(one.sentAt)}`}`,
    facts([
      ["Target", one.target],
      ["Idempotency key", one.key],
      ["SHA-256", one.sha256],
      ["Frozen", exactly(one.frozenAt)],
      ["Length", one.removedAt === null && plural(one.body.length, "character")],
    ]),
    one.removedAt === null
      ? bytes(one.body, `The bytes of ${one.operation}`)
      : quiet(say`Its bytes were kept until ${at(one.removedAt)}; the SHA-256 is theirs.`),
  );
