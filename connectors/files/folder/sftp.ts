/** A drop behind SFTP 3. Files are written and read through handles, one request at a time, each answer looked at. */
import { posix } from "node:path";
import type { Attributes, FileEntry, SFTPWrapper } from "ssh2";
import { type Drop, type Entry, failure, type OpenFile, type Over, type Rights } from "./port.ts";
import type { SftpConfig } from "./sftp-config.ts";
import { type Callback, Connection, type Session, whereOf } from "./sftp-connection.ts";

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

  async list(folder: string): Promise<Entry[]> {
    const entries: Entry[] = [];
    await this.visit(folder, (entry) => void entries.push(entry));
    return entries;
  }

  async visit(
    folder: string,
    see: (entry: Entry) => void,
    isWanted: (name: string) => boolean = () => true,
  ): Promise<void> {
    const what = `list ${folder}`;
    const session = await this.#connection.session();
    const handle = await this.#run<Buffer>(
      what,
      (sftp, done) => sftp.opendir(folder, done),
      session,
    );
    try {
      for (;;) {
        const some = await this.#run<FileEntry[] | null>(
          what,
          (sftp, done) =>
            sftp.readdir(handle, (error, list) =>
              isEnd(error) ? done(null, null) : done(error, list),
            ),
          session,
        );
        if (some === null) return;
        for (const { filename, attrs } of some)
          if (isWanted(filename)) see(entryOf(filename, attrs));
      }
    } finally {
      await this.#closed(handle, session);
    }
  }

  async look(path: string): Promise<Entry | null> {
    return orNull(
      this.#run<Attributes>(`look at ${path}`, (sftp, done) => sftp.lstat(path, done)).then(
        (attributes) => entryOf(posix.basename(path), attributes),
      ),
    );
  }

  async open(path: string): Promise<OpenFile | null> {
    const found = await this.look(path);
    if (found === null || found.kind === "other") return null;
    const session = await this.#connection.session();
    const handle = await orNull(
      this.#run<Buffer>(`open ${path}`, (sftp, done) => sftp.open(path, "r", done), session),
    );
    if (handle === null) return null;
    const run = <Value>(what: string, work: (sftp: SFTPWrapper, done: Callback<Value>) => void) =>
      this.#run(`${what} ${path}`, work, session);
    let isClosed = false;
    return {
      look: async () =>
        entryOf(
          found.name,
          await run<Attributes>("look at", (sftp, done) => sftp.fstat(handle, done)),
        ),
      read: async (buffer, offset, length, position) => ({
        bytesRead: await run<number>("read", (sftp, done) =>
          sftp.read(handle, buffer, offset, Math.min(length, PIECE_BYTES), position, done),
        ),
      }),
      // Servers use the handle of a closed file again: closed twice, it would be another one's.
      close: async () => {
        if (isClosed) return;
        isClosed = true;
        await this.#closed(handle, session);
      },
    };
  }

  async write(path: string, bytes: Buffer, over: Over): Promise<void> {
    const there = await this.look(path);
    if (there !== null && there.kind !== "file")
      throw failure("ELOOP", `${path} is a link or a folder`);
    const session = await this.#connection.session();
    const flags = over === "any" ? "w" : WRITE | TRUNCATE;
    const run = <Value>(what: string, work: (sftp: SFTPWrapper, done: Callback<Value>) => void) =>
      this.#run(`${what} ${path}`, work, session);
    const handle = await run<Buffer>("open", (sftp, done) => sftp.open(path, flags, done));
    let isClosed = false;
    try {
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        const length = Math.min(PIECE_BYTES, bytes.length - at);
        await run("write", (sftp, done) => sftp.write(handle, bytes, at, length, at, done));
      }
      await run("sync", (sftp, done) =>
        orWithout(done, () => sftp.ext_openssh_fsync(handle, done)),
      );
      isClosed = true;
      // A server that keeps what it was given until now may say only here that it could not.
      await run("close", (sftp, done) => sftp.close(handle, done));
    } finally {
      if (!isClosed) await this.#closed(handle, session);
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
    session?: Session,
  ): Promise<Value> {
    return this.#connection.run(what, work, session);
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

  /** What came of the file is known already. */
  async #closed(handle: Buffer, session: Session): Promise<void> {
    await this.#run("close", (sftp, done) => sftp.close(handle, done), session).catch(() => {});
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
