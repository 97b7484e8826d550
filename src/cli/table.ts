/** Plain text in columns, as wide as their widest cell; columns of numbers stand to the right. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, ...rows];
  const columns = header.map((_, at) => {
    const cells = rows.map((row) => row[at] ?? "");
    const width = Math.max(...lines.map((line) => (line[at] ?? "").length));
    return { width, right: cells.length > 0 && cells.every((cell) => /^-?[\d.,]+$/.test(cell)) };
  });
  return lines
    .map((line) =>
      columns
        .map(({ width, right }, at) => {
          const cell = line[at] ?? "";
          return right ? cell.padStart(width) : cell.padEnd(width);
        })
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** `2026-11-21 07:50:26 UTC`, or a dash. */
export const instant = (iso: string | null): string =>
  iso === null ? "-" : `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;
