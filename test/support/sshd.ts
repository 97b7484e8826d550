/** OpenSSH's server as an ordinary process of the test's own: a free port, its own keys, SFTP for the user who runs it. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { freePort } from "./port.ts";
import { until } from "./site-program.ts";

export interface TestSshd {
  /** As the `sftp` section of an endpoint has them. */
  readonly sftp: {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly key: string;
    readonly hostKey: string;
  };
  /** With the same keys; ready when it returns. */
  start(): Promise<void>;
  /** SIGKILL of what listens: connections that are open go on. */
  kill(): Promise<void>;
  /** Kills it and removes its files. */
  readonly end: () => Promise<void>;
}

/** `more`: lines of sshd_config. */
export async function startSshd(...more: readonly string[]): Promise<TestSshd> {
  const folder = mkdtempSync(join(tmpdir(), "sshd-"));
  const port = await freePort();
  for (const name of ["host", "user"])
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(folder, name)]);
  const fingerprint = execFileSync("ssh-keygen", ["-lf", join(folder, "host.pub")]).toString();
  const lines = [
    `Port ${port}`,
    "ListenAddress 127.0.0.1",
    `HostKey ${join(folder, "host")}`,
    `AuthorizedKeysFile ${join(folder, "user.pub")}`,
    "PidFile none",
    "StrictModes no",
    "UsePAM no",
    "PasswordAuthentication no",
    "PermitRootLogin prohibit-password",
    "Subsystem sftp internal-sftp",
    ...more,
  ];
  writeFileSync(join(folder, "sshd_config"), `${lines.join("\n")}\n`);
  // Where it runs as root it wants this folder for what it does without rights.
  if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  let child: ChildProcess | null = null;
  const sshd: TestSshd = {
    sftp: {
      host: "127.0.0.1",
      port,
      user: userInfo().username,
      key: readFileSync(join(folder, "user"), "utf8"),
      hostKey: fingerprint.split(" ")[1] ?? "",
    },
    async start() {
      const args = ["-D", "-e", "-f", join(folder, "sshd_config")];
      child = spawn("/usr/sbin/sshd", args, { stdio: "ignore" });
      running.add(child);
      await until("sshd", () => answers(port));
    },
    async kill() {
      if (child === null || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
      running.delete(child);
    },
    async end() {
      await sshd.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await sshd.start();
  return sshd;
}

const running = new Set<ChildProcess>();

/** None outlives the test process. */
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("data", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
