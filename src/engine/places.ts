/** How many pieces of work may be under way at once; the others wait for their turn, in order. */
export interface Places {
  take(): Promise<void>;
  leave(): void;
}

export function limited(places: number): Places {
  let free = places;
  const waiting: (() => void)[] = [];
  return {
    take: () =>
      new Promise((resolve) => {
        if (free > 0) {
          free--;
          resolve();
        } else waiting.push(resolve);
      }),
    leave() {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    },
  };
}
