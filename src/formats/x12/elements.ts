/**
 * The segments of X12 that this connector reads and writes: of each element its number in the data element dictionary,
 * its type and its lengths, as in release 004010. Everything that is checked and written is checked by this one table.
 */

/**
 * `N0`, `N2`: digits, the last 0 or 2 of which are decimals. `R`: a number with its decimal point. `DT`: CCYYMMDD.
 * `TM`: HHMM, HHMMSS and finer. `ID`: a code. `AN`: text. `C`: a composite, of which the first component counts.
 */
export type ElementType = "N0" | "N2" | "R" | "DT" | "TM" | "ID" | "AN" | "C";

export interface Element {
  /** In the data element dictionary: what a 997 names in AK402. */
  readonly number: number;
  readonly type: ElementType;
  readonly min: number;
  /** Of `N0`, `N2` and `R` digits: sign and decimal point do not count. */
  readonly max: number;
  readonly mandatory: boolean;
}

/** The releases that are read and written. */
export const versions = ["004010", "005010"] as const;
export type Version = (typeof versions)[number];

const el = (number: number, type: ElementType, min: number, max: number): Element => ({
  number,
  type,
  min,
  max,
  mandatory: false,
});
const must = (element: Element): Element => ({ ...element, mandatory: true });

const date = el(373, "DT", 8, 8);
const time = el(337, "TM", 4, 8);
const text80 = el(352, "AN", 1, 80);
const entity = el(98, "ID", 2, 3);
const reference = el(127, "AN", 1, 30);
const refQualifier = el(128, "ID", 2, 3);
const idQualifier = el(66, "ID", 1, 2);
const money = el(782, "R", 1, 18);
const amountInCents = el(610, "N2", 1, 15);
const unit = el(355, "ID", 2, 2);
const unitPrice = el(212, "R", 1, 17);
const lineId = el(350, "AN", 1, 20);
const quantity = el(380, "R", 1, 15);
const compositeUnit = el(355, "C", 2, 2);
const groupControl = el(28, "N0", 1, 9);
const setControl = el(329, "AN", 4, 9);
const functionalId = el(479, "ID", 2, 2);
const setId = el(143, "ID", 3, 3);
const setCount = el(97, "N0", 1, 6);
const syntaxError = el(718, "ID", 1, 3);
const groupError = el(716, "ID", 1, 3);
const purpose = el(353, "ID", 2, 2);
const priceBasis = el(639, "ID", 2, 2);
const agreement = el(591, "ID", 3, 3);
const bank = [el(506, "ID", 2, 2), el(507, "AN", 3, 12), el(569, "ID", 1, 3), el(508, "AN", 1, 35)];
const catalogue = el(683, "ID", 2, 2);
const edition = [el(684, "AN", 1, 15), el(685, "AN", 1, 15), el(686, "AN", 1, 6)];
const productIds = Array.from({ length: 10 }, () => [el(235, "ID", 2, 2), el(234, "AN", 1, 48)]);

/** By the segment's name; the first element is 01. What is not here is not read, and passes. */
export const segments: Readonly<Record<string, readonly Element[]>> = {
  GS: [
    must(functionalId),
    must(el(142, "AN", 2, 15)),
    must(el(124, "AN", 2, 15)),
    must(date),
    must(time),
    must(groupControl),
    must(el(455, "ID", 1, 2)),
    must(el(480, "AN", 1, 12)),
  ],
  GE: [must(setCount), must(groupControl)],
  ST: [must(setId), must(setControl), el(1705, "AN", 1, 35)],
  SE: [must(el(96, "N0", 1, 10)), must(setControl)],
  IEA: [must(el(16, "N0", 1, 5)), must(el(12, "N0", 9, 9))],

  BIG: [
    must(date),
    must(el(76, "AN", 1, 22)),
    date,
    el(324, "AN", 1, 22),
    el(328, "AN", 1, 30),
    el(327, "AN", 1, 8),
    el(640, "ID", 2, 2),
    purpose,
    el(306, "ID", 1, 2),
    el(76, "AN", 1, 22),
  ],
  NTE: [el(363, "ID", 3, 3), must(text80)],
  CUR: [must(entity), must(el(100, "ID", 3, 3)), el(280, "R", 4, 10)],
  REF: [must(refQualifier), reference, text80],
  N1: [must(entity), el(93, "AN", 1, 60), idQualifier, el(67, "AN", 2, 80)],
  N3: [must(el(166, "AN", 1, 55)), el(166, "AN", 1, 55)],
  N4: [el(19, "AN", 2, 30), el(156, "ID", 2, 2), el(116, "ID", 3, 15), el(26, "ID", 2, 3)],
  ITD: [
    el(336, "ID", 2, 2),
    el(333, "ID", 1, 2),
    el(338, "R", 1, 6),
    el(370, "DT", 8, 8),
    el(351, "N0", 1, 3),
    el(446, "DT", 8, 8),
    el(386, "N0", 1, 3),
    el(362, "N2", 1, 10),
    el(388, "DT", 8, 8),
    el(389, "N2", 1, 10),
    el(342, "R", 1, 5),
    text80,
  ],
  DTM: [must(el(374, "ID", 3, 3)), date, time, el(623, "ID", 2, 2)],
  IT1: [lineId, el(358, "R", 1, 10), unit, unitPrice, priceBasis, ...productIds.flat()],
  PO1: [lineId, el(330, "R", 1, 15), unit, unitPrice, priceBasis, ...productIds.flat()],
  TXI: [
    must(el(963, "ID", 2, 2)),
    money,
    el(954, "R", 1, 10),
    el(955, "ID", 2, 2),
    el(956, "AN", 1, 10),
    el(441, "ID", 1, 1),
    el(662, "ID", 1, 1),
    el(828, "R", 1, 9),
    el(325, "AN", 1, 20),
    lineId,
  ],
  MEA: [el(737, "ID", 2, 2), el(738, "ID", 1, 3), el(739, "R", 1, 20), compositeUnit],
  PID: [
    must(el(349, "ID", 1, 1)),
    el(750, "ID", 2, 3),
    el(559, "ID", 2, 2),
    el(751, "AN", 1, 12),
    text80,
  ],
  SAC: [
    must(el(248, "ID", 1, 1)),
    el(1300, "ID", 4, 4),
    el(559, "ID", 2, 2),
    el(1301, "AN", 1, 10),
    amountInCents,
    el(378, "ID", 1, 1),
    el(332, "R", 1, 6),
    el(118, "R", 1, 9),
    unit,
    quantity,
    quantity,
    el(331, "ID", 2, 2),
    reference,
    el(770, "AN", 1, 20),
    text80,
  ],
  TDS: [must(amountInCents), amountInCents, amountInCents, amountInCents],
  CTT: [must(el(354, "N0", 1, 6)), el(347, "R", 1, 10)],

  BCT: [must(catalogue), ...edition, catalogue, ...edition, text80, purpose],
  G53: [must(el(875, "ID", 3, 3))],
  LIN: [lineId, ...productIds.flat().map((one, at) => (at < 2 ? must(one) : one))],
  CTP: [
    el(687, "ID", 2, 2),
    el(236, "ID", 3, 3),
    unitPrice,
    quantity,
    compositeUnit,
    el(648, "ID", 3, 3),
    el(649, "R", 1, 10),
    money,
    priceBasis,
    el(499, "AN", 1, 10),
    el(289, "N0", 1, 2),
  ],

  BPR: [
    must(el(305, "ID", 1, 2)),
    must(money),
    must(el(478, "ID", 1, 1)),
    must(agreement),
    el(812, "ID", 1, 10),
    ...bank,
    el(509, "AN", 10, 10),
    el(510, "AN", 9, 9),
    ...bank,
    date,
  ],
  TRN: [must(el(481, "ID", 1, 2)), must(reference), el(509, "AN", 10, 10), reference],
  ENT: [el(554, "N0", 1, 6), entity, idQualifier, el(67, "AN", 2, 80)],
  RMR: [refQualifier, reference, el(482, "ID", 2, 2), money, money, money],
  ADX: [must(money), must(el(426, "ID", 2, 2)), refQualifier, reference],

  BEG: [
    must(purpose),
    must(el(92, "ID", 2, 2)),
    must(el(324, "AN", 1, 22)),
    el(328, "AN", 1, 30),
    must(date),
    el(367, "AN", 1, 30),
  ],

  N9: [must(refQualifier), reference],
  MSG: [must(el(933, "AN", 1, 264))],
  MTX: [el(363, "ID", 3, 3), must(el(1551, "AN", 1, 4096))],

  AK1: [must(functionalId), must(groupControl)],
  AK2: [must(setId), must(setControl)],
  AK3: [
    must(el(721, "ID", 2, 3)),
    must(el(719, "N0", 1, 6)),
    el(447, "AN", 1, 6),
    el(720, "ID", 1, 3),
  ],
  AK4: [
    must(el(722, "C", 1, 2)),
    el(725, "N0", 1, 4),
    must(el(723, "ID", 1, 3)),
    el(724, "AN", 1, 99),
  ],
  AK5: [must(el(717, "ID", 1, 1)), ...Array.from({ length: 5 }, () => syntaxError)],
  AK9: [
    must(el(715, "ID", 1, 1)),
    must(setCount),
    must(el(123, "N0", 1, 6)),
    must(el(2, "N0", 1, 6)),
    ...Array.from({ length: 5 }, () => groupError),
  ],
};

/** Lengths that release 005010 has otherwise. */
const LONGER_IN_5010: ReadonlyMap<number, number> = new Map([
  [127, 50],
  [358, 15],
  [719, 10],
]);

/** How long an element may be in a release. */
export const mostOf = ({ number, max }: Element, version: Version): number =>
  version === "005010" ? (LONGER_IN_5010.get(number) ?? max) : max;
