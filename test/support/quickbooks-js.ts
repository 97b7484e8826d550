/**
 * What `quickbooks-js` of npm ships: the WSDL of the service that the Web Connector calls, and, among its tests, a Web
 * Connector that calls each operation once. It is kept under node_modules/.cache without what it depends on, which is old:
 * its client finds the `soap` of this project.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Client } from "soap";

const PACKAGE = "quickbooks-js@1.0.0";
const folder = new URL(`../../node_modules/.cache/fuelbridge-${PACKAGE}`, import.meta.url).pathname;
const wsdl = join(folder, "package", "lib", "qbws.wsdl");

type Answered = (error: unknown, result: Readonly<Record<string, unknown>>) => void;

/** Its names. Each sends what it was written with, and no ticket. */
type Call =
  | "serverVersion"
  | "clientVersion"
  | "authenticateWithCorrectUsernameAndPassword"
  | "authenticateWithIncorrectUsernameAndPassword"
  | "sendXMLRequest"
  | "receiveResponseXML"
  | "receiveResponseXMLWithError"
  | "connectionError"
  | "getLastError"
  | "closeConnection";

export type WebConnectorClient = Readonly<Record<Call, (answered: Answered) => void>> & {
  /** `createClient` of it takes the WSDL from port 8000 of its own service. */
  client: Client;
};

export const quickbooksJs = {
  wsdl,
  isThere: (): boolean => existsSync(wsdl),
  install,
  /** Its Web Connector, over a client for that WSDL. */
  connectorOver(client: Client): WebConnectorClient {
    const load = createRequire(import.meta.url);
    const Connector = load(
      join(folder, "package", "test", "client", "client.js"),
    ) as new () => WebConnectorClient;
    const connector = new Connector();
    connector.client = client;
    return connector;
  },
};

/** @throws Error when it cannot be had */
function install(): void {
  const making = `${folder}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  try {
    const run = (program: string, args: readonly string[]): void =>
      void execFileSync(program, args, { cwd: making, stdio: ["ignore", "ignore", "inherit"] });
    run("npm", ["pack", "--silent", "--ignore-scripts", PACKAGE]);
    run("tar", ["-xzf", `${PACKAGE.replace("@", "-")}.tgz`]);
    const own = join(making, "package", "lib", "qbws.wsdl");
    // A comment stands before its XML declaration, which no XML reader takes.
    writeFileSync(own, readFileSync(own, "utf8").replace(/^<!--[^]*?-->\s*/, ""));
    if (!existsSync(folder)) renameSync(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}
