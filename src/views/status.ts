/** For a person who asks each morning: is anything wrong, what waits, and what is to be done? */
import type { ReasonCode } from "../engine/schedule.ts";
import type { Caller, FlowStatus, MonthEnd, Status, MonthStatus } from "../office/answers.ts";
import {
  type Concern,
  driftText,
  type Page,
  pathOf,
  slowedText,
  wrongIn,
} from "../office/concerns.ts";
import {
  address,
  at,
  type Blocks,
  each,
  entry,
  folded,
  heading,
  type Inline,
  line,
  link,
  mark,
  money,
  notice,
  onPage,
  onTerminal,
  paragraph,
  plural,
  say,
  section,
  segment,
  sentence,
  strong,
  table,
  untilDue,
  monthName,
  title,
} from "./blocks.ts";
import { documentsIn, groupsTable, inGroups, parted } from "./documents.ts";
import { durationText, instant, roughly, asText } from "./text.ts";
import { lastDayOf } from "../core/time.ts";
import type { Forecast } from "../core/budget.ts";
import type { Staleness } from "../core/pace.ts";
import { capital, counted } from "../core/text.ts";

export const statusText = (status: Status): string =>
  asText([
    verdictView(status),
    flowsView(status),
    monthView(status),
    !hasNewDrift(status) && driftLine(status),
    agreementView(status),
    agreedTable(status, ""),
  ]);

/** Things that a person would act on. */
export const thingsIn = (status: Status): number =>
  wrongIn(status).length + (hasNewDrift(status) ? 1 : 0) + (status.daemon === null ? 1 : 0);

/** Is anything wrong? In one glance, and in words when nothing is. */
export function verdictView(status: Status): Blocks {
  const { daemon, flows, company, environment } = status;
  const things = thingsIn(status);
  const held = flows.filter(isHeld);
  return notice(
    things > 0 ? "bad" : held.length > 0 ? "wait" : "good",
    onTerminal(line(`${company} (${environment}): ${headline(status)}`)),
    onPage(
      heading(
        things > 0
          ? say`${plural(things, "thing")} to look at`
          : held.length === 0
            ? "Nothing is wrong"
            : say`Nothing is wrong, but ${plural(held.length, "flow stands", "flows stand")} still`,
      ),
    ),
    daemon === null &&
      line("The daemon does not run, so nothing is read or sent. Start it with fuelbridge run."),
    daemon !== null &&
      onTerminal(
        line(
          say`${daemon.command === undefined ? "The daemon runs" : `"fuelbridge ${daemon.command}" works`} since ${at(daemon.startedAt)} (process ${String(daemon.pid)}).`,
        ),
      ),
    line(stepText(status)),
    clockView(status),
    onTerminal(line(sizeText(status))),
    concernsView(status),
    section(null, groupsIn(status)),
    held.map((flow) => line(heldText(flow))),
    hasNewDrift(status) && driftLine(status),
    things === 0 && held.length === 0 && onPage(line("You do not have to do anything.")),
  );
}

function headline({ healthy, daemon }: Status): string {
  if (!healthy) return "needs attention";
  return daemon === null ? "nothing is wrong, but nothing runs" : "all is well";
}

/** What a person would act on beside the quarantine. What befell many alike is said once. */
function concernsView(status: Status): Blocks {
  const concerns = wrongIn(status).filter(({ page }) => page?.name !== "needs-you");
  const alike = Map.groupBy(concerns, ({ detail, next, also }) =>
    [detail, next, ...also].join("\n"),
  );
  return [...alike.values()].map((those) => {
    const [{ since, detail, next, retryAt, also, page }] = those as [Concern];
    const titles = those.slice(0, NAMED).map(({ title }) => title);
    return section(
      null,
      entry(
        [
          strong([titles.join(", "), others(those.length - NAMED)]),
          since !== null && say` since ${at(since)}`,
          `: ${sentence(detail)}`,
        ],
        [next, retryText(retryAt)],
        ...also.map((one) => each(null, one)),
        page !== null && each(toPage(page), null),
      ),
    );
  });
}

/** What is stopped goes on without anybody, perhaps. */
export const retryText = (retryAt: string | null): Inline =>
  retryAt !== null && say` It is tried again by itself at ${at(retryAt)}.`;

const toPage = (page: Page): Inline => link(pathOf(page), capital(page.name));

/** Where a flow stands on the page Flows. */
export const flowAnchor = (name: string): string => `flow-${segment(name)}`;
const toFlow = (name: string, text: string): Inline => link(`/flows#${flowAnchor(name)}`, text);

const NAMED = 4;

const others = (count: number): Inline => count > 0 && say` and ${plural(count, "other")}`;

/** What a person has to do first; what clears by itself is counted. */
function groupsIn({ quarantine }: Status): Blocks {
  const [own, clearing] = parted(quarantine);
  const rest = own.length - GROUPS_SHOWN;
  const documents = documentsIn(own);
  const waiting = documentsIn(clearing);
  return [
    own.length > 0 && [
      line(
        plural(documents, "document"),
        ` in quarantine ${documents === 1 ? "needs" : "need"} a person`,
        inGroups(own),
        ":",
      ),
      groupsTable(own.slice(0, GROUPS_SHOWN)),
      rest > 0 && line(say`and ${plural(rest, "more group")}`),
      line(
        each(
          link("/needs-you", "All of them"),
          "Each with its documents and what to do: fuelbridge quarantine show GROUP",
        ),
      ),
    ],
    clearing.length > 0 &&
      paragraph(
        plural(waiting, "document"),
        ` in quarantine ${waiting === 1 ? "waits for something else, and clears by itself" : "wait for something else, and clear by themselves"}`,
        each(".", ": fuelbridge quarantine list"),
      ),
  ];
}

const GROUPS_SHOWN = 5;

/** It does nothing, and nobody has to mend it: somebody paused it, or the month's requests are kept for writes. */
const isHeld = ({ state }: FlowStatus): boolean => state === "paused" || state === "paused: budget";

const heldText = ({ name, state, pending }: FlowStatus): Inline =>
  state === "paused"
    ? [
        strong(name),
        " is paused: it reads and sends nothing until somebody lets it go on. ",
        pending > 0 && say`${plural(pending, "document waits", "documents wait")} in it. `,
        each(toFlow(name, "Flows"), null),
      ]
    : [
        strong(name),
        " waits: what is left of the month's requests is kept for writes. ",
        each(link("/budget", "Budget"), null),
      ];

/** What each of the reasons means is told below, under its own heading. */
function stepText({ outOfStep }: Status): Inline {
  if (outOfStep.length === 0) return "In step, as of the last look of each flow.";
  const groups = Map.groupBy(outOfStep, ({ code }) => code);
  const said = [...groups].map(([code, alike]): Inline => {
    const flows = alike.flatMap(({ flow, count }) =>
      flow === null ? [] : [count === null ? flow : `${flow} ${count}`],
    );
    if (flows.length === 0) return WORDS[code];
    const named = `${WORDS[code]} (${flows.slice(0, NAMED).join(", ")}`;
    return [named, others(flows.length - NAMED), ")"];
  });
  return ["Not in step: ", said.map((one, index) => [index > 0 && "; ", one]), "."];
}

const WORDS: Readonly<Record<ReasonCode, string>> = {
  stopped: "stopped",
  "never-read": "never read",
  unread: "not read",
  pending: "not delivered yet",
  paused: "paused",
  waits: "waiting for payments",
  left: "left by a flow that is not configured",
};

function clockView({ clockJump }: Status): Blocks {
  if (clockJump === null) return null;
  const { at: when, byMs } = clockJump;
  const by = durationText(Math.max(Math.round(Math.abs(byMs) / 1_000), 1) * 1_000);
  return line(
    `The clock of this machine was set ${byMs < 0 ? "back" : "forward"} by ${by} (seen at `,
    at(when),
    "): due times were set by it anew. If that was not you, check its time service.",
  );
}

const MB = 1024 * 1024;
const inMegabytes = (bytes: number): string => `${(bytes / MB).toFixed(1)} MB`;

export function sizeText({ store: { bytes, freeBytes } }: Status): string {
  const free = freeBytes < MB ? "" : `, of which ${inMegabytes(freeBytes)} are free`;
  return `The store has ${inMegabytes(bytes)}${free}.`;
}

/**
 * The flows, and what waits in them or for them and nobody is alarmed by. `lately`: what came by each in the last two days, with
 * its colour in the picture of them.
 */
export function flowsView(status: Status, lately?: (flow: string) => Inline): Blocks {
  const { flows, daemon, callers } = status;
  const isLooking = daemon !== null && daemon.command === undefined;
  const looksAt = ({ state, nextDueAt }: FlowStatus): string | null =>
    isLooking && !LOOKLESS.has(state) ? nextDueAt : null;
  return [
    section(
      null,
      onPage(heading("Flows")),
      table(
        "What moves between the two sides",
        flows,
        [
          ["Flow", ({ name }) => toFlow(name, name)],
          ["State", (flow) => each(stateMark(flow, needing(status, flow)), flow.state)],
          [
            "Next look",
            (flow) =>
              each(looksAt(flow) === null ? "–" : untilDue(looksAt(flow)), at(looksAt(flow))),
          ],
          lately === undefined ? null : ["Last two days", ({ name }) => lately(name)],
          ["Received", ({ received }) => received],
          ["Delivered", ({ delivered }) => delivered],
          ["On the way", ({ pending }) => pending, "page"],
          ["Pending", ({ pending }) => pending, "terminal"],
          ["Quarantined", ({ quarantined }) => quarantined, "terminal"],
          ["Wait", (flow) => toDocuments(flow, waitingIn(status, flow)), "page"],
          ["Need you", (flow) => toDocuments(flow, needing(status, flow)), "page"],
          ["Closed", closedIn],
        ],
        "No flow is configured: nothing is kept in step.",
      ),
    ),
    flows.some((flow) => closedIn(flow) > 0) &&
      paragraph(
        "Closed: rightly not delivered (drafts, documents that were sent from here), replaced by newer versions, or closed by a person.",
      ),
    flows.map(doubtView),
    flows.map(elsewhereView),
    flows.map(expectedIn),
    callers.map(calledView),
    flows.map(
      ({ name, waits }) =>
        waits !== null &&
        paragraph(
          say`${name}: ${plural(waits.count, "document waits", "documents wait")} for payments, until ${at(waits.until)} at the latest.`,
        ),
    ),
  ];
}

/** One is looking now, and nobody will look at the other. */
const LOOKLESS: ReadonlySet<string> = new Set<FlowStatus["state"]>(["running", "paused"]);

/** Nothing is left to do about them. */
export const closedIn = ({ skipped, echoes, resolved, superseded }: FlowStatus): number =>
  skipped + echoes + resolved + superseded;

/** What was sent and has no answer: nobody need do anything before its time. */
const doubtView = ({ name, doubtful: [first, ...more] }: FlowStatus): Blocks =>
  first !== undefined &&
  paragraph(
    say`${name}: ${first.number}${others(more.length)} may have arrived; before it is sent again, it is looked for `,
    first.until === null ? "now" : say`at ${at(first.until)}`,
    ".",
  );

/** What other sites with the same API key have there. */
const elsewhereView = ({ name, elsewhere }: FlowStatus): Blocks =>
  elsewhere.length > 0 &&
  paragraph(
    `${name}: closed here because other sites have them: ${elsewhere.map(({ site, count }) => `${site} ${count}`).join(", ")}.`,
  );

/** Documents in quarantine that clear by themselves. */
export const waitingIn = (
  { quarantine }: Pick<Status, "quarantine">,
  { name }: FlowStatus,
): number => documentsIn(parted(quarantine)[1].filter(({ flow }) => flow === name));

/** Documents of a flow that somebody has to decide. */
export const needing = (status: Pick<Status, "quarantine">, flow: FlowStatus): number =>
  Math.max(flow.quarantined - waitingIn(status, flow), 0);

/** A number of documents, and the way to them. */
export const toDocuments = ({ name }: FlowStatus, count: number): Inline =>
  count === 0 ? 0 : link(address("/needs-you", { flow: name }), count);

/** `needs`: documents of it that need somebody. A flow with such is not in order, however well it reads. */
export function stateMark({ state, lastError, silence, late }: FlowStatus, needs: number): Inline {
  const isStill = late.some(({ code, expected }) => !expected && code !== "waits");
  if (isStill && (state === "idle" || state === "running")) return mark("bad", "stands still");
  if (silence !== null && (state === "idle" || state === "running")) return mark("bad", "silent");
  switch (state) {
    case "stopped":
      return mark("bad", lastError?.code === "unavailable" ? "cannot read" : "stopped");
    case "paused":
      return mark("off", "paused");
    case "paused: budget":
      return mark("wait", "waits for requests");
    case "running":
      return needs > 0 ? mark("wait", "works") : mark("good", "works");
    case "idle":
      return needs > 0 ? mark("bad", "needs you") : mark("good", "in order");
  }
}

/** What has not gone on for too long, and nobody is alarmed by; what is told as a stop or a pause is not told twice. */
const expectedIn = ({ name, late }: FlowStatus): Blocks =>
  late
    .filter((one) => one.expected && one.code !== "stopped" && one.code !== "paused")
    .map(({ code, count, since, message, next: step }) =>
      section(
        null,
        entry(
          say`WAITING ${name}: ${plural(count, "document")} since ${at(since)} (${code}): ${message}`,
          step,
        ),
      ),
    );

/** One that calls us: when it was here, and what waits for it. */
function calledView({ endpoint, lastAt, isHere, waiting }: Caller): Blocks {
  const was: Inline = isHere
    ? "is here"
    : lastAt === null
      ? "has never called"
      : say`was last here ${at(lastAt)}`;
  const waits =
    waiting > 0 &&
    say`; ${plural(waiting, "document waits", "documents wait")}${isHere ? "" : " for its next call"}`;
  return paragraph(say`${endpoint} ${was}${waits}.`);
}

/** Of the last days, so that a person has not seen it yet. */
const hasNewDrift = ({ drift }: Pick<Status, "drift">): boolean =>
  drift.some(({ isNews }) => isNews);

/** However many fields they are, one sentence: it stops nothing, and must not hide what does. */
function driftLine({ drift }: Pick<Status, "drift">): Blocks {
  if (drift.length === 0) return null;
  const points = drift.length === 1 ? "one point" : `${drift.length} points`;
  const lists = Map.groupBy(drift, ({ from }) => from);
  const where = Array.from(lists, ([from, own]) => `${from} ${own.length}`).join(", ");
  const mappings = new Set(drift.flatMap((one) => one.mappings));
  return section(
    null,
    entry(
      [
        `The platform's records differ from its contract in ${points} (${where})`,
        each(". ", ": fuelbridge drift. "),
        "Nothing stops for it.",
      ],
      hasNewDrift({ drift }) &&
        `Ask the platform what it means. If it matters, these mappings may need it: ${[...mappings].join(", ")}.`,
    ),
    onPage(folded("Each of them", driftView(drift))),
  );
}

/** What the platform's records have that the contract does not know, or lack. */
export const driftView = (drift: Status["drift"]): Blocks =>
  table(
    "What the platform tells beyond its contract",
    drift,
    [
      ["Records of", ({ from }) => from],
      ["What", driftText],
      ["Records", ({ count }) => count],
      ["First with", ({ record }) => record],
      ["First", ({ first }) => at(first)],
      ["Last", ({ last }) => at(last)],
      ["Mappings that may need it", ({ mappings }) => mappings.join(", ")],
    ],
    "The platform tells nothing that its contract does not know.",
  );

export const monthView = ({
  requests: { month, used, perMonth, forecast, bought },
}: Status): Blocks =>
  section(
    null,
    line(
      say`${used} of ${plural(perMonth, "request")} to the platform are used in ${each(monthName(month), month)}.`,
    ),
    used >= perMonth
      ? line("Nothing is sent before the month turns, or platform.budget.perMonth is raised.")
      : (forecast.stretch > 1 || forecast.runsOut !== null) && line(stretchText(forecast)),
    onTerminal(freshTable(bought)),
  );

/** When both sides were compared, and what they do not agree on. */
export function agreementView({ reconciliation }: Status): Blocks {
  const { lastAt, trouble, nextDueAt, everyNights, wantsShare, differences, waits } =
    reconciliation;
  const { confirmed, seen, clears, accepted } = differences;
  return section(
    null,
    line(
      lastAt === null
        ? say`Both sides were never compared${each(".", ": fuelbridge reconcile.")}`
        : say`Both sides were last compared ${at(lastAt)}.`,
      nextDueAt !== null && say` The next time is ${at(nextDueAt)}.`,
    ),
    trouble !== null && line(`The last comparison ended without an answer: ${trouble}`),
    waits !== null &&
      entry(
        say`A comparison waits for "${waits.endpoint}" since ${at(waits.since)}, until ${at(waits.until)} at most: ${waits.message}`,
        waits.next,
      ),
    everyNights !== 1 &&
      line(`It is done every ${everyNights} nights, to keep within its share of the month.`),
    wantsShare !== null &&
      line(`platform.budget.share.audit: ${wantsShare} would do for a comparison a week.`),
    confirmed + seen > 0 &&
      line(
        say`${plural(confirmed, "difference")} confirmed, and ${seen} seen once. `,
        "Each with both values and what to do: ",
        each(link("/reconciliation", "Reconciliation"), "fuelbridge reconcile --last"),
      ),
    clears > 0 && line(plural(clears, "invoice"), " paid in part: nothing is to be done."),
    accepted > 0 &&
      line(plural(accepted, "difference"), " that a person accepted: nothing is to be done."),
  );
}

/** By flow, in the company's currency. */
export const agreedTable = ({ flows }: Status, currency: string): Blocks =>
  section(
    null,
    table(
      "What both sides hold alike",
      flows.flatMap(({ name, agreed }) => (agreed === null ? [] : [{ name, ...agreed }])),
      [
        ["Flow", ({ name }) => name],
        ["Last agreed", (one) => at(one.at)],
        ["Documents", ({ documents }) => documents],
        ["Amount", ({ amount }) => (amount === null ? null : money(amount, currency))],
      ],
    ),
  );

/* The end of a month on one page: what is read, delivered, compared, matched and left to people. For paper, too. */

export function monthEndView(asked: MonthEnd): Blocks {
  const { status, month } = asked;
  const checks = checksOf(asked);
  const open = checks.filter(({ isDone }) => !isDone).length;
  return [
    title(`Month's end: ${monthName(month)}`),
    notice(
      open === 0 ? "good" : "bad",
      line(
        strong(
          open === 0
            ? say`${monthName(month)} may be closed.`
            : say`${plural(open, "point is", "points are")} open.`,
        ),
      ),
    ),
    table(`What closes ${monthName(month)} of ${status.company}`, checks, [
      ["Point", ({ what }) => what],
      ["Done", ({ isDone }) => (isDone ? mark("good", "yes") : mark("bad", "open"))],
      ["Number", ({ number }) => number],
      ["Where", ({ where }) => where, "page"],
    ]),
  ];
}

function checksOf(asked: MonthEnd) {
  const { month, unread, paused, comparedAt, notCompared, matchedAt, alone, status } = asked;
  const { flows, quarantine, reconciliation, matching, daemon } = status;
  const pending = flows.reduce((sum, flow) => sum + flow.pending, 0);
  const [left, waiting] = parted(quarantine).map(documentsIn) as [number, number];
  const undelivered = pending + left + waiting;
  const { confirmed, seen, clears, accepted } = reconciliation.differences;
  const differences = confirmed + seen;
  return [
    {
      what: "Everything is read",
      isDone: daemon !== null && unread.length === 0,
      number: [
        unread.length === 0 ? "every flow" : ["not since the month ended: ", unread.join(", ")],
        paused.length > 0 && [", without what is paused: ", paused.join(", ")],
        daemon === null && "; fuelbridge does not run",
      ],
      where: link("/flows", "Flows"),
    },
    {
      what: "Everything is delivered",
      isDone: pending + waiting === 0,
      number: [
        say`${plural(pending, "document")} on the way`,
        waiting > 0 && say`, ${plural(waiting, "document waits", "documents wait")} for another`,
      ],
      where:
        waiting > 0
          ? link("/needs-you", "Needs you")
          : link(address("/documents", { state: "pending" }), "Documents"),
    },
    {
      what: "Nothing waits for a decision",
      isDone: left === 0,
      number: plural(left, "document needs a person", "documents need a person"),
      where: link("/needs-you", "Needs you"),
    },
    {
      what: "Both sides were compared in full, after the month",
      isDone: comparedAt !== null && notCompared.length === 0,
      number: [
        comparedAt === null ? "never" : at(comparedAt),
        notCompared.map(({ endpoint, what }) => [", without ", what, " of ", endpoint]),
      ],
      where: link(address("/reconciliation/cost", daysOf(month)), "Compare the month"),
    },
    {
      what: "Both sides agree",
      // What is not delivered is on one side only.
      isDone: comparedAt !== null && differences + undelivered === 0,
      number:
        comparedAt === null
          ? "not compared"
          : [
              plural(differences, "difference"),
              notCompared.length > 0 && " in what was compared",
              undelivered > 0 && [" besides ", plural(undelivered, "document"), " not delivered"],
              clears > 0 && [", and ", plural(clears, "invoice"), " paid in part"],
              accepted > 0 && [", and ", String(accepted), " that a person accepted"],
            ],
      where: link("/reconciliation", "Reconciliation"),
    },
    {
      what: "Orders, tickets, invoices and prices match",
      isDone: matchedAt !== null && matching.open === 0 && matching.trouble === null,
      number: [
        matching.trouble !== null && say`not compared ${at(matching.trouble.at)}; `,
        matchedAt === null ? "not compared after the month" : plural(matching.open, "open finding"),
        alone > 0 && [", and ", plural(alone, "invoice"), " without a paper to be compared with"],
      ],
      where: link(address("/match", daysOf(month)), "Match"),
    },
  ];
}

const daysOf = (month: string) => ({ from: `${month}-01`, to: lastDayOf(month) });

/* The month's requests: what they went to, and how long they last. */

export const PURPOSES: Readonly<Record<string, string>> = {
  poll: "Looking for what is new",
  detail: "Reading details",
  write: "Writing",
  "read-back": "Checking whether what was sent arrived",
  check: "Checks by people",
  audit: "Comparing both sides",
  backfill: "Reading past periods again",
  lost: "Not known: fuelbridge was ended by force",
};

/** `swatch`: the colour of a purpose in the picture of the page. */
export function budgetView(
  month: MonthStatus,
  swatch: (purpose: string) => Inline = () => null,
): Blocks {
  const { used, perMonth, minute, forecast, lists, purposes, polls, bought, slowed } = month;
  return [
    notice(
      used >= perMonth ? "bad" : forecast.runsOut === null && slowed === null ? "good" : "wait",
      line(
        strong(
          say`${used} of ${plural(perMonth, "request")} are used in ${each(monthName(month.month), month.month)} (UTC).`,
        ),
      ),
      line(
        used >= perMonth
          ? "Nothing is read from the platform or written to it until the month is over (UTC)."
          : say`If it goes on like this, the month comes to ${plural(forecast.expected, "request")}.`,
      ),
      line(stretchText(forecast)),
      slowed !== null && line(slowedText(slowed)),
      lists.filter(({ slowing }) => slowing > 1).map((one) => line(listText(one))),
      line(
        minute === null
          ? "The daemon does not run."
          : say`${minute.used} of ${minute.limit} requests of the minute are used`,
        minute !== null && minute.opensInMs > 0
          ? `; the next one goes in ${Math.ceil(minute.opensInMs / 1_000)} s.`
          : minute !== null && ".",
      ),
    ),
    section(
      null,
      table(
        "What the requests went to",
        purposes.filter(({ purpose, used }) => purpose !== "lost" || used > 0),
        [
          ["For", ({ purpose }) => each([swatch(purpose), " ", PURPOSES[purpose]], purpose)],
          ["Used", (one) => one.used],
          ["Reserved", ({ reserve }) => reserve],
          ["Left", ({ left }) => left],
        ],
      ),
    ),
    section(
      "What flows cost",
      table(
        "Flows that read from the platform",
        polls,
        [
          ["Flow", ({ flow }) => flow],
          ["Each look", ({ perLook }) => perLook],
          ["A month, at least", (one) => one.perMonth],
          [
            "How often",
            ({ times, rates }) =>
              rates !== null
                ? "every: auto, as the month allows"
                : times <= 1
                  ? "as configured"
                  : apart(times),
          ],
        ],
        "No flow reads from the platform.",
      ),
      line(
        "Requests. Each page of 100 records that are new costs one more. A flow that writes to the platform costs about ",
        "two for each document: one looks for it, one sends it. Reading and writing the ERP costs none.",
      ),
    ),
    section("How fresh", freshTable(bought)),
    section(
      "What requests bought",
      table(
        "Requests of this month by the flow that asked",
        bought.flatMap(({ requests, ...one }) =>
          Object.entries(requests).map(([purpose, used]) => ({ ...one, purpose, used })),
        ),
        [
          ["Flow", ({ flow }) => flow],
          ["For", ({ purpose }) => PURPOSES[purpose]],
          ["Requests", ({ used }) => used],
          ["Changes stored", ({ stored }) => stored],
          ["Requests for each change", ({ used, stored }) => ratio(used, stored)],
          ["Delivered", ({ delivered }) => delivered],
          ["Requests for each delivered", ({ used, delivered }) => ratio(used, delivered)],
        ],
        "No flow has asked the platform for anything this month.",
      ),
    ),
  ];
}

function ratio(requests: number, things: number): Inline {
  const text = (requests / things).toFixed(requests < things * 10 ? 2 : 0);
  return things === 0 ? "–" : { is: "figure", page: text, terminal: text };
}

/** How long changes had waited since the platform had them, this month. */
const freshTable = (bought: MonthStatus["bought"]): Blocks =>
  table(
    "How long changes of this month waited: from the time that the platform gives until stored here, and until delivered",
    bought.flatMap(({ flow, untilStored, untilDelivered }) =>
      untilStored === null ? [] : [{ flow, untilStored, untilDelivered }],
    ),
    [
      ["Flow", ({ flow }) => flow],
      ["Changes", ({ untilStored }) => untilStored.changes],
      ["Stored after", ({ untilStored }) => staleText(untilStored)],
      ["Stored, in office hours", ({ untilStored: { office } }) => office && staleText(office)],
      ["Delivered after", ({ untilDelivered }) => untilDelivered && staleText(untilDelivered)],
      [
        "Delivered, in office hours",
        ({ untilDelivered }) => untilDelivered?.office && staleText(untilDelivered.office),
      ],
    ],
  );

/** How long changes wait, in one cell. */
export const staleText = ({ meanMs, p95Ms }: Staleness): string =>
  `mean ${roughly(meanMs)}, 95 % within ${roughly(p95Ms)}`;

const apart = (times: number): string => `${factor(times)} times as seldom as configured`;

/** How far apart polls are, and whether the month suffices: the one sentence about both. */
export function stretchText(forecast: Pick<Forecast, "stretch" | "runsOut" | "backlog">): string {
  const { backlog } = forecast;
  if (backlog === undefined) return paceText(forecast);
  const { documents, writes, readBacks } = backlog;
  return (
    `${paceText(forecast)} ${counted(documents, "document")} ${documents === 1 ? "waits" : "wait"} to be sent: about ` +
    `${counted(writes, "request")} to write ${documents === 1 ? "it" : "them"}, ${readBacks} to look for ${documents === 1 ? "it" : "them"}.`
  );
}

function paceText({ stretch, runsOut }: Pick<Forecast, "stretch" | "runsOut">): string {
  const distance = stretch > 1 ? apart(stretch) : AS_CONFIGURED;
  if (runsOut === null)
    return stretch > 1
      ? `The platform is read ${distance}, so that the month's requests suffice.`
      : `The platform is read ${distance}, and the month's requests suffice.`;
  const at = instant(runsOut.at);
  const rest =
    runsOut.stops === "polls"
      ? `nothing is read from ${at} until the month is over, and the rest is kept for sending`
      : `nothing is read or sent from ${at} until the month is over`;
  return `The platform is read ${distance}, and the month's requests do not suffice: ${rest}. See fuelbridge budget plan.`;
}

const AS_CONFIGURED = "as often as configured";

/** A list that takes no date is read whole each time, and takes its share of the month. */
export const listText = ({ flow, pages, slowing }: MonthStatus["lists"][number]): string =>
  `"${flow}" reads ${counted(pages, "page")} each time: it is read ${factor(slowing)} times as seldom as configured.`;

const factor = (stretch: number): string => stretch.toFixed(1);
