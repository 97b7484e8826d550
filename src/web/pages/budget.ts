/** The month's requests: what they went to, and how long they last. */
import { html } from "../html.ts";
import { dayName, monthName, number, plural, right, table } from "../parts.ts";
import type { Answer, Asked } from "../route.ts";
import { burnDown, PURPOSES, swatch } from "./burn-down.ts";

export async function budget(asked: Asked): Promise<Answer> {
  const month = await asked.office.budget();
  const { used, perMonth, forecast, purposes, polls, minute } = month;
  const body = html`<h1>Budget of ${monthName(month.month)}</h1>
    <div class="banner ${used >= perMonth ? "bad" : forecast.runsOut === null ? "good" : "wait"}">
      <p>
        <strong>${number(used)} of ${number(perMonth)} requests are used.</strong>
        ${
          forecast.runsOut === null
            ? `They last for the month: about ${number(forecast.expected)} will be used at its end.`
            : used >= perMonth
              ? "Nothing is read from the platform or written to it until the month is over (UTC)."
              : `At this pace they last until ${dayName(forecast.runsOut.at)} (UTC).`
        }
        ${forecast.stretch > 1 && used < perMonth ? `The platform is polled ${forecast.stretch.toFixed(1)} times as far apart as configured, to save requests for writes.` : ""}
      </p>
    </div>
    ${burnDown(month, asked.nowMs)}
    ${table(
      "What the requests went to",
      ["Purpose", right("Used"), right("Kept for it"), right("Left for it")],
      purposes.map((one) => [
        html`${swatch(one.purpose)} ${PURPOSES[one.purpose] ?? one.purpose}`,
        number(one.used),
        number(one.reserve),
        number(one.left),
      ]),
    )}
    <h2>What flows cost</h2>
    ${table(
      "Flows that read from the platform",
      ["Flow", right("Each look"), right("A month, at least"), "How often"],
      polls.map(({ flow, perLook, times, perMonth: monthly }) => [
        flow,
        number(perLook),
        number(monthly),
        oftenText(times),
      ]),
      "No flow reads from the platform.",
    )}
    <p class="quiet">
      Requests. Each page of 100 records that are new costs one more. A flow that writes to the
      platform costs about two for each document: one looks for it, one sends it. Reading and
      writing the ERP costs none.
    </p>
    ${
      minute === null
        ? ""
        : html`<p class="quiet">
            In this minute ${plural(minute.used, "request")} of ${number(minute.limit)}.
          </p>`
    }`;
  return { title: "Budget", body };
}

const oftenText = (times: number): string =>
  times <= 1 ? "as configured" : `${times.toFixed(1)} times as far apart as configured`;
