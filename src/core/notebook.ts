/** What an endpoint keeps between two starts, in the store: small texts by name. Secrets are none of them. */
export interface Notebook {
  /** Null: nothing is kept under this name. */
  get(name: string): string | null;
  /** Durable when it returns. Null: nothing is kept any more. @throws StorageError */
  set(name: string, text: string | null): void;
}
