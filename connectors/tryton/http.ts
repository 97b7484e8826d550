/**
 * One POST at a time: Tryton computes in one process, and two that post at once only lock each other out of the
 * number sequence. No connection is used twice (trytond closes each).
 */
import { openHttp as openWire, TransportError } from "../../src/transport/http.ts";
import { TrytonError } from "./errors.ts";

export interface Http {
  /** @throws TrytonError `not-sent` or `torn` */
  post(request: Posted): Promise<{ readonly status: number; readonly text: string }>;
  close(): Promise<void>;
}

interface Posted {
  /** For messages. */
  readonly method: string;
  /** Below the server's address: `/books/`. */
  readonly path: string;
  readonly body: string;
  readonly authorization: string | null;
  readonly signal: AbortSignal | undefined;
}

const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

/** `deadlineMs`: for a request and its whole answer, once its turn has come. */
export function openHttp(url: string, deadlineMs: number): Http {
  const base = new URL(url);
  const prefix = base.pathname.replace(/\/$/, "");
  const wire = openWire({
    origin: base.origin,
    connections: 1,
    headersMs: deadlineMs,
    bodyMs: deadlineMs,
  });
  let turn: Promise<unknown> = Promise.resolve();

  async function send({ method, path, body, authorization, signal }: Posted) {
    if (signal?.aborted === true) throw new TrytonError("not-sent", `${method}: stopped`);
    const deadline = AbortSignal.timeout(deadlineMs);
    try {
      const answer = await wire.ask({
        method: "POST",
        path: `${prefix}${path}`,
        reset: true,
        headers: {
          "content-type": "application/json",
          accept: "application/json",
          "accept-encoding": "identity",
          ...(authorization === null ? {} : { authorization }),
        },
        body,
        signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
      });
      return { status: answer.status, text: await answer.text(ANSWER_BYTES_MAX) };
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      throw new TrytonError(error.phase, `${method}: ${error.message}`);
    }
  }

  return {
    post(request) {
      const answered = turn.then(() => send(request));
      turn = answered.catch(() => {});
      return answered;
    },
    close: () => wire.close(),
  };
}
