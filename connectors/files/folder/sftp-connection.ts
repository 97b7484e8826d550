/**
 * The connection to an SFTP server: made when it is needed, given up when it is idle, made anew after it was lost. There
 * is one operation at a time on it, each with a deadline: when it passes, nobody knows what the server did, so the
 * connection is closed and nothing more is asked on it.
 */
import { createHash } from "node:crypto";
import { connect as connectTcp, type Socket } from "node:net";
import type { Algorithms, SFTPWrapper } from "ssh2";
import { SourceUnavailable } from "../../../src/core/errors.ts";
import { failure } from "./port.ts";
import type { SftpConfig } from "./sftp-config.ts";

/** What the server did with one operation; `error` is null or undefined when it did it. */
export type Callback<Value> = (error?: Error | null, value?: Value) => void;

export interface Session {
  readonly sftp: SFTPWrapper;
  readonly socket: Socket;
  /** The fingerprint of its key. */
  readonly hostKey: string;
}

/** Nothing older than what OpenSSH 9 offers by itself; `ssh-rsa` as a signature (SHA-1) and CBC are left out. */
const ALGORITHMS: Algorithms = {
  kex: [
    "curve25519-sha256",
    "curve25519-sha256@libssh.org",
    "ecdh-sha2-nistp256",
    "ecdh-sha2-nistp384",
    "ecdh-sha2-nistp521",
    "diffie-hellman-group-exchange-sha256",
    "diffie-hellman-group16-sha512",
    "diffie-hellman-group18-sha512",
    "diffie-hellman-group14-sha256",
  ],
  serverHostKey: [
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "rsa-sha2-512",
    "rsa-sha2-256",
  ],
  cipher: [
    "aes256-gcm@openssh.com",
    "aes128-gcm@openssh.com",
    "aes256-ctr",
    "aes192-ctr",
    "aes128-ctr",
  ],
  hmac: [
    "hmac-sha2-256-etm@openssh.com",
    "hmac-sha2-512-etm@openssh.com",
    "hmac-sha2-256",
    "hmac-sha2-512",
  ],
  compress: ["none"],
};

/** Servers close what is idle, mostly after minutes: we do so before them. */
const IDLE_MS = 20_000;
/** So long wrong credentials are not tried again: servers lock accounts. */
const REFUSED_MS = 300_000;

export class Connection {
  readonly #config: SftpConfig;
  #session: Session | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #idle: NodeJS.Timeout | undefined;

  constructor(config: SftpConfig) {
    this.#config = config;
  }

  /**
   * Carries out one operation after those before it. `within`: the session that a handle belongs to.
   * @throws SourceUnavailable when the server cannot be reached: nothing was asked of it then. Error with `code`
   * ETIMEDOUT or ECONNRESET when it did not answer, else as the server's status says ({@link STATUS}).
   */
  run<Value>(
    what: string,
    operation: (sftp: SFTPWrapper, done: Callback<Value>) => void,
    within?: Session,
  ): Promise<Value> {
    const turn = this.#last.then(() => this.#carryOut(what, operation, within));
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** Connected, now. */
  session(): Promise<Session> {
    const turn = this.#last.then(() => this.#connected());
    this.#last = turn.catch(() => {});
    return turn;
  }

  async close(): Promise<void> {
    await this.#last;
    this.#end();
  }

  async #carryOut<Value>(
    what: string,
    operation: (sftp: SFTPWrapper, done: Callback<Value>) => void,
    within?: Session,
  ): Promise<Value> {
    const session = within ?? (await this.#connected());
    const { sftp, socket } = session;
    const lost = failure("ECONNRESET", `${what}: the connection to ${this.#where} was lost`);
    if (session !== this.#session) throw lost;
    clearTimeout(this.#idle);
    const { timeoutMs } = this.#config;
    let late: NodeJS.Timeout | undefined;
    let cut = quiet;
    try {
      return await new Promise<Value>((resolve, reject) => {
        cut = () => reject(lost);
        socket.once("close", cut);
        late = setTimeout(() => {
          reject(failure("ETIMEDOUT", `${what}: ${this.#where} gave no answer in ${timeoutMs} ms`));
          this.#session = null;
          socket.destroy();
        }, timeoutMs);
        operation(sftp, (error, value) =>
          error ? reject(statusError(what, error)) : resolve(value as Value),
        );
      });
    } finally {
      clearTimeout(late);
      socket.off("close", cut);
      this.#idle = setTimeout(() => this.#end(), IDLE_MS).unref();
    }
  }

  async #connected(): Promise<Session> {
    if (this.#session !== null) return this.#session;
    const session = await open(this.#config);
    const forget = (): void => {
      if (this.#session === session) this.#session = null;
    };
    session.socket.once("close", forget);
    // A server that breaks the protocol.
    session.sftp.on("error", () => session.socket.destroy());
    this.#session = session;
    return session;
  }

  #end(): void {
    clearTimeout(this.#idle);
    const socket = this.#session?.socket;
    this.#session = null;
    // Everything was answered: there is nothing that a farewell could wait for.
    socket?.destroy();
  }

  get #where(): string {
    return whereOf(this.#config);
  }
}

export const whereOf = ({ host, port, user }: SftpConfig): string =>
  `sftp://${user}@${host}:${port}`;

const quiet = (): void => {};

/** @throws SourceUnavailable saying why not, and what to do */
async function open(config: SftpConfig): Promise<Session> {
  const { host, port, user, password, key, passphrase, timeoutMs } = config;
  const pinned = [config.hostKey ?? []].flat();
  let shown: string | null = null;
  let refusal: (Error & { level?: string }) | null = null;
  // Only who uses a server loads it.
  const { default: Client } = await import("ssh2-sftp-client");
  // Each request waits for the answer to the one before it: none is to wait for company.
  const socket = connectTcp({ host, port, noDelay: true });
  const late = setTimeout(
    () => socket.destroy(failure("ETIMEDOUT", `no connection in ${timeoutMs} ms`)),
    timeoutMs,
  );
  const client = new Client("fuelbridge", { error: quiet, end: quiet, close: quiet });
  client.on("error", (error: Error) => (refusal ??= error));
  socket.on("error", (error) => (refusal ??= error));
  try {
    const cut = new Promise<never>((_, reject) => {
      socket.once("close", () => reject(refusal ?? new Error("the server closed the connection")));
    });
    const connecting = client.connect({
      sock: socket,
      username: user,
      ...(password === undefined ? {} : { password }),
      ...(key === undefined ? {} : { privateKey: key }),
      ...(passphrase === undefined ? {} : { passphrase }),
      algorithms: ALGORITHMS,
      hostVerifier: (offered: Buffer) => {
        shown = fingerprintOf(offered);
        return pinned.includes(shown);
      },
      readyTimeout: 0,
    });
    connecting.catch(quiet);
    cut.catch(quiet);
    const sftp = await Promise.race([connecting, cut]);
    return { sftp, socket, hostKey: shown ?? "" };
  } catch (error) {
    socket.destroy();
    throw whyNot(config, { shown, pinned, cause: refusal ?? (error as Error) });
  } finally {
    clearTimeout(late);
  }
}

const fingerprintOf = (key: Buffer): string =>
  `SHA256:${createHash("sha256").update(key).digest("base64").replace(/=+$/, "")}`;

function whyNot(
  config: SftpConfig,
  {
    shown,
    pinned,
    cause,
  }: {
    readonly shown: string | null;
    readonly pinned: readonly string[];
    readonly cause: Error & { level?: string };
  },
): SourceUnavailable {
  const where = whereOf(config);
  if (shown !== null && pinned.length === 0)
    return new SourceUnavailable(
      `No host key is set for ${where}; the server showed ${shown}. Nothing was sent to it.`,
      {
        next: `Ask the server's administrator for the fingerprint of its key. If it is this one, set sftp.hostKey: ${shown}`,
        stop: "configuration",
        cause,
      },
    );
  if (shown !== null && !pinned.includes(shown))
    return new SourceUnavailable(
      `${where} showed the host key ${shown}, and sftp.hostKey is ${pinned.join(", ")}. Nothing was sent to it.`,
      {
        next: "Ask the server's administrator whether its key was replaced. If it was, set sftp.hostKey to the new fingerprint; if not, another machine answers at this address: change nothing and find it.",
        stop: "configuration",
        cause,
      },
    );
  if (cause.level === "client-authentication" || /privateKey/.test(cause.message))
    return new SourceUnavailable(`${where} was refused for its credentials: ${cause.message}.`, {
      next: "Look at sftp.user and at sftp.key or sftp.password; with a key, its public half must be among the authorized keys on the server.",
      stop: "credentials",
      waitMs: REFUSED_MS,
      cause,
    });
  return new SourceUnavailable(`${where} cannot be reached: ${cause.message}.`, {
    next: "Look at the server, at sftp.host and sftp.port, and at the firewalls on the way.",
    cause,
  });
}

/** Statuses of SFTP 3 (draft-ietf-secsh-filexfer-02, 7), as the file system would say it; 4 is any failure. */
const STATUS: Readonly<Record<number, string>> = {
  2: "ENOENT",
  3: "EACCES",
  4: "EFAILED",
  5: "EPROTO",
  6: "ECONNRESET",
  7: "ECONNRESET",
  8: "ENOTSUP",
};

function statusError(what: string, cause: Error & { code?: unknown }): Error {
  const code = STATUS[cause.code as number] ?? (cause.code === undefined ? "ECONNRESET" : "EPROTO");
  return failure(code, `${what}: ${cause.message}`, cause);
}
