/** The web console over the office of a daemon that runs in this process. */
import type { Config } from "../config/config.ts";
import type { Web } from "../console/web/server.ts";
import { catchUp } from "../report/searching.ts";
import { systemClock } from "./clock.ts";
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
    import("../console/web/server.ts"),
    import("../console/web/users.ts"),
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
  const timer = setInterval(() => {
    try {
      catchUp(engine, engine.flows, CATCH_UP_MS);
    } catch (error) {
      note("the search is not up to date", { error });
    }
  }, SEARCH_EVERY_MS);
  return {
    ...served,
    async close() {
      clearInterval(timer);
      await served.close();
    },
  };
}

/** How long that may keep the daemon from its work, each time. */
const CATCH_UP_MS = 10;
const SEARCH_EVERY_MS = 500;
