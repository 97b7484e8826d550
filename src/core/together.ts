import { setImmediate } from "node:timers/promises";

/**
 * What is asked for in one turn of this process, or while its like is under way, goes together: `most` at a time, answered in their order.
 */
export function together<Item, Reply>(
  most: number,
  run: (items: readonly Item[]) => Promise<readonly (Reply | Promise<Reply>)[]>,
): (item: Item) => Promise<Reply> {
  const waiting: (PromiseWithResolvers<Reply> & { readonly item: Item })[] = [];
  let last: Promise<void> = Promise.resolve();
  async function go(): Promise<void> {
    if (waiting.length === 0) return;
    await setImmediate();
    const those = waiting.splice(0, most);
    try {
      const replies = await run(those.map(({ item }) => item));
      for (const [at, { resolve }] of those.entries()) resolve(replies[at] as Reply);
    } catch (error) {
      for (const { reject } of those) reject(error);
    }
  }
  return (item) => {
    const place = { ...Promise.withResolvers<Reply>(), item };
    waiting.push(place);
    last = last.then(go);
    return place.promise;
  };
}

/** What comes of it, but waits no longer than `ms`: it goes on by itself then. No timer is left behind: each request waits so. */
export async function within<Came>(ms: number, work: Promise<Came>): Promise<Came | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, ms, undefined).unref();
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
