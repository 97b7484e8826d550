/**
 * The migration that put into columns and tables what was searched for in sentences or in the audit (ADR 0034). It fills
 * them for a store of an older version as far as its sentences say it.
 */
import { deliveryMoves } from "../core/delivery-state.ts";

export const factsInColumns = `
  -- The moves of a delivery (src/core/delivery-state.ts), as those of a request.
  create trigger delivery_moves before update of state on delivery
  when old.state <> new.state and not (${moves(deliveryMoves)})
  begin select raise(abort, 'illegal move of a delivery'); end;

  -- What a delivery waits for, in two columns; it was one text. \`candidates\`: the receiver's ids of what may be the same
  -- document, a JSON array.
  drop index quarantine_awaits;
  alter table quarantine add column awaits_kind text;
  alter table quarantine add column awaits_id text;
  alter table quarantine add column candidates text;
  update quarantine set awaits_kind = substr(awaits, 1, instr(awaits, ' ') - 1),
    awaits_id = substr(awaits, instr(awaits, ' ') + 1) where awaits is not null;
  alter table quarantine drop column awaits;
  create index quarantine_awaits on quarantine (awaits_kind, awaits_id) where awaits_id is not null;

  -- What happened to a document and matters for its later versions (src/store/incidents.ts). It was searched for in the audit.
  create table incident (
    record integer not null references record,
    number text not null,
    incident text not null check (incident in ('gone', 'turned', 'unfinished')),
    state text not null check (state in ('open', 'retried', 'over')),
    primary key (record, number, incident)
  ) strict, without rowid;
  with told as (
    select record, number, event, max(audit) as last from audit join delivery using (delivery)
    where number is not null
      and event in ('gone', 'turned', 'turned over', 'unfinished', 'finished', 'retried')
    group by record, number, event)
  insert into incident (record, number, incident, state)
  select record, number, event, case
      when event = 'gone' then iif(retried > last, 'retried', 'open')
      when event = 'unfinished' then iif(finished > last, 'over', 'open')
      when spent > last then 'over'
      else iif(retried > last, 'retried', 'open') end
    from (select t.record, t.number, t.event, t.last,
        max(iif(o.event = 'retried', o.last, 0)) as retried,
        max(iif(o.event = 'finished', o.last, 0)) as finished,
        max(iif(o.event = 'turned over', o.last, 0)) as spent
      from told t join told o using (record, number)
      where t.event in ('gone', 'turned', 'unfinished') group by t.record, t.number, t.event);

  -- Documents of the receiver of which a person has said that they are not this one. They were read out of the audit, where
  -- the retry repeats the cause: it ends with their ids.
  create table dismissed (
    record integer not null references record,
    number text not null,
    counterpart text not null,
    primary key (record, number, counterpart)
  ) strict, without rowid;
  with recursive
    told (record, number, rest) as (
      select record, number, substr(detail, instr(detail, 'no id of ours: ') + 15) || ', '
      from audit join delivery using (delivery)
      where event = 'retried' and number is not null and instr(detail, 'no id of ours: ') > 0),
    split (record, number, counterpart, rest) as (
      select record, number, null, rest from told
      union all
      select record, number, substr(rest, 1, instr(rest, ', ') - 1), substr(rest, instr(rest, ', ') + 2)
      from split where instr(rest, ', ') > 0)
  insert or ignore into dismissed (record, number, counterpart)
  select record, number, counterpart from split where counterpart is not null;
  with recursive
    split (delivery, counterpart, rest) as (
      select delivery, null, substr(cause, instr(cause, 'no id of ours: ') + 15) || ', ' from quarantine
      where code = 'same-name' and instr(cause, 'no id of ours: ') > 0
      union all
      select delivery, substr(rest, 1, instr(rest, ', ') - 1), substr(rest, instr(rest, ', ') + 2)
      from split where instr(rest, ', ') > 0)
  update quarantine set candidates = (select json_group_array(counterpart) from split
      where split.delivery = quarantine.delivery and counterpart is not null)
  where code = 'same-name';

  -- When a person last cleared each stop, and first sends that were answered with a replay. Both were counted in the audit.
  create table released (
    breaker text primary key,
    at_ms integer not null,
    released_by text not null
  ) strict, without rowid;
  insert into released (breaker, at_ms, released_by)
  select substr(event, length('released: ') + 1), at_ms, substr(detail, length('by ') + 1)
  from audit where audit in (select max(audit) from audit where event glob 'released: *' group by event);
  create table replay (
    at_ms integer not null,
    request integer not null references request
  ) strict;
  create index replay_at on replay (at_ms);
  insert into replay (at_ms, request) select at_ms, request from audit
  where event = 'warning: replayed' and request is not null;
  drop index audit_replay;

  -- When the bytes of a request last left.
  alter table request add column sent_ms integer;
  update request set sent_ms = sent.at_ms
  from (select request, max(at_ms) as at_ms from audit where event = 'send' group by request) as sent
  where sent.request = request.request;

  -- What an entry says of each delivery of a request that carries several, JSON: {"DELIVERY": "what is said of it"}. Null: it
  -- says nothing of each, or is older than this column.
  alter table audit add column parts text;

  -- Why a flow did not read its source, as a code beside the sentence.
  alter table flow add column last_error_code text;
  update flow set last_error_code = iif(last_error glob 'paused: budget*', 'budget', 'unavailable')
  where last_error is not null;
  `;

/** A table of legal moves as SQL: even a faulty statement cannot make another. */
export function moves(table: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(table)
    .flatMap(([from, targets]) => {
      const isOne = targets.map((to) => `new.state = '${to}'`).join(" or ");
      return targets.length === 0 ? [] : [`old.state = '${from}' and (${isOne})`];
    })
    .join(" or ");
}
