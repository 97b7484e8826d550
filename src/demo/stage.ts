/** Where a demo takes place: its folder, its configuration, and the server that its ERP's folder may be behind. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parseDocument } from "yaml";
import { type Sshd, startSshd } from "./sshd.ts";
import { root } from "./world.ts";

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
