/** The `sftp` section of a `files` endpoint. */
import { createHash } from "node:crypto";
import { connect as connectTcp } from "node:net";
import { posix } from "node:path";
import type {
  Algorithms,
  AnyAuthMethod,
  Attributes,
  AuthHandlerMiddleware,
  FileEntry,
  SFTPWrapper,
} from "ssh2";
import { z } from "zod";
import {
  againAfterCut,
  allOf,
  CUT,
  type Drop,
  type Entry,
  failure,
  isCut,
  unless,
} from "./port.ts";
import { defined } from "../../../src/core/defined.ts";
import { SourceUnavailable } from "../../../src/core/errors.ts";
import { firstBytes } from "../../../src/formats/format.ts";

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
 * The connection to an SFTP server: made when it is needed, given up when it is idle, made anew after it was lost. Many
 * operations are under way on it at once, for each takes as long as the line: nobody waits for the answer to another's. The
 * oldest has a deadline: when it passes, nobody knows what the server did, so the connection is closed and nothing more is
 * asked on it.
 */

/** What the server did with one operation; `error` is null or undefined when it did it. */
type Callback<Value> = (error?: Error | null, value?: Value) => void;

type Session = Awaited<ReturnType<typeof connect>>;

/** An operation that has no answer yet. */
interface Asked {
  readonly what: string;
  readonly reject: (error: Error) => void;
}

const words = (text: string): string[] => text.trim().split(/\s+/);

/** Nothing older than what OpenSSH 9 offers by itself; `ssh-rsa` as a signature (SHA-1) and CBC are left out. */
const ALGORITHMS = {
  kex: words(`
    curve25519-sha256 curve25519-sha256@libssh.org
    ecdh-sha2-nistp256 ecdh-sha2-nistp384 ecdh-sha2-nistp521
    diffie-hellman-group-exchange-sha256 diffie-hellman-group16-sha512
    diffie-hellman-group18-sha512 diffie-hellman-group14-sha256
  `),
  serverHostKey: words(`
    ssh-ed25519 ecdsa-sha2-nistp256 ecdsa-sha2-nistp384 ecdsa-sha2-nistp521
    rsa-sha2-512 rsa-sha2-256
  `),
  cipher: words(`
    aes256-gcm@openssh.com aes128-gcm@openssh.com aes256-ctr aes192-ctr aes128-ctr
  `),
  hmac: words(`
    hmac-sha2-256-etm@openssh.com hmac-sha2-512-etm@openssh.com hmac-sha2-256 hmac-sha2-512
  `),
  compress: ["none"],
} as Algorithms;

/** Servers close what is idle, mostly after minutes: we do so before them. */
const IDLE_MS = 20_000;
/** So long wrong credentials are not tried again: servers lock accounts. */
const REFUSED_MS = 300_000;
/** Whoever comes so soon after them gets the same answer: one look at an endpoint asks for many things. */
const SHOWN_MS = 10_000;

/**
 * Pieces of work under way at once, each an operation or some of one file; the others wait. A server reads no more than it can
 * take (draft-ietf-secsh-filexfer-02, 6.1). What is under way when the line is cut is lost: on one that is cut often fewer
 * are, or none would ever end.
 */
const AT_ONCE = { most: 128, least: 2, lessBy: 4, moreInRound: 4 };

export class Connection {
  readonly #config: SftpConfig;
  #opening: Promise<Session> | null = null;
  /** The one that answers; null: it is being made, or there is none. */
  #open: Session | null = null;
  /** The oldest operation, which has until {@link #timer}; undefined: none is under way, and the connection is idle. */
  #oldest: Asked | undefined;
  #timer: NodeJS.Timeout | undefined;
  #atOnce: number = AT_ONCE.most;
  #working = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(config: SftpConfig) {
    this.#config = config;
  }

  /** Works when it is its turn, beside others. `work` has no part that waits for a turn. */
  async turn<Value>(work: () => Promise<Value>): Promise<Value> {
    await new Promise<void>((begin) => {
      this.#waiting.push(begin);
      this.#begin();
    });
    try {
      const value = await work();
      this.#atOnce = Math.min(this.#atOnce + AT_ONCE.moreInRound / this.#atOnce, AT_ONCE.most);
      return value;
    } finally {
      this.#working--;
      this.#begin();
    }
  }

  #begin(): void {
    while (this.#working < this.#atOnce && this.#waiting.length > 0) {
      this.#working++;
      this.#waiting.shift()?.();
    }
  }

  /** Connected, now. Whoever comes while it is being made waits for that one. @throws SourceUnavailable */
  session(): Promise<Session> {
    return (this.#opening ??= open(this.#config).then(
      (session) => {
        this.#open = session;
        session.socket.once("close", () => this.#forget(session));
        // A server that breaks the protocol.
        session.sftp.on("error", () => session.socket.destroy());
        this.#watch(session);
        return session;
      },
      (error: unknown) => {
        const again = (): void => void (this.#opening = null);
        if (error instanceof SourceUnavailable && error.stop === "credentials")
          setTimeout(again, SHOWN_MS).unref();
        else again();
        throw error;
      },
    ));
  }

  /** Call it when nothing is under way: there is nothing then that a farewell could wait for. */
  close(): void {
    this.#open?.socket.destroy();
  }

  /**
   * Carries out one operation. `within`: the session that a handle belongs to.
   * @throws SourceUnavailable when the server cannot be reached: nothing was asked of it then. Error with `code`
   * ETIMEDOUT or ECONNRESET when it did not answer, else as the server's status says ({@link STATUS}).
   */
  async run<Value>(
    what: string,
    operation: (sftp: SFTPWrapper, done: Callback<Value>) => void,
    within?: Session,
  ): Promise<Value> {
    const session = within ?? (await this.session());
    if (session !== this.#open) throw this.#lost(what);
    return new Promise<Value>((resolve, reject) => {
      const asked: Asked = { what, reject };
      session.asked.add(asked);
      this.#watch(session);
      operation(session.sftp, (error, value) => {
        session.asked.delete(asked);
        this.#watch(session);
        if (error) reject(statusError(this.#config, what, error));
        else resolve(value as Value);
      });
    });
  }

  /** The oldest operation has its time from when it is the oldest: servers answer in order, and all share the line. */
  #watch(session: Session): void {
    if (session !== this.#open) return;
    const [oldest] = session.asked;
    if (oldest !== undefined && oldest === this.#oldest) return;
    this.#oldest = oldest;
    clearTimeout(this.#timer);
    if (oldest === undefined) {
      this.#timer = setTimeout(() => session.socket.destroy(), IDLE_MS).unref();
      return;
    }
    const { timeoutMs } = this.#config;
    this.#timer = setTimeout(() => {
      const late = `${oldest.what}: ${whereOf(this.#config)} gave no answer in ${timeoutMs} ms`;
      oldest.reject(failure("ETIMEDOUT", late));
      this.#forget(session);
    }, timeoutMs);
  }

  /** It has ended, or is to end: whoever waits for an answer gets none. */
  #forget(session: Session): void {
    session.socket.destroy();
    if (session === this.#open) {
      clearTimeout(this.#timer);
      [this.#open, this.#opening, this.#oldest] = [null, null, undefined];
      if (this.#working > 0) this.#atOnce = Math.max(this.#atOnce / AT_ONCE.lessBy, AT_ONCE.least);
    }
    for (const { what, reject } of session.asked) reject(this.#lost(what));
    session.asked.clear();
  }

  #lost(what: string): Error {
    return failure(CUT, `${what}: the connection to ${whereOf(this.#config)} was lost`);
  }
}

const whereOf = ({ host, port, user }: SftpConfig): string => `sftp://${user}@${host}:${port}`;

const quiet = (): void => {};

/** A line that is cut meanwhile is tried once more. @throws SourceUnavailable saying why not, and what to do */
const open = (config: SftpConfig): Promise<Session> =>
  connect(config).catch((error: unknown) => {
    if (!isCut((error as SourceUnavailable).cause)) throw error;
    return connect(config);
  });

/** @throws SourceUnavailable */
async function connect(config: SftpConfig) {
  const { host, port, user, key, passphrase, timeoutMs } = config;
  const pinned = [config.hostKey ?? []].flat();
  let shown: string | null = null;
  let refusal: (Error & { level?: string }) | null = null;
  // Only who uses a server loads it.
  const { default: Client } = await import("ssh2-sftp-client");
  // Requests wait for answers: none is to wait for company.
  const socket = connectTcp({ host, port, noDelay: true });
  const late = setTimeout(
    () => socket.destroy(failure("ETIMEDOUT", `no connection in ${timeoutMs} ms`)),
    timeoutMs,
  );
  const client = new Client("fuelbridge", { error: quiet, end: quiet, close: quiet });
  let takes: readonly string[] = [];
  client.on("error", (error: Error) => (refusal ??= error));
  socket.on("error", (error) => (refusal ??= error));
  try {
    const cut = new Promise<never>((_, reject) => {
      socket.once("close", () =>
        reject(
          refusal ?? Object.assign(new Error("the server closed the connection"), { code: CUT }),
        ),
      );
    });
    const connecting = client.connect({
      sock: socket,
      username: user,
      ...defined({ privateKey: key, passphrase }),
      authHandler: presenting(config, (methods) => void (takes = methods)),
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
    // Operations that have no answer yet, in the order in which they were asked for, and the fingerprint of its key.
    return { sftp, socket, hostKey: shown ?? "", asked: new Set<Asked>() };
  } catch (error) {
    socket.destroy();
    throw whyNot(config, { shown, pinned, takes }, refusal ?? (error as Error));
  } finally {
    clearTimeout(late);
  }
}

const fingerprintOf = (key: Buffer): string =>
  `SHA256:${createHash("sha256").update(key).digest("base64").replace(/=+$/, "")}`;

/**
 * The credentials once, in a way that the server takes: it may lock an account that shows wrong ones again and again. A password
 * also goes to a server that asks for it as if a person sat there (RFC 4256), and for nothing beside it.
 */
function presenting(
  { user: username, password }: SftpConfig,
  told: (methods: readonly string[]) => void,
): AuthHandlerMiddleware {
  let isShown = false;
  const shownAs = (methods: readonly string[]): AnyAuthMethod | "publickey" | null => {
    if (password === undefined) return methods.includes("publickey") ? "publickey" : null;
    if (methods.includes("password")) return { type: "password", username, password };
    if (!methods.includes("keyboard-interactive")) return null;
    return {
      type: "keyboard-interactive",
      username,
      prompt: (_name, _instructions, _language, prompts, finish) =>
        finish(prompts.length === 1 && prompts[0]?.echo === false ? [password] : []),
    };
  };
  return (methods: readonly string[] | null, _isPartly, next) => {
    // Asked so, a server says what it takes.
    if (methods === null) return next("none");
    told(methods);
    const shown = isShown ? null : shownAs(methods);
    isShown = true;
    // `false` ends it; its type lacks that.
    next(shown ?? (false as never));
  };
}

/** What came of the first words with a server. */
interface Greeting {
  /** The fingerprint of its key; null: it came to none. */
  readonly shown: string | null;
  readonly pinned: readonly string[];
  /** How it takes credentials; none: it did not say. */
  readonly takes: readonly string[];
}

function whyNot(
  config: SftpConfig,
  { shown, pinned, takes }: Greeting,
  cause: Error & { level?: string },
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
        next: "Ask the server's administrator whether its key was replaced, or whether it has this one as well: keys are of several kinds. If so, set sftp.hostKey to this fingerprint; if not, another machine answers at this address: change nothing and find it.",
        stop: "configuration",
        cause,
      },
    );
  if (cause.level === "client-authentication" || /privateKey/.test(cause.message))
    return new SourceUnavailable(
      `${where} was refused for its credentials: ${cause.message}${takes.length > 0 ? `; it takes ${takes.join(", ")}` : ""}.`,
      {
        next: "Look at sftp.user and at sftp.key or sftp.password; with a key, its public half must be among the authorized keys on the server.",
        stop: "credentials",
        waitMs: REFUSED_MS,
        cause,
      },
    );
  if (/no matching/.test(cause.message))
    return new SourceUnavailable(`${where} cannot be reached: ${cause.message}.`, {
      next: "The server offers nothing but algorithms that are too weak (SHA-1, CBC): its administrator has to allow newer ones, such as OpenSSH 9 has by default.",
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
  6: CUT,
  7: CUT,
  8: "ENOTSUP",
};

function statusError({ user }: SftpConfig, what: string, cause: Error & { code?: unknown }): Error {
  const code = STATUS[cause.code as number] ?? (cause.code === undefined ? CUT : "EPROTO");
  const error = failure(code, `${what}: ${cause.message}`, cause);
  if (code !== "EACCES") return error;
  return Object.assign(error, {
    next: `Give the user ${user} of the SFTP server the right to do it.`,
  });
}

/*
 * A drop behind SFTP 3. What may be done twice is done again at once when the line is cut; a move may not: whoever asked for
 * it looks what became of it.
 */

/** Every server takes so many bytes in one request (draft-ietf-secsh-filexfer-02, 3: packets of 34,000), and ssh2 puts them into one. */
const PIECE_BYTES = 31_744;
const END_OF_FILE = 1;
const UNSUPPORTED = 8;
/** Parts of a listing that are asked for at once: some hundred names each. */
const LISTED_AT_ONCE = 16;

/** What a drop is made of. None of it waits for its turn but `again`. */
function operationsOn(connection: Connection) {
  const run: <Value>(what: string, work: Work<Value>) => Promise<Value> = (what, work) =>
    connection.run(what, work);
  const again = <Value>(work: () => Promise<Value>): Promise<Value> =>
    againAfterCut(() => connection.turn(work));

  /** Null: nothing is there. `lstat`: of a link itself; `stat`: of what it leads to. */
  const attributesAt = (path: string, ask: "lstat" | "stat"): Promise<Attributes | null> =>
    orNull(run<Attributes>(`look at ${path}`, (sftp, done) => sftp[ask](path, done)));

  async function look(path: string): Promise<Entry | null> {
    const found = await attributesAt(path, "lstat");
    return found === null ? null : entryOf(posix.basename(path), found);
  }

  async function isFolder(path: string): Promise<boolean> {
    const found = await attributesAt(path, "stat");
    if (found === null) return false;
    if (entryOf(path, found).kind === "folder") return true;
    throw failure("ENOTDIR", `${path} is not a folder`);
  }

  async function opened(what: string, ask: Work<Buffer>): Promise<Handle> {
    const session = await connection.session();
    const handle = await connection.run(what, ask, session);
    let closing: Promise<void> | null = null;
    return {
      run: (what, work) => connection.run(what, (sftp, done) => work(sftp, handle, done), session),
      close: () =>
        (closing ??= connection.run(
          `close, ${what}`,
          (sftp, done) => sftp.close(handle, done),
          session,
        )),
    };
  }

  /** Null: nothing is there. */
  const openedFile = (path: string): Promise<Handle | null> =>
    orNull(opened(`open ${path}`, (sftp, done) => sftp.open(path, "r", done)));

  async function removed(path: string): Promise<void> {
    await orNull(run<void>(`delete ${path}`, (sftp, done) => sftp.unlink(path, done)));
  }

  async function makeFolder(path: string): Promise<void> {
    if (await isFolder(path)) return;
    const above = posix.dirname(path);
    if (above !== path) await makeFolder(above);
    try {
      await run<void>(`make the folder ${path}`, (sftp, done) => sftp.mkdir(path, done));
    } catch (error) {
      // Somebody else was faster, which servers call a failure; or the line was cut after it was made.
      if (!(await isFolder(path))) throw error;
    }
  }

  return { run, again, look, isFolder, opened, openedFile, removed, makeFolder };
}

/** `folder`: from where the server puts the user, or absolute there. */
export function sftpDrop(config: SftpConfig, folder: string): Drop {
  const connection = new Connection(config);
  const named = folder.replaceAll("\\", "/");
  const base = withoutEnd(posix.normalize(named));
  const { run, again, look, isFolder, opened, openedFile, removed, makeFolder } =
    operationsOn(connection);

  return {
    where: `${whereOf(config)}${named.startsWith("/") ? "" : "/"}${named}`,
    isLocal: false,
    path: posix,
    rights: {
      // SFTP tells no more than that something may not be done.
      missing: async () => null,
      missingToMove: async () => null,
      async expectEntry(path) {
        if (!(await again(() => isFolder(path)))) throw failure("ENOENT", `${path} is not there`);
      },
      expectWritable: (path) => again(() => isFolder(path)),
      expectOwn: async () => {},
      expectTogether: async () => {},
    },

    at: (...parts) =>
      parts.reduce((path, part) => {
        const next = part.replaceAll("\\", "/");
        return withoutEnd(posix.isAbsolute(next) ? posix.normalize(next) : posix.join(path, next));
      }, base),

    async visit(folder, see, isWanted = () => true) {
      const what = `list ${folder}`;
      const listed = await again(() => opened(what, (sftp, done) => sftp.opendir(folder, done)));
      try {
        for (
          let atOnce = 2, isOver = false;
          !isOver;
          atOnce = Math.min(atOnce * 2, LISTED_AT_ONCE)
        ) {
          const parts = Array.from({ length: atOnce }, () => listed.run(what, partOfListing));
          for (const some of await allOf(parts)) {
            isOver ||= some === null;
            for (const { filename, attrs } of some ?? [])
              if (isWanted(filename)) see(entryOf(filename, attrs));
          }
        }
      } finally {
        leave(listed);
      }
    },

    look: (path) => again(() => look(path)),

    read: (path, bytesMax = Infinity) =>
      again(async () => {
        const entry = await look(path);
        if (entry === null || entry.kind !== "file" || entry.size > bytesMax)
          return entry && { entry, bytes: null };
        const file = await openedFile(path);
        if (file === null) return null;
        try {
          return { entry, bytes: await firstBytes(fileOf(path, file), entry.size) };
        } finally {
          leave(file);
        }
      }),

    open: (path) =>
      again(async () => {
        const found = await look(path);
        if (found === null || found.kind === "other") return null;
        const file = await openedFile(path);
        if (file === null) return null;
        const now = await file.run<Attributes>(`look at ${path}`, (sftp, handle, done) =>
          sftp.fstat(handle, done),
        );
        return { ...fileOf(path, file), entry: entryOf(found.name, now) };
      }),

    write: (path, bytes, over) =>
      again(async () => {
        const there = await look(path);
        if (there !== null && there.kind !== "file")
          throw failure("ELOOP", `${path} is a link or a folder`);
        // Servers that let nobody overwrite (ProFTPD, unless told) let one delete and write anew.
        if (there !== null && over === "any") await removed(path);
        const flags = over === "any" ? "w" : WRITE | TRUNCATE;
        const file = await opened(`open ${path}`, (sftp, done) => sftp.open(path, flags, done));
        // Requests of one file are carried out in their order (draft-ietf-secsh-filexfer-02, 6.1), and each has its answer.
        const asked: Promise<void>[] = [];
        for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
          const length = Math.min(PIECE_BYTES, bytes.length - at);
          asked.push(
            file.run(`write ${path}`, (sftp, handle, done) =>
              sftp.write(handle, bytes, at, length, at, done),
            ),
          );
        }
        asked.push(
          file.run(`sync ${path}`, (sftp, handle, done) =>
            orWithout(done, done, (answered) => sftp.ext_openssh_fsync(handle, answered)),
          ),
          // A server that keeps what it was given until now may say only here that it could not.
          file.close(),
        );
        await allOf(asked);
      }),

    /**
     * By OpenSSH's posix-rename, which is one rename(2). Its plain rename is link and unlink, and leaves a moment in which
     * the file has both names; other servers have no more than that, and refuse to overwrite.
     */
    move: (from, to) =>
      connection.turn(async () => {
        const what = `rename ${from} to ${to}`;
        await run<void>(what, (sftp, done) =>
          orWithout(
            done,
            () => sftp.rename(from, to, done),
            (answered) => sftp.ext_openssh_rename(from, to, answered),
          ),
        );
      }),

    remove: (path) => again(() => removed(path)),

    removeFolder: (path) =>
      run(`delete the folder ${path}`, (sftp, done) => sftp.rmdir(path, done)),

    makeFolder: (path) => again(() => makeFolder(path)),

    /** SFTP has no such call. */
    syncFolder: async () => {},

    describe: async () => `host key ${(await connection.session()).hostKey}`,

    close: async () => connection.close(),
  };
}

type Work<Value> = (sftp: SFTPWrapper, done: Callback<Value>) => void;
type HandleWork<Value> = (sftp: SFTPWrapper, handle: Buffer, done: Callback<Value>) => void;

/** A file or folder that is open on the server, within the session that opened it. */
interface Handle {
  run<Value>(what: string, work: HandleWork<Value>): Promise<Value>;
  /** Servers use the handle of a closed file again: what is closed twice is asked for once. */
  close(): Promise<void>;
}

const fileOf = (path: string, file: Handle) => ({
  /** Asks for all pieces at once. A server may give less of one: then only what came in a row counts. */
  async read(buffer: Buffer, offset: number, length: number, position: number) {
    const pieces: Promise<number>[] = [];
    for (let at = 0; at < length; at += PIECE_BYTES) {
      const most = Math.min(length - at, PIECE_BYTES);
      pieces.push(
        file.run(`read ${path}`, (sftp, handle, done) =>
          sftp.read(handle, buffer, offset + at, most, position + at, done),
        ),
      );
    }
    let bytesRead = 0;
    for (const count of await allOf(pieces)) {
      bytesRead += count;
      if (count < PIECE_BYTES) break;
    }
    return { bytesRead };
  },
  close: async () => leave(file),
});

const partOfListing: HandleWork<FileEntry[] | null> = (sftp, handle, done) =>
  sftp.readdir(handle, (error, list) => (isEnd(error) ? done(null, null) : done(error, list)));
/** What came of it is known already: nobody waits for the answer. */
const leave = (handle: Handle): void => void handle.close().catch(quiet);

const withoutEnd = (path: string): string => path.replace(/(?<=.)\/+$/, "");

const WRITE = 0x02;
const TRUNCATE = 0x10;

const says =
  (status: number) =>
  (error: unknown): boolean =>
    (error as { code?: unknown } | null | undefined)?.code === status;
const isEnd = says(END_OF_FILE);
const isUnsupported = says(UNSUPPORTED);

/** Null when the server says that there is none. */
const orNull = <Value>(work: Promise<Value>): Promise<Value | null> => unless(work, "ENOENT");

/** Asks for an extension, else goes on without: ssh2 throws where the server does not offer it, and some offer what they lack. */
function orWithout(done: Callback<void>, without: () => void, work: Ask): void {
  try {
    work((error) => (isUnsupported(error) ? without() : done(error)));
  } catch {
    without();
  }
}

type Ask = (answered: (error?: Error | null) => void) => void;

/** By SFTP 3 a server may leave each of them out. */
type Told = Partial<Pick<Attributes, "mode" | "size" | "mtime">>;

function entryOf(name: string, { mode, size, mtime = 0 }: Told): Entry {
  const type = (mode ?? FILE) & TYPE;
  const kind = type === FILE ? "file" : type === FOLDER ? "folder" : "other";
  // Taken for 0, a file would be read as empty, and one of ours never be found whole.
  if (kind === "file" && size === undefined)
    throw failure("ENOTSUP", `the server does not tell how large ${name} is`);
  return { name, kind, size: size ?? 0, mtimeMs: mtime * 1000 };
}

const TYPE = 0o170000;
const FILE = 0o100000;
const FOLDER = 0o040000;
