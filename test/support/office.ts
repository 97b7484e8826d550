/** What people ask of an engine of the test's own. */
import type { Daemon } from "../../src/engine/daemon.ts";
import type { Engine, Flow } from "../../src/engine/engine.ts";
import { storeOffice } from "../../src/office/questions.ts";

/** `daemon`: null where none runs. */
export const officeOn = (engine: Engine, flows: readonly Flow[], daemon: Daemon | null = null) =>
  storeOffice({ engine, flows, daemon, version: "0", startedAt: new Date(0) });
