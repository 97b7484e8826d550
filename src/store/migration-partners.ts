/** What trading partners tell later of documents, and when something came from them. */

export const answersOfPartners = `
  -- The last number of each sequence that requests are numbered by (ADR 0046).
  create table sequence (
    sequence text primary key,
    last integer not null
  ) strict, without rowid;

  -- What receivers tell later of documents that were delivered (src/engine/acknowledged.ts). \`counterpart\`: what the
  -- receiver calls it, and \`due_ms\`: until when it is awaited, once it was delivered. \`told\`: 1 once a person has it.
  create table acknowledgement (
    exchange text not null,
    item text not null,
    flow integer not null references flow,
    delivery integer not null references delivery,
    state text not null default 'awaited' check (state in ('awaited', 'accepted', 'refused')),
    is_delivered integer not null default 0 check (is_delivered in (0, 1)),
    counterpart text,
    due_ms integer,
    told integer not null default 0 check (told in (0, 1)),
    detail text not null default '',
    primary key (exchange, item)
  ) strict, without rowid;
  create index acknowledgement_open on acknowledgement (flow, state, due_ms) where told = 0 and state <> 'accepted';
`;

export const answersOfSap = `
  -- When the receiver said it, by its own clock; empty: it does not tell.
  alter table acknowledgement add column said_at text not null default '';
  create index acknowledgement_delivery on acknowledgement (delivery);

  -- IDocs from before: their number is in the file's name, and SAP names it.
  insert or ignore into acknowledgement (exchange, item, flow, delivery, is_delivered, told)
  select 'idoc ' || substr(target, -20, 16), '', delivery.flow, delivery, 1, 1
  from request join delivery using (request)
  where operation glob 'idoc.*' and target glob '*_' || replace(hex(zeroblob(8)), '0', '[0-9]') || '.xml'
  order by delivery desc;
`;

export const rhythm = `
  -- When things arrived in a flow, and how long it was silent at most (src/core/silence.ts).
  create table rhythm (
    flow integer primary key references flow,
    arrivals integer not null,
    first_ms integer not null,
    last_ms integer not null,
    longest_ms integer not null,
    told_limit_ms integer,
    told_is_set integer check (told_is_set in (0, 1))
  ) strict;
`;
