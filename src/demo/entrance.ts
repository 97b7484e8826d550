/** The demo's console: its address, and somebody to log in as. */
import { randomBytes } from "node:crypto";
import type { Config } from "../config/config.ts";
import { openUsers } from "../web/users.ts";
import type { Web } from "../web/server.ts";
import { EnvironmentError } from "../core/errors.ts";
import type { Composed } from "../app/compose.ts";
import { openWeb } from "../app/web.ts";

/** Any other one where it is taken. */
const PORT = 8086;
const NAME = "demo";

/** `entrance`: for people. The password is a new one each time, and is kept nowhere but as its hash. */
export async function openEntrance(
  config: Config,
  daemon: Pick<Composed, "office" | "engine">,
  note: Parameters<typeof openWeb>[2],
): Promise<{ web: Web; entrance: string }> {
  const users = openUsers(config.state, () => new Date());
  const password = randomBytes(9).toString("base64url") + "-demo";
  const isThere = users.list().some(({ name }) => name === NAME);
  if (isThere) await users.setPassword(NAME, password);
  else await users.add(NAME, "operator", password);
  const at = (port: number): Promise<Web | null> =>
    openWeb({ ...config, console: { port: 0, web: { ...LOCAL, port } } }, daemon, note);
  const web = await at(PORT).catch((error: unknown) => {
    if (!(error instanceof EnvironmentError)) throw error;
    return at(0);
  });
  if (web === null) throw new TypeError("the demo has a console");
  return {
    web,
    entrance: `The console: ${web.url}\n  log in as ${NAME}, password ${password}`,
  };
}

const LOCAL = { host: "127.0.0.1", names: [], tls: null, proxies: [] };
