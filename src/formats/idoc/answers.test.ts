/** Answers of SAP as they lie in a folder: who reads them, and when they are moved. */
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AnswersConfig, FilesConfig } from "../../../connectors/files/config.ts";
import { answersSource } from "../../../connectors/files/index.ts";
import type { Page, Reading } from "../../core/contract.ts";
import { aleaud, emptyFolder, siteIn } from "../../../test/files/idoc.ts";

/** A folder of answers, and what a reading of it tells: `DOCNUM verdict`. */
function answers({ looking = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "idoc-"));
  const inbox = emptyFolder(folder, "aleaud");
  const config = AnswersConfig.parse({ folder: "aleaud" });
  const files = FilesConfig.parse({ folder, settleMs: 0 });
  const start = () => answersSource(config, files, siteIn(folder, { looking }));
  let source = start();
  const reading: Reading = {
    signal: new AbortController().signal,
    known: () => null,
    stored: () => false,
  };
  return {
    inbox,
    restart: () => {
      source = start();
    },
    puts: (name: string, text: string) => writeFileSync(join(inbox, name), text),
    lies: (inside = "") => readdirSync(join(inbox, inside)).toSorted(),
    told: async () => {
      const pages: Page[] = [];
      for await (const page of source.read(null, reading)) pages.push(page);
      return pages
        .flatMap(({ acknowledgements = [] }) => acknowledgements)
        .map(({ exchange, verdict }) => `${exchange.slice(-4)} ${verdict}`);
    },
  };
}

test("a look moves nothing, whether an answer can be read or not", async () => {
  const { puts, told, lies } = answers({ looking: true });
  puts("1.xml", aleaud("4711", "51"));
  puts("2.xml", "<ALEAUD01><IDOC>");
  expect(await told()).toEqual(["4711 refused"]);
  expect(lies()).toEqual(["1.xml", "2.xml"]);
});

test("after a start the archive is told again, once", async () => {
  const { puts, told, restart } = answers();
  puts("1.xml", aleaud("4711", "51"));
  expect(await told()).toEqual(["4711 refused"]);
  expect(await told()).toEqual([]);
  restart();
  expect(await told()).toEqual(["4711 refused"]);
  expect(await told()).toEqual([]);
});
