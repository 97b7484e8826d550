import { assert, boolean, constantFrom, nat, option, property, record, string } from "fast-check";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";
import { freshRequest, type RequestState } from "../core/request.ts";
import { openStore } from "./store.ts";

const count = nat({ max: 3 });
const wallMs = option(nat());
const moment = option(record({ boot: string(), monoMs: nat(), wallMs: nat() }));
const sending = record<RequestState>({
  state: constantFrom("sending"),
  generation: count,
  sends: count,
  firstSentWallMs: wallMs,
  unresolved: moment,
  lastSend: moment,
  notBefore: moment,
  holdUntilWallMs: wallMs,
  timedOut: boolean(),
  negativeReads: count,
  preflighted: boolean(),
  taken: boolean(),
  evidence: option(constantFrom("direct", "replay", "read", "person")),
  failures: count,
  refusal: boolean(),
  conflict: boolean(),
  unanswered: boolean(),
  proofs: count,
  unlisted: count,
  unlistedSinceMs: wallMs,
  said: option(
    record({
      code: constantFrom("bad-row", "differs", "platform-404"),
      message: string(),
      next: string(),
    }),
  ),
});

test("the state of a request is read as it was written, whatever of it is as in a fresh one", () => {
  const store = openStore(tempFolder());
  const { flow } = store.flows.open("bills");
  let number = 0;
  assert(
    property(sending, (machine) => {
      const key = `key ${++number}`;
      const bytes = { target: "POST /bills", body: "{}" };
      const { request } = store.transaction(() => {
        const added = store.requests.add(
          {
            flow,
            operation: "bill.create",
            kind: "bill",
            number: `B-${number}`,
            revision: "r",
            orderingKey: `bill B-${number}`,
            key,
            machine: { ...freshRequest, generation: machine.generation },
            ...bytes,
          },
          0,
        );
        const fresh = store.requests.get(added);
        if (fresh === null) throw new Error("it is not there");
        return store.requests.move(fresh, machine, key, 0);
      });
      expect(store.requests.get(request)?.machine).toEqual(machine);
      const next = store.requests.nextGeneration("bill.create", `B-${number}`, "r");
      expect(next).toBe(machine.generation + 1);
    }),
  );
  store.close();
});
