/** The company's own terminals, by code (specification part 4, Locations, terminals, allocations, companies). */
import type { Outgoing, Sink } from "../../core/contract.ts";
import { parseExact } from "../../core/json.ts";
import type { Finding } from "../../core/outcome.ts";
import { pathOf, targetOf } from "../contract/operations.ts";
import { SupplierTerminal, UpdateTerminal, UpsertTerminal } from "../contract/place.ts";
import { masterData, settledIn } from "./policy.ts";
import { differs, foundChanged, foundIn, listAll, reading, recordAt } from "./read-back.ts";
import { accepted, idIn, type Surroundings, writeSink } from "./write.ts";

/** A terminal that we made is changed; any other is made, if its code is not there yet. */
export function supplierTerminals(surroundings: Surroundings): Sink {
  return writeSink(surroundings, {
    operation: "supplier-terminal.upsert",
    writes: "upsert",
    itemsMax: 1,
    policy: settledIn(masterData, surroundings.settleMs),
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
    find: (request) =>
      reading(() =>
        request.target.startsWith("PUT ")
          ? findChanged(surroundings, request)
          : findNew(surroundings, request),
      ),
  });
}

/** By code. Whether the platform keeps codes apart is not specified: one with other fields is for a person. */
async function findNew(surroundings: Surroundings, request: Outgoing): Promise<Finding> {
  const ours = UpsertTerminal.parse(parseExact(request.body));
  const { terminalCode: code } = ours;
  const query = { search: code, pageSize: "100" };
  const exact = new Set<string>();
  let other: string | null = null;
  const listing = {
    list: "listSupplierTerminals",
    query,
    item: SupplierTerminal,
    names: [code],
  } as const;
  for await (const theirs of listAll(surroundings, listing)) {
    if (theirs.terminalCode !== code) continue;
    const difference = differs(ours, theirs, SupplierTerminal);
    if (difference === null) exact.add(theirs.id);
    else other = `${theirs.id}: ${difference}`;
  }
  if (exact.size === 0 && other !== null)
    return { found: "different", detail: `terminal code ${code} is used by ${other}` };
  return foundIn(exact, `terminal ${code}`);
}

async function findChanged(surroundings: Surroundings, request: Outgoing): Promise<Finding> {
  const id = idIn(request);
  const terminal = await recordAt(
    surroundings,
    pathOf("getSupplierTerminal", id),
    SupplierTerminal,
  );
  return terminal === null
    ? { found: "none", detail: `no terminal ${id}` }
    : foundChanged(request, SupplierTerminal, terminal);
}
