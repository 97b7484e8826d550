/** Records that a send reads again: of what it has compared, only what may have changed since (ADR 0009). */

interface Part {
  readonly id: number;
}
interface Parts<P extends Part> {
  readonly lines: readonly P[];
  readonly taxes: readonly P[];
}

/** Are the lines and taxes those of `before`, and has nobody written one since? @param isWritten has somebody written it since it was made? */
export const isUnwritten = <P extends Part>(
  now: Parts<P>,
  before: Parts<Part>,
  isWritten: (part: P) => boolean,
): boolean =>
  (["lines", "taxes"] as const).every(
    (list) =>
      now[list].length === before[list].length &&
      now[list].every((part, at) => !isWritten(part) && part.id === before[list][at]?.id),
  );

/**
 * Records of which rows tell a part, in the order of their ids.
 * @param whole the record, or null where the row does not tell enough @param rest reads these in full
 */
export async function inPart<Row extends Part, Whole extends Part>(
  rows: readonly Row[],
  whole: (row: Row) => Whole | null,
  rest: (ids: readonly number[]) => Promise<readonly Whole[]>,
): Promise<Whole[]> {
  const told = rows.flatMap((row) => whole(row) ?? []);
  const known = new Set(told.map(({ id }) => id));
  const others = rows.map(({ id }) => id).filter((id) => !known.has(id));
  const read = others.length === 0 ? [] : await rest(others);
  return [...told, ...read].toSorted((one, other) => one.id - other.id);
}
