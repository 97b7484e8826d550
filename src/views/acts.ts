/**
 * What people do, and what they are told then: one table, of which the commands (cli/asking.ts), the console's routes
 * (web/routes.ts) and its forms are made.
 */
import { BACKFILL_SHARE, type Editing, type Person, type Backfilling } from "../office/asked.ts";
import { OfficeError } from "../core/errors.ts";
import type { BackfillCost, BackfillState } from "../office/answers.ts";
import type { Office } from "../office/questions.ts";
import {
  type Inline,
  plural,
  say,
  ago,
  at,
  type Blocks,
  each,
  entry,
  next,
  table,
} from "./blocks.ts";

export interface Act {
  /** The command with its arguments; null: the console alone has it. */
  readonly usage: string | null;
  readonly about: string;
  /** The word for it in scripts of before. */
  readonly formerly?: string;
  /** Of the command, beside the reason and who gives it. */
  readonly options?: readonly (readonly [flags: string, description: string])[];
  /** What the reason says. `usual`: taken where the command is given none. Null: it has none, for it is said otherwise. */
  readonly reason: { readonly says: string; readonly usual?: string } | null;
  readonly form: Form;
  /** `given`: arguments and options of the command, or the values of the form and its address, by their names. */
  readonly work: (office: Office, given: Given, person: Person) => Promise<Done>;
}

export interface Form {
  /** `/flows/:flow/pause` */
  readonly path: string;
  readonly role: "clerk" | "accountant" | "operator";
  readonly button: string;
  /** What is asked for: a reason, unless it is said otherwise; and what it could be. */
  readonly label?: string;
  readonly hint?: string;
}

export type Given = Readonly<Record<string, string | undefined>>;

interface Done {
  readonly data: unknown;
  readonly told: Inline;
}

const UNEXPLAINED = "on the command line, without a reason";
const SELECTOR = "a group's id, a delivery's number in the list, or all";

const formUnder =
  (place: string, role: Form["role"]) =>
  (path: string, button: string, hint?: string): Form => ({
    path: `${place}/${path}`,
    role,
    button,
    ...(hint === undefined ? {} : { hint }),
  });
const ofFlow = formUnder("/flows/:flow", "operator");
const ofGroup = formUnder("/needs-you/:group", "accountant");

export const acts = {
  now: {
    usage: "now <flow>",
    about: "have the running daemon look at a flow at once; all for every flow",
    reason: { says: "why; it is kept", usual: UNEXPLAINED },
    form: ofFlow("now", "Look now"),
    work: async (office, { flow = "" }, person) => {
      const data = await office.runNow(flow, person);
      const { flows, stopped } = data;
      const left = `Stopped, and not looked at: ${stopped.join(", ")}. \`fuelbridge status\` says why.`;
      const told = `Looking now: ${flows.join(", ")}.${stopped.length === 0 ? "" : ` ${left}`}`;
      return { data, told };
    },
  },
  release: {
    usage: "release <stop>",
    about: "clear a stop whose cause is gone (status shows stops)",
    reason: { says: "why; it is kept", usual: UNEXPLAINED },
    form: {
      path: "/stops/:stop/release",
      role: "operator",
      button: "The cause is gone: go on",
      hint: "What was done about it?",
    },
    work: async (office, { stop = "" }, { by, note }) => {
      const data = await office.release(stop, by, note);
      return { data, told: `Released: ${data.released}. Work goes on.` };
    },
  },
  pause: {
    usage: "pause <flow>",
    about: "have a flow read and send nothing until it is resumed",
    reason: { says: "why; it is kept in the audit" },
    form: ofFlow("pause", "Pause"),
    work: async (office, { flow = "" }, person) => {
      const data = await office.pause(flow, person);
      const told = `${data.flow} is paused: it reads and sends nothing until somebody lets it go on.`;
      return { data, told };
    },
  },
  resume: {
    usage: "resume <flow>",
    about: "let a paused flow go on",
    reason: { says: "why; it is kept in the audit" },
    form: ofFlow("resume", "Go on"),
    work: async (office, { flow = "" }, person) => {
      const data = await office.goOn(flow, person);
      return { data, told: `${data.flow} goes on.` };
    },
  },
  accept: {
    usage: "accept <flow> [number]",
    about: "say that a held list is right, or that what differs in one number may stay so",
    reason: { says: "how that is known; it is kept in the audit" },
    form: ofFlow("accept", "The list is right", "How is that known?"),
    work: async (office, { flow = "", number = "" }, person) => {
      const data = await office.accept(flow, number, person);
      if (number !== "") {
        const told = `${number} of ${data.flow} may stay as it is; it is told again when its values change.`;
        return { data, told };
      }
      const what =
        data.told === null
          ? "it is taken at the next look"
          : say`${plural(data.told, "document")} that it lacks: fuelbridge quarantine list`;
      return { data, told: say`The list of ${data.flow} is accepted; ${what}.` };
    },
  },
  settle: {
    usage: "settle <flow> <file>",
    about: "say that a file which was refused, or cut short, is seen to",
    reason: { says: "what was done about it; it is kept in the audit" },
    form: ofFlow("settle", "It is seen to", "What was done about it?"),
    work: async (office, { flow = "", file = "" }, person) => {
      const data = await office.settleUnread(flow, file, person);
      return { data, told: `${data.what} of ${data.flow} is settled.` };
    },
  },
  backfill: {
    usage: null,
    about: "read a past period anew",
    reason: { says: "why; it is kept in the audit" },
    form: ofFlow("backfill", "Read the period"),
    work: async (office, { flow = "", from = "", to = "", share }, person) => {
      const asked = { flow, from, to, share: Number(share ?? BACKFILL_SHARE), ...person };
      const data = await office.backfillBegin(asked);
      return { data, told: backfillCostText(asked, data) };
    },
  },
  retry: {
    usage: "quarantine retry <selector>",
    about: `map and deliver again: ${SELECTOR}`,
    options: [["--anyway", "also what a retry does not help: after an update of fuelbridge"]],
    reason: { says: "why; it is kept", usual: UNEXPLAINED },
    form: ofGroup("retry", "Retry", "What has changed?"),
    work: async (office, given, person) => {
      const flows = await flowsOf(office, given);
      const data = await office.retry(
        given["selector"] ?? "",
        given["anyway"] !== undefined,
        person,
      );
      const rest =
        data.left > 0 &&
        say` ${plural(data.left, "document stays", "documents stay")} in quarantine: a retry does not help.`;
      return { data, told: [await triedAgain(office, data.retried, flows), rest] };
    },
  },
  resolve: {
    usage: "quarantine close <selector>",
    formerly: "resolve",
    about: `close what is settled by hand: ${SELECTOR}`,
    options: [
      ["--receiver-id <id>", "where it was found at the receiver: both sides are linked"],
      ["--amount <amount>", "what it comes to there, where that is another amount"],
    ],
    reason: { says: "how it was settled; it is kept" },
    form: ofGroup("resolve", "Close", "How was it settled?"),
    work: resolved,
  },
  link: {
    usage: null,
    about: "found at the receiver",
    reason: { says: "where it was seen" },
    form: ofGroup("link", "It is there", "Where did you see it?"),
    work: resolved,
  },
  edit: {
    usage: "quarantine edit <selector> <correction>",
    about: "correct a field of one document, FIELD=VALUE, beside what was received",
    reason: { says: "why; it is kept" },
    form: ofGroup("edit", "Correct and try again", "How do you know?"),
    work: async (office, given, person) => {
      const { selector = "", correction, field = "", value = "" } = given;
      const editing =
        correction === undefined ? { field: field.trim(), value } : editingOf(correction);
      const data = await office.edit(selector, editing, person);
      const told = `${data.field} is "${data.value}" now; it was "${data.was}". What was received stays as it is.`;
      if (data.still !== null)
        return { data, told: `${told}\nIt cannot go out yet: ${data.still}` };
      if (correction !== undefined)
        return {
          data,
          told: `${told}\nTo map and deliver it: fuelbridge quarantine retry ${data.delivery}`,
        };
      await office.retry(data.delivery, false, person);
      return { data, told: [told, " ", await triedAgain(office, 1, await flowsOf(office, given))] };
    },
  },
  assign: {
    usage: "quarantine assign <selector>",
    about: `who sees to it: ${SELECTOR}`,
    options: [["--to <name>", "who; left out: nobody any more"]],
    reason: { says: "why; it is kept", usual: "assigned" },
    form: { ...ofGroup("assign", "Assign"), role: "clerk" },
    work: async (office, { selector = "", to = "" }, person) => {
      const name = to.trim();
      const data = await office.assign(selector, { to: name === "" ? null : name, ...person });
      const many = plural(data.assigned, "document is", "documents are");
      return { data, told: say`${many} ${name === "" ? "nobody's" : `${name}'s`} now.` };
    },
  },
  note: {
    usage: "quarantine note <selector> <text>",
    about: `write what you know: ${SELECTOR}`,
    reason: null,
    form: { ...ofGroup("note", "Add the note", "What do you know?"), label: "Note", role: "clerk" },
    work: async (office, { selector = "", text }, { by, note }) => {
      const data = await office.remark(selector, { by, note: text ?? note });
      return { data, told: say`Noted on ${plural(data.noted, "document")}.` };
    },
  },
} as const satisfies Readonly<Record<string, Act>>;

async function resolved(office: Office, given: Given, person: Person): Promise<Done> {
  const { selector = "", receiverId = "", amount = "" } = given;
  const data = await office.resolve(selector, {
    ...person,
    ...(receiverId.trim() === "" ? {} : { receiverId: receiverId.trim() }),
    ...(amount.trim() === "" ? {} : { amount: amount.trim() }),
  });
  return {
    data,
    told:
      receiverId === ""
        ? say`${plural(data.resolved, "document")} closed.`
        : "Both sides are linked.",
  };
}

/** @throws OfficeError when there is no field before the first `=` */
function editingOf(correction: string): Editing {
  const at = correction.indexOf("=");
  if (at > 0) return { field: correction.slice(0, at).trim(), value: correction.slice(at + 1) };
  throw new OfficeError(
    `"${correction}" names no field with its value.`,
    `Write it as FIELD=VALUE, for example lines.1.product=ULSD: fuelbridge quarantine edit 17 lines.1.product=ULSD --note "the terminal's code"`,
  );
}

/** The flows that documents in quarantine are of, so far as their group is named. */
async function flowsOf(office: Office, { selector, group }: Given): Promise<string[]> {
  const groups = await office.quarantine();
  return groups
    .filter(({ id }) => selector === "all" || id === selector || id === group)
    .map(({ flow }) => flow);
}

/** From so many on it takes long enough to be asked about. A round is 200 (engine/daemon.ts). */
export const MANY = 200;

export const ROUNDS =
  "They go out in rounds, within the requests of each minute; newer documents of the flow wait behind them.";

/** What becomes of documents that are tried again, as things stand. `flows`: theirs. */
export async function triedAgain(
  office: Office,
  count: number,
  flows: readonly string[],
): Promise<Inline> {
  const { daemon, flows: all, stops } = await office.status();
  const tried = say`${plural(count, "document")} will be tried again`;
  const paused = all
    .filter(({ name, state }) => flows.includes(name) && state === "paused")
    .map(({ name }) => name);
  if (paused.length > 0)
    return say`${tried} once somebody lets ${paused.join(" and ")} go on: it is paused.`;
  if (daemon === null) return say`${tried} by the daemon once it runs, or by fuelbridge once.`;
  if (stops.length > 0)
    return say`${tried} once nothing is stopped that they need; fuelbridge status and Today say what is.`;
  return count < MANY
    ? say`${tried} now.`
    : say`${tried}, the oldest first. ${ROUNDS} Today says how many are on the way.`;
}

/* Past periods that are read anew: what one takes, and what was read so. */

/** What one takes, as it begins. */
export function backfillCostText(
  { flow, from, to, share }: Omit<Backfilling, "by" | "note">,
  { records, requests, left, goesOn }: BackfillCost,
): Inline {
  const takes =
    requests === null
      ? "The platform does not say how many records it has to go through"
      : say`It takes about ${plural(requests, "request")} to the platform for ${plural(records ?? 0, "record")} that changed since, and one more for each record that the list shows in part`;
  return [
    `${goesOn ? "Going on with" : "Reading"} ${flow} from ${from} to ${to}. `,
    say`${takes}; ${left} are left for it this month (${share} %).`,
  ];
}

/** What one has come to. */
export function backfilledView(done: BackfillState): Blocks {
  const { flow, from, to, records, received, requests, trouble } = done;
  const brought = say`${plural(records, "record")} of the period, ${received} of them new or changed, in ${plural(requests, "request")}`;
  return done.state === "done"
    ? entry(
        say`${flow} was read from ${from} to ${to}: ${brought}.`,
        "New documents are read as before. What came is delivered by the daemon, or by `fuelbridge once`.",
      )
    : entry(
        say`${flow} from ${from} to ${to} is paused. So far: ${brought}.`,
        trouble?.message,
        trouble !== null && next(trouble.next),
      );
}

export const backfillsView = (backfills: readonly BackfillState[]): Blocks =>
  table(
    "Past periods that were read again, the newest first",
    backfills,
    [
      ["Period", ({ from, to }) => `${from} to ${to}`],
      ["Flow", ({ flow }) => flow],
      [
        "State",
        ({ state, trouble }) => (trouble === null ? state : `${state}: ${trouble.message}`),
      ],
      ["Done", ({ done }) => (done === null ? "–" : `${Math.floor(done * 100)} %`)],
      ["Records", ({ records }) => records],
      ["New", ({ received }) => received],
      ["Requests", ({ requests }) => requests],
      ["Asked by", ({ by, beganAt }) => say`${by}, ${each(ago(beganAt), at(beganAt))}`],
    ],
    "No past period was read again.",
  );
