/** One commit for many: a durable commit costs a sync of the disk, whatever it holds. */
import { StorageError } from "../core/errors.ts";

interface Waiting {
  run(): void;
  settle(): void;
  reject(error: unknown): void;
}

/**
 * What is handed in during one turn of the event loop runs in one `commit`, in order; a work that throws is undone
 * alone (`apart`), and a storage that fails undoes them all. Promises settle once everything is durable.
 */
export function grouped(
  commit: (work: () => void) => void,
  apart: <T>(work: () => T) => T,
): <T>(work: () => T) => Promise<T> {
  let waiting: Waiting[] = [];

  function flush(): void {
    const works = waiting;
    waiting = [];
    try {
      commit(() => {
        for (const work of works) work.run();
      });
    } catch (error) {
      for (const work of works) work.reject(error);
      return;
    }
    for (const work of works) work.settle();
  }

  return (work) =>
    new Promise((resolve, reject) => {
      let settle: (() => void) | null = null;
      const run = (): void => {
        try {
          const result = apart(work);
          settle = () => resolve(result);
        } catch (error) {
          if (error instanceof StorageError) throw error;
          settle = () => reject(error);
        }
      };
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ run, settle: () => settle?.(), reject });
    });
}
