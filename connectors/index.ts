/**
 * Every connector: a folder here whose index.ts exports it under its name in code (`acme-online` is `acmeOnline`). Each is
 * loaded when it is asked for: a command that needs one starts in three quarters of the time that all of them take.
 */
import { existsSync, readdirSync } from "node:fs";
import { extname, join } from "node:path";
import type { Connector } from "../src/core/contract.ts";

const { dirname, filename } = import.meta;
const NAMES = readdirSync(dirname).filter((name) =>
  existsSync(join(dirname, name, `index${extname(filename)}`)),
);

/** Those of these names, or all. @throws Error for a folder that does not export its connector */
export const connectorsNamed = (names: readonly string[] = NAMES): Promise<readonly Connector[]> =>
  Promise.all(names.map(connectorNamed));

export const isConnector = (name: string): boolean => NAMES.includes(name);

async function connectorNamed(name: string): Promise<Connector> {
  const path = `./${name}/index.ts`;
  const exported = (await import(path)) as Readonly<Record<string, Connector>>;
  const id = name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  const connector = exported[id];
  if (connector === undefined) throw new Error(`connectors/${name}/index.ts does not export ${id}`);
  return connector;
}
