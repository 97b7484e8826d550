/** Where a demo takes place: its folder, its configuration, its console, and the server that its ERP's folder may be behind. */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parseDocument } from "yaml";
import type { Composed } from "../app/compose.ts";
import { openWeb } from "../app/services.ts";
import type { Config } from "../config/config.ts";
import { EnvironmentError } from "../core/errors.ts";
import type { Web } from "../web/server.ts";
import { openUsers } from "../web/users.ts";
import { type Sshd, startSshd } from "./sshd.ts";
import { root } from "./world.ts";

/** Any other one where it is taken. */
const CONSOLE_PORT = 8086;
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
  const web = await at(CONSOLE_PORT).catch((error: unknown) => {
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

export type DemoErp = "files" | "sftp";

export interface Stage {
  /** Absolute. */
  readonly folder: string;
  /** The configuration's file. */
  readonly config: string;
  /** For people. */
  readonly erp: string;
  end(): Promise<void>;
}

const CONFIG = join(root, "config", "demo.yaml");

/** @throws EnvironmentError when there is no OpenSSH server */
export async function openStage(erp: DemoErp): Promise<Stage> {
  if (erp === "files")
    return {
      folder: join(root, "var", "demo"),
      config: CONFIG,
      erp: "an ERP that is a folder",
      end: async () => {},
    };
  const folder = join(root, "var", "demo-sftp");
  const sshd = await startSshd(join(folder, "sshd"));
  return {
    folder,
    config: writeConfiguration(folder, sshd),
    erp: "an ERP whose folder is behind OpenSSH",
    end: sshd.end,
  };
}

/** The demo's configuration in a folder of its own, with the ERP's folder behind the server. */
function writeConfiguration(folder: string, sshd: Sshd): string {
  const document = parseDocument(readFileSync(CONFIG, "utf8"));
  const path = join(folder, "demo-sftp.yaml");
  const { host, port, user, hostKey, keyFile } = sshd;
  document.setIn(["state"], "state");
  document.setIn(["platform", "apiKey"], "${file:api-key}");
  document.setIn(["crossReferences"], relative(folder, join(dirname(CONFIG), "crossref")));
  document.setIn(["endpoints", "erp", "folder"], join(folder, "erp"));
  const key = `\${file:${relative(folder, keyFile)}}`;
  document.setIn(["endpoints", "erp", "sftp"], { host, port, user, key, hostKey });
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, document.toString());
  return path;
}
