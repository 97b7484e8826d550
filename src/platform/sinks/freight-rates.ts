/** Freight rates on connections, from the ERP (specification part 4, Connections and freight rates). */
import { z } from "zod";
import type { Outgoing, Sink } from "../../core/contract.ts";
import { parseExact } from "../../core/json.ts";
import type { Finding } from "../../core/outcome.ts";
import { pathOf, targetOf } from "../contract/operations.ts";
import { CreateFreightRate, FreightRate, UpdateFreightRate } from "../contract/network.ts";
import { ChangedFreightRate, EndedFreightRate } from "../contract/documents.ts";
import { masterData, settledIn } from "./policy.ts";
import { differs, foundChanged, foundIn, isSince, reading, recordAt } from "./read-back.ts";
import { accepted, idIn, type Surroundings, writeSink } from "./write.ts";

/**
 * A document with a `freightRateId`, and one of a rate that we made, changes that rate; any other makes a new one.
 * Rates are read by connection only, so the target of a change names it for the read-back.
 */
export function freightRates(surroundings: Surroundings): Sink {
  return writeSink(surroundings, {
    operation: "freight-rate.upsert",
    writes: "upsert",
    itemsMax: 1,
    policy: settledIn(masterData, surroundings.settleMs),
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
    find: (request) =>
      reading(() =>
        request.target.startsWith("PUT ")
          ? findChanged(surroundings, request)
          : findNew(surroundings, request),
      ),
  });
}

/** A rate that is gone already is as good as one that we deleted. */
export function endedFreightRates(surroundings: Surroundings): Sink {
  return writeSink(surroundings, {
    operation: "freight-rate.delete",
    writes: "create",
    itemsMax: 1,
    policy: settledIn({ ...masterData, preflight: false }, surroundings.settleMs),
    write([item]) {
      const { freightRateId, connectionId } = accepted(EndedFreightRate, item?.document);
      const target = `${targetOf("deleteFreightRate", freightRateId)} ${ratesOn(connectionId)}`;
      return { target, body: undefined };
    },
    find: (request) => reading(() => findEnded(surroundings, request)),
  });
}

const ratesOn = (connectionId: string): string => pathOf("listFreightRates", connectionId);

/** The rates of the connection that the target's last word names; null when it is not to be seen. */
const listed = (surroundings: Surroundings, { target }: Outgoing): Promise<FreightRate[] | null> =>
  recordAt(surroundings, target.split(" ").at(-1) ?? "", z.array(FreightRate));

/** What makes a lane: a rate that names a city besides is another one. */
const lane = {
  originTerminalId: null,
  originCity: null,
  originState: null,
  destinationZipPrefix: null,
  destinationZip: null,
  destinationCity: null,
  destinationState: null,
  product: null,
};
const amounts = {
  ratePerMile: null,
  flatFee: null,
  minCharge: null,
  fuelSurchargePercent: null,
  customFees: null,
};
const Compared = FreightRate.omit({ notes: true });

/** By lane, amounts and beginning, among the rates made since the first send; before it, among all. */
async function findNew(surroundings: Surroundings, request: Outgoing): Promise<Finding> {
  const rate = CreateFreightRate.parse(parseExact(request.body));
  const rates = (await listed(surroundings, request)) ?? [];
  const matches = rates.filter(
    (other) =>
      (request.firstSentAt === null || isSince(other.createdAt, request)) &&
      differs({ ...lane, ...amounts, ...rate }, other, Compared) === null,
  );
  const what = `such a freight rate on ${rate.connectionId}`;
  return foundIn(new Set(matches.map(({ id }) => id)), what);
}

async function findChanged(surroundings: Surroundings, request: Outgoing): Promise<Finding> {
  const rates = await listed(surroundings, request);
  const rate = rates?.find(({ id }) => id === idIn(request));
  if (rate !== undefined) return foundChanged(request, FreightRate, rate);
  return { found: "different", detail: `its connection has no freight rate ${idIn(request)}` };
}

async function findEnded(surroundings: Surroundings, request: Outgoing): Promise<Finding> {
  const rates = await listed(surroundings, request);
  if (rates === null) return { found: "different", detail: "its connection is not to be seen" };
  return rates.some(({ id }) => id === idIn(request))
    ? { found: "none", detail: `freight rate ${idIn(request)} is still there` }
    : { found: "exact", ids: [null], detail: `freight rate ${idIn(request)} is gone` };
}
