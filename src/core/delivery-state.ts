/** The states of a delivery (one change on its way to one sink), and the moves between them. */

export const deliveryStates = [
  /** Stored, and not mapped yet. */
  "pending",
  /** A request carries it. */
  "frozen",
  /** The receiver has it. */
  "delivered",
  /** Rightly not delivered: a draft, or nothing new for the receiver. */
  "skipped",
  /** Our own document, read back. */
  "echo",
  /** A person must act, or another document must come first. */
  "quarantined",
  /** A person has settled it by hand. */
  "resolved",
  /** A newer version of the record goes instead. */
  "superseded",
] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/**
 * Every move that the engine makes; each is written by `src/store/statements.ts`, and the store refuses all others by a
 * trigger. A change of this table needs a migration that makes the trigger anew.
 */
export const deliveryMoves: Readonly<Record<DeliveryState, readonly DeliveryState[]>> = {
  pending: ["frozen", "skipped", "echo", "quarantined", "superseded"],
  frozen: ["delivered", "quarantined", "pending", "superseded"],
  // Its wait ends; it is gone at its receiver, differs there, or is not finished there.
  delivered: ["pending", "quarantined"],
  skipped: ["pending", "quarantined"],
  echo: [],
  quarantined: ["pending", "delivered", "skipped", "resolved", "superseded"],
  // A person accepted a difference: both sides agree again, or differ in other values.
  resolved: ["delivered", "skipped", "quarantined"],
  // A read-back found that it had arrived after all.
  superseded: ["delivered"],
};

export const mayMove = (from: DeliveryState, to: DeliveryState): boolean =>
  from === to || deliveryMoves[from].includes(to);
