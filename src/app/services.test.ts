/** What the console does by itself beside the daemon. */
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { engineOn } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { StorageError } from "../core/errors.ts";
import { takeIn } from "./services.ts";

test("a disk that fails under the search ends the process; a record that cannot be read is noted", () => {
  const { engine } = engineOn(tempFolder());
  const notes: string[] = [];
  const withError = (error: Error) => {
    const found = {
      ...engine.store.found,
      unsearched: () => {
        throw error;
      },
    };
    takeIn({ ...engine, store: { ...engine.store, found } }, (message) => notes.push(message));
  };
  const disk = new Database.SqliteError("disk I/O error", "SQLITE_IOERR");
  expect(() => withError(disk)).toThrow(StorageError);
  expect(notes).toEqual([]);
  withError(new TypeError("a mapping's fault"));
  expect(notes).toEqual(["the search is not up to date"]);
});
