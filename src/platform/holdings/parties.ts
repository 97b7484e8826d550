/** Companies we are connected to, as the platform shows them now (specification 2.8; part 4, Connections). */
import type { Holding, HoldingState } from "../../core/holdings.ts";
import { Connection, CreateParty } from "../contract/network.ts";
import { widePages } from "../contract/primitives.ts";
import { changeOf } from "../walk.ts";
import { otherEnd, type Ourselves, ourselvesAmong } from "../sinks/ourselves.ts";
import { listed, readWhole, type Reader, recordIn, type KindHoldings } from "./reading.ts";

/**
 * A party is the end of a connection that is not us, whichever way the connection runs; its mark is our ERP's code. The
 * list shows no names and no addresses: the engine compares those with what was delivered last.
 */
export function partyHoldings(reader: Reader, ourselves: Ourselves): KindHoldings {
  async function read(signal: AbortSignal) {
    const connections = new Map<string, Connection>();
    const unreadable: Holding[] = [];
    const query = { direction: "all", pageSize: String(widePages.max) };
    let serverTime: string | null = null;
    let total: number | null = null;
    for await (const page of listed(reader, "listConnections", query, signal)) {
      serverTime = page.serverTime;
      total = page.total ?? total;
      for (const record of page.records) {
        const connection = recordIn(Connection, record);
        if (connection === null) unreadable.push(unread(record));
        else connections.set(connection.id, connection);
      }
    }
    const all = [...connections.values()];
    const us = await ourselvesAmong(all, ourselves);
    const missing = Math.max((total ?? 0) - connections.size - unreadable.length, 0);
    const holdings = [...partiesOf(all, us), ...unreadable];
    return { holdings, serverTime, total: holdings.length + missing };
  }

  return {
    ...readWhole(read),
    expect({ document }) {
      const party = CreateParty.parse(document);
      const { externalId, name, street, city, state, zip, country } = party;
      const number = externalId === undefined ? {} : { number: externalId };
      const address = [street, city, state, zip, country].filter(Boolean).join(", ");
      return { facts: { ...number, state: "open", words: { name, address } } };
    },
  };
}

/** One holding a company; of two connections to it the accepted one that shows our code counts. */
function partiesOf(connections: readonly Connection[], us: string | null): Holding[] {
  const best = new Map<string, Connection>();
  for (const connection of connections) {
    const id = (us === null ? null : otherEnd(connection, us)) ?? connection.fromCompanyId;
    const known = best.get(id);
    if (known === undefined || rankOf(connection) > rankOf(known)) best.set(id, connection);
  }
  return [...best].map(([id, { erpId, status, updatedAt }]) => ({
    kind: "party",
    id,
    version: updatedAt,
    mark: erpId,
    change: null,
    facts: { ...(erpId === null ? {} : { number: erpId }), state: stateOf(status) },
  }));
}

const rankOf = ({ status, erpId }: Connection): number =>
  (status === "ACCEPTED" ? 2 : 0) + (erpId === null ? 0 : 1);

const stateOf = (status: string): HoldingState =>
  status === "ACCEPTED" ? "open" : status === "DECLINED" ? "ended" : "draft";

const unread = (record: string): Holding => {
  const change = changeOf(record, true);
  return { kind: "party", id: change.id, version: null, mark: null, change, facts: {} };
};
