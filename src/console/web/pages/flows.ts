/** Flows: when they look, how they stand, and what an operator may do about them. */
import type { FlowStatus, Stop } from "../../../report/office.ts";
import { type Html, html, segment } from "../html.ts";
import { ago, at, changing, facts, number, plural } from "../parts.ts";
import { type Answer, type Asked, personOf } from "../route.ts";
import { stateOf } from "./today.ts";

export async function flows(asked: Asked): Promise<Answer> {
  const { flows, stops } = await asked.office.status();
  const body = html`<h1>Flows</h1>
    ${stops.map((stop) => stopped(stop, asked))}
    ${flows.length === 0 ? html`<p>No flow is configured.</p>` : ""}
    ${flows.map((flow) => card(flow, asked))}`;
  return { title: "Flows", body };
}

const stopped = ({ breaker, scope, since, message, next }: Stop, asked: Asked): Html =>
  html`<section class="banner bad">
    <h2>${scope} is stopped since ${at(since, asked)}</h2>
    <p>${message}</p>
    <p><strong>Next:</strong> ${next}</p>
    ${changing(asked, {
      id: `release-${breaker}`,
      action: `/stops/${segment(breaker)}/release`,
      button: "The cause is gone: go on",
      role: "operator",
      hint: "What was done about it?",
    })}
  </section>`;

const card = (flow: FlowStatus, asked: Asked): Html =>
  html`<article class="card">
    <h2>${flow.name} ${stateOf(flow)}</h2>
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
          : html`${at(flow.nextDueAt, asked)} <small>${ago(flow.nextDueAt, asked)}</small>`,
      ],
      ["Came", number(flow.received)],
      ["Delivered", number(flow.delivered)],
      ["On the way", number(flow.pending)],
      ["Need you", number(flow.quarantined)],
      ["Closed", number(flow.skipped + flow.echoes + flow.resolved + flow.superseded)],
      ["Wait for payments", flow.waits === null ? null : plural(flow.waits.count, "document")],
      ["Last agreed", flow.agreed === null ? null : at(flow.agreed.at, asked)],
    ])}
    ${flow.lastError === null ? "" : html`<p><strong>${flow.lastError.message}</strong> ${flow.lastError.next}</p>`}
    ${flow.unread.map(({ what, message, next }) => html`<p><strong>Not read: ${what}.</strong> ${message} ${next}</p>`)}
    <details>
      <summary>Change</summary>
      ${flow.state === "paused" ? form(asked, flow, "resume", "Go on") : html`${form(asked, flow, "now", "Look now")} ${form(asked, flow, "pause", "Pause")}`}
    </details>
  </article>`;

const form = (asked: Asked, { name }: FlowStatus, action: string, button: string): Html =>
  changing(asked, {
    id: `${action}-${name}`,
    action: `/flows/${segment(name)}/${action}`,
    button: `${button}: ${name}`,
    role: "operator",
  });

export async function pause(asked: Asked): Promise<Answer> {
  const { flow } = await asked.office.pause(asked.params["flow"] ?? "", personOf(asked));
  return {
    to: "/flows",
    told: `${flow} is paused: it reads and sends nothing until somebody lets it go on.`,
  };
}

export async function resume(asked: Asked): Promise<Answer> {
  const { flow } = await asked.office.goOn(asked.params["flow"] ?? "", personOf(asked));
  return { to: "/flows", told: `${flow} goes on.` };
}

export async function now(asked: Asked): Promise<Answer> {
  const { flows } = await asked.office.runNow(asked.params["flow"] ?? "", personOf(asked));
  return { to: "/flows", told: `Looking now: ${flows.join(", ")}.` };
}

export async function release(asked: Asked): Promise<Answer> {
  const { by, note } = personOf(asked);
  const { released } = await asked.office.release(asked.params["stop"] ?? "", by, note);
  return { to: "/flows", told: `The stop "${released}" is cleared; work goes on.` };
}
