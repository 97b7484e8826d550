/** Puts the parts together: endpoints from the configuration, the store, the engine, and the office over them. */
import { monthAt, type Purpose } from "../core/budget.ts";
import { hourOfWeekIn } from "../core/pace.ts";
import { calendarOf, type Clock } from "../core/time.ts";
import type { Endpoint } from "../core/contract.ts";
import { defined } from "../core/defined.ts";
import { StoreInUse } from "../core/errors.ts";
import { holderOf } from "../office/remote.ts";

import {
  type Config,
  type EndpointConfig,
  type FlowConfig,
  mappingOf,
  ownerOf,
  sitesOf,
} from "../config/config.ts";
import { openTables } from "../config/crossref.ts";
import { withAcknowledgements } from "../engine/delivered.ts";
import { replyFlow } from "../engine/pull.ts";
import { Backfills } from "../engine/backfill.ts";
import { Daemon } from "../engine/daemon.ts";
import { watchForRestore } from "../engine/deliver.ts";
import { attachmentFlow, type Engine, type Flow, inRecovery } from "../engine/engine.ts";
import { ownHoldings } from "../engine/sites.ts";
import { Matcher } from "../engine/match.ts";
import { Auditor, Nightly } from "../engine/reconcile/nightly.ts";
import { deepCostOf } from "../engine/reconcile/plan.ts";
import { pdfOf } from "../platform/parts.ts";
import type { Logger } from "../log.ts";
import { monthReport } from "../office/month.ts";
import { type Office, storeOffice } from "../office/questions.ts";
import type { Warning } from "../office/answers.ts";
import { ledger } from "../store/journal.ts";
import { notebookIn } from "../store/flows.ts";
import { openScratch } from "../store/scratch.ts";
import { openStore, type Store } from "../store/store.ts";
import { olderThan } from "./configuration.ts";
import { carriersWithin, type Keys, openCarriers } from "./carriers.ts";
import { returnMemory, systemClock, version } from "./process.ts";
import { openEndpoints } from "./endpoints.ts";
import { flowProgress, type ProgressLine } from "./progress.ts";

/** What people should see in a log that shows little. */
const LEVELS: Readonly<Record<string, "warn" | "error">> = {
  "flow failed": "error",
  stopped: "warn",
  "clock jumped": "warn",
  "source unavailable": "warn",
  "not read": "warn",
  refused: "warn",
  "list torn": "warn",
  "leads elsewhere": "warn",
};

/**
 * `line`: shows how far long work is. `clock`: the system's when left out. `keys`: those of the process, for several companies.
 * @throws ConfigurationError, EnvironmentError, StorageError
 */
export async function composeDaemon(
  config: Config,
  log: Logger,
  line?: ProgressLine,
  clock = systemClock(),
  keys: Keys = new Map(),
) {
  const note: Engine["note"] = (event, details) => {
    log[LEVELS[event] ?? "info"](details, event);
  };
  const arrivals: Arrivals = { of: () => {} };
  const opening = { note, clock, carriersOf: openCarriers, arrivals, keys };
  const startedAt = new Date();
  const older = olderThan(config, startedAt);
  const { hurry, close, ...held } = await open(config, "claim", opening);
  const hurried = (signal: AbortSignal): AbortSignal => {
    signal.addEventListener("abort", hurry, { once: true });
    return signal;
  };
  const { engine, flows } = held;
  const withProgress =
    line === undefined
      ? engine
      : { ...engine, progress: flowProgress(line, (name) => documentsOf(engine, name)) };
  try {
    const { reconcile, timeZone, platform } = config;
    const { cron, days, paused } = reconcile;
    const { lateMs } = platform;
    const nightly = paused
      ? null
      : new Nightly(withProgress, held.auditor, {
          schedule: { cron, timeZone },
          days,
          lateMs,
          budget: platform.budget,
          match: () =>
            held.matcher.match({
              from: null,
              to: null,
              party: null,
              direction: null,
              by: "daemon",
            }),
        });
    const daemon = new Daemon(withProgress, flows, nightly);
    arrivals.of = (endpoint) => {
      daemon.arrived(endpoint);
      held.auditor.arrived();
    };
    const warnings = () => [...held.warnings(), ...older()];
    const office = storeOffice({ ...held, warnings, daemon, nightly, version, startedAt });
    held.backfills.stirred = () => daemon.nudge();
    return {
      office,
      daemon,
      engine,
      backfills: held.backfills,
      lists: held.lists,
      run: (signal: AbortSignal) => daemon.run(hurried(signal)),
      once: (signal: AbortSignal) => daemon.once(hurried(signal)),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

export type Composed = Awaited<ReturnType<typeof composeDaemon>>;

function documentsOf({ store, flows }: Engine, name: string): { done: number; left: number } {
  const flow = flows.find((one) => one.name === name);
  const counts = flow && store.deliveries.counts(flow.flow);
  const left = waitingIn(counts ?? new Map());
  return { done: [...(counts?.values() ?? [])].reduce((sum, one) => sum + one, 0) - left, left };
}

/** The office of a store that no daemon holds. @throws EnvironmentError when one does */
export async function openOffice(
  config: Config,
): Promise<{ office: Office; close(): Promise<void> }> {
  const keys: Keys = new Map();
  const opening = { note: () => {}, clock: systemClock(), carriersOf: carriersWithin, keys };
  const { hurry: _, close, ...held } = await open(config, "expect", opening);
  // What people decide here may make a restored store look newer than it is.
  watchForRestore(held.engine);
  const nobody = { daemon: null, nightly: null };
  const office = storeOffice({ ...held, ...nobody, version, startedAt: new Date() });
  return { office, close };
}

/** Where endpoints that call us are announced: endpoints are opened before the daemon is there. */
interface Arrivals {
  of: (endpoint: string) => void;
}

interface Opening {
  readonly note: Engine["note"];
  readonly clock: Clock;
  readonly carriersOf: typeof openCarriers;
  readonly arrivals?: Arrivals;
  readonly keys: Keys;
}

async function open(
  config: Config,
  own: "claim" | "expect",
  { note, clock, carriersOf, arrivals, keys }: Opening,
) {
  const store = await openOwn(config, own, clock.now().wallMs);
  const spending = ledger(store, config.platform.budget, () => carriers.share());
  const carriers = await carriersOf({ config, ledger: spending, clock, note, keys });
  const { governor, trouble } = carriers;
  try {
    const opened = openEndpoints(
      config,
      {
        clock,
        governor,
        carry: carriers.carry,
        remembered: (operation) => store.remembered.of(operation),
        scratch: (bytes) => openScratch(config.state, bytes),
        notebook: (endpoint) => notebookIn(store, endpoint),
        sender: { ...store.sender, isRestored: () => inRecovery({ store }) },
        note: (message, details = {}) => note(message, details),
        ...defined({ arrived: arrivals && ((endpoint: string) => arrivals.of(endpoint)) }),
      },
      (platform) => ({ ...platform, sinks: carriers.carried(platform.sinks) }),
    );
    const { endpoints } = opened;
    const flows = config.flows.flatMap((flow) => flowsOf(config, store, opened, flow));
    const walked: { of?: () => number } = {};
    const month = monthReport({
      spent: carriers.spent,
      share: carriers.share,
      store,
      clock,
      flows,
      budget: config.platform.budget,
      hours: {
        hourOf: hourOfWeekIn(config.timeZone, config.officeHours?.holidays),
        office: config.officeHours,
      },
      minute: () => governor.minute(),
      waiting: ({ flow }) => waitingIn(store.deliveries.counts(flow)),
      deep: () => walked.of?.() ?? 0,
    });
    const plain = engineOver(config, store, clock, flows);
    const engine: Engine = {
      ...plain,
      rest: () => {
        store.rest();
        returnMemory();
      },
      pace: month,
      firstStart: config.firstStart,
      // A hub writes nothing there.
      ...defined({ knowsUs: config.hub === null ? endpoints.get("platform")?.knowsUs : undefined }),
      note,
    };
    walked.of = () => deepCostOf(engine, endpoints, config.platform.lateMs);
    /** What was spent on a purpose in the month that it is. */
    const used = (purpose: Purpose) => () =>
      carriers.spent(monthAt(clock.now().wallMs).name)[purpose] ?? 0;
    const auditor = new Auditor(engine, {
      endpoints: ownHoldings(engine, endpoints),
      ignore: config.ignore,
      spent: used("audit"),
      lateMs: config.platform.lateMs,
      waitMs: config.reconcile.waitMs,
    });
    const matcher = new Matcher(engine, config.match, () =>
      openScratch(config.state, 0, {
        goesOn:
          "papers are compared the next night, or by `fuelbridge match`, and nothing else waits for that",
      }),
    );
    const { perMonth } = config.platform.budget;
    const backfills = new Backfills(engine, { spent: used("backfill"), perMonth });
    return {
      engine,
      flows,
      endpoints,
      auditor,
      matcher,
      backfills,
      lists: opened.lists,
      month,
      governor,
      trouble,
      warnings: () =>
        [["fuelbridge", store] as const, ...endpoints].flatMap(([endpoint, { warnings }]) =>
          (warnings?.() ?? []).map((warning): Warning => ({ ...warning, endpoint })),
        ),
      tables: plain.tables,
      hurry: carriers.hurry,
      /** What writes ends before what it writes to. */
      close: async () => {
        await Promise.all([auditor.close(), backfills.close()]);
        await carriers.close();
        for (const endpoint of endpoints.values()) await endpoint.close();
        try {
          spending.close();
        } finally {
          store.close();
        }
      },
    };
  } catch (error) {
    await carriers.close();
    store.close();
    throw error;
  }
}

const waitingIn = (counts: ReadonlyMap<string, number>): number =>
  (counts.get("pending") ?? 0) + (counts.get("frozen") ?? 0);

/** What every engine of a configuration has; it notes nothing. */
export const engineOver = (config: Config, store: Store, clock: Clock, flows: readonly Flow[]) => ({
  store,
  clock,
  company: config.company,
  environment: config.platform.environment,
  currency: config.currency,
  dayOf: calendarOf(config.timeZone),
  flows,
  tables: openTables(config.crossReferences),
  note: () => {},
  ...defined({ sites: sitesOf(config) }),
});

/**
 * A daemon claims a store that has no owner yet; commands beside it do not, for theirs may be the wrong configuration.
 * @throws ConfigurationError when it belongs to another company, platform or environment
 */
async function openOwn(config: Config, own: "claim" | "expect", atMs: number): Promise<Store> {
  const store = await openNamed(config.state);
  try {
    store.transaction(() => store.binding[own](ownerOf(config), atMs));
    return store;
  } catch (error) {
    store.close();
    throw error;
  }
}

/** @throws StoreInUse that names the process, where it answers */
async function openNamed(state: string): Promise<Store> {
  try {
    return openStore(state);
  } catch (error) {
    const holder = error instanceof StoreInUse ? await holderOf(state) : null;
    if (holder === null) throw error;
    throw new StoreInUse(
      `The store in ${state} is in use by process ${holder}.`,
      `Only one process may work on a store. \`fuelbridge status\` asks it; stop it or wait until it has ended.`,
      error,
      holder,
    );
  }
}

/** The flows of a configuration over a store, without those that attach PDFs. */
export const plainFlows = (
  config: Config,
  store: Store,
  endpoints: ReadonlyMap<string, Endpoint>,
): Flow[] => config.flows.map((flow) => flowOf(config, store, endpoints, flow));

/** The flow, and those beside it: what attaches PDFs to what it delivers, and what replies to what it reads. */
function flowsOf(
  config: Config,
  store: Store,
  { endpoints, fetchPdf }: ReturnType<typeof openEndpoints>,
  settings: FlowConfig,
): Flow[] {
  const flow = flowOf(config, store, endpoints, settings);
  const { name, from, to, attach, attachSince } = settings;
  const { replies } = flow.source;
  const replying = replies === undefined ? [] : [replyFlow(store, flow, replies)];
  if (attach === undefined) return [flow, ...replying];
  const { connector, settings: own } = config.endpoints.find(
    (one) => one.name === to.endpoint,
  ) as EndpointConfig;
  const sink = connector.offers(own, config.folder).sinks[to.name]?.pdf ?? "";
  const operation = pdfOf(from.name);
  if (operation === null) throw new TypeError(`flow ${name}: ${flow.from} has no PDF`);
  const attaching = {
    sink: part(name, "sink", { ...to, name: sink }, endpoints.get(to.endpoint)?.sinks),
    fetch: (id: string) => fetchPdf(operation, id),
    sinceMs: attachSince === undefined ? null : Date.parse(attachSince),
  };
  return [flow, ...replying, attachmentFlow(store, flow, attaching)];
}

function flowOf(
  config: Config,
  store: Store,
  endpoints: ReadonlyMap<string, Endpoint>,
  settings: FlowConfig,
): Flow {
  const { name, mapping: named, options, from, to, schedule, paused } = settings;
  const { silenceMs, limits, duplicates } = settings;
  const source = part(name, "source", from, endpoints.get(from.endpoint)?.sources);
  const sink = part(name, "sink", to, endpoints.get(to.endpoint)?.sinks);
  const mapping = mappingOf(config, { mapping: named, options });
  // Which price was in force when a load was lifted is known by the versions that newer ones replaced.
  const { flow } = store.flows.open(
    name,
    mapping.kind,
    from.endpoint === "platform" && from.name === "rackPrices",
  );
  return {
    flow,
    name,
    from: `${from.endpoint}.${from.name}`,
    to: `${to.endpoint}.${to.name}`,
    receiver: `${to.endpoint}.${to.name} (${connectorOf(config, to.endpoint)})`,
    side: from.endpoint === "platform" ? "platform" : "erp",
    mapping,
    source: withAcknowledgements(source, sink),
    sink,
    schedule: "cron" in schedule ? { ...schedule, timeZone: config.timeZone } : schedule,
    ...defined({
      silenceMs,
      limits,
      duplicates: duplicates === "deliver" ? duplicates : undefined,
      holdings: endpoints.get(to.endpoint)?.holdings,
    }),
    get paused() {
      return paused || store.flows.isHeld(flow);
    },
  };
}

const connectorOf = ({ endpoints }: Config, name: string): string =>
  endpoints.find((one) => one.name === name)?.connector.name ?? name;

/** The configuration was read: every end that it names is there. @throws TypeError for one that a connector did not open */
function part<Part>(
  flow: string,
  what: string,
  { endpoint, name }: FlowConfig["from"],
  parts: Readonly<Record<string, Part>> | undefined,
): Part {
  const found = parts?.[name];
  if (found === undefined)
    throw new TypeError(`flow ${flow}: ${endpoint} opened no ${what} ${name}`);
  return found;
}
