/** A line to a server: a TCP proxy that takes its time both ways and is cut where a plan says so. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface Line {
  /** Of 127.0.0.1. */
  readonly port: number;
  /** Packets that came from the server since the line was made, whichever connection they came on. */
  readonly packets: number;
  /** Connections that were made. */
  readonly connections: number;
  /** Connections that were cut. */
  readonly cuts: number;
  readonly end: () => Promise<void>;
}

export interface LineOptions {
  /** There and back, ms. */
  readonly delayMs?: number;
  /** Cuts the connection instead of passing on the nth packet of the server, from 1 on: what it answers is lost. */
  readonly isCut?: (packet: number) => boolean;
}

/** @param port of 127.0.0.1 that the line leads to */
export async function openLine(
  port: number,
  { delayMs = 0, isCut = () => false }: LineOptions = {},
): Promise<Line> {
  const sockets = new Set<Socket>();
  const told = { packets: 0, connections: 0, cuts: 0 };
  /** In order, for all timers are of one length. */
  const later = (work: () => void): void =>
    void (delayMs === 0 ? work() : setTimeout(work, delayMs / 2));
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ host: "127.0.0.1", port, noDelay: true });
    told.connections++;
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("error", () => {});
      one.once("close", () => {
        sockets.delete(one);
        later(() => other.destroy());
      });
      one.on("data", (bytes: Buffer) => {
        if (one === far && isCut(++told.packets)) {
          told.cuts++;
          near.resetAndDestroy();
          far.destroy();
        } else later(() => void (other.writable && other.write(bytes)));
      });
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return Object.defineProperties(
    {
      port: (server.address() as { port: number }).port,
      async end() {
        for (const socket of sockets) socket.destroy();
        server.close();
        await once(server, "close");
      },
    },
    Object.fromEntries(
      Object.keys(told).map((name) => [name, { get: () => told[name as keyof typeof told] }]),
    ),
  ) as unknown as Line;
}
