/**
 * Two million archived files: the first reconciliation after a start, in memory that does not grow with them.
 * @module-tag numbers
 */
import { expect, test } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";
import { archiveOf } from "../../test/files/archive.ts";

test("two million archived files are listed once in little memory, and not again", async () => {
  const { parties, visits } = await archiveOf(tempFolder(), 2_000_000);
  const { rss } = process.memoryUsage();
  const started = process.cpuUsage();
  let most = 0;
  const timer = setInterval(() => void (most = Math.max(most, process.memoryUsage().rss)), 20);
  expect(await parties()).toEqual(["Newest"]);
  clearInterval(timer);
  most = Math.max(most, process.memoryUsage().rss);
  const cpu = process.cpuUsage(started);
  const before = visits();
  const again = process.cpuUsage();
  expect(await parties()).toEqual(["Newest"]);
  const { user } = process.cpuUsage(again);
  expect(visits()).toBe(before);
  process.stdout.write(
    `two million: ${((cpu.user + cpu.system) / 1e6).toFixed(2)} s of CPU, ${Math.round((most - rss) / 1e6)} MB; again: ${(user / 1e6).toFixed(3)} s\n`,
  );
  expect(most - rss).toBeLessThan(150_000_000);
});
