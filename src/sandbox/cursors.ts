import { createHmac, randomBytes } from "node:crypto";
import type { WalkState } from "./lists.ts";
import type { Settings } from "./settings.ts";

/** Cursors carry their walk, and a seal by which an invented one is known (readings, Lists). */
export class Cursors {
  readonly #settings: Settings;
  #secret: string;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#secret = settings.keep("cursor-secret", newSecret);
  }

  /** No cursor outlives a reset. */
  reset(): void {
    this.#secret = newSecret();
    this.#settings.set("cursor-secret", this.#secret);
  }

  seal(state: WalkState, now: number): string {
    const text = Buffer.from(JSON.stringify({ at: now, state })).toString("base64url");
    return `${text}.${this.#signature(text)}`;
  }

  /** Null for a cursor that was never given out, or is older than its life. */
  open(cursor: string, now: number, lifeSeconds: number): WalkState | null {
    const [text = "", signature] = cursor.split(".");
    if (signature !== this.#signature(text)) return null;
    const { at, state } = JSON.parse(Buffer.from(text, "base64url").toString()) as {
      at: number;
      state: WalkState;
    };
    return now - at > lifeSeconds * 1000 ? null : state;
  }

  #signature(text: string): string {
    return createHmac("sha256", this.#secret).update(text).digest("base64url").slice(0, 16);
  }
}

const newSecret = (): string => randomBytes(16).toString("hex");
