/** What an endpoint keeps between two starts, in the store: small texts by name. Secrets are none of them. */
export interface Notebook {
  /** Null: nothing is kept under this name. */
  get(name: string): string | null;
  /** Durable when it returns. Null: nothing is kept any more. @throws StorageError */
  set(name: string, text: string | null): void;
}

/** Tells, beside a receiver, what no file beside the store can: a machine that was set back whole, and a copy that sends too. */
export interface Sender {
  /** The store, as a part of a file's name. */
  readonly store: string;
  /** True: it does not know all that was sent. It sends nothing, and takes away nothing that the one which sends may need. */
  isRestored(): boolean;
  /** Who sends now, and how far that has got, for {@link Sender.whose}. */
  readonly says: (at: Date) => string;
  /**
   * Whose words they are: this process's; another one's of this store; one's that knew more than the store does now, which counts
   * as restored from here on. Null: none of this store.
   */
  readonly whose: (said: string) => "ours" | "other" | "ahead" | null;
}
