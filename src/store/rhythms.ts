/** When things arrived in a flow, and how long it was silent at most: counted here, for the same bytes may come again. */
import type Database from "better-sqlite3";
import { hoursAround, lastedByHour, limitOf, type Silence } from "../core/silence.ts";

interface Row {
  readonly arrivals: number;
  readonly first_ms: number;
  readonly last_ms: number;
  readonly longest_ms: number;
  /** What the silence that was told is measured by; null: none is told. */
  readonly told_limit_ms: number | null;
  readonly told_is_set: 0 | 1 | null;
}

export function rhythms(database: Database.Database) {
  const find = database.prepare<[number], Row>("select * from rhythm where flow = ?");
  const begin = database.prepare(
    "insert into rhythm (flow, arrivals, first_ms, last_ms, longest_ms) values (?, ?, ?, ?, 0)",
  );
  const arrived = database.prepare(
    `update rhythm set arrivals = arrivals + 1, longest_ms = ?, last_ms = ?, told_limit_ms = null, told_is_set = null
     where flow = ?`,
  );
  const lasted = database.prepare(
    `insert into silent_hour (flow, hour, longest_ms) values (?, ?, ?)
     on conflict do update set longest_ms = max(longest_ms, excluded.longest_ms)`,
  );
  const longestAt = database
    .prepare<number[], number | null>(
      "select max(longest_ms) from silent_hour where flow = ? and hour in (?, ?, ?)",
    )
    .pluck();
  const tell = database.prepare(
    "update rhythm set told_limit_ms = ?, told_is_set = ? where flow = ?",
  );

  function told(flow: number): Silence | null {
    const row = find.get(flow);
    if (row === undefined || row.told_limit_ms === null) return null;
    const { arrivals, last_ms: sinceMs, longest_ms: longestMs, told_limit_ms: limitMs } = row;
    return { arrivals, sinceMs, longestMs, limitMs, isSet: row.told_is_set === 1 };
  }

  return {
    /**
     * Something came at `cameMs` by the clock of the place it came to. That clock counts where it can be right: after what
     * came before, and not after now. Call it inside a transaction.
     */
    came(flow: number, cameMs: number, nowMs: number): void {
      const row = find.get(flow);
      const isLikely = cameMs <= nowMs && cameMs >= (row?.last_ms ?? 0);
      const at = isLikely ? cameMs : nowMs;
      if (row === undefined) begin.run(flow, 1, at, at);
      else {
        // Before the first arrival there is no time between two.
        const gap = row.arrivals === 0 ? 0 : at - row.last_ms;
        arrived.run(Math.max(row.longest_ms, gap), Math.max(at, row.last_ms), flow);
        if (row.arrivals === 0 || gap < 0) return;
        for (const [hour, ms] of lastedByHour(row.last_ms, at)) lasted.run(flow, hour, ms);
      }
    },

    /**
     * A whole reading found that nothing lies there. `setMs`: the limit that is set, null: it is learned. Returns the
     * silence when it is to be told and was not yet. Call it inside a transaction.
     */
    empty(flow: number, nowMs: number, setMs: number | null): Silence | null {
      const row = find.get(flow);
      if (row === undefined) {
        begin.run(flow, 0, nowMs, nowMs);
        return null;
      }
      const { arrivals, first_ms: firstMs, last_ms: lastMs, longest_ms: longestMs } = row;
      // What was learned and told stays told until something comes: the next hour may be one that is usually quiet.
      if (setMs === null && row.told_is_set === 0) return null;
      const atThisHourMs = longestAt.get(flow, ...hoursAround(nowMs)) ?? null;
      const limit = limitOf({ arrivals, firstMs, lastMs, longestMs, atThisHourMs }, setMs);
      const isSilent = limit !== null && nowMs - lastMs > limit;
      if (isSilent === (row.told_limit_ms !== null)) return null;
      tell.run(isSilent ? limit : null, isSilent ? Number(setMs !== null) : null, flow);
      return isSilent ? told(flow) : null;
    },

    /** The silence that is told; null: there is none. */
    silence: told,
  };
}
