import { expect, onTestFinished, test } from "vitest";
import { clientFor, usePlatform } from "../../test/platform/support.ts";
import { serving } from "../../test/support/http.ts";
import { fetchPdf } from "./reading.ts";

const platform = usePlatform("conformance");
const NOW = new Date("2026-11-22T12:00:00Z");
const NOWHERE = "00000000-0000-4000-8000-000000000000";

test("a PDF comes whole; what fails says whether trying again may help", async () => {
  const client = platform.client();
  const fetched = (id: string) => fetchPdf(client, "getInvoicePdf", id, NOW);
  const id = String((await platform.control.stored("invoices", "supplier"))[0]?.["id"]);
  const bytes = Buffer.from(await fetched(id)).toString("latin1");
  expect(bytes).toMatch(/^%PDF-[^]*%%EOF\n?$/);
  await expect(fetched(NOWHERE)).rejects.toMatchObject({ sort: "failed" });
  const fault = (kind: object) =>
    platform.control.fault({ method: "GET", path: "/invoices/{id}/pdf", ...kind });
  await fault({ kind: "status", status: 503 });
  await expect(fetched(id)).rejects.toMatchObject({ sort: "failed" });
  await fault({ kind: "status", status: 429 });
  await expect(fetched(id)).rejects.toMatchObject({ sort: "passing" });
  await fault({ kind: "truncate" });
  await expect(fetched(id)).rejects.toMatchObject({ sort: "failed" });
  await expect(
    fetchPdf(clientFor({ url: "http://127.0.0.1:1/v1" }), "getInvoicePdf", id, NOW),
  ).rejects.toMatchObject({ sort: "passing" });
});

test.each([
  ["more than 32 MiB", Buffer.alloc(32 * 1024 * 1024 + 1, "%PDF-"), "never"],
  ["what is no PDF", Buffer.from("<html>"), "failed"],
])("%s is no file", async (_what, body, sort) => {
  const { url, close } = await serving((_request, response) => {
    response.setHeader("content-type", "application/pdf").end(body);
  });
  onTestFinished(close);
  const client = clientFor({ url: `${url}/v1` });
  await expect(fetchPdf(client, "getInvoicePdf", NOWHERE, NOW)).rejects.toMatchObject({ sort });
});
