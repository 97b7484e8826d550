/** The `sftp` section of a `files` endpoint. */
import { createHash } from "node:crypto";
import { connect as connectTcp, type Socket } from "node:net";
import { posix } from "node:path";
import type { Algorithms, Attributes, FileEntry, SFTPWrapper } from "ssh2";
import { z } from "zod";
import { type Drop, type Entry, failure, type OpenFile, type Over, type Rights } from "./port.ts";
import { SourceUnavailable } from "../../../src/core/errors.ts";

/** As `ssh-keygen -lf` shows it. */
const Fingerprint = z
  .string()
  .regex(/^SHA256:[A-Za-z0-9+/]{43}$/, "is a fingerprint as ssh-keygen -lf shows it: SHA256:...");

const secret = (description: string): z.ZodString =>
  z.string().min(4).meta({ secret: true, description });

export const SftpConfig = z
  .strictObject({
    host: z.string().min(1),
    port: z.int().min(1).max(65_535).default(22),
    user: z.string().min(1),
    password: secret("Of the user; or `key`.").optional(),
    key: secret("The user's private key, OpenSSH or PEM: ${file:secrets/sftp-key}.").optional(),
    passphrase: secret("Of the key, where it has one.").optional(),
    hostKey: z
      .union([Fingerprint, z.array(Fingerprint).min(1)])
      .optional()
      .describe(
        "The server's key; two while it is replaced. Without it, `fuelbridge doctor` says which one the server showed.",
      ),
    timeoutMs: z
      .int()
      .min(50)
      .max(600_000)
      .default(30_000)
      .describe("How long the server may take to connect, and for each single operation."),
  })
  .refine(({ key, password }) => (key === undefined) !== (password === undefined), {
    message: "needs either a key or a password",
    path: ["key"],
  });
export type SftpConfig = z.infer<typeof SftpConfig>;

/*
 * The connection to an SFTP server: made when it is needed, given up when it is idle, made anew after it was lost. There
 * is one operation at a time on it, each with a deadline: when it passes, nobody knows what the server did, so the
 * connection is closed and nothing more is asked on it.
 */

/** What the server did with one operation; `error` is null or undefined when it did it. */
type Callback<Value> = (error?: Error | null, value?: Value) => void;

interface Session {
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

const whereOf = ({ host, port, user }: SftpConfig): string => `sftp://${user}@${host}:${port}`;

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

/* A drop behind SFTP 3. Files are written and read through handles, one request at a time, each answer looked at. */

/** Every server takes so many bytes in one request (draft-ietf-secsh-filexfer-02, 3). */
const PIECE_BYTES = 32_768;
const END_OF_FILE = 1;

/** `folder`: from where the server puts the user, or absolute there. */
export function sftpDrop(config: SftpConfig, folder: string): Drop {
  const connection = new Connection(config);
  return new SftpDrop(connection, folder.replaceAll("\\", "/"), whereOf(config));
}

class SftpDrop implements Drop {
  readonly where: string;
  readonly isLocal = false;
  readonly path = posix;
  readonly rights: Rights;
  readonly #connection: Connection;
  readonly #base: string;

  constructor(connection: Connection, base: string, server: string) {
    this.#connection = connection;
    this.#base = withoutEnd(posix.normalize(base));
    this.where = `${server}${base.startsWith("/") ? "" : "/"}${base}`;
    this.rights = {
      // SFTP tells no more than that something may not be done.
      missing: async () => null,
      missingToMove: async () => null,
      expectEntry: (path) => this.#expectFolder(path),
      expectWritable: async (path) => {
        if ((await this.#stat(path)) === null) return false;
        await this.#expectFolder(path);
        return true;
      },
      expectOwn: async () => {},
      expectTogether: async () => {},
    };
  }

  at(...parts: readonly string[]): string {
    return parts.reduce((path, part) => {
      const next = part.replaceAll("\\", "/");
      return withoutEnd(posix.isAbsolute(next) ? posix.normalize(next) : posix.join(path, next));
    }, this.#base);
  }

  async visit(
    folder: string,
    see: (entry: Entry) => void,
    isWanted: (name: string) => boolean = () => true,
  ): Promise<void> {
    const what = `list ${folder}`;
    const listed = await this.#opened(what, (sftp, done) => sftp.opendir(folder, done));
    try {
      for (;;) {
        const some = await listed.run<FileEntry[] | null>(what, (sftp, handle, done) =>
          sftp.readdir(handle, (error, list) =>
            isEnd(error) ? done(null, null) : done(error, list),
          ),
        );
        if (some === null) return;
        for (const { filename, attrs } of some)
          if (isWanted(filename)) see(entryOf(filename, attrs));
      }
    } finally {
      await listed.close();
    }
  }

  async look(path: string): Promise<Entry | null> {
    const found = await orNull(
      this.#run<Attributes>(`look at ${path}`, (sftp, done) => sftp.lstat(path, done)),
    );
    return found === null ? null : entryOf(posix.basename(path), found);
  }

  async open(path: string): Promise<OpenFile | null> {
    const found = await this.look(path);
    if (found === null || found.kind === "other") return null;
    const file = await orNull(
      this.#opened(`open ${path}`, (sftp, done) => sftp.open(path, "r", done)),
    );
    if (file === null) return null;
    return {
      look: async () =>
        entryOf(
          found.name,
          await file.run<Attributes>(`look at ${path}`, (sftp, handle, done) =>
            sftp.fstat(handle, done),
          ),
        ),
      read: async (buffer, offset, length, position) => ({
        bytesRead: await file.run<number>(`read ${path}`, (sftp, handle, done) =>
          sftp.read(handle, buffer, offset, Math.min(length, PIECE_BYTES), position, done),
        ),
      }),
      close: () => file.close(),
    };
  }

  async write(path: string, bytes: Buffer, over: Over): Promise<void> {
    const there = await this.look(path);
    if (there !== null && there.kind !== "file")
      throw failure("ELOOP", `${path} is a link or a folder`);
    const flags = over === "any" ? "w" : WRITE | TRUNCATE;
    const file = await this.#opened(`open ${path}`, (sftp, done) => sftp.open(path, flags, done));
    try {
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        const length = Math.min(PIECE_BYTES, bytes.length - at);
        await file.run(`write ${path}`, (sftp, handle, done) =>
          sftp.write(handle, bytes, at, length, at, done),
        );
      }
      await file.run(`sync ${path}`, (sftp, handle, done) =>
        orWithout(done, () => sftp.ext_openssh_fsync(handle, done)),
      );
      // A server that keeps what it was given until now may say only here that it could not.
      await file.end(`close ${path}`);
    } finally {
      await file.close();
    }
  }

  /**
   * By OpenSSH's posix-rename, which is one rename(2). Its plain rename is link and unlink, and leaves a moment in which
   * the file has both names; other servers have no more than that, and refuse to overwrite.
   */
  async move(from: string, to: string): Promise<void> {
    const isDone = await this.#run<boolean>(`rename ${from} to ${to}`, (sftp, done) =>
      orWithout(
        () => done(null, false),
        () => sftp.ext_openssh_rename(from, to, (error) => done(error, true)),
      ),
    );
    if (!isDone)
      await this.#run(`rename ${from} to ${to}`, (sftp, done) => sftp.rename(from, to, done));
  }

  async removeFolder(path: string): Promise<void> {
    await this.#run(`delete the folder ${path}`, (sftp, done) => sftp.rmdir(path, done));
  }

  async remove(path: string): Promise<void> {
    await orNull(this.#run(`delete ${path}`, (sftp, done) => sftp.unlink(path, done)));
  }

  async makeFolder(path: string): Promise<void> {
    if ((await this.#stat(path)) !== null) return this.#expectFolder(path);
    const above = posix.dirname(path);
    if (above !== path) await this.makeFolder(above);
    try {
      await this.#run(`make the folder ${path}`, (sftp, done) => sftp.mkdir(path, done));
    } catch (error) {
      // Somebody else was faster, which servers call a failure.
      if ((await this.#stat(path)) === null) throw error;
    }
  }

  /** SFTP has no such call. */
  async syncFolder(): Promise<void> {}

  async describe(): Promise<string> {
    return `host key ${(await this.#connection.session()).hostKey}`;
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  #run<Value>(
    what: string,
    work: (sftp: SFTPWrapper, done: Callback<Value>) => void,
  ): Promise<Value> {
    return this.#connection.run(what, work);
  }

  async #opened(
    what: string,
    open: (sftp: SFTPWrapper, done: Callback<Buffer>) => void,
  ): Promise<Handle> {
    const session = await this.#connection.session();
    return new Handle(this.#connection, session, await this.#connection.run(what, open, session));
  }

  /** Of the file that a link leads to. */
  #stat(path: string): Promise<Attributes | null> {
    return orNull(this.#run<Attributes>(`look at ${path}`, (sftp, done) => sftp.stat(path, done)));
  }

  async #expectFolder(path: string): Promise<void> {
    const found = await this.#stat(path);
    if (found === null) throw failure("ENOENT", `${path} is not there`);
    if (entryOf(path, found).kind !== "folder") throw failure("ENOTDIR", `${path} is not a folder`);
  }
}

/** A file or folder that is open on the server, within the session that opened it. */
class Handle {
  readonly #connection: Connection;
  readonly #session: Session;
  readonly #handle: Buffer;
  #isEnded = false;

  constructor(connection: Connection, session: Session, handle: Buffer) {
    this.#connection = connection;
    this.#session = session;
    this.#handle = handle;
  }

  run<Value>(
    what: string,
    work: (sftp: SFTPWrapper, handle: Buffer, done: Callback<Value>) => void,
  ): Promise<Value> {
    const asked = (sftp: SFTPWrapper, done: Callback<Value>): void =>
      work(sftp, this.#handle, done);
    return this.#connection.run(what, asked, this.#session);
  }

  /** Servers use the handle of a closed file again: closed twice, it would be another one's. */
  async end(what: string): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    await this.run(what, (sftp, handle, done) => sftp.close(handle, done));
  }

  /** What came of the file is known already. */
  async close(): Promise<void> {
    await this.end("close").catch(quiet);
  }
}

const withoutEnd = (path: string): string => path.replace(/(?<=.)\/+$/, "");

const WRITE = 0x02;
const TRUNCATE = 0x10;

const isEnd = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === END_OF_FILE;

/** Null when the server says that there is none. */
async function orNull<Value>(work: Promise<Value>): Promise<Value | null> {
  try {
    return await work;
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return null;
    throw error;
  }
}

/** ssh2 throws at once where the server did not offer an extension. */
function orWithout(without: () => void, work: () => void): void {
  try {
    work();
  } catch {
    without();
  }
}

/** By SFTP 3 a server may leave each of them out. */
type Told = Partial<Pick<Attributes, "mode" | "size" | "mtime">>;

function entryOf(name: string, { mode, size = 0, mtime = 0 }: Told): Entry {
  const type = (mode ?? FILE) & TYPE;
  const kind = type === FILE ? "file" : type === FOLDER ? "folder" : "other";
  return { name, kind, size, mtimeMs: mtime * 1000 };
}

const TYPE = 0o170000;
const FILE = 0o100000;
const FOLDER = 0o040000;
