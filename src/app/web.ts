/** The web console over the office of a daemon that runs in this process. */
import type { Config } from "../config/config.ts";
import type { Web } from "../web/server.ts";
import { FuelbridgeError } from "../core/errors.ts";
import type { Engine } from "../engine/engine.ts";
import { catchUp } from "../office/documents.ts";
import { systemClock } from "./process.ts";
import type { Composed } from "./compose.ts";

/** Null when the configuration has none. @throws EnvironmentError when it cannot listen */
export async function openWeb(
  config: Config,
  { office, engine }: Pick<Composed, "office" | "engine">,
  note: (message: string, details: Readonly<Record<string, unknown>>) => void,
): Promise<Web | null> {
  const { web } = config.console;
  if (web === null) return null;
  const [{ serveWeb }, { openUsers }] = await Promise.all([
    import("../web/server.ts"),
    import("../web/users.ts"),
  ]);
  const { company, currency, timeZone, state, secrets } = config;
  const served = await serveWeb({
    office,
    web,
    site: { company, currency, timeZone, environment: config.platform.environment },
    pack: async ({ report, audit }, by) => {
      const { packOf } = await import("./evidence-pack.ts");
      return packOf(config, report, { by, at: report.at, audit });
    },
    users: openUsers(state, () => new Date()),
    secrets,
    note,
    clock: systemClock(),
  });
  // What came is taken into what is searched all the time: so that is done before somebody searches.
  const timer = setInterval(() => takeIn(engine, note), SEARCH_EVERY_MS);
  return {
    ...served,
    async close() {
      clearInterval(timer);
      await served.close();
    },
  };
}

/**
 * Takes what came into what is searched. What a mapping cannot say of a record is noted.
 * @throws FuelbridgeError for what the storage refuses: it ends the process, as everywhere
 */
export function takeIn(
  engine: Engine,
  note: (message: string, details: Readonly<Record<string, unknown>>) => void,
): void {
  try {
    catchUp(engine, engine.flows, CATCH_UP_MS);
  } catch (thrown) {
    const error = engine.store.told(thrown);
    if (error instanceof FuelbridgeError) throw error;
    note("the search is not up to date", { error });
  }
}

/** How long that may keep the daemon from its work, each time. */
const CATCH_UP_MS = 10;
const SEARCH_EVERY_MS = 500;
