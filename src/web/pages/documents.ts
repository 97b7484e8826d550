/** Finds a document, and shows the life of one. */
import { labelOf } from "../../ledger/compare.ts";
import { Decimal } from "../../core/decimal.ts";
import { holdingKindOf, type Kind, kinds } from "../../core/kinds.ts";
import type { Field, FoundDocument, Life, SentRequest } from "../../office/answers.ts";
import { fieldsOf } from "../../office/documents.ts";
import {
  ago,
  at,
  exactly,
  facts,
  further,
  link,
  mark,
  number,
  plural,
  right,
  table,
  valueIn,
} from "../parts.ts";
import { bytes, type Html, html, segment, verbatim } from "../html.ts";
import type { Answer, Asked } from "../route.ts";
import { correctionsOf } from "./handling.ts";

export async function documents(asked: Asked): Promise<Answer> {
  const text = (asked.query.get("text") ?? "").trim().slice(0, 200);
  const before = asked.query.get("before");
  const found = await asked.office.documents({
    text: text === "" ? null : text,
    before: before === "" ? null : before,
  });
  const body = html`<h1>Documents</h1>
    <search>
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
    </search>
    ${
      found.unsearched > 0
        ? html`<p role="status">
            ${number(found.unsearched)} newer documents cannot be found by party, amount and date
            yet. Their numbers can.
          </p>`
        : ""
    }
    ${table(
      text === "" ? "The newest documents" : `Documents for ${text}`,
      ["Document", "Flow", "State", "Came"],
      found.documents.map((one) => [
        link(`/documents/${segment(one.id)}`, one.summary),
        one.flow,
        stateMark(one),
        html`${at(one.receivedAt, asked)} <small>${ago(one.receivedAt, asked)}</small>`,
      ]),
      text === ""
        ? "No document has come yet."
        : `Nothing is known for ${text}. A number may be cut short at its end; a party's name may be a part of it.`,
    )}
    ${further("/documents", { text, before: found.next })}`;
  return { title: text === "" ? "Documents" : `Documents: ${text}`, body };
}

function stateMark({ state, clears }: FoundDocument): Html {
  switch (state) {
    case "delivered":
      return mark("good", "delivered");
    case "quarantined":
      return clears ? mark("wait", "waits") : mark("bad", "needs you");
    case "pending":
    case "frozen":
      return mark("wait", "on its way");
    case "echo":
      return mark("off", "our own");
    default:
      return mark("off", CLOSED[state] ?? state);
  }
}

const CLOSED: Readonly<Record<string, string>> = {
  skipped: "not sent",
  resolved: "settled by hand",
  superseded: "replaced",
};

export async function document(asked: Asked): Promise<Answer> {
  const life = await asked.office.document(asked.params["document"] ?? "");
  const body = html`<p>${link("/documents", "Documents")}</p>
    <h1>${life.summary}</h1>
    <p>
      ${stateMark(life)}
      ${life.groups.map((group) => link(`/needs-you/${segment(group)}`, life.clears ? "What it waits for" : "What to do about it"))}
    </p>
    ${facts([
      ["Kind", life.kind.replaceAll("-", " ")],
      ["Flow", `${life.flow}: ${life.from} to ${life.to}`],
      ["Id on the platform", life.platformId],
      ["Id in the ERP", life.erpId],
      ["Id of the record", life.recordId],
      ["Mapping", life.mapping],
    ])}
    ${
      life.differences.length === 0
        ? ""
        : html`<h2>Where both sides differ</h2>
            ${differences(life, asked)}`
    }
    ${correctionsOf(life.corrections, asked)}
    <h2>Its life</h2>
    ${table(
      "What happened, the oldest first",
      ["When", "What", "In words"],
      life.story.map(({ at: when, event, detail, own }) => [
        exactly(when, asked),
        event,
        own === null ? detail : own.detail,
      ]),
    )}
    ${sides(life)}
    <h2>Versions</h2>
    ${table(
      "Versions that came, the newest first",
      ["Came", "Version", "From", "What became of it"],
      life.versions.map(({ receivedAt, version, origin, stands }) => [
        at(receivedAt, asked),
        version ?? "–",
        origin ?? "–",
        stands,
      ]),
    )}
    <h2>What was sent, byte by byte</h2>
    ${life.requests.length === 0 ? html`<p class="quiet">Nothing was sent for it.</p>` : life.requests.map((one) => request(one, asked))}`;
  return { title: life.summary, body };
}

function differences({ kind, differences: rows }: Life, { site }: Asked): Html {
  const known = isKind(kind) ? holdingKindOf(kind) : null;
  return table(
    "Fields that differ",
    ["Field", right("Platform"), right("ERP")],
    rows.map(({ field, platform, books }) => [
      known === null ? field : labelOf(known, field),
      html`<strong>${valueIn(field, platform, site.currency)}</strong>`,
      html`<strong>${valueIn(field, books, site.currency)}</strong>`,
    ]),
  );
}

const isKind = (kind: string): kind is Kind => Object.hasOwn(kinds, kind);

/** The record as it came, and what was made of it, with the values that stand on one side only marked. */
function sides({ record, requests: [newest] }: Life): Html {
  const sent = newest === undefined ? [] : fieldsOf(newest.body);
  return html`<h2>Both sides' fields</h2>
    <p class="quiet">
      Marked with *: a value that the other column does not have. A mapping leaves some out, and
      looks some up.
    </p>
    <div class="both">
      ${fields("As it came", record, newest === undefined ? null : valuesOf(sent))}
      ${newest === undefined ? html`<p class="quiet">Nothing was sent for it.</p>` : fields("As it was sent", sent, valuesOf(record))}
    </div>`;
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
): Html =>
  html`<div>
    ${table(
      caption,
      ["Field", "Value"],
      values
        .slice(0, FIELDS_SHOWN)
        .map(({ path, value }) => [
          path,
          html`${other === null || other.has(plainOf(value)) ? "" : "* "}${value}`,
        ]),
    )}
    ${values.length > FIELDS_SHOWN ? html`<p>and ${values.length - FIELDS_SHOWN} more fields.</p>` : ""}
  </div>`;

const request = (one: SentRequest, asked: Asked): Html =>
  html`<details>
    <summary>
      ${one.operation}: ${one.state},
      ${one.sentAt === null ? "not sent" : html`sent ${exactly(one.sentAt, asked)}`}
    </summary>
    ${facts([
      ["Target", one.target],
      ["Idempotency key", one.key],
      ["SHA-256", one.sha256],
      ["Frozen", exactly(one.frozenAt, asked)],
      ["Length", one.removedAt === null ? plural(one.body.length, "character") : null],
    ])}
    ${one.removedAt === null ? bytes(one.body, `The bytes of ${one.operation}`) : html`<p class="quiet">Its bytes were kept until ${at(one.removedAt, asked)}; the SHA-256 is theirs.</p>`}
  </details>`;
