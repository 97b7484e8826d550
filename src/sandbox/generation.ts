import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import { type ControlRequest, keyOf, parsed } from "./control-request.ts";
import { companies, generate } from "./scenes/index.ts";
import type { World } from "./world.ts";

const count = z.int().min(0).max(10_000_000).default(0);
const Order = z.strictObject({
  key: z.string(),
  orders: count,
  deliveryTickets: count,
  invoices: count,
  rackPrices: count,
  seed: z.int().optional(),
});

/** Records per transaction: requests are answered in between, and a large one writes fewer pages twice. */
const BATCH = 20_000;

/** `POST /generate`: believable records in any number. */
export async function generation(
  world: World,
  request: ControlRequest,
): Promise<{ answer: object }> {
  const { key, seed, ...counts } = parsed(Order, request);
  const companyId = keyOf(world, key).company;
  const { epoch } = world;
  const records = generate({
    ...counts,
    seed: seed ?? nextSeed(world),
    companyId,
    payerCompanyId: companies.customer.id,
    now: new Date(world.clock.now()),
  });
  for (let more = true; more && world.epoch === epoch; await setImmediate()) {
    more = world.transaction(() =>
      world.lagging.others(() => {
        for (let added = 0; added < BATCH; added++) {
          const { done, value } = records.next();
          if (done === true) return false;
          world.add(value.resource, value.record);
        }
        return true;
      }),
    );
  }
  return { answer: counts };
}

/** Ids repeat with the seed, so every call without one gets its own. */
function nextSeed(world: World): number {
  const next = Number(world.settings.get("generations") ?? 0) + 1;
  world.settings.set("generations", String(next));
  return 1_000_000 + next;
}
