/** A replay answers the bytes that were sent first under its key: is the record that it shows the one that we sent? */
import type { Outgoing } from "../../core/contract.ts";
import { canonicalOf, type Json, parseExact, stringifyExact } from "../../core/json.ts";
import type { PlatformAnswer } from "../answers.ts";
import type { Exchange } from "../client.ts";

/** Fields that a record has as it was sent, and by which it is told from another one. */
const IDENTITY = ["invoiceNumber", "ticketNumber", "terminalCode", "total"] as const;

/**
 * The answer as it is; a replay that shows another record becomes a key conflict, for somebody else has used our key
 * for it. Fields that either side lacks, or shows in another type, are not compared.
 */
export function ownReplay(
  answer: PlatformAnswer,
  exchange: Exchange,
  request: Outgoing,
): PlatformAnswer {
  if (answer.name !== "replayed" || exchange.kind !== "answer" || request.body === "")
    return answer;
  const sent = membersOf(parseExact(request.body));
  const shown = membersOf(membersOf(parseExact(exchange.text))["data"]);
  const field = IDENTITY.find((name) => isOther(sent[name], shown[name]));
  if (field === undefined) return answer;
  const { detail, requestId } = answer;
  const what = `${field} ${stringifyExact(shown[field])}, and ours is ${stringifyExact(sent[field])}`;
  return {
    name: "key-conflict",
    detail: `${detail}, but it shows another record: ${what}`,
    ...(requestId === undefined ? {} : { requestId }),
  };
}

const isOther = (sent: Json | undefined, shown: Json | undefined): boolean =>
  sent !== undefined &&
  shown !== undefined &&
  typeof sent === typeof shown &&
  canonicalOf(sent) !== canonicalOf(shown);

const membersOf = (value: Json | undefined): Readonly<Record<string, Json>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, Json>>) : {};
