/**
 * An SFTP server of the test's own that does what a plan says: it lies, dies, falls silent. Its files are real ones. It
 * has no extension of SFTP 3: no posix-rename, no fsync. It may offer them all the same.
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import * as fs from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import ssh2, { type SFTPWrapper } from "ssh2";

const { Server, utils } = ssh2;
const { STATUS_CODE, OPEN_MODE } = utils.sftp;

/** The requests that a plan is asked about. */
export type Verb =
  | "OPEN"
  | "READ"
  | "WRITE"
  | "CLOSE"
  | "FSTAT"
  | "LSTAT"
  | "STAT"
  | "OPENDIR"
  | "READDIR"
  | "REMOVE"
  | "RENAME"
  | "MKDIR"
  | "RMDIR";

/**
 * `dies`: closes the connection instead. `dies-after`: does it and closes the connection without an answer. `hangs`:
 * neither does nor answers. `hangs-after`: does it and does not answer. `fails`: says so, as on a full disk. `fails-after`:
 * does it and says so. `denies`: says that the user may not. `lacks`: says that it has no such operation. `lies`: says that it did it.
 */
export type Deed =
  | "does"
  | "dies"
  | "dies-after"
  | "hangs"
  | "hangs-after"
  | "fails"
  | "fails-after"
  | "denies"
  | "lacks"
  | "lies";

export interface HostileServer {
  readonly sftp: {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly password: string;
    readonly hostKey: string;
  };
  /** What it does at the `count`th request since the plan was made, from 1 on. */
  plan: (verb: Verb, count: number, path: string) => Deed;
  /** Requests so far, as `VERB path`; emptied with {@link HostileServer.planned}. */
  readonly requests: string[];
  /** Makes a plan and begins to count anew. */
  planned(plan: HostileServer["plan"]): void;
  /** Connections that were made. */
  connections: number;
  /** Credentials that it was shown since the plan was made. */
  logins: number;
  readonly end: () => Promise<void>;
}

interface Manners {
  /** Extensions that it offers; asked for one, it says that it has none. */
  readonly offers?: readonly string[];
  /** How it takes the password. */
  readonly takes?: "password" | "keyboard-interactive";
  /** What it asks on a keyboard. */
  readonly prompts?: readonly string[];
  /** Whether it opens a file for writing that is there, as ProFTPD does only where it is told to. */
  readonly overwrites?: boolean;
  readonly tellsSizes?: boolean;
}

/** @param password that it accepts */
export async function startHostileServer(
  password = "right-one",
  algorithms: ssh2.Algorithms = {},
  manners: Manners = {},
): Promise<HostileServer> {
  const { offers = [], takes = "password", prompts = ["Password: "] } = manners;
  const keys = utils.generateKeyPairSync("ecdsa", { bits: 256 });
  const publicKey = keys.public.split(" ")[1] ?? "";
  const sockets = new Set<Socket>();
  const listener = createServer({ noDelay: true });
  const ssh = new Server({ hostKeys: [keys.private], algorithms }, () => {});
  const server: HostileServer = {
    sftp: { host: "127.0.0.1", port: 0, user: "erp", password, hostKey: fingerprint(publicKey) },
    plan: () => "does",
    requests: [],
    planned(plan) {
      server.plan = plan;
      server.requests.length = 0;
      server.logins = 0;
    },
    connections: 0,
    logins: 0,
    async end() {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await once(listener, "close");
    },
  };
  listener.on("connection", (socket) => {
    server.connections++;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
    ssh.injectSocket(socket);
  });
  ssh.on("connection", (client, { port }) => {
    const socket = [...sockets].find(({ remotePort }) => remotePort === port) as Socket;
    client.on("error", () => {});
    client.on("authentication", (context) => {
      const { method } = context;
      if (method !== takes) return context.reject([takes]);
      server.logins++;
      const judge = (shown: string | undefined): void =>
        shown === password ? context.accept() : context.reject([takes]);
      if (method === "password") return judge(context.password);
      const asked = prompts.map((prompt) => ({ prompt, echo: false }));
      if (method === "keyboard-interactive") context.prompt(asked, ([first]) => judge(first));
    });
    client.on("session", (accept) => {
      accept().on("sftp", (acceptSftp) => {
        const sftp = acceptSftp();
        if (offers.length > 0) offer(sftp, offers);
        serve(sftp, server, socket, manners);
      });
    });
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as { port: number };
  return Object.assign(server, { sftp: { ...server.sftp, port } });
}

const fingerprint = (publicKey: string): string =>
  `SHA256:${createHash("sha256").update(Buffer.from(publicKey, "base64")).digest("base64").replace(/=+$/, "")}`;

/** ssh2 offers no extension: the first packet that it sends, its version, becomes one that does. */
function offer(sftp: SFTPWrapper, offers: readonly string[]): void {
  type Protocol = { channelData: (channel: number, data: Buffer) => void };
  const protocol = (sftp as unknown as Record<"_protocol", Protocol>)["_protocol"];
  const send = protocol.channelData;
  const number = (value: number): Buffer => Buffer.from(new Uint32Array([value]).buffer).swap32();
  const text = (value: string): Buffer[] => [number(value.length), Buffer.from(value)];
  const told = offers.flatMap((name) => [...text(name), ...text("1")]);
  const version = Buffer.concat([Buffer.of(2), number(3), ...told]);
  protocol.channelData = (channel) => {
    protocol.channelData = send;
    send.call(protocol, channel, Buffer.concat([number(version.length), version]));
  };
}

type Reply = (sftp: SFTPWrapper, id: number) => void;

type CarryOut = (verb: Verb, id: number, path: string, work: () => Reply) => void;

function serve(
  sftp: SFTPWrapper,
  server: HostileServer,
  socket: Socket,
  { overwrites = true, tellsSizes = true }: Manners,
): void {
  if (!tellsSizes) withoutSizes(sftp);
  /** Does what the plan says, then `work`, whose failure becomes a status. */
  const carryOut: CarryOut = (verb, id, path, work) => {
    server.requests.push(`${verb} ${path}`);
    const deed = server.plan(verb, server.requests.length, path);
    if (deed === "dies") return void socket.destroy();
    if (deed === "hangs") return;
    if (deed === "fails") return sftp.status(id, STATUS_CODE.FAILURE);
    if (deed === "denies") return sftp.status(id, STATUS_CODE.PERMISSION_DENIED);
    if (deed === "lacks") return sftp.status(id, STATUS_CODE.OP_UNSUPPORTED);
    if (deed === "lies") return sftp.status(id, STATUS_CODE.OK);
    let reply: Reply;
    try {
      reply = work();
    } catch (error) {
      reply = (to, id) => to.status(id, statusOf(error));
    }
    if (deed === "dies-after") return void socket.destroy();
    if (deed === "fails-after") return sftp.status(id, STATUS_CODE.FAILURE);
    if (deed === "does") reply(sftp, id);
  };
  const handles = new Handles();
  serveFiles(sftp, carryOut, handles, overwrites);
  serveFolders(sftp, carryOut, handles);
  serveNames(sftp, carryOut);
}

const ok: Reply = (to, id) => to.status(id, STATUS_CODE.OK);

/** Of a file its descriptor, of a folder what is still to be told of it. */
class Handles {
  readonly #open = new Map<number, { path: string; fd: number; left: string[] | null }>();
  #next = 0;

  add(path: string, fd: number, left: string[] | null = null): Buffer {
    const handle = Buffer.alloc(4);
    handle.writeUInt32BE(++this.#next);
    this.#open.set(this.#next, { path, fd, left });
    return handle;
  }

  of(handle: Buffer) {
    return this.#open.get(handle.readUInt32BE()) ?? { path: "no such handle", fd: -1, left: null };
  }

  delete(handle: Buffer): void {
    this.#open.delete(handle.readUInt32BE());
  }
}

function serveFiles(
  sftp: SFTPWrapper,
  carryOut: CarryOut,
  handles: Handles,
  overwrites: boolean,
): void {
  sftp.on("OPEN", (id, path, flags) =>
    carryOut("OPEN", id, path, () => {
      if (!overwrites && (flags & OPEN_MODE.TRUNC) !== 0 && fs.existsSync(path))
        return (to, id) => to.status(id, STATUS_CODE.PERMISSION_DENIED);
      const handle = handles.add(path, fs.openSync(path, modeOf(flags)));
      return (to, id) => to.handle(id, handle);
    }),
  );
  sftp.on("READ", (id, handle, offset, length) =>
    carryOut("READ", id, handles.of(handle).path, () => {
      const buffer = Buffer.alloc(length);
      const read = fs.readSync(handles.of(handle).fd, buffer, 0, length, offset);
      return (to, id) =>
        read === 0 ? to.status(id, STATUS_CODE.EOF) : to.data(id, buffer.subarray(0, read));
    }),
  );
  sftp.on("WRITE", (id, handle, offset, data) =>
    carryOut("WRITE", id, handles.of(handle).path, () => {
      fs.writeSync(handles.of(handle).fd, data, 0, data.length, offset);
      return ok;
    }),
  );
  sftp.on("CLOSE", (id, handle) =>
    carryOut("CLOSE", id, handles.of(handle).path, () => {
      const { fd } = handles.of(handle);
      handles.delete(handle);
      if (fd >= 0) fs.closeSync(fd);
      return ok;
    }),
  );
  sftp.on("FSTAT", (id, handle) =>
    carryOut("FSTAT", id, handles.of(handle).path, () => {
      const attributes = attributesOf(fs.fstatSync(handles.of(handle).fd));
      return (to, id) => to.attrs(id, attributes);
    }),
  );
}

function serveFolders(sftp: SFTPWrapper, carryOut: CarryOut, handles: Handles): void {
  sftp.on("OPENDIR", (id, path) =>
    carryOut("OPENDIR", id, path, () => {
      const handle = handles.add(path, -1, fs.readdirSync(path));
      return (to, id) => to.handle(id, handle);
    }),
  );
  sftp.on("READDIR", (id, handle) =>
    carryOut("READDIR", id, handles.of(handle).path, () => {
      const { path, left } = handles.of(handle);
      if (left === null || left.length === 0) return (to, id) => to.status(id, STATUS_CODE.EOF);
      // Some hundred at a time, as servers do.
      const names = left.splice(0, 100).map((filename) => ({
        filename,
        longname: filename,
        attrs: attributesOf(fs.lstatSync(join(path, filename))),
      }));
      return (to, id) => to.name(id, names);
    }),
  );
}

const looked = (path: string, stat: (path: string) => fs.Stats) => (): Reply => {
  const attributes = attributesOf(stat(path));
  return (to, id) => to.attrs(id, attributes);
};

const changed = (change: () => unknown) => (): Reply => {
  change();
  return ok;
};

function serveNames(sftp: SFTPWrapper, carryOut: CarryOut): void {
  sftp.on("LSTAT", (id, path) => carryOut("LSTAT", id, path, looked(path, fs.lstatSync)));
  sftp.on("STAT", (id, path) => carryOut("STAT", id, path, looked(path, fs.statSync)));
  sftp.on("REMOVE", (id, path) =>
    carryOut(
      "REMOVE",
      id,
      path,
      changed(() => fs.unlinkSync(path)),
    ),
  );
  sftp.on("MKDIR", (id, path) =>
    carryOut(
      "MKDIR",
      id,
      path,
      changed(() => fs.mkdirSync(path)),
    ),
  );
  sftp.on("RMDIR", (id, path) =>
    carryOut(
      "RMDIR",
      id,
      path,
      changed(() => fs.rmdirSync(path)),
    ),
  );
  sftp.on("RENAME", (id, from, to) =>
    carryOut(
      "RENAME",
      id,
      from,
      changed(() => {
        // By the draft: it is an error if there exists another file with the name.
        if (fs.existsSync(to)) throw new Error("there is one");
        fs.renameSync(from, to);
      }),
    ),
  );
}

const attributesOf = ({ mode, uid, gid, size, atimeMs, mtimeMs }: fs.Stats): ssh2.Attributes => ({
  mode,
  uid,
  gid,
  size,
  atime: Math.floor(atimeMs / 1000),
  mtime: Math.floor(mtimeMs / 1000),
});

/** SFTP 3 lets a server leave them out. */
function withoutSizes(sftp: SFTPWrapper): void {
  const attrs = sftp.attrs.bind(sftp);
  const name = sftp.name.bind(sftp);
  const less = (told: ssh2.Attributes) =>
    ({ ...told, size: undefined }) as unknown as ssh2.Attributes;
  sftp.attrs = (id, told) => attrs(id, less(told));
  sftp.name = (id, names) => {
    const told = names.map((one) => ({ ...one, attrs: less(one.attrs) }));
    name(id, told);
  };
}

function modeOf(flags: number): number {
  const { O_RDONLY, O_WRONLY, O_CREAT, O_TRUNC } = fs.constants;
  const writing = (flags & OPEN_MODE.WRITE) !== 0;
  return (
    (writing ? O_WRONLY : O_RDONLY) |
    ((flags & OPEN_MODE.CREAT) !== 0 ? O_CREAT : 0) |
    ((flags & OPEN_MODE.TRUNC) !== 0 ? O_TRUNC : 0)
  );
}

function statusOf(error: unknown): ssh2.utils.sftp.STATUS_CODE {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return STATUS_CODE.NO_SUCH_FILE;
  return code === "EACCES" ? STATUS_CODE.PERMISSION_DENIED : STATUS_CODE.FAILURE;
}
