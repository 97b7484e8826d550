/**
 * What people can ask of fuelbridge and do with it: one table. The type {@link Office}, the office of this process, the
 * daemon's interface (server.ts), its client (remote.ts) and the office that only answers follow from it.
 */
import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import { keptFindings, lastMatch, matchTrouble, settleFinding } from "../engine/match.ts";
import { unreadBy } from "../engine/breakers.ts";
import { released, unread } from "../engine/restored.ts";
import {
  addRow,
  auditPage,
  deedsOf,
  hold,
  latelyOf,
  listAccepted,
  looksOf,
  settleUnread,
  shownTables,
  backfillState,
  comparing,
  expectDays,
  filling,
  flowNamed,
  reconcileCost,
} from "./people.ts";
import {
  differenceAccepted,
  knownDifferences,
  driftsOf,
  monthEnd,
  type OfficeParts,
  status,
} from "./status.ts";
import { OfficeError } from "../core/errors.ts";
import type { Trace } from "./answers.ts";
import {
  AddingRow,
  Assignment,
  AuditAsked,
  AuditHead,
  Backfilling,
  Counterparts,
  Decision,
  DoneElsewhere,
  Editing,
  FindingState,
  MatchAsked,
  Person,
  Reconciling,
  Sampling,
  Searching,
  SeenFinding,
  text,
} from "./asked.ts";
import { assign, type Chosen, edit, helped, remark, resolve, retry, select } from "./decisions.ts";
import {
  catchUp,
  catchUpWithFew,
  counterpartsOf,
  documentsOf,
  lifeOf,
  samplesOf,
  toBook,
  trace,
} from "./documents.ts";
import { groupsOf, remember, shownGroup } from "./quarantine.ts";

type Items = z.core.util.TupleItems;
type Given<Args extends Items> = z.output<z.ZodTuple<Args, null>>;

interface Question<Args extends Items, Answer> {
  /** What it is asked with, as the daemon's interface takes it. */
  readonly args: z.ZodTuple<Args, null>;
  /** It decides or sends something: an office that only answers refuses it. */
  readonly acts: boolean;
  readonly answer: (parts: OfficeParts, ...given: Given<Args>) => Answer | Promise<Answer>;
}

/** A question changes nothing that people decide about. */
const ask = <const Args extends Items, Answer>(
  args: Args,
  answer: Question<Args, Answer>["answer"],
): Question<Args, Answer> => ({
  args: z.tuple(args as unknown as [z.ZodType]) as unknown as z.ZodTuple<Args, null>,
  acts: false,
  answer,
});

const act = <const Args extends Items, Answer>(
  args: Args,
  answer: Question<Args, Answer>["answer"],
): Question<Args, Answer> => ({ ...ask(args, answer), acts: true });

/** How long a command takes in what is not searched, and has no sum, yet. */
const CATCH_UP_MS = 250;

function takeIn({ engine, flows, daemon }: OfficeParts): void {
  if (daemon === null) catchUp(engine, flows, CATCH_UP_MS);
  else catchUpWithFew(engine, flows);
}

export const questions = {
  status: ask([], status),
  /** May this month (`2026-10`; null: the last one that is over) be closed? */
  monthEnd: ask([text.nullable()], monthEnd),
  /** What the month's requests to the platform went to, and how long they last. Without a daemon a minute says nothing. */
  budget: ask([], ({ month, daemon }) => ({
    ...month.status(),
    ...(daemon === null ? { minute: null } : {}),
  })),
  /**
   * A request to the platform that a command makes by itself (`doctor`): waits for its place within the minute, and counts it
   * before it is sent, as the daemon's own.
   */
  admit: ask([], ({ governor }) => governor.admit("check")),
  /** The days that documents which are stored and not delivered yet will be booked on (`doctor`). */
  toBook: ask([], ({ engine, flows }) => toBook(engine, flows)),
  /** What an endpoint keeps, by its own names (`doctor`). */
  notebook: ask([text], ({ engine }, endpoint) => engine.store.notebooks.of(endpoint)),

  /** What a reconciliation will ask of the platform, before it does. */
  reconcileCost: ask([Reconciling], reconcileCost),
  /**
   * Both sides as they are now, every record in one bucket. It takes as long as its requests do.
   * @throws SourceUnavailable when a side cannot be read whole
   */
  reconcile: act([Reconciling], (parts, asked) => {
    const { auditor, question } = comparing(parts, asked);
    return auditor.reconcile(question);
  }),
  /** What the runs before found and is not settled, from the store: nobody is asked. */
  differences: ask([], ({ engine }) => knownDifferences(engine)),

  /** Orders, tickets, invoices and prices that are stored, compared with each other: nobody is asked. What is found is kept. */
  match: act([MatchAsked], ({ matcher }, asked) => matcher.match(expectDays(asked))),
  /** What the last run found and people have not settled, with what they have. */
  findings: ask([], ({ engine }) => ({
    last: lastMatch(engine),
    trouble: matchTrouble(engine),
    findings: keptFindings(engine),
  })),
  /** A finding may stay so, is disputed, or is open again. @throws OfficeError where none of this key and these values is known */
  settleFinding: act([SeenFinding, FindingState, Person], ({ engine }, seen, state, person) => {
    if (!engine.store.transaction(() => settleFinding(engine, seen, state, person)))
      throw new OfficeError(
        "This finding is not known any more, or has other values now.",
        "Look at the page Match again; `fuelbridge match` finds what differs now.",
      );
    return { key: seen.key, state };
  }),

  /** What the platform's records have that the contract does not know, the newest first. */
  drift: ask([], driftsOf),

  /** Documents, the newest first, a page at a time. Beside a daemon they are taken into the search all the time (app/services.ts). */
  documents: ask([Searching], (parts, asked) => {
    takeIn(parts);
    return documentsOf(parts.engine, parts.flows, asked);
  }),
  /** The life of one, by its id. @throws OfficeError when there is none */
  document: ask([text], ({ engine, flows }, id) => lifeOf(engine, flows, id)),
  /** Everything known about a number (invoice, ticket, order, party), a platform id or an ERP id. @throws OfficeError */
  trace: ask([text], ({ engine }, number): Trace => {
    const story = trace(engine.store, number.trim());
    if (story.steps.length > 0) return { number, ...story };
    throw new OfficeError(
      `Nothing is known about ${number}.`,
      "Check the number; ids and invoice, ticket, order and party numbers can be asked for.",
    );
  }),
  /** Stored records of a flow with what was last sent of them; empty where it has never run. */
  samples: ask([Sampling], ({ engine }, asked) => samplesOf(engine.store, asked)),
  /** The other side's ids, in the order they were asked; null: there is none yet. */
  counterparts: ask([Counterparts], ({ engine }, asked) => counterpartsOf(engine.store, asked)),
  /** What came within the last two days, by the hour, and where it is now, of the newest documents (`LATELY_MAX`). */
  lately: ask([], ({ engine }) => latelyOf(engine)),
  /** The newest looks of each flow at its source, the newest first. */
  runs: ask([], ({ engine }) => looksOf(engine)),

  quarantine: ask([], (parts) => {
    takeIn(parts);
    return groupsOf(parts.engine).map(({ shown }) => shown);
  }),
  /** One group with its deliveries: so many at most (all), after so many. @throws OfficeError when there is no such group */
  quarantineShow: ask(
    [text, z.int().min(1).nullish(), z.int().min(0).optional()],
    ({ engine }, group, limit, skip) => shownGroup(engine, group, limit ?? undefined, skip),
  ),
  /**
   * Back to pending, to be mapped anew; "all" for every group. What a retry cannot help keeps its place (`left`), unless
   * `anyway`: a new version of fuelbridge may take what an older one refused.
   * @throws OfficeError when it can help none of those that were named one by one or by their group
   */
  retry: act(
    [text, z.boolean().nullish(), Person.optional()],
    ({ engine, flows, daemon }, selector, anyway, person) => {
      const chosen = select(engine, flows, selector);
      const able = helped(engine, chosen, selector, anyway ?? false);
      engine.store.transaction(() => {
        for (const one of able) retry(engine, one, person);
      });
      if (person !== undefined) remember(engine, groupsIn(able), "tried it again", person);
      daemon?.nudge();
      return { retried: able.length, left: chosen.length - able.length };
    },
  ),
  /** Closed by a person who settled it by hand; the note says how. */
  resolve: act([text, Decision], ({ engine, flows, daemon }, selector, decision) => {
    const chosen = select(engine, flows, selector);
    engine.store.transaction(() => resolve(engine, chosen, decision));
    remember(engine, groupsIn(chosen), "closed it", decision);
    daemon?.nudge();
    return { resolved: chosen.length };
  }),
  /** Who sees to them. @throws OfficeError when the selector names nothing, as the next */
  assign: act([text, Assignment], ({ engine, flows }, selector, assignment) => ({
    assigned: assign(engine, select(engine, flows, selector), assignment),
  })),
  /** What somebody knows about them; it is kept. */
  remark: act([text, Person], ({ engine, flows }, selector, person) => ({
    noted: remark(engine, select(engine, flows, selector), person),
  })),
  /**
   * Corrects a field of one document in quarantine beside what was received; it counts from the next retry on (ADR 0007).
   * @throws OfficeError for a field or value that cannot be corrected here
   */
  edit: act([text, Editing, Person], ({ engine, flows }, delivery, editing, person) =>
    edit(engine, flows, delivery, editing, person),
  ),

  /** Who did what, when and why: one page, the oldest first. */
  audit: ask([AuditAsked], ({ engine }, asked) => auditPage(engine, asked)),
  /** The newest entry of the audit, which is not checked here; null: there is none. */
  auditHead: ask([], ({ engine }) => engine.store.journal.head()),
  /**
   * Whether the audit is as it was written: every entry holds a hash over the one before it and its own content. Asked with
   * an entry and its hash as somebody noted it earlier; null: nobody did.
   */
  checkAudit: ask([AuditHead.nullable()], ({ engine }, noted) =>
    engine.store.journal.check(noted, setImmediate),
  ),
  /** What people did, the newest first, a page at a time, after an id; null: from the newest. */
  deeds: ask([text.nullable()], ({ engine }, before) => deedsOf(engine, before)),
  /** Writes down what a person did elsewhere: users, logins. */
  wasDone: act([DoneElsewhere, Person], ({ engine: { store, clock } }, event, person) => {
    const entry = { event, detail: "", person };
    store.transaction(() => store.journal.audit(clock.now().wallMs, entry));
    return null;
  }),

  /** Copies the store into a file of its folder while work goes on; the caller examines it. @throws StorageError */
  backup: ask([], ({ engine }) => engine.store.copy(engine.clock.now().wallMs)),
  /** What a backfill will take; it makes one request. @throws OfficeError, SourceUnavailable when it cannot be done */
  backfillCost: act([Backfilling], (parts, given) => {
    const { backfills, asked } = filling(parts, given);
    return backfills.cost(asked);
  }),
  /**
   * Reads a past period anew beside the live position, until it is done or paused. An unfinished one of the same flow and
   * period goes on where it was.
   * @throws OfficeError, SourceUnavailable when it cannot be begun
   */
  backfill: act([Backfilling], async (parts, given) => {
    const { backfills, asked } = filling(parts, given);
    const { records } = await backfills.cost(asked);
    return backfillState(await backfills.run(asked, records));
  }),
  /** The same, and the daemon carries it out: returns what it will take once it is written down. It makes one request. */
  backfillBegin: act([Backfilling], async (parts, given) => {
    const { backfills, asked } = filling(parts, given);
    const cost = await backfills.cost(asked);
    backfills.begin(asked, cost.records);
    return cost;
  }),
  /** The newest first. */
  backfills: ask([], ({ backfills }) => backfills.list().map(backfillState)),

  /** Makes flows due at once; "all" for every flow. Only a running daemon can. */
  runNow: act([text, Person.optional()], ({ engine, flows, daemon }, name, person) => {
    if (daemon === null)
      throw new OfficeError(
        "No daemon runs.",
        "Start it with `fuelbridge run`, or use `fuelbridge once`.",
      );
    const chosen = (name === "all" ? flows : [flowNamed(flows, name)]).filter((one) => !one.paused);
    if (chosen.length === 0)
      throw new OfficeError(
        name === "all" ? "Every flow is paused." : `${name} is paused: it does not look.`,
        "Let it go on first: `fuelbridge resume`, or the page Flows of the console.",
      );
    const stops = new Map(chosen.map((flow) => [flow, unreadBy(engine, flow)]));
    const looking = chosen.filter((flow) => stops.get(flow) === null);
    const [stop] = stops.values();
    if (looking.length === 0 && stop)
      throw new OfficeError(
        `${name === "all" ? "No flow looks" : `${name} does not look`}: ${stop.message}.`,
        `${stop.next} Once that is done: \`fuelbridge release ${stop.code}\`.`,
      );
    const { store, clock } = engine;
    const at = clock.now().wallMs;
    store.transaction(() => {
      for (const { flow, name: detail } of person === undefined ? [] : looking)
        store.journal.audit(at, { flow, event: "run now", detail, person });
    });
    for (const flow of looking) daemon.wake(flow.name);
    const stopped = chosen.filter((flow) => !looking.includes(flow));
    return { flows: looking.map((flow) => flow.name), stopped: stopped.map((flow) => flow.name) };
  }),
  /** Nothing is read or sent by a flow until a person lets it go on, also after a restart. @throws OfficeError */
  pause: act([text, Person], (parts, name, person) => hold(parts, name, true, person)),
  goOn: act([text, Person], (parts, name, person) => hold(parts, name, false, person)),
  /** What a flow's source has refused is seen to. @throws OfficeError where nothing of that name is */
  settleUnread: act([text, text, Person], ({ engine, flows }, name, what, person) => {
    const flow = flowNamed(flows, name);
    engine.store.transaction(() => settleUnread(engine, flow, what, person));
    return { flow: name, what };
  }),
  /**
   * A whole list that was held, because it has lost or grown too much, is right. `told`: what it lacks and a person has now;
   * null: it is taken at the next look. With a number: what reconciliation tells of that is accepted as it is.
   * @throws OfficeError where none is held, or no such difference is known
   */
  accept: act([text, text, Person], ({ engine, flows, daemon }, name, number, person) => {
    const flow = flowNamed(flows, name);
    const told = engine.store.transaction(() => {
      if (number === "") return listAccepted(engine, flow, person);
      differenceAccepted(engine, flow, number, person);
      return null;
    });
    if (number === "") daemon?.wake(name);
    return { flow: name, told };
  }),
  /** Clears a stop whose cause a person has removed. @throws OfficeError when there is no such stop, or it must stand */
  release: act([text, text, text.optional()], clearedStop),

  /** The cross-reference tables, with the rows that documents wait for. */
  tables: ask([], (parts) => {
    takeIn(parts);
    return shownTables(parts.engine, parts.tables);
  }),
  /** Adds a row to a cross-reference table. It counts at once. @throws OfficeError, ConfigurationError */
  addRow: act([AddingRow, Person], ({ engine, tables }, adding, person) =>
    addRow(engine, tables, adding, person),
  ),
};

const groupsIn = (chosen: readonly Chosen[]): string[] => chosen.map(({ group }) => group);

type Questions = typeof questions;
export type QuestionName = keyof Questions;

/** What people ask and do: of this process ({@link storeOffice}), or of the daemon (remote.ts). */
export type Office = {
  readonly [Name in QuestionName]: Questions[Name] extends Question<infer Args, infer Answer>
    ? (...given: Given<Args>) => Promise<Answer>
    : never;
};

type Asked = (...given: readonly unknown[]) => Promise<unknown>;

const officeOf = (asked: (name: QuestionName) => Asked): Office =>
  Object.fromEntries(
    Object.keys(questions).map((name) => [name, asked(name as QuestionName)]),
  ) as unknown as Office;

export const isQuestion = (name: string): name is QuestionName => Object.hasOwn(questions, name);

/** The office over a store that this process holds. */
export const storeOffice = (parts: OfficeParts): Office =>
  officeOf((name) => {
    const answer = questions[name].answer as (...args: unknown[]) => unknown;
    return async (...args) => answer(parts, ...args);
  });

const STARTED = new Date().toISOString();

/**
 * The same office for others while a command holds the store for a while: it answers, and decides nothing. `command`: the
 * words after `fuelbridge`.
 */
export function readingOffice(office: Office, command: string): Office {
  const refuse = async (): Promise<never> => {
    throw new OfficeError(
      `"fuelbridge ${command}" (process ${process.pid}) works on the store, so nothing else can change it now.`,
      "Wait until it has ended, then give the command again.",
    );
  };
  return {
    ...officeOf((name) => (questions[name].acts ? refuse : (office[name] as Asked))),
    async status() {
      const answer = await office.status();
      const { startedAt } = answer.daemon ?? { startedAt: STARTED };
      return { ...answer, daemon: { pid: process.pid, startedAt, command } };
    },
  };
}

function clearedStop(
  { engine, daemon, endpoints }: OfficeParts,
  breaker: string,
  by: string,
  note?: string,
): { released: string } {
  const { store, clock } = engine;
  const missing = breaker === "restored" ? unread(engine) : [];
  if (missing.length > 0)
    throw new OfficeError(
      `Not everything was read since the store was restored: ${missing.join(", ")}.`,
      "Let the daemon run each flow (`fuelbridge now all`), look at `fuelbridge status`, then release it.",
    );
  const dropped = store.transaction(() => {
    if (!store.journal.release(breaker, by, clock.now().wallMs, note)) return false;
    released(engine, breaker);
    return true;
  });
  if (!dropped)
    throw new OfficeError(
      `There is no stop "${breaker}".`,
      "`fuelbridge status` shows what is stopped.",
    );
  for (const endpoint of endpoints.values()) endpoint.readAgain?.();
  daemon?.nudge();
  return { released: breaker };
}
