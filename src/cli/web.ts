/** The web console over the office of a daemon that runs in this process. */
import type { Config } from "../config/config.ts";
import type { Web } from "../console/web/server.ts";
import type { Office } from "../report/office.ts";
import { systemClock } from "./clock.ts";

/** Null when the configuration has none. @throws EnvironmentError when it cannot listen */
export async function openWeb(config: Config, office: Office): Promise<Web | null> {
  const { web } = config.console;
  if (web === null) return null;
  const [{ serveWeb }, { openUsers }] = await Promise.all([
    import("../console/web/server.ts"),
    import("../console/web/users.ts"),
  ]);
  const { company, currency, timeZone, state, secrets } = config;
  return serveWeb({
    office,
    web,
    site: { company, currency, timeZone, environment: config.platform.environment },
    users: openUsers(state, () => new Date()),
    secrets,
    clock: systemClock(),
  });
}
