/** Cross-reference tables: what one side calls what the other calls otherwise, and the rows that are missing. */
import type { ShownTable } from "../../office/answers.ts";
import { type Html, html, segment } from "../html.ts";
import { at, further, link, number, plural, table } from "../parts.ts";
import { type Answer, type Asked, personOf } from "../route.ts";
import { triedAgain } from "./handling.ts";
import { addRowForm } from "./needs-you.ts";

export async function tables(asked: Asked): Promise<Answer> {
  const all = await asked.office.tables();
  const missing = all.reduce((total, one) => total + one.missing.length, 0);
  const body = html`<h1>Cross-references</h1>
    <p>
      A table says what one side calls what the other calls otherwise. Each is a CSV file that a
      spreadsheet opens too.
    </p>
    ${
      missing === 0
        ? html`<div class="banner good">
            <p><strong>No row is missing.</strong> No document waits for one.</p>
          </div>`
        : html`<div class="banner bad">
            <p>
              <strong>${plural(missing, "row is", "rows are")} missing</strong>, and documents wait
              for ${missing === 1 ? "it" : "them"}.
            </p>
          </div>`
    }
    ${all.map((one) => card(one, asked))}`;
  return { title: "Cross-references", body };
}

const card = (one: ShownTable, asked: Asked): Html =>
  html`<article class="card">
    <h2>${one.name} <small>${plural(one.rows.length + one.more, "row")}</small></h2>
    <p class="quiet">${one.file}</p>
    ${one.faults.length === 0 ? "" : html`<p><strong>It cannot be used until this is corrected:</strong> ${one.faults.join("; ")}</p>`}
    ${
      one.missing.length === 0
        ? ""
        : table(
            `Missing in ${one.name}`,
            ["Row", "Documents that wait", "Add it"],
            one.missing.map(({ key, count, group }) => [
              key,
              number(count),
              link(`/needs-you/${segment(group)}`, `Add ${key}`),
            ]),
          )
    }
    ${unused(one, asked)}
    <details>
      <summary>Rows of ${one.name}</summary>
      ${table(`Rows of ${one.name}`, one.columns, one.rows)}
      ${one.more > 0 ? html`<p>and ${number(one.more)} more.</p>` : ""}
    </details>
    <details>
      <summary>Add a row to ${one.name}</summary>
      ${addRowForm(asked, one, null, null)}
    </details>
  </article>`;

function unused({ name, unused: told }: ShownTable, asked: Asked): Html {
  if (told === null) return html``;
  const { since, keys, more } = told;
  if (keys.length === 0)
    return html`<p class="quiet">Documents have used every row since ${at(since, asked)}.</p>`;
  return html`<details>
    <summary>
      ${plural(keys.length + more, "row")} of ${name} that no document has used since
      ${at(since, asked)}
    </summary>
    <p>
      Uses are counted since then. A row may still be needed: for a customer who buys once a year,
      or a flow that is paused.
    </p>
    <p>${keys.join(", ")}${more > 0 ? `, and ${number(more)} more` : ""}</p>
  </details>`;
}

const CELL = "cell.";

/** `group` in the form: whatever waits for the row is retried, whichever flow brought it. */
export async function addRow(asked: Asked): Promise<Answer> {
  const { office, params, form } = asked;
  const person = personOf(asked);
  const cells = [...form].filter(([name]) => name.startsWith(CELL));
  const { table: to, key } = await office.addRow(
    {
      table: params["table"] ?? "",
      cells: Object.fromEntries(cells.map(([name, value]) => [name.slice(CELL.length), value])),
    },
    person,
  );
  const added = `${key} is in ${to} now.`;
  if (!form.has("group")) return { to: "/cross-references", told: added };
  const waiting = (await office.quarantine()).filter(
    ({ lookup }) => lookup?.table === to && lookup.key === key,
  );
  let tried = 0;
  for (const { id } of waiting) tried += (await office.retry(id, false, person)).retried;
  const flows = waiting.map(({ flow }) => flow);
  return { to: "/needs-you", told: `${added} ${await triedAgain(asked, tried, flows)}` };
}

/* Who did what, when and why. */

export async function audit(asked: Asked): Promise<Answer> {
  const before = asked.query.get("before");
  const { deeds, next } = await asked.office.deeds(before === "" ? null : before);
  const body = html`<h1>Audit</h1>
    <p>
      What people did, the newest first. Nothing here can be changed or removed. What fuelbridge
      itself did with a document stands in that document's life.
    </p>
    ${table(
      "What people did",
      ["When", "Who", "What", "About", "Detail", "Why"],
      deeds.map(({ at: when, by, event, detail, reason, flow, document }) => [
        at(when, asked),
        by,
        event,
        document === null
          ? (flow ?? "–")
          : link(`/documents/${segment(document.id)}`, document.number),
        detail,
        reason ?? "–",
      ]),
      "Nobody has done anything yet.",
    )}
    ${further("/audit", { before: next })}`;
  return { title: "Audit", body };
}
