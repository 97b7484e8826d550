/** Finds a document, and shows the life of one. */
import { labelOf } from "../../ledger/compare.ts";
import { Decimal } from "../../core/decimal.ts";
import { amountText, grouped, isUuid } from "../../core/text.ts";
import { documentStates } from "../../core/record.ts";
import { calendarOf, dayOfDigits, namedDay } from "../../core/time.ts";
import { holdingKindOf, type Kind, kinds } from "../../core/kinds.ts";
import { defined } from "../../core/defined.ts";
import { type Field, type Life, type SentRequest } from "../../office/answers.ts";
import { fieldsOf } from "../../engine/about.ts";
import { wholeOf } from "../../office/documents.ts";
import {
  address,
  at,
  beside,
  type Blocks,
  dayOf as dayText,
  exactly,
  facts,
  folded,
  heading,
  type Html,
  type Inline,
  line,
  link,
  plural,
  quiet,
  say,
  section,
  small,
  strong,
  table,
  title,
  to,
  valueIn,
} from "../../views/blocks.ts";
import { asCsv } from "../../views/csv.ts";
import {
  correctionsTable,
  documentsTable,
  foundView,
  stateMark,
  stateName,
  stepName,
  storyTable,
  storyView,
} from "../../views/documents.ts";
import { bytes, html } from "../../views/html.ts";
import { way } from "../charts.ts";
import { choice, field, further, hidden } from "../parts.ts";
import { type Answer, type Asked, csvFile } from "../route.ts";

export async function documents({ office, query }: Asked): Promise<Answer> {
  const { text, ...filters } = chosenIn(query);
  const all = await office.documents({ text, ...filters, before: query.get("before") || null });
  const { flows } = await office.status();
  const what = [text, ...Object.values(filters)].filter(Boolean).join(", ");
  const given = Object.fromEntries([...query].filter(([name]) => name !== "before"));
  const sorted = ([order, name]: (typeof ORDERS)[number]): Inline =>
    filters.order === order ? strong(name) : link(address("/documents", { ...given, order }), name);
  return {
    title: what === "" ? "Documents" : `Documents: ${what}`,
    body: [
      title("Documents"),
      search(
        query,
        flows.map(({ name }) => name),
      ),
      line(
        "Sorted by: ",
        ORDERS.map((one) => [sorted(one), " · "]),
        link(address("/documents/csv", given), "CSV of these"),
      ),
      foundView(all, what),
      further("/documents", { ...given, before: all.next }),
    ],
  };
}

const ORDERS = [
  ["came", "newest first"],
  ["day", "its day"],
  ["amount", "amount"],
  ["number", "number"],
  ["party", "party"],
] as const;

const STATES: readonly (typeof documentStates)[number][] = documentStates;

/** What the form asks for. What is no choice of it is not asked. */
function chosenIn(query: URLSearchParams) {
  const of = (name: string): string | undefined =>
    query.get(name)?.trim().slice(0, 200) || undefined;
  return {
    text: of("text") ?? null,
    ...defined({
      flow: of("flow"),
      state: [...STATES, "all" as const].find((state) => state === of("state")),
      party: of("party"),
      month: /^\d{4}-\d\d$/.exec(of("month") ?? "")?.[0],
      least: of("least"),
      most: of("most"),
      order: ORDERS.map(([order]) => order).find((order) => order === of("order")),
    }),
  };
}

const search = (query: URLSearchParams, flows: readonly string[]): Html => {
  const of = (name: string): string => query.get(name) ?? "";
  return html`<search>
    <form method="get" action="/documents">
      <div class="line">
        ${field("text", "Number, party, amount or date", {
          type: "search",
          value: of("text"),
          maxlength: 200,
          placeholder: "INV-118, Prairie, 20,712 or Oct 15",
        })}
        ${choice("flow", "Flow", [["", "all"], ...flows.map((name) => [name, name] as const)], of("flow"))}
        ${choice(
          "state",
          "State",
          [
            ["", "all that count"],
            ["all", "all"],
            ...STATES.map((state) => [state, stateName(state)] as const),
          ],
          of("state"),
        )}
        ${field("party", "Party", { value: of("party"), maxlength: 200 })}
        ${field("month", "Month", { type: "month", value: of("month"), placeholder: "2026-10" })}
        ${field("least", "Amount from", { value: of("least"), maxlength: 20, inputmode: "decimal" })}
        ${field("most", "Amount to", { value: of("most"), maxlength: 20, inputmode: "decimal" })}
        ${hidden(defined({ order: query.get("order") ?? undefined }))}
        <button type="submit">Search</button>
      </div>
    </form>
  </search>`;
};

export async function documentsCsv({ office, query }: Asked): Promise<Answer> {
  const { isAll, ...found } = await wholeOf(office.documents, chosenIn(query));
  const text = asCsv(documentsTable(found, "", null));
  // Whoever opens the file later must see that it is not all of them.
  return csvFile(isAll ? "documents" : "documents-newest-only", text);
}

export async function document({ office, params, site }: Asked): Promise<Answer> {
  const life = await office.document(params["document"] ?? "");
  const body = [
    line(link("/documents", "Documents")),
    title(life.summary),
    line(
      stateMark(life),
      life.groups.map((group, at) => [
        " ",
        link(to`/needs-you/${group}`, at > 0 ? "and another cause" : whyOf(life)),
      ]),
    ),
    facts([
      ["Kind", life.kind.replaceAll("-", " ")],
      ["Flow", life.flow],
      ["Id on the platform", life.platformId],
      ["Id in the ERP", life.erpId],
    ]),
    section("Where both sides differ", differences(life, site.currency)),
    section("Corrected here", correctionsTable(life.corrections)),
    section(
      "Its story",
      life.story.length > 1 &&
        way(
          `The way of ${life.number}: the sentences below tell it.`,
          life.story.map(({ at, event }) => ({ at, event: stepName(event) })),
          site.timeZone,
        ),
      storyView(life.story),
    ),
    sides(life, site),
    section(
      "Versions",
      table("Versions that came, the newest first", life.versions, [
        ["Came", ({ receivedAt }) => at(receivedAt)],
        ["Version", ({ version }) => version],
        ["From", ({ origin }) => origin],
        ["What became of it", ({ stands }) => stands],
      ]),
    ),
    folded(
      "For the person who runs fuelbridge",
      facts([
        ["From, to", `${life.from} to ${life.to}`],
        ["Id of the record", life.recordId],
        ["Mapping", life.mapping],
      ]),
      storyTable(life.story, false, true),
      heading("What was sent, byte by byte"),
      life.requests.length === 0 ? quiet("Nothing was sent for it.") : life.requests.map(request),
    ),
  ];
  return { title: life.summary, body };
}

const whyOf = ({ clears }: Life): string => (clears ? "What it waits for" : "What to do about it");

function differences({ kind, differences: rows }: Life, currency: string): Blocks {
  const known = isKind(kind) ? holdingKindOf(kind) : null;
  return table("Fields that differ", rows, [
    ["Field", ({ field }) => (known === null ? field : labelOf(known, field))],
    ["Platform", ({ field, platform }) => strong(valueIn(field, platform, currency))],
    ["ERP", ({ field, books }) => strong(valueIn(field, books, currency))],
  ]);
}

const isKind = (kind: string): kind is Kind => Object.hasOwn(kinds, kind);

/** The record as it came and what was made of it, each as the paper that it is. */
function sides(life: Life, site: Asked["site"]): Blocks {
  const { record, from, to: receiver, requests } = life;
  const [newest] = requests;
  const sent = newest === undefined ? [] : fieldsOf(newest.body);
  const dayOf = calendarOf(site.timeZone);
  const other = (fields: readonly Field[]): Paper => ({
    ...life,
    has:
      newest === undefined ? null : new Set(fields.flatMap(({ value }) => formsOf(value, dayOf))),
    dayOf,
  });
  return section(
    "Both sides",
    newest !== undefined &&
      quiet(
        "≠ marks a value that the other side does not have; what both have is grey. Some fields are not sent, and codes come from the cross-references.",
      ),
    beside(
      paper(`As it came from ${from}`, record, other(sent)),
      newest === undefined
        ? quiet("Nothing was sent for it.")
        : paper(`As it was sent to ${receiver}`, sent, other(record)),
    ),
  );
}

/**
 * The forms in which one value is written, so that only what says something else differs: `8000` is `8000.00`, and
 * `10/31/2026`, `20261031` and that day's midnight are `2026-10-31`. `dayOf`: the company's day of an instant.
 */
function formsOf(value: string, dayOf: (instant: string) => string): string[] {
  const text = value.trim().replaceAll(/\s+/g, " ").toLowerCase();
  if (Decimal.is(text)) return [Decimal.of(text).plain(), ...[dayOfDigits(text) ?? []].flat()];
  const [, month = "", day = "", year = ""] = /^(\d\d?)\/(\d\d?)\/(\d{4})$/.exec(text) ?? [];
  if (year !== "") return [`${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`];
  if (!INSTANT.test(text) || Number.isNaN(Date.parse(text))) return [text];
  return [namedDay(text.toUpperCase()), dayOf(text), new Date(text).toISOString()];
}

const INSTANT = /^\d{4}-\d\d-\d\dt\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:z|[+-]\d\d:?\d\d)$/;

/** What a side is shown beside: the forms of the other's values (null: there are none), and names of parties. */
interface Paper extends Pick<Life, "names" | "currency"> {
  readonly has: ReadonlySet<string> | null;
  readonly dayOf: (instant: string) => string;
}

const LINES_SHOWN = 60;

/** `lines.2.unitPrice`; rows of a CSV have no name before their number. */
const OF_LIST = /^(?:(.*?)\.)?(\d+)\.(.+)$/;
const TOTAL = /(?:total|untaxed|tax|balance|amount\w*)$/i;
/** Columns of its lists, by the names of fields; what is of none says what it is. */
const COLUMNS: readonly (readonly [title: string, names: RegExp])[] = [
  ["Quantity", /quantity|gallons|qty|(?:^|\.)(?:unit|uom)$/i],
  ["Price", /price|rate$/i],
  ["Base", /(?:^|\.)base$/i],
  ["Amount", /amount|total$/i],
  ["What", /(?:)/],
];

const isTotal = ({ path, value }: Field): boolean => TOTAL.test(path) && Decimal.is(value);
const columnOf = ({ path }: Field): string | undefined =>
  COLUMNS.find(([, names]) => names.test(OF_LIST.exec(path)?.[3] ?? ""))?.[0];

/** Head, lines, taxes and dates, totals. */
function paper(
  caption: string,
  fields: readonly Field[],
  { has, names, currency, dayOf }: Paper,
): Blocks {
  const value = (field: Field): Inline => {
    const { path, value } = field;
    const isSame = has === null || formsOf(value, dayOf).some((form) => has.has(form));
    const name = Object.hasOwn(names, value) ? names[value] : undefined;
    const text = name === undefined ? figureText(field, currency) : `${name} (${value})`;
    const when = timeIn(value);
    const shown =
      when === null
        ? figureIn(path, isSame ? text : `≠ ${text}`, value)
        : [isSame ? "" : "≠ ", when];
    if (has === null) return shown;
    return isSame ? small(shown) : strong(shown);
  };
  const single = fields.filter(({ path }) => !OF_LIST.test(path));
  const asFacts = (some: readonly Field[]): Blocks =>
    facts(some.map((field) => [inWords(field.path), value(field)]));
  const lists = Map.groupBy(
    fields.filter(({ path }) => OF_LIST.test(path)),
    ({ path }) => OF_LIST.exec(path)?.[1] ?? "further rows",
  );
  return [
    line(strong(caption)),
    asFacts(single.filter((field) => !isTotal(field))),
    [...lists].map(([name, those]) => listOf(inWords(name), those, value)),
    asFacts(single.filter(isTotal)),
  ];
}

/** A day or an instant as everywhere. */
const timeIn = (value: string): Inline =>
  DAY.test(value)
    ? dayText(value)
    : INSTANT.test(value.toLowerCase()) && !Number.isNaN(Date.parse(value))
      ? exactly(value)
      : null;
const DAY = /^\d{4}-(?:0[1-9]|1[0-2])-\d\d$/;

/** Amounts and quantities as everywhere; what is no number as it is. */
function figureText(field: Field, currency: string | null): string {
  const column = OF_LIST.test(field.path) ? columnOf(field) : undefined;
  const isMoney = ["Price", "Base", "Amount"].includes(column ?? "");
  const { value } = field;
  if (value === "true" || value === "false") return value === "true" ? "yes" : "no";
  if (Decimal.is(value) && column === "Quantity") return grouped(value);
  if (!Decimal.is(value) || !(isMoney || isTotal(field))) return value;
  return amountText(Decimal.of(value), currency ?? "");
}

/** Quantities, prices and amounts stand one below the other. */
const figureIn = (path: string, shown: string, value: string): Inline =>
  Decimal.is(value) && OF_LIST.test(path) && columnOf({ path, value }) !== "What"
    ? { is: "figure", page: shown, terminal: shown }
    : shown;

/** Lines have ids of their own, which no person knows. */
const isOwnId = ({ path, value }: Field): boolean => /id$/i.test(path) && isUuid(value);

/** A line tells its item by a code, a name and a text, of which the last often has the others. Of two alike the first is shown. */
const isSaidBy = (all: readonly Field[], { path, value }: Field): boolean =>
  !Decimal.is(value) &&
  all.some(({ path: other, value: told }, at) =>
    told === value
      ? at < all.findIndex((one) => one.path === path)
      : other !== path && value.length >= TEXT_MIN && told.includes(value),
  );
const TEXT_MIN = 4;

function listOf(name: string, fields: readonly Field[], value: (field: Field) => Inline): Blocks {
  const rows = [...Map.groupBy(fields, ({ path }) => OF_LIST.exec(path)?.[2] ?? "").values()];
  return [
    table(
      name,
      rows.slice(0, LINES_SHOWN),
      ["What", "Quantity", "Price", "Base", "Amount"].map(
        (column) =>
          [
            column,
            (row: readonly Field[]): Inline => {
              const own = row.filter((field) => columnOf(field) === column && !isOwnId(field));
              const shown = own.filter((field) => !isSaidBy(own, field));
              const [only] = shown;
              if (only === undefined) return null;
              if (shown.length === 1) return value(only);
              const figures = shown.filter(({ value }) => Decimal.is(value)).length;
              return shown.map((field, at) => {
                const isFigure = Decimal.is(field.value);
                const isNamed = isFigure && (column === "What" || figures > 1);
                const isUnit = column === "Quantity" && !isFigure;
                return [
                  at > 0 && (isUnit ? " " : " · "),
                  isNamed && `${inWords(OF_LIST.exec(field.path)?.[3] ?? "")} `,
                  value(field),
                ];
              });
            },
          ] as const,
      ),
    ),
    rows.length > LINES_SHOWN && line(say`and ${rows.length - LINES_SHOWN} more.`),
  ];
}

/** `dueDates` as `due dates`. */
const inWords = (path: string): string =>
  path
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll(/[._]/g, " ")
    .toLowerCase();

const request = (one: SentRequest): Blocks =>
  folded(
    say`${one.operation}: ${one.state}, ${one.sentAt === null ? "not sent" : say`sent ${exactly(one.sentAt)}`}`,
    facts([
      ["Target", one.target],
      ["Key of the request", one.key],
      ["SHA-256", one.sha256],
      ["Frozen", exactly(one.frozenAt)],
      ["Length", one.removedAt === null && plural(one.body.length, "character")],
    ]),
    one.removedAt === null
      ? bytes(one.body, `The bytes of ${one.operation}`)
      : quiet(say`Its bytes were kept until ${at(one.removedAt)}; the SHA-256 is theirs.`),
  );
