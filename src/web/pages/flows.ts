/** Flows: when they look, how they stand, and what an operator may do about them. */
import { BACKFILL_SHARE } from "../../office/asked.ts";
import type {
  BackfillState,
  FlowStatus,
  Look,
  Status,
  Stop,
  Unread,
} from "../../office/answers.ts";
import { fateOf, isHeldList } from "../../core/contract.ts";
import { acts } from "../../views/acts.ts";
import { backfillsView } from "../../views/backfills.ts";
import {
  ago,
  at,
  type Block,
  type Blocks,
  facts,
  folded,
  heading,
  type Html,
  line,
  live,
  next,
  notice,
  plural,
  say,
  section,
  sentence,
  small,
  strong,
  table,
  title,
  untilDue,
} from "../../views/blocks.ts";
import { html } from "../../views/html.ts";
import {
  closedIn,
  flowAnchor,
  needing,
  stateMark,
  toDocuments,
  waitingIn,
} from "../../views/status.ts";
import { field, formOf, hidden, periodFields } from "../parts.ts";
import type { Answer, Asked } from "../route.ts";

export async function flows(asked: Asked): Promise<Answer> {
  const [status, backfills, looks] = await Promise.all([
    asked.office.status(),
    asked.office.backfills(),
    asked.office.runs(),
  ]);
  const { flows, stops } = status;
  const ofFlow = Map.groupBy(looks, ({ flow }) => flow);
  const body = [
    title("Flows"),
    stops.map((stop) => stopped(stop, asked)),
    flows.length === 0 && line("No flow is configured."),
    flows.map((flow) => cardOf(flow, status, ofFlow.get(flow.name) ?? [], asked)),
    backfills.length > 0 && readAnew(backfills, asked),
  ];
  return { title: "Flows", body };
}

const stopped = ({ breaker, scope, since, message, next: step }: Stop, asked: Asked): Block =>
  notice(
    "bad",
    heading(say`${scope} is stopped since ${at(since)}`),
    line(sentence(message)),
    line(next(step)),
    formOf(asked, acts.release, breaker),
  );

function cardOf(flow: FlowStatus, status: Status, looks: readonly Look[], asked: Asked): Block {
  const { name, lastRunAt, nextDueAt, waits, agreed, lastError, silence } = flow;
  const waiting = waitingIn(status, flow);
  const isPaused = flow.state === "paused";
  const form = (act: typeof acts.now | typeof acts.pause | typeof acts.resume): Html =>
    formOf(asked, act, name, { button: `${act.form.button}: ${name}` });
  return {
    is: "card",
    id: flowAnchor(name),
    blocks: [
      heading(say`${name} ${stateMark(flow, needing(status, flow))}`),
      facts([
        ["From", flow.from],
        ["To", flow.to],
        ["Schedule", flow.schedule],
        ["Last look", say`${at(lastRunAt)} ${small(ago(lastRunAt))}`],
        [
          "Next look",
          isPaused
            ? "none while it is paused"
            : say`${at(nextDueAt)} ${small(untilDue(nextDueAt))}`,
        ],
        ["Came", flow.received],
        ["Delivered", flow.delivered],
        ["On the way", flow.pending],
        ["Wait", waiting > 0 && toDocuments(flow, waiting)],
        ["Need you", toDocuments(flow, needing(status, flow))],
        ["Closed", closedIn(flow)],
        ["Wait for payments", waits !== null && plural(waits.count, "document")],
        ["Last agreed", agreed !== null && at(agreed.at)],
      ]),
      [lastError, silence].map(
        (one) => one !== null && line(strong(sentence(one.message)), " ", one.next),
      ),
      flow.late.map(({ count, since, message, next: step }) =>
        line(
          strong(say`${plural(count, "document")} since ${at(since)}: ${sentence(message)}`),
          ` ${step}`,
        ),
      ),
      flow.unread.map((one, index) => unread(name, one, index, asked)),
      folded("Last looks", lastLooks(name, looks)),
      folded("Change", isPaused ? form(acts.resume) : [form(acts.now), form(acts.pause)]),
      flow.from.startsWith("platform.") && !isPaused && past(asked, name),
    ],
  };
}

const unread = (
  name: string,
  { what, code, message, next: step, lasts }: Unread,
  index: number,
  asked: Asked,
): Blocks => [
  line(strong(`${what} ${fateOf({ code, lasts })}.`), ` ${sentence(message)} ${step}`),
  lasts &&
    formOf(asked, acts.settle, name, {
      id: `settle-${name}-${index}`,
      button: `It is seen to: ${what}`,
      fields: hidden({ file: what }),
    }),
  isHeldList(code) &&
    formOf(asked, acts.accept, name, {
      id: `accept-${name}-${index}`,
      button: `The list is right: ${name}`,
    }),
];

const lastLooks = (name: string, looks: readonly Look[]): Blocks =>
  table(
    `The last looks of ${name}, the newest first`,
    looks,
    [
      ["Ended", (look) => say`${at(look.at)} ${small(ago(look.at))}`],
      [
        "Took",
        ({ tookMs }) => (tookMs < 1_000 ? "less than 1 s" : say`${Math.round(tookMs / 1_000)} s`),
      ],
      ["New", ({ received }) => received],
      ["Result", ({ trouble }) => trouble ?? "read to its end"],
    ],
    "It has not looked yet.",
  );

/** Given again for the same days, it goes on where it was. */
const past = (asked: Asked, name: string): Block =>
  folded(
    "Read a past period again",
    line(
      "What the platform changed since the first day is gone through, and documents of the period that never came are ",
      "taken in. The live position stays where it is. It stops when the share of the month's requests is used.",
    ),
    formOf(asked, acts.backfill, name, {
      button: `Read the period: ${name}`,
      fields: html`<div class="line">
        ${periodFields(`backfill-${name}-`, {}, true)} ${shareField(name, BACKFILL_SHARE)}
      </div>`,
    }),
  );

const shareField = (id: string, share: number): Html =>
  field(`backfill-${id}-share`, "Percent of the month's requests", {
    type: "number",
    min: 1,
    max: 50,
    required: true,
    value: share,
  });

/** It asks for itself again while one is under way; without a script the page is as it was loaded. */
function readAnew(backfills: readonly BackfillState[], asked: Asked): Blocks {
  const paused = backfills.filter(({ state }) => state === "paused");
  const blocks = section(
    "Past periods that were read again",
    backfillsView(backfills),
    paused.map(({ flow, from, to, share, trouble }, index) => [
      line(strong(`${flow}, ${from} to ${to}`), ` is paused. ${trouble?.next ?? ""}`),
      formOf(asked, acts.backfill, flow, {
        id: `backfill-paused-${index}`,
        button: "Go on with it",
        fields: html`${hidden({ from, to })} ${shareField(`paused-${index}`, share)}`,
      }),
    ]),
  );
  const isReading = backfills.some(({ state }) => state === "reading");
  return isReading ? live("backfills", "/flows", 2, blocks) : blocks;
}
