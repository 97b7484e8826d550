/**
 * Whose a record is, where several sites share the API key: each reads what all of them have there, and books its own alone
 * (core/sites.ts has the rules).
 */
import type { Endpoint } from "../core/contract.ts";
import type { Holding, Holdings } from "../core/holdings.ts";
import { type Json, parseExact } from "../core/json.ts";
import { holdingKindOf, type Kind } from "../core/kinds.ts";
import type { Fault } from "../core/record.ts";
import { belongings, EVERY_SITE, factsText, siteFacts, sitesOf } from "../core/sites.ts";
import type { Link, Side } from "../store/deliveries.ts";
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
  if (fitting.includes(sites.own) ? fitting.length === 1 : fitting.includes(EVERY_SITE))
    return OURS;
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

const THEN =
  "under sites in the configuration of every site, start fuelbridge again, and retry this. Or enter it by hand where it belongs, and resolve it at every site.";

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
  next: "Take it back at its receiver here and resolve this; or correct the document, or the rules under sites, so that it is this site's again, then retry.",
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
    async *list(...question) {
      for await (const page of holdings.list(...question))
        yield { ...page, holdings: page.holdings.filter(isKept) };
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
