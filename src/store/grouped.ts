/** One commit for many: a durable commit costs a sync of the disk, whatever it holds. */

import { StorageError } from "../core/errors.ts";

interface Waiting {
  run(): void;
  settle(): void;
  reject(error: unknown): void;
}

/**
 * What is handed in during one turn of the event loop runs in one `commit`, in order. When one of them throws, none
 * has happened, and each runs in a commit of its own. Promises settle once everything is durable. A work may so run
 * twice, and must do nothing but change the store. A commit that fails by itself fails all of them: what a disk said
 * once is not asked again.
 */
export function grouped(commit: (work: () => void) => void): <T>(work: () => T) => Promise<T> {
  let waiting: Waiting[] = [];

  function flush(): void {
    const works = waiting;
    waiting = [];
    let ran = 0;
    try {
      commit(() => {
        for (const work of works) {
          work.run();
          ran++;
        }
      });
    } catch (error) {
      const isTheirs = ran < works.length && !(error instanceof StorageError);
      if (isTheirs && works.length > 1) for (const work of works) alone(work);
      else for (const work of works) work.reject(error);
      return;
    }
    for (const work of works) work.settle();
  }

  function alone(work: Waiting): void {
    try {
      commit(() => work.run());
      work.settle();
    } catch (error) {
      work.reject(error);
    }
  }

  return <T>(work: () => T) =>
    new Promise<T>((resolve, reject) => {
      let result: T;
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({
        run: () => {
          result = work();
        },
        settle: () => resolve(result),
        reject,
      });
    });
}
