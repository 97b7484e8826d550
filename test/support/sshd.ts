/** OpenSSH's server as an ordinary process of the test's own, with a private key as `${file:}` gives it. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSshd as start } from "../../src/demo/sshd.ts";

export interface TestSshd {
  /** As the `sftp` section of an endpoint has them. */
  readonly sftp: Readonly<Record<"host" | "user" | "key" | "hostKey", string>> & {
    readonly port: number;
  };
  /** Kills it and removes its files. */
  readonly end: () => Promise<void>;
}

export async function startSshd(): Promise<TestSshd> {
  const folder = mkdtempSync(join(tmpdir(), "sshd-"));
  const { host, port, user, hostKey, keyFile, end } = await start(folder);
  return {
    sftp: { host, port, user, hostKey, key: readFileSync(keyFile, "utf8").replace(/\n$/, "") },
    async end() {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
