/**
 * The table of fates: what becomes of a document of every kind when something happens to it, for each connector and each
 * direction that it travels in. A cell is decided by what both sides hold afterwards and by what a person is told.
 */
export const kinds = [
  "customer",
  "supplier",
  "invoice",
  "bill",
  "payment",
  /** A sale. */
  "order",
  "purchase",
  /** What a vendor brings us. */
  "ticket",
  /** What we bring a customer. */
  "delivery",
  "price",
] as const;
export type Kind = (typeof kinds)[number];

export const ways = ["to books", "to platform"] as const;
export type Way = (typeof ways)[number];

/** By column of the table; each event is one round. */
export const events = {
  "number changed": ["number changed at its source", "number changed at its receiver"],
  "code changed": ["code changed in the books"],
  deleted: [
    "voided at its source",
    "removed at its source",
    "voided at its receiver",
    "removed at its receiver",
  ],
  duplicated: [
    "copied at its source",
    "copied at its receiver",
    "entered by hand at its receiver",
    "the same arrives twice",
  ],
  cut: ["write cut before it is carried out", "write cut after it was carried out", "list cut"],
} as const satisfies Record<string, readonly string[]>;
export type Column = keyof typeof events;
export type Event = (typeof events)[Column][number];

/** `does not apply` has its reason in the cell's words. */
export const goodFates = ["brought over", "told", "refused", "does not apply"] as const;
export const badFates = ["silent", "doubled", "lost"] as const;
export type Fate = (typeof goodFates)[number] | (typeof badFates)[number];

export interface Cell {
  readonly connector: string;
  readonly kind: Kind;
  readonly way: Way;
  readonly event: Event;
  readonly fate: Fate;
  /** What was seen, or why it does not apply. */
  readonly words: string;
}

export const nameOf = ({ connector, kind, way, event }: Omit<Cell, "fate" | "words">): string =>
  `${connector}: ${kind} ${way}: ${event}`;

/** A record as one side holds it. */
export interface Held {
  /** The side's own id: it never changes. */
  readonly id: string;
  /** What people call it; null: this side has no number of it. */
  readonly number: string | null;
  /** The other side's id, where this side has it written. */
  readonly partner?: string | null;
  /** The side's own id of its party. */
  readonly party?: string | null;
  /** Neither void nor cancelled, inactive or expired. */
  readonly stands: boolean;
  /** What a message may call it besides. */
  readonly names?: readonly string[];
}

/** What people and networks can do at one side, of one kind in one direction. What is left out cannot be done there. */
export interface Actor {
  list(): Promise<readonly Held[]>;
  /** A person enters a new one that travels. */
  readonly make?: (() => Promise<Held>) | undefined;
  /** It keeps its id and gets another number. Returns the new one. */
  readonly renumber?: ((held: Held) => Promise<string>) | undefined;
  /** The code of it, of its party, its product or its terminal changes, and its id does not. */
  readonly recode?: ((held: Held) => Promise<void>) | undefined;
  readonly void?: ((held: Held) => Promise<void>) | undefined;
  /** It is there no more. */
  readonly remove?: ((held: Held) => Promise<void>) | undefined;
  /**
   * A clerk enters the same once more: party, reference, amount and day; only the id is new. At its receiver with our mark,
   * where a copy there keeps it. `byHand`: anew, without our mark, a reference or a number that names the first.
   */
  readonly copy?: ((held: Held, byHand?: boolean) => Promise<Held>) | undefined;
  /** It is told once more, unchanged. */
  readonly touch?: ((held: Held) => Promise<void>) | undefined;
  /** The next write that brings one of these is cut off. */
  readonly cutWrite?: ((when: "before" | "after") => Promise<void>) | undefined;
  /** The next list or file of these is cut off. */
  readonly cutList?: (() => Promise<void>) | undefined;
  /** Why what is left out cannot be done there. */
  readonly lacks?: Readonly<Partial<Record<Act, string>>>;
}
export type Act =
  "make" | "renumber" | "recode" | "void" | "remove" | "copy" | "touch" | "cutWrite" | "cutList";

export type Travels = `${Kind} ${Way}`;
/** One side; a reason in place of an actor: this kind does not travel so. */
export type Side = Readonly<Partial<Record<Travels, Actor>>>;

const WIDTHS = [20, 12, 38, 38, 28];

/** Rows: connector, kind and direction. Columns: the five of the specification, each with what its events came to. */
export function printed(cells: readonly Cell[]): string {
  const groups = Object.entries(Object.groupBy(cells, rowOf));
  const wide = Math.max(...groups.map(([row]) => row.length), 0);
  const line = (first: string, rest: readonly string[]): string =>
    [first.padEnd(wide), ...rest.map((cell, at) => cell.padEnd(WIDTHS[at] ?? 0))]
      .join("  ")
      .trimEnd();
  const counted = [...goodFates, ...badFates].map(
    (fate) => `${fate} ${cells.filter((cell) => cell.fate === fate).length}`,
  );
  const bad = cells.filter(isBad).map((cell) => `  ${nameOf(cell)}: ${cell.fate}: ${cell.words}`);
  return [
    line("", Object.keys(events)),
    ...groups.map(([row, of = []]) => line(row, columnsOf(of))),
    "",
    `${cells.length} cells: ${counted.join(", ")}`,
    ...bad,
    "",
  ].join("\n");
}

export const isBad = ({ fate }: Pick<Cell, "fate">): boolean =>
  (badFates as readonly Fate[]).includes(fate);

const rowOf = ({ connector, kind, way }: Cell): string => `${connector}: ${kind} ${way}`;

const SHORT: Readonly<Record<Fate, string>> = {
  "brought over": "brought",
  told: "told",
  refused: "refused",
  "does not apply": "-",
  silent: "SILENT",
  doubled: "DOUBLED",
  lost: "LOST",
};

const columnsOf = (cells: readonly Cell[]): string[] =>
  Object.values(events).map((names) =>
    (names as readonly Event[])
      .map((event) => cells.find((cell) => cell.event === event))
      .map((cell) => (cell === undefined ? "?" : SHORT[cell.fate]))
      .join(" / "),
  );
