/** The members of a group as processes whose clock a test moves, so that a day takes minutes. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Status } from "../../src/office/answers.ts";
import { root } from "../../src/demo/world.ts";
import type { Tells, Told } from "./day-program.ts";

const PROGRAM = join(root, "test", "support", "day-program.ts");
/** Nothing that is due takes longer. */
const WITHIN_MS = 600_000;

interface Member {
  readonly child: ChildProcess;
  quiet: PromiseWithResolvers<void>;
  statuses: PromiseWithResolvers<readonly Status[]>;
}

/** A test that ends early waits for none of them. */
function promised<Value>(): PromiseWithResolvers<Value> {
  const promised = Promise.withResolvers<Value>();
  promised.promise.catch(() => {});
  return promised;
}

export class Day {
  readonly #files: ReadonlyMap<string, string>;
  readonly #env: Readonly<Record<string, string>>;
  readonly #members = new Map<string, Member>();
  #aheadMs = 0;

  /** `files`: the configuration of each member, by name. */
  constructor(files: ReadonlyMap<string, string>, env: Readonly<Record<string, string>>) {
    this.#files = files;
    this.#env = env;
  }

  /** A member as it is started: after a kill it goes on with its store. */
  start(name: string): void {
    const child = fork(PROGRAM, [this.#files.get(name) ?? ""], {
      cwd: root,
      env: { ...process.env, ...this.#env, FUELBRIDGE_AHEAD_MS: String(this.#aheadMs) },
      execArgv: [],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    const member: Member = { child, quiet: promised(), statuses: promised() };
    let said = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (said += text));
    child.on("message", (told: Tells) => {
      if ("statuses" in told) member.statuses.resolve(told.statuses);
      else if (told.quiet === this.#aheadMs) member.quiet.resolve();
    });
    child.on("exit", () => member.quiet.reject(new Error(`${name} has ended: ${said}`)));
    this.#members.set(name, member);
  }

  async kill(name: string): Promise<void> {
    const child = this.#members.get(name)?.child;
    this.#members.delete(name);
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  /** The clocks of all go on at once. */
  move(seconds: number): void {
    this.#aheadMs += seconds * 1_000;
    for (const member of this.#members.values()) {
      member.quiet = promised();
      tell(member, { aheadMs: this.#aheadMs });
    }
  }

  /** Until nothing is under way anywhere. */
  async quiet(): Promise<void> {
    for (const [name, { quiet }] of this.#members) {
      const timer = setTimeout(
        () => quiet.reject(new Error(`${name} is at work for too long`)),
        WITHIN_MS,
      );
      await quiet.promise.finally(() => clearTimeout(timer));
    }
  }

  /** Of all companies of all members. */
  async statuses(): Promise<Status[]> {
    const asked = [...this.#members.values()].map((member) => {
      member.statuses = promised();
      tell(member, { ask: "status" });
      return member.statuses.promise;
    });
    return (await Promise.all(asked)).flat();
  }

  async close(): Promise<void> {
    for (const name of this.#members.keys()) await this.kill(name);
  }
}

function tell({ child }: Member, told: Told): void {
  if (child.connected) child.send(told);
}
