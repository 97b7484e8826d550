/** Flows: when they look, how they stand, and what an operator may do about them. */
import { BACKFILL_SHARE } from "../../office/asked.ts";
import type { BackfillState, FlowStatus, Look, Stop, Unread } from "../../office/answers.ts";
import { fateOf, isHeldList } from "../../core/contract.ts";
import { type Html, html, segment, verbatim } from "../html.ts";
import {
  ago,
  at,
  changing,
  facts,
  flowAnchor,
  number,
  plural,
  right,
  sentence,
  table,
  untilDue,
} from "../parts.ts";
import { type Act, acts } from "../../views/acts.ts";
import { type Answer, type Asked, personOf, type Route } from "../route.ts";
import { inQuarantine, stateOf, waitingOf } from "./today.ts";

export async function flows(asked: Asked): Promise<Answer> {
  const [status, backfills, looks] = await Promise.all([
    asked.office.status(),
    asked.office.backfills(),
    asked.office.runs(),
  ]);
  const { flows, stops } = status;
  const ofFlow = Map.groupBy(looks, ({ flow }) => flow);
  const body = html`<h1>Flows</h1>
    ${stops.map((stop) => stopped(stop, asked))}
    ${flows.length === 0 ? html`<p>No flow is configured.</p>` : ""}
    ${flows.map((flow) => card(flow, waitingOf(status, flow.name), ofFlow.get(flow.name) ?? [], asked))}
    ${backfills.length === 0 ? "" : readAnew(backfills, asked)}`;
  return { title: "Flows", body };
}

const stopped = ({ breaker, scope, since, message, next }: Stop, asked: Asked): Html =>
  html`<section class="banner bad">
    <h2>${scope} is stopped since ${at(since, asked)}</h2>
    <p>${sentence(message)}</p>
    <p><strong>Next:</strong> ${next}</p>
    ${changing(asked, {
      id: `release-${breaker}`,
      action: `/stops/${segment(breaker)}/release`,
      button: "The cause is gone: go on",
      role: "operator",
      hint: "What was done about it?",
    })}
  </section>`;

/** `waiting`: of its documents in quarantine, those that clear by themselves. */
const card = (flow: FlowStatus, waiting: number, looks: readonly Look[], asked: Asked): Html =>
  html`<article class="card" id="${flowAnchor(flow.name)}">
    <h2>${flow.name} ${stateOf(flow, flow.quarantined - waiting)}</h2>
    ${facts([
      ["From", flow.from],
      ["To", flow.to],
      ["Schedule", flow.schedule],
      [
        "Last look",
        html`${at(flow.lastRunAt, asked)} <small>${ago(flow.lastRunAt, asked)}</small>`,
      ],
      [
        "Next look",
        flow.state === "paused"
          ? "none while it is paused"
          : html`${at(flow.nextDueAt, asked)} <small>${untilDue(flow.nextDueAt, asked)}</small>`,
      ],
      ["Came", number(flow.received)],
      ["Delivered", number(flow.delivered)],
      ["On the way", number(flow.pending)],
      ["Wait", waiting === 0 ? null : inQuarantine(flow, waiting)],
      ["Need you", inQuarantine(flow, flow.quarantined - waiting)],
      ["Closed", number(flow.skipped + flow.echoes + flow.resolved + flow.superseded)],
      ["Wait for payments", flow.waits === null ? null : plural(flow.waits.count, "document")],
      ["Last agreed", flow.agreed === null ? null : at(flow.agreed.at, asked)],
    ])}
    ${flow.lastError === null ? "" : html`<p><strong>${sentence(flow.lastError.message)}</strong> ${flow.lastError.next}</p>`}
    ${flow.silence === null ? "" : html`<p><strong>${sentence(flow.silence.message)}</strong> ${flow.silence.next}</p>`}
    ${flow.late.map(({ count, since, message, next }) => html`<p><strong>${plural(count, "document", "documents")} since ${at(since, asked)}: ${sentence(message)}</strong> ${next}</p>`)}
    ${flow.unread.map((one, index) => unread(flow, one, `${flow.name}-${index}`, asked))}
    <details>
      <summary>Last looks</summary>
      ${lastLooks(flow, looks, asked)}
    </details>
    <details>
      <summary>Change</summary>
      ${flow.state === "paused" ? form(asked, flow, "resume", "Go on") : html`${form(asked, flow, "now", "Look now")} ${form(asked, flow, "pause", "Pause")}`}
    </details>
    ${flow.from.startsWith("platform.") && flow.state !== "paused" ? past(asked, flow) : ""}
  </article>`;

const unread = (
  { name }: FlowStatus,
  { what, code, message, next, lasts }: Unread,
  id: string,
  asked: Asked,
): Html =>
  html`<p><strong>${what} ${fateOf({ code, lasts })}.</strong> ${sentence(message)} ${next}</p>
    ${
      lasts
        ? changing(asked, {
            id: `settle-${id}`,
            action: `/flows/${segment(name)}/settle`,
            button: `It is seen to: ${what}`,
            role: "operator",
            hint: "What was done about it?",
            fields: html`<input type="hidden" name="what" value="${verbatim(what)}" />`,
          })
        : ""
    }
    ${
      isHeldList(code)
        ? changing(asked, {
            id: `accept-${id}`,
            action: `/flows/${segment(name)}/accept`,
            button: `The list is right: ${name}`,
            role: "operator",
            hint: "How is that known?",
          })
        : ""
    }`;

const lastLooks = ({ name }: FlowStatus, looks: readonly Look[], asked: Asked): Html =>
  table(
    `The last looks of ${name}, the newest first`,
    ["Ended", right("Took"), right("New"), "Result"],
    looks.map(({ at: ended, tookMs, received, trouble }) => [
      html`${at(ended, asked)} <small>${ago(ended, asked)}</small>`,
      tookMs < 1_000 ? "less than 1 s" : `${number(Math.round(tookMs / 1_000))} s`,
      number(received),
      trouble ?? "read to its end",
    ]),
    "It has not looked yet.",
  );

const form = (asked: Asked, { name }: FlowStatus, action: string, button: string): Html =>
  changing(asked, {
    id: `${action}-${name}`,
    action: `/flows/${segment(name)}/${action}`,
    button: `${button}: ${name}`,
    role: "operator",
  });

/** Every act about a flow or a stop is a form of the page. */
export const flowForms = Object.values<Act>(acts).map(({ path, work }): Route => ({
  method: "POST",
  path,
  role: "operator",
  async answer(asked) {
    const { office, params, form } = asked;
    const name = params["flow"] ?? params["stop"] ?? "";
    const { told } = await work(office, [name, form.get("what") ?? ""], personOf(asked));
    return { to: "/flows", told };
  },
}));

/** Given again for the same days, it goes on where it was. */
const past = (asked: Asked, { name }: FlowStatus): Html =>
  html`<details>
    <summary>Read a past period again</summary>
    <p>
      What the platform changed since the first day is gone through, and documents of the period
      that never came are taken in. The live position stays where it is. It stops when the share of
      the month's requests is used.
    </p>
    ${changing(asked, {
      id: `backfill-${name}`,
      action: `/flows/${segment(name)}/backfill`,
      button: `Read the period: ${name}`,
      role: "operator",
      fields: html`<div class="line">
        <label for="backfill-${name}-from"
          >From <input id="backfill-${name}-from" name="from" type="date" required
        /></label>
        <label for="backfill-${name}-to"
          >To <input id="backfill-${name}-to" name="to" type="date" required
        /></label>
        ${shareField(name, BACKFILL_SHARE)}
      </div>`,
    })}
  </details>`;

const shareField = (id: string, share: number): Html =>
  html`<label for="backfill-${id}-share"
    >Percent of the month's requests
    <input
      id="backfill-${id}-share"
      name="share"
      type="number"
      min="1"
      max="50"
      required
      value="${share}"
  /></label>`;

/** It asks for itself again while one is under way; without a script the page is as it was loaded. */
const readAnew = (backfills: readonly BackfillState[], asked: Asked): Html =>
  html`<section
    id="backfills"
    ${
      backfills.some(({ state }) => state === "reading")
        ? html`hx-get="/flows" hx-trigger="every 2s" hx-select="#backfills" hx-target="#backfills"
          hx-swap="outerHTML"`
        : ""
    }
  >
    <h2>Past periods that were read again</h2>
    ${table(
      "Past periods, the newest first",
      [
        "Period",
        "Flow",
        "State",
        right("Done"),
        right("Records"),
        right("New"),
        right("Requests"),
        "Asked by",
      ],
      backfills.map((one) => [
        `${one.from} to ${one.to}`,
        one.flow,
        one.trouble === null ? one.state : `${one.state}: ${one.trouble.message}`,
        one.done === null ? "–" : `${Math.floor(one.done * 100)} %`,
        number(one.records),
        number(one.received),
        number(one.requests),
        html`${one.by} <small>${ago(one.beganAt, asked)}</small>`,
      ]),
    )}
    ${backfills.map((one, at) => (one.state === "paused" ? resumed(one, `paused-${at}`, asked) : ""))}
  </section>`;

const resumed = ({ flow, from, to, share, trouble }: BackfillState, id: string, asked: Asked) =>
  html`<p><strong>${flow}, ${from} to ${to}</strong> is paused. ${trouble?.next ?? ""}</p>
    ${changing(asked, {
      id: `backfill-${id}`,
      action: `/flows/${segment(flow)}/backfill`,
      button: "Go on with it",
      role: "operator",
      fields: html`<input type="hidden" name="from" value="${verbatim(from)}" />
        <input type="hidden" name="to" value="${verbatim(to)}" /> ${shareField(id, share)}`,
    })}`;

export async function backfill(asked: Asked): Promise<Answer> {
  const { office, params, form } = asked;
  const [flow, from, to] = [params["flow"] ?? "", form.get("from") ?? "", form.get("to") ?? ""];
  const share = Number(form.get("share") ?? BACKFILL_SHARE);
  const { records, requests, left, goesOn } = await office.backfillBegin({
    flow,
    from,
    to,
    share,
    ...personOf(asked),
  });
  const takes =
    requests === null
      ? "The platform does not say how much that is"
      : `About ${plural(requests, "request")} for ${plural(records ?? 0, "record")} that changed since`;
  return {
    to: "/flows",
    told: `${goesOn ? "Going on with" : "Reading"} ${flow} from ${from} to ${to}. ${takes}; ${number(left)} are left for it this month.`,
  };
}
