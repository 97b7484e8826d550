/** OpenSSH's server as an ordinary process: on 127.0.0.1, with keys of its own, SFTP alone, for the user who runs it. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { EnvironmentError } from "../core/errors.ts";

/** A port of 127.0.0.1 that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

export type Sshd = Awaited<ReturnType<typeof startSshd>>;

const PROGRAM = "/usr/sbin/sshd";
const START_MS = 30_000;

/**
 * Ready when it returns. Its keys are made in `folder`, anew each time.
 * @throws EnvironmentError when there is no OpenSSH server, or it does not start
 */
export async function startSshd(folder: string) {
  if (!existsSync(PROGRAM))
    throw new EnvironmentError(
      `There is no OpenSSH server here (${PROGRAM}).`,
      "Install it: apt-get install openssh-server. It need not run as a service.",
    );
  mkdirSync(folder, { recursive: true });
  for (const name of ["host", "user"]) {
    for (const file of [name, `${name}.pub`]) rmSync(join(folder, file), { force: true });
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(folder, name)]);
  }
  const fingerprint = execFileSync("ssh-keygen", ["-lf", join(folder, "host.pub")]).toString();
  const port = await freePort();
  writeFileSync(join(folder, "sshd_config"), configuration(folder, port));
  // Started as root it wants this folder for its part without rights.
  if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  const args = ["-D", "-e", "-f", join(folder, "sshd_config")];
  const child = spawn(PROGRAM, args, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (text: Buffer) => (said = `${said}${text.toString()}`.slice(-1000)));
  running.add(child);
  const end = async (): Promise<void> => {
    running.delete(child);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  };
  for (const until = performance.now() + START_MS; !(await answers(port)); await pause(10)) {
    if (child.exitCode === null && performance.now() < until) continue;
    await end();
    throw new EnvironmentError(
      `${PROGRAM} does not start: ${said.trim()}`,
      "Look at what it says.",
    );
  }
  return {
    /** As the `sftp` section of an endpoint has them. */
    host: "127.0.0.1",
    port,
    user: userInfo().username,
    hostKey: readFingerprint(fingerprint),
    /** The user's private key, mode 0600. */
    keyFile: join(folder, "user"),
    /** SIGKILL of what listens; connections that are open end with their clients. */
    end,
  };
}

const configuration = (folder: string, port: number): string =>
  [
    `Port ${port}`,
    "ListenAddress 127.0.0.1",
    `HostKey ${join(folder, "host")}`,
    `AuthorizedKeysFile ${join(folder, "user.pub")}`,
    "PidFile none",
    "StrictModes no",
    "UsePAM no",
    "PasswordAuthentication no",
    "PermitRootLogin prohibit-password",
    "AllowTcpForwarding no",
    "ForceCommand internal-sftp",
    "Subsystem sftp internal-sftp",
    "",
  ].join("\n");

/** `256 SHA256:... comment (ED25519)` */
const readFingerprint = (line: string): string => line.split(" ")[1] ?? "";

const running = new Set<ChildProcess>();

/** None outlives this process. */
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** It has said which version it speaks. */
const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("data", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
