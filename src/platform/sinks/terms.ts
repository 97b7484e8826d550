/** Prices, freight rates and terminals from the ERP (specification part 4, Pricing, Freight rates, Terminals). */
import type { Memory, Outgoing } from "../../core/contract.ts";
import { parseExact } from "../../core/json.ts";
import type { Finding } from "../../core/outcome.ts";
import { folded } from "../../core/text.ts";
import { ChangedFreightRate, EndedFreightRate } from "../contract/documents.ts";
import { CreateFreightRate, FreightRate, UpdateFreightRate } from "../contract/network.ts";
import { pathOf, targetOf } from "../contract/operations.ts";
import { SupplierTerminal, UpdateTerminal, UpsertTerminal } from "../contract/place.ts";
import { BulkRackPrice, hasEnded, nameOfPrice, RackPrice, shownUnit } from "../contract/pricing.ts";
import { toDecimal } from "../contract/primitives.ts";
import {
  accepted,
  differs,
  findListed,
  foundChanged,
  foundIn,
  idIn,
  isSince,
  listAll,
  masterData,
  prices,
  readAllAt,
  readAt,
  type SinkContext,
  type SinkPart,
} from "./write.ts";

/** Up to 200 a call. */
export const rackPrices: SinkPart = {
  uses: ["upsertRackPrices", "listRackPrices"],
  operation: "rack-price.upsert",
  writes: "upsert",
  itemsMax: 200,
  policy: prices,
  anonymous: true,
  write: (items) => ({
    target: targetOf("upsertRackPrices"),
    body: accepted(BulkRackPrice, { prices: items.map(({ document }) => document) }),
  }),
  ids: (data, { body }) => {
    const { updated, created } = (data ?? {}) as { updated?: unknown; created?: unknown };
    return typeof updated === "number" && typeof created === "number"
      ? pricesIn(body).map(nameOfPrice)
      : null;
  },
  find: findPrices,
};

/**
 * A document with a `freightRateId`, and one of a rate that we made, changes that rate; any other makes a new one.
 * Rates are read by connection only, so the target of a change names it for the read-back.
 */
export const freightRates: SinkPart = {
  uses: ["createFreightRate", "updateFreightRate", "listFreightRates"],
  operation: "freight-rate.upsert",
  writes: "upsert",
  policy: masterData,
  write([item]) {
    const document = { freightRateId: item?.counterpart, ...(item?.document as object) };
    if (document.freightRateId === null) {
      const body = accepted(CreateFreightRate, item?.document);
      return { target: targetOf("createFreightRate", body.connectionId), body };
    }
    const { freightRateId, connectionId, ...body } = accepted(ChangedFreightRate, document);
    return {
      target: `${targetOf("updateFreightRate", freightRateId)} ${ratesOn(connectionId)}`,
      body: accepted(UpdateFreightRate, body),
    };
  },
  find: findRate,
  async findChanged(context, request) {
    const rates = await listed(context, request);
    const rate = rates?.find(({ id }) => id === idIn(request));
    if (rate !== undefined) return foundChanged(request, FreightRate, rate);
    return {
      found: "different",
      detail: `its connection has no freight rate ${idIn(request)}`,
    };
  },
};

/** A rate that is gone already is as good as one that we deleted. */
export const endedFreightRates: SinkPart = {
  uses: ["deleteFreightRate", "listFreightRates"],
  operation: "freight-rate.delete",
  policy: { ...masterData, preflight: false },
  write([item]) {
    const { freightRateId, connectionId } = accepted(EndedFreightRate, item?.document);
    const target = `${targetOf("deleteFreightRate", freightRateId)} ${ratesOn(connectionId)}`;
    return { target, body: undefined };
  },
  async find(context, request) {
    const rates = await listed(context, request);
    if (rates === null) return { found: "different", detail: "its connection is not to be seen" };
    return rates.some(({ id }) => id === idIn(request))
      ? { found: "none", detail: `freight rate ${idIn(request)} is still there` }
      : { found: "exact", ids: [null], detail: `freight rate ${idIn(request)} is gone` };
  },
};

/** The company's own terminals. One that we made is changed; any other is made, if its code is not there yet. */
export const supplierTerminals: SinkPart = {
  uses: [
    "createSupplierTerminal",
    "listSupplierTerminals",
    "updateSupplierTerminal",
    "getSupplierTerminal",
  ],
  operation: "supplier-terminal.upsert",
  writes: "upsert",
  policy: masterData,
  write([item]) {
    const id = item?.counterpart ?? null;
    return id === null
      ? {
          target: targetOf("createSupplierTerminal"),
          body: accepted(UpsertTerminal, item?.document),
        }
      : {
          target: targetOf("updateSupplierTerminal", id),
          body: accepted(UpdateTerminal, item?.document),
        };
  },
  find: findTerminal,
  async findChanged(context, request) {
    const id = idIn(request);
    const terminal = await readAt(context, pathOf("getSupplierTerminal", id), SupplierTerminal);
    return terminal === null
      ? { found: "none", detail: `no terminal ${id}` }
      : foundChanged(request, SupplierTerminal, terminal);
  },
};

const ratesOn = (connectionId: string): string => pathOf("listFreightRates", connectionId);

/** The rates of the connection that the target's last word names; null when it is not to be seen. */
const listed = (
  context: SinkContext,
  { target }: Outgoing,
): Promise<readonly FreightRate[] | null> =>
  readAllAt(context, target.split(" ").at(-1) ?? "", FreightRate);

/** What makes a lane: a rate that names a city besides is another one. */
const NO_LANE = {
  originTerminalId: null,
  originCity: null,
  originState: null,
  destinationZipPrefix: null,
  destinationZip: null,
  destinationCity: null,
  destinationState: null,
  product: null,
};
const NO_AMOUNTS = {
  ratePerMile: null,
  flatFee: null,
  minCharge: null,
  fuelSurchargePercent: null,
  customFees: null,
};
const Compared = FreightRate.omit({ notes: true });

/** By lane, amounts and beginning, among the rates made since the first send; before it, among all. */
async function findRate(context: SinkContext, request: Outgoing): Promise<Finding> {
  const rate = CreateFreightRate.parse(parseExact(request.body));
  const rates = (await listed(context, request)) ?? [];
  const matches = rates.filter(
    (other) =>
      (request.firstSentAt === null || isSince(other.createdAt, request)) &&
      differs({ ...NO_LANE, ...NO_AMOUNTS, ...rate }, other, Compared) === null,
  );
  const what = `such a freight rate on ${rate.connectionId}`;
  return foundIn(new Set(matches.map(({ id }) => id)), what);
}

/** By code; one that was never sent by its name as well. */
async function findTerminal(
  context: SinkContext,
  request: Outgoing,
  memory?: Memory,
): Promise<Finding> {
  const found = await findByCode(context, request);
  const isNew = found.found === "none" && request.firstSentAt === null;
  return (isNew ? await underAnotherCode(context, request, memory) : null) ?? found;
}

/**
 * A terminal of the same name and place: its code was changed in the ERP, perhaps while the store was an older one, or it is
 * there twice. A code is all that an ERP's list knows a terminal by, so a person tells. Null: there is none.
 */
async function underAnotherCode(
  context: SinkContext,
  request: Outgoing,
  memory: Memory | undefined,
): Promise<Finding | null> {
  const {
    terminalCode: code,
    name,
    city,
    state,
    zip,
  } = UpsertTerminal.parse(parseExact(request.body));
  const place = Object.entries({ city, state, zip }).filter(([, value]) => value);
  const listing = {
    list: "listSupplierTerminals",
    query: { search: name.slice(0, 100), pageSize: "100" },
    item: SupplierTerminal,
    names: [name],
  } as const;
  const shown = new Map<string, string>();
  for await (const theirs of listAll(context, listing)) {
    const isElsewhere = place.some(
      ([field, value]) => folded(theirs[field as "city"] ?? "") !== folded(String(value)),
    );
    if (folded(theirs.name) !== folded(name) || memory?.isDismissed(theirs.id)) continue;
    if (!isElsewhere) shown.set(theirs.id, `${theirs.terminalCode} (${theirs.id})`);
  }
  if (shown.size === 0) return null;
  const message = `the platform has "${name}", which comes as ${code}, under another code: ${[...shown.values()].join(", ")}`;
  const next = `Was its code changed in the ERP? Then give it the code ${code} there, and resolve this with --receiver-id and its id. If these are two terminals, retry this: ${code} is created.`;
  const fault = { code: "code-changed", message, next, candidates: [...shown.keys()] };
  return { found: "different", detail: message, fault };
}

/** Whether the platform keeps codes apart is not specified: one with other fields is for a person. */
async function findByCode(context: SinkContext, request: Outgoing): Promise<Finding> {
  const ours = UpsertTerminal.parse(parseExact(request.body));
  const { terminalCode: code } = ours;
  const listing = {
    list: "listSupplierTerminals",
    query: { search: code, pageSize: "100" },
    item: SupplierTerminal,
    names: [code],
  } as const;
  const words = { what: `terminal ${code}`, taken: `terminal code ${code} is used by` };
  return findListed(context, listing, words, (theirs) => {
    if (theirs.terminalCode !== code) return undefined;
    const difference = differs(ours, theirs, SupplierTerminal);
    return difference === null ? null : `${theirs.id}: ${difference}`;
  });
}

async function findPrices(context: SinkContext, { body }: Outgoing): Promise<Finding> {
  const ours = pricesIn(body);
  const theirs = new Map<string, RackPrice>();
  const listing = {
    list: "listRackPrices",
    query: { pageSize: "500" },
    item: RackPrice,
    names: ours.map(({ terminalId }) => terminalId),
  } as const;
  const nowMs = context.clock.now().wallMs;
  for await (const price of listAll(context, listing)) {
    if (hasEnded(price, nowMs)) continue;
    // Whether older prices of the same thing stay listed is not specified: the latest counts.
    const other = theirs.get(nameOfPrice(price));
    if (other === undefined || isLater(price, other)) theirs.set(nameOfPrice(price), price);
  }
  const off = ours.filter((price) => {
    const there = theirs.get(nameOfPrice(price));
    return (
      there === undefined ||
      !there.price.equals(toDecimal(price.price)) ||
      shownUnit(there) !== shownUnit(price)
    );
  });
  const [first] = off;
  if (first === undefined)
    return {
      found: "exact",
      ids: ours.map(nameOfPrice),
      detail: `all ${ours.length} prices are there`,
    };
  return {
    found: off.length === ours.length ? "none" : "different",
    detail: `${off.length} of ${ours.length} prices are not there, first ${nameOfPrice(first)}`,
  };
}

const pricesIn = (body: string) => BulkRackPrice.parse(parseExact(body)).prices;

const isLater = (one: RackPrice, other: RackPrice): boolean =>
  Date.parse(one.effectiveAt) > Date.parse(other.effectiveAt);
