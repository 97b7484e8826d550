/** The web console over the office of a daemon that runs in this process. */
import type { Config } from "../config/config.ts";
import type { Web } from "../console/web/server.ts";
import type { Office } from "../report/office.ts";
import { systemClock } from "./clock.ts";

/** Null when the configuration has none. @throws EnvironmentError when it cannot listen */
export async function openWeb(
  config: Config,
  office: Office,
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
    pack: async (report, by) => {
      const { packOf } = await import("./evidence-pack.ts");
      return packOf(config, report, { by, at: report.at });
    },
    users: openUsers(state, () => new Date()),
    secrets,
    note,
    clock: systemClock(),
  });
  // Each question takes a little more into what is searched: so that is done before somebody searches. No document is
  // older than 0: to show a page of them costs 25 documents' parsing each time.
  const timer = setInterval(() => {
    office.documents({ text: null, before: "0" }).catch(() => undefined);
  }, SEARCH_EVERY_MS);
  return {
    ...served,
    async close() {
      clearInterval(timer);
      await served.close();
    },
  };
}

const SEARCH_EVERY_MS = 500;
