/**
 * Whose a record is, where several sites share the API key: each reads what all of them have there, and books its own alone
 * (core/sites.ts has the rules).
 */
import type { Endpoint, Item } from "../core/contract.ts";
import { type Holding, type Holdings, identityOf } from "../core/holdings.ts";
import { type Json, parseExact } from "../core/json.ts";
import { holdingKindOf, type Kind } from "../core/kinds.ts";
import { keyless } from "../core/outcome.ts";
import type { Fault } from "../core/record.ts";
import { belongings, EVERY_SITE, factsText, siteFacts, rulesName, sitesOf } from "../core/sites.ts";
import type { Link, Side } from "../store/deliveries.ts";
import type { Store } from "../store/store.ts";
import type { Engine, Flow } from "./engine.ts";

/** `other`: another site's. `unknown`: no site's, or of several. `waits`: that of a document which was not read yet. */
type Whose =
  | { readonly is: "ours" }
  | { readonly is: "other"; readonly site: string }
  | { readonly is: "unknown"; readonly fault: Fault }
  | { readonly is: "waits"; readonly kind: Kind; readonly id: string };

const OURS: Whose = { is: "ours" };

/** By its own fields, else by the document that it belongs to. A PDF or a reply goes with a document of ours. */
export function whoseIs(engine: Engine, flow: Flow, told: Json): Whose {
  const { sites } = engine;
  if (sites === undefined || flow.attachesTo !== undefined || flow.repliesTo !== undefined)
    return OURS;
  const facts = siteFacts(flow.mapping.kind, told);
  const fitting = sitesOf(sites.rules, facts);
  const { own } = sites;
  // A hub passes on what every site has, under that name.
  const isOurs = fitting.includes(own ?? "") ? fitting.length === 1 : fitting.includes(EVERY_SITE);
  if (own !== null && isOurs) return OURS;
  const [site, ...more] = fitting;
  if (site !== undefined && more.length === 0) return { is: "other", site };
  if (site !== undefined) return { is: "unknown", fault: severalSites(fitting, factsText(facts)) };
  for (const { kinds, id } of belongings(told)) {
    if (kinds.some((kind) => engine.store.links.find(kind, flow.side, id) !== null)) return OURS;
    const bringing = engine.flows.filter(
      ({ side, mapping }) => side === flow.side && kinds.includes(mapping.kind),
    );
    for (const one of bringing) {
      const text = engine.store.openRecords.text(one.flow, id);
      const parent = text === null ? null : whoseIs(engine, one, parseExact(text));
      if (parent?.is === "unknown") return { is: "waits", kind: one.mapping.kind, id };
      if (parent !== null) return parent;
    }
    const [first] = bringing;
    if (first !== undefined) return { is: "waits", kind: first.mapping.kind, id };
  }
  return { is: "unknown", fault: noSite(factsText(facts)) };
}

/**
 * Does every site make this, and must it be there once? None of them can tell whether another is about to send it, so all send it
 * under one key, and the receiver carries out one of them (specification part 4, W2 to W4).
 */
export function isOfEverySite({ sites }: Engine, flow: Flow, item: Item, text: string): boolean {
  if (sites === undefined || flow.sink.makesOne === undefined || item.counterpart !== null)
    return false;
  const facts = siteFacts(flow.mapping.kind, parseExact(text));
  return sitesOf(sites.rules, facts).includes(EVERY_SITE);
}

const THEN =
  "under sites in the configuration of every site, start fuelbridge again, and retry this. Or enter it by hand where it belongs, and close it at every site.";

const noSite = (what: string): Fault => ({
  code: "no-site",
  message: `no site's rule fits it: ${what}`,
  next: `Add what tells it to the rules of its site, ${THEN}`,
  reason: "no site's rule fits",
});

const severalSites = (sites: readonly string[], what: string): Fault => ({
  code: "several-sites",
  message: `rules of the sites ${sites.join(" and ")} fit it: ${what}`,
  next: `Change the rules until one fits, ${THEN}`,
  reason: `rules of the sites ${sites.join(" and ")} fit`,
});

/** Both sites would have it. */
export const movedAway = ({ number }: Link, site: string): Fault => ({
  code: "other-site",
  message: `${number} was delivered here, and by the rules it is site ${site}'s now, and that site takes it, too`,
  next: "Take it back at its receiver here and close this; or correct the document, or the rules under sites, so that it is this site's again, then retry.",
});

/** The same endpoints, whose holdings leave out what is another site's: it is rightly in no books of ours. */
export function ownHoldings(
  engine: Engine,
  endpoints: ReadonlyMap<string, Endpoint>,
): ReadonlyMap<string, Endpoint> {
  if (engine.sites === undefined) return endpoints;
  return new Map(
    [...endpoints].map(([name, endpoint]) => [
      name,
      endpoint.holdings === undefined
        ? endpoint
        : {
            ...endpoint,
            holdings: filtered(
              endpoint.holdings,
              (holding) =>
                !isHeldElsewhere(engine, name === "platform" ? "platform" : "erp", holding),
            ),
          },
    ]),
  );
}

function filtered(holdings: Holdings, isKept: (holding: Holding) => boolean): Holdings {
  return {
    ...holdings,
    /** The list says how many it has of all sites: told is how many are left. */
    async *list(...question) {
      const left = new Set<string>();
      let [total, position]: [number | null, Json] = [null, null];
      for await (const page of holdings.list(...question)) {
        const { true: kept = [], false: others = [] } = Object.groupBy(page.holdings, (holding) =>
          isKept(holding) ? "true" : "false",
        );
        for (const holding of others) left.add(identityOf(holding));
        [total, position] = [page.total ?? total, page.position];
        yield { ...page, holdings: kept, total: null };
      }
      if (total !== null)
        yield { holdings: [], position, total: total - left.size, serverTime: null };
    },
    get: async (...question) => (await holdings.get(...question)).filter(isKept),
    named: async (...question) => ((await holdings.named?.(...question)) ?? []).filter(isKept),
  };
}

/** What was delivered here stays ours, whatever the rules say of it. */
function isHeldElsewhere(engine: Engine, side: Side, { kind, id, role, change }: Holding): boolean {
  if (change === null) return false;
  const flows = engine.flows.filter(
    (flow) => flow.side === side && holdingKindOf(flow.mapping.kind) === kind,
  );
  const flow = flows.find(({ mapping }) => mapping.kind === role) ?? flows[0];
  return (
    flow !== undefined &&
    engine.store.links.find(flow.mapping.kind, side, id) === null &&
    isElsewhere(engine, flow, change.text)
  );
}

/** Is a record of the flow another site's? */
export const isElsewhere = (engine: Engine, flow: Flow, text: string): boolean =>
  engine.sites !== undefined && whoseIs(engine, flow, parseExact(text)).is === "other";

// A hub reads each feed of the platform once for all sites under the key (ADR 0024). It has no records of its own: each
// delivery is skipped as a site's, which writes down where it goes, or it is a person's. Sites ask for what is theirs.

const never = (): never => {
  throw new TypeError("a hub sends nothing: sites ask it");
};

/** What every flow of a hub leads to, `hub.sites`. */
export const hubEndpoint: Endpoint = {
  sources: {},
  sinks: {
    sites: {
      operation: "hub.pass",
      writes: "upsert",
      itemsMax: 1,
      policy: keyless,
      freeze: never,
      send: never,
      find: never,
    },
  },
  check: async () => {},
  close: async () => {},
};

/** A site asks a hub for what came in a feed after `after` (null: all). `rules`: of what is whose, as it names them. */
interface Question {
  readonly site: string;
  /** `platform.orders` */
  readonly from: string;
  readonly after: string | null;
  readonly rules: string;
}

/** `unlike`: the site has other rules. `unknown`: this store does not know the place: all must be read. `later`: not now. */
type Fed =
  | {
      readonly is: "page";
      readonly records: readonly string[];
      /** Of each of them the later versions that the platform has put back. */
      readonly takenBack: readonly (readonly string[])[];
      /** Null: the feed has no more. */
      readonly next: string | null;
      /** Of a whole list: how many records are in the site's part. Null: it tells what changed. */
      readonly total: number | null;
    }
  | { readonly is: "none" | "unlike" | "unknown" | "later"; readonly message: string };

const FED_AT_ONCE = 100;

/**
 * What a hub has for a site. It says that there is no more only while it knows that: nothing of what the hub has not read
 * or cannot read is taken for what did not change.
 */
export function fedTo({ store, flows, sites }: Engine, asked: Question): Fed {
  const flow = flows.find(({ from }) => from === asked.from);
  if (flow === undefined) return { is: "none", message: `it has no flow that reads ${asked.from}` };
  if (asked.rules !== rulesName(sites?.rules ?? null))
    return { is: "unlike", message: "it has other rules under sites" };
  const isWhole = flow.source.whole === true;
  const trouble = troubleOf(store, flow, isWhole);
  // Of a list that is not whole nothing is told: what it lacks would be missed.
  if (isWhole && trouble !== null) return { is: "later", message: trouble };
  const after = asked.after === null ? 0 : store.routes.at(flow.flow, asked.after);
  if (after === null)
    return { is: "unknown", message: "it does not know how far this site has read" };
  const what = isWhole ? "list" : "changes";
  const rows = store.routes.next(flow.flow, asked.site, after, what, FED_AT_ONCE);
  if (rows.length === 0 && trouble !== null) return { is: "later", message: trouble };
  return {
    is: "page",
    records: rows.map(({ text }) => text),
    takenBack: rows.map(({ takenBack }) => takenBack),
    next: rows.at(-1)?.place ?? null,
    total: isWhole ? store.routes.count(flow.flow, asked.site) : null,
  };
}

/** Why nobody can say that a feed has no more; null: it has not. */
function troubleOf(
  { flows, deliveries }: Store,
  { flow, name, paused }: Flow,
  isWhole: boolean,
): string | null {
  const row = flows.find(name);
  if (paused) return `its flow ${name} is paused`;
  if (row?.last_error) return row.last_error;
  if ((row?.success_ms ?? null) === null) return `its flow ${name} has not been read whole yet`;
  return isWhole && deliveries.counts(flow).get("pending") ? `its flow ${name} is at work` : null;
}
