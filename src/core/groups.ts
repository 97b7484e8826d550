/** All of them in their order, so many at once. */
export function* inGroups<One>(all: readonly One[], most: number): Generator<readonly One[]> {
  for (let at = 0; at < all.length; at += most) yield all.slice(at, at + most);
}

export const sumOf = (values: Iterable<number>): number => {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
};
