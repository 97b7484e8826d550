/** What needs a person: groups by cause, each with what it means, what to do, and only what can help. */
import type { Quarantined, QuarantineGroup, ShownTable } from "../../office/answers.ts";
import { address, type Html, html, segment, verbatim } from "../html.ts";
import {
  backTo,
  handlingForms,
  known,
  MANY,
  ROUNDS,
  selected,
  type Shown,
  SHOWN,
  shownGroup,
  triedAgain,
  which,
} from "./handling.ts";
import { ago, at, changing, facts, link, mark, number, plural, table } from "../parts.ts";
import { type Answer, type Asked, personOf } from "../route.ts";
import { atLeast } from "../users.ts";

export async function needsYou(asked: Asked): Promise<Answer> {
  const flow = asked.query.get("flow");
  const groups = (await asked.office.quarantine()).filter(
    (one) => flow === null || one.flow === flow,
  );
  const [clearing, own] = [true, false].map((clears) =>
    groups.filter(({ helps }) => helps.includes("wait") === clears),
  ) as [QuarantineGroup[], QuarantineGroup[]];
  const body = html`<h1>Needs you</h1>
    ${flow === null ? "" : html`<p>Only the flow ${flow}. ${link("/needs-you", "All flows")}</p>`}
    ${
      own.length === 0
        ? html`<div class="banner good">
            <p>
              <strong>Nothing needs you.</strong> Every document is delivered, on its way, or
              closed.
            </p>
          </div>`
        : html`<p>
            ${plural(documents(own), "document")} in ${plural(own.length, "group")}. Each group has
            one cause and one next step.
          </p>`
    }
    ${own.map((group) => card(group, asked))}
    ${
      clearing.length === 0
        ? ""
        : html`<h2 class="later">Clears by itself</h2>
            <p>
              ${plural(documents(clearing), "document waits", "documents wait")} for something else.
              You do not have to do anything.
            </p>
            ${clearing.map((group) => card(group, asked))}`
    }`;
  return { title: `Needs you: ${plural(documents(own), "document")}`, body };
}

const documents = (groups: readonly QuarantineGroup[]): number =>
  groups.reduce((total, { count }) => total + count, 0);

const card = (group: QuarantineGroup, asked: Asked): Html =>
  html`<article class="card">
    <h2>${link(`/needs-you/${segment(group.id)}`, group.title)}</h2>
    <p>${group.accountant}</p>
    <p class="quiet">
      ${group.flow} ·
      ${mark(group.helps.includes("wait") ? "wait" : "bad", group.helps.includes("wait") ? "waits" : "needs you")}
      · the oldest came ${ago(group.since, asked)}
    </p>
  </article>`;

export async function group(asked: Asked): Promise<Answer> {
  const { office } = asked;
  const shown = await shownGroup(asked, asked.query.get("skip"));
  const tables = shown.lookup === null ? [] : await office.tables();
  const missing = tables.find(({ name }) => name === shown.lookup?.table);
  const body = html`<p>${link("/needs-you", "Needs you")}</p>
    <h1>${shown.title}</h1>
    <div class="banner ${shown.helps.includes("wait") ? "wait" : "bad"}">
      <p>${shown.accountant}</p>
      <p><strong>Next:</strong> ${shown.next}</p>
    </div>
    ${
      missing === undefined || shown.lookup === null
        ? ""
        : html`<h2>Add the missing row</h2>
            ${addRowForm(asked, missing, shown.lookup.key, shown.id)}`
    }
    ${awaited(shown)} ${actions(asked, shown)}
    <h2>Documents</h2>
    ${list(shown, asked)} ${known(shown, asked)}
    <h2>Other things to do</h2>
    ${otherThings(asked, shown)}
    <details>
      <summary>For the person who runs fuelbridge</summary>
      <p>${shown.operator}</p>
      ${facts([
        ["Cause", shown.cause],
        ["Code", shown.code],
        ["Flow", shown.flow],
        ["Group", shown.id],
      ])}
    </details>`;
  return { title: shown.title, body };
}

/** Folded, for they are for some documents only. A person who may do none of them is told so, unfolded. */
function otherThings(asked: Asked, shown: Shown): Html {
  if (!atLeast(asked.role, "accountant"))
    return html`<p class="quiet">
      To close, correct or assign documents and to add notes: only for accountants and operators.
      You are logged in as ${asked.role}.
    </p>`;
  const closes = shown.helps.includes("resolve") && !isToClose(shown);
  const folded = html`<details>
    <summary>Close it: it was settled by hand</summary>
    ${closing(asked, shown)}
  </details>`;
  return html`${closes ? folded : ""} ${handlingForms(asked, shown)}`;
}

/** A column that says nothing in any row is left out. */
function list({ id, deliveries, cause, count, skip }: Shown, asked: Asked): Html {
  const columns: readonly (readonly [string, (one: Quarantined) => Html | string | null])[] = [
    ["Since", ({ since }) => html`${at(since, asked)} <small>${ago(since, asked)}</small>`],
    ["From", ({ origin, version }) => origin ?? version],
    ["Cause", (one) => (one.cause === cause ? null : one.cause)],
    ["Assigned to", ({ assignee }) => assignee],
  ];
  const told = columns.filter(([, of]) => deliveries.some((one) => of(one) !== null));
  const rows = deliveries.map((one) => [
    link(`/documents/${segment(one.document)}`, one.summary),
    ...told.map(([, of]) => of(one) ?? "–"),
  ]);
  const titles = ["Document", ...told.map(([title]) => title)];
  const caption =
    count <= SHOWN
      ? "Documents of this group"
      : `Documents ${number(skip + 1)} to ${number(skip + deliveries.length)} of ${number(count)}, the oldest first`;
  const page = (to: number): string =>
    address(`/needs-you/${segment(id)}`, { skip: to === 0 ? null : String(to) });
  const before = skip === 0 ? "" : link(page(Math.max(skip - SHOWN, 0)), "The ones before");
  const after = skip + SHOWN >= count ? "" : link(page(skip + SHOWN), "The next ones");
  return html`${table(caption, titles, rows, "There are none here any more.")}
  ${count > SHOWN ? html`<nav aria-label="Pages" class="buttons">${before} ${after}</nav>` : ""}`;
}

const AWAITED_SHOWN = 10;

/** Where one sees what holds them up. */
function awaited({ deliveries }: Shown): Html {
  const names = [...new Set(deliveries.flatMap(({ awaits }) => awaits ?? []))];
  if (names.length === 0) return html``;
  const links = names
    .slice(0, AWAITED_SHOWN)
    .map((name) => html`${link(address("/documents", { text: name }), name)} `);
  return html`<p>They wait for: ${links}</p>`;
}

/** Only what can help. */
function actions(asked: Asked, shown: Shown): Html {
  const to = `/needs-you/${segment(shown.id)}`;
  const { helps } = shown;
  return html`${
    helps.includes("retry") || shown.deliveries.some(({ corrections }) => corrections.length > 0)
      ? html`<h2>Try again</h2>
          ${shown.count >= MANY ? html`<p>${ROUNDS}</p>` : ""}
          ${changing(asked, {
            id: "retry",
            action: `${to}/retry`,
            button: "Retry",
            role: "accountant",
            fields: which("retry", shown, true),
            hint: "What has changed?",
          })}`
      : ""
  }
  ${
    helps.includes("link") || helps.includes("link-amount")
      ? html`<h2>It is there already</h2>
          <p>
            You looked at the receiver and found it. Both sides are linked, and nothing is sent.
          </p>
          ${changing(asked, {
            id: "link",
            action: `${to}/link`,
            button: "It is there",
            role: "accountant",
            fields: html`${which("link", shown, false)}
              <label for="link-receiver">Its id at the receiver</label>
              <input
                id="link-receiver"
                name="receiver"
                required
                maxlength="200"
                autocomplete="off"
              />
              ${helps.includes("link-amount") ? amountThere : ""}`,
            hint: "Where did you see it?",
          })}`
      : ""
  }
  ${
    isToClose(shown)
      ? html`<h2>Settled by hand</h2>
          ${closing(asked, shown)}`
      : ""
  }`;
}

/** Nobody links two amounts by the way: the one at the receiver is named. */
const amountThere = html`<label for="link-amount"
    >Its amount at the receiver, which you accept</label
  >
  <input id="link-amount" name="amount" required maxlength="40" autocomplete="off" />`;

/** Closing it is the next step where nothing else helps; elsewhere it would only be taken for that. */
const isToClose = ({ helps }: Shown): boolean => helps.includes("resolve") && helps.length === 1;

const closing = (asked: Asked, shown: Shown): Html =>
  html`<p>Nothing is sent for it any more. Say how it was settled.</p>
    ${changing(asked, {
      id: "resolve",
      action: `/needs-you/${segment(shown.id)}/resolve`,
      button: "Close",
      role: "accountant",
      fields: which("resolve", shown, true),
      hint: "How was it settled?",
    })}`;

/** `group`: retried with it; null: the row alone. */
export function addRowForm(
  asked: Asked,
  { name, columns }: Pick<ShownTable, "name" | "columns">,
  key: string | null,
  group: string | null,
): Html {
  const id = `row-${name}-${group ?? "new"}`;
  return changing(asked, {
    id,
    action: `/cross-references/${segment(name)}`,
    button: group === null ? "Add the row" : "Add the row and retry",
    role: "accountant",
    hint: "Who said so?",
    fields: html`${group === null ? "" : html`<input type="hidden" name="group" value="${verbatim(group)}" />`}
      <div class="fields">
        ${columns.map(
          (column, at) =>
            html`<label for="${id}-${at}"
              >${column}${at === 0 ? " (the key)" : ""}
              <input
                id="${id}-${at}"
                name="cell.${verbatim(column)}"
                maxlength="200"
                autocomplete="off"
                ${at === 0 && key !== null ? html`value="${verbatim(key)}" readonly` : ""}
                ${at < 2 ? "required" : ""}
            /></label>`,
        )}
      </div>`,
  });
}

export async function retry(asked: Asked): Promise<Answer> {
  const { selector, flow } = await selected(asked);
  const { retried, left } = await asked.office.retry(selector, false, personOf(asked));
  const rest =
    left === 0
      ? ""
      : ` ${plural(left, "document stays", "documents stay")}: a retry does not help.`;
  return backTo(asked, `${await triedAgain(asked, retried, [flow])}${rest}`);
}

export async function resolve(asked: Asked): Promise<Answer> {
  const { selector } = await selected(asked);
  const { resolved } = await asked.office.resolve(selector, personOf(asked));
  return backTo(asked, `${plural(resolved, "document")} closed.`);
}

export async function found(asked: Asked): Promise<Answer> {
  const [receiverId = "", amount = ""] = ["receiver", "amount"].map((name) =>
    (asked.form.get(name) ?? "").trim(),
  );
  const { selector } = await selected(asked);
  await asked.office.resolve(selector, {
    ...personOf(asked),
    ...(receiverId === "" ? {} : { receiverId }),
    ...(amount === "" ? {} : { amount }),
  });
  return backTo(asked, "Both sides are linked.");
}
