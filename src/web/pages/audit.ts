/** Who did what, when and why. */
import { html, segment } from "../html.ts";
import { at, further, link, table } from "../parts.ts";
import type { Answer, Asked } from "../route.ts";

export async function audit(asked: Asked): Promise<Answer> {
  const before = asked.query.get("before");
  const { deeds, next } = await asked.office.deeds(before === "" ? null : before);
  const body = html`<h1>Audit</h1>
    <p>
      What people did, the newest first. Nothing here can be changed or removed. What fuelbridge
      itself did with a document stands in that document's life.
    </p>
    ${table(
      "What people did",
      ["When", "Who", "What", "About", "Detail", "Why"],
      deeds.map(({ at: when, by, event, detail, reason, flow, document }) => [
        at(when, asked),
        by,
        event,
        document === null
          ? (flow ?? "–")
          : link(`/documents/${segment(document.id)}`, document.number),
        detail,
        reason ?? "–",
      ]),
      "Nobody has done anything yet.",
    )}
    ${further("/audit", { before: next })}`;
  return { title: "Audit", body };
}
