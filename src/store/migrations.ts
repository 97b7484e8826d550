/**
 * The store's schema, forward only: a migration is never edited once released, the next one is appended.
 * The shape follows what was measured (bench/pull): rowid tables, ids of platform records as 16 bytes, no index that
 * an insert pays for and no question needs.
 */
import { withSums } from "./sums.ts";
import { legalMoves } from "../core/request-state.ts";
import { notebooksOfEndpoints } from "./notebooks.ts";
import { oneSpellingOfKinds } from "./migration-kinds.ts";
import { answersOfPartners, answersOfSap, rhythm } from "./migration-partners.ts";
import { bytesMayGo } from "./migration-retention.ts";
import { backfillsKept } from "./migration-backfill.ts";
import { auditChained } from "./migration-chain.ts";
import { consoleFacts } from "./migration-console.ts";
import { countsByPage, countsKept } from "./migration-counts.ts";
import { correctedFields } from "./migration-corrections.ts";
import { documentsByTheirIds } from "./migration-documents.ts";
import { factsInColumns, moves } from "./migration-facts.ts";
import { comparedMoves, lighterMoves } from "./migration-moves.ts";
import { flowsWatched } from "./migration-watch.ts";

export const migrations: readonly string[] = [
  `
  create table flow (
    flow integer primary key,
    name text not null unique,
    position text,
    next_due_ms integer,
    last_run_ms integer,
    last_error text,
    last_error_next text
  ) strict;

  -- The newest version of each record, as its source told it.
  create table record (
    record integer primary key,
    flow integer not null references flow,
    id any not null,
    version text,
    revision text not null,
    content text,
    origin text,
    fault text,
    text text not null,
    unique (flow, id)
  ) strict;

  -- One change on its way to one sink. received = the sum over all states, always.
  create table delivery (
    delivery integer primary key,
    flow integer not null references flow,
    record integer not null references record,
    revision text not null,
    received_ms integer not null,
    state text not null default 'pending' check (state in
      ('pending', 'frozen', 'delivered', 'skipped', 'echo', 'quarantined', 'resolved', 'superseded')),
    request integer references request,
    lot_max integer,
    number text,
    amount text,
    gallons text,
    content text,
    note text
  ) strict;
  create unique index delivery_open on delivery (record) where state in ('pending', 'quarantined');
  create index delivery_pending on delivery (flow, delivery) where state = 'pending';
  create index delivery_of_request on delivery (request) where request is not null;
  create index delivery_number on delivery (number) where number is not null;

  -- Why a delivery needs a person; equal causes are one group.
  create table quarantine (
    delivery integer primary key references delivery,
    code text not null,
    cause text not null,
    next text not null,
    field text,
    since_ms integer not null
  ) strict;
  create index quarantine_cause on quarantine (cause);

  -- The frozen bytes under one key, and what is known about them (core/request.ts).
  create table request (
    request integer primary key,
    flow integer not null references flow,
    operation text not null,
    kind text not null,
    number text not null,
    revision text not null,
    lane text not null,
    key text not null unique,
    target text not null,
    body text not null,
    body_sha256 text not null,
    state text not null,
    machine text not null,
    created_ms integer not null,
    updated_ms integer not null
  ) strict;
  create unique index request_live on request (operation, number)
    where state not in ('done', 'rejected', 'cancelled');
  create index request_open on request (flow, request) where state not in ('done', 'rejected', 'cancelled');
  create index request_number on request (number);

  create trigger request_moves before update of state on request
  when old.state <> new.state and not (${moves(legalMoves)})
  begin select raise(abort, 'illegal move of a request'); end;
  create trigger request_frozen before update of body, target, body_sha256 on request
  begin select raise(abort, 'frozen bytes do not change'); end;

  -- platform id <-> ERP id of the same thing, and what was last written under it.
  create table link (
    kind text not null,
    platform_id text not null,
    erp_id text not null,
    born text not null check (born in ('platform', 'erp')),
    number text not null,
    content text,
    amount text,
    linked_ms integer not null,
    primary key (kind, platform_id),
    unique (kind, erp_id)
  ) strict, without rowid;

  create table batch (
    flow integer not null references flow,
    id text not null,
    name text not null,
    arrived_ms integer not null,
    turn integer not null,
    primary key (flow, id)
  ) strict, without rowid;

  create table breaker (
    breaker text not null,
    scope text not null,
    since_ms integer not null,
    retry_ms integer,
    message text not null,
    next text not null,
    primary key (breaker, scope)
  ) strict, without rowid;

  create table usage (
    month text not null,
    purpose text not null,
    requests integer not null,
    primary key (month, purpose)
  ) strict, without rowid;

  -- What happened to requests and what people decided. Append only.
  create table audit (
    audit integer primary key,
    at_ms integer not null,
    flow integer references flow,
    request integer,
    delivery integer,
    event text not null,
    detail text not null
  ) strict;
  create index audit_request on audit (request) where request is not null;
  create index audit_delivery on audit (delivery) where delivery is not null;
  create trigger audit_kept before delete on audit begin select raise(abort, 'the audit is append only'); end;
  create trigger audit_fixed before update on audit begin select raise(abort, 'the audit is append only'); end;
  `,
  `
  -- Deliveries of a refused batch that go together next (src/engine/halving.ts). It was the limit of such a batch.
  update delivery set lot_max = null where lot_max is not null;
  alter table delivery rename column lot_max to lot;
  create index delivery_lot on delivery (lot) where lot is not null;

  create index link_number on link (number);

  -- Which store this is; made when it is first opened.
  create table identity (store text not null) strict;

  -- 1 until it is final: indexes on it are left alone by every other move of the state.
  alter table request add column live integer;
  update request set live = 1 where state not in ('done', 'rejected', 'cancelled');
  drop index request_live;
  drop index request_open;
  create unique index request_live on request (operation, number) where live = 1;
  create index request_open on request (flow, request) where live = 1;
  create index request_lane on request (lane) where live = 1;
  `,
  `
  -- First sends that were answered with a replay (src/engine/replays.ts).
  create index audit_replay on audit (at_ms) where event = 'warning: replayed';

  -- Where a receiver holds other values than those that a record was brought to (src/engine/differs.ts): the delivery
  -- that is with a person for it, or was resolved, and the state that it has when both agree again.
  create table disagreement (
    record integer not null references record,
    finder text not null check (finder in ('inspection', 'reconciliation')),
    delivery integer not null references delivery,
    was text not null check (was in ('delivered', 'skipped')),
    digest text not null,
    primary key (record, finder)
  ) strict, without rowid;

  -- Up to which platform id the links of a flow were inspected in the current round (src/engine/verify.ts).
  create table inspected (
    flow integer primary key references flow,
    up_to text not null
  ) strict;
  `,
  `
  -- Delivered, and not settled yet: an invoice that waits for its payments (src/engine/waits.ts). It is sent again when
  -- it is due: at \`until_ms\`, or sooner when something came that may settle it.
  create table wait (
    record integer primary key references record,
    flow integer not null references flow,
    number text not null,
    delivery integer not null references delivery,
    since_ms integer not null,
    until_ms integer not null,
    due_ms integer not null
  ) strict;
  create index wait_due on wait (flow, due_ms);
  `,
  `
  -- How many pages its last complete reading came to: what the next reading of a list that is read whole will cost.
  alter table flow add column pages integer;
  `,
  `
  -- Reconciliations of both sides (src/engine/reconcile): each run, what it was about and how it ended.
  create table sweep (
    sweep integer primary key,
    scope text not null,
    state text not null check (state in ('reading', 'done', 'failed')),
    asked_by text not null,
    started_ms integer not null,
    ended_ms integer,
    requests integer not null default 0,
    counts text,
    agrees integer,
    detail text
  ) strict;
  create index sweep_scope on sweep (scope);

  -- Cases that keep both sides from agreeing. \`digest\`: of both sides' values; a decision binds to it.
  create table difference (
    difference integer primary key,
    kind text not null,
    case_key text not null,
    bucket text not null,
    digest text not null,
    number text not null,
    code text not null,
    cause text not null,
    next text not null,
    state text not null check (state in ('seen', 'open', 'cleared')),
    first_ms integer not null,
    last_ms integer not null,
    last_sweep integer not null references sweep,
    unique (kind, case_key)
  ) strict;
  create index difference_open on difference (state) where state <> 'cleared';

  -- When both sides of a flow last agreed, over how many documents and how much.
  create table agreement (
    flow integer primary key references flow,
    at_ms integer not null,
    documents integer not null,
    amount text
  ) strict;
  `,
  `
  -- 1: the mark of how far sending had got is inside the state folder, and one beside it counts no more (ADR 0024).
  alter table identity add column mark_inside integer not null default 0 check (mark_inside in (0, 1));

  -- Whose store this is; null until a daemon first opens it (ADR 0025).
  alter table identity add column company text;
  alter table identity add column platform text;
  alter table identity add column environment text;
  `,
  `
  -- Is what a document waits for skipped? (src/engine/awaited.ts)
  create index delivery_skipped on delivery (record) where state = 'skipped';
  `,
  `
  -- What a delivery was told by (the file and line, the version): its record knows that of the newest version only.
  alter table delivery add column version text;
  alter table delivery add column origin text;

  -- Requests that carried a delivery before the one that carries it now: its story has them, too.
  create table carried_before (
    delivery integer not null references delivery,
    request integer not null references request,
    primary key (delivery, request)
  ) strict, without rowid;
  create trigger delivery_carried after update of request on delivery
  when old.request is not null and new.request is not old.request
  begin insert or ignore into carried_before values (old.delivery, old.request); end;
  `,
  `
  -- The document that a delivery waits for, as its kind and id. It was told by the cause alone.
  alter table quarantine add column awaits text;
  update quarantine set awaits = substr(cause, length('waits for ') + 1) where code = 'waits-for';
  drop index quarantine_cause;
  create index quarantine_awaits on quarantine (awaits) where awaits is not null;
  `,
  `
  -- The whole case of a difference as the run found it, JSON: both values of every field. Null: found by an older version.
  alter table difference add column case_row text;
  `,
  `
  -- What a flow's source cannot read though it lies there, as of its last reading (src/engine/pull.ts).
  create table obstacle (
    flow integer not null references flow,
    what text not null,
    code text not null,
    since_ms integer not null,
    obstacle text not null,
    unique (flow, what, code)
  ) strict;
  `,
  oneSpellingOfKinds,
  factsInColumns,
  `
  -- The deliveries of a record, newest last: reconciliation asks for each record, and what is skipped is found by it too.
  create index delivery_of_record on delivery (record);
  drop index delivery_skipped;
  `,
  `
  -- When a flow's source was last read, and since when that fails; null: never, and not.
  alter table flow add column success_ms integer;
  alter table flow add column failing_ms integer;
  update flow set success_ms = last_run_ms where last_error is null;
  update flow set failing_ms = last_run_ms where last_error is not null;

  -- What is wrong now, as people were told of it (src/alerts). \`state\`: \`new\` and \`over\` wait to be told.
  create table alert (
    condition text primary key,
    state text not null check (state in ('new', 'told', 'over')),
    urgent integer not null check (urgent in (0, 1)),
    title text not null,
    detail text not null,
    next text not null,
    since_ms integer not null,
    changed_ms integer not null
  ) strict, without rowid;

  -- Messages about it that no channel has taken yet, as they will go out.
  create table alert_message (
    message integer primary key,
    channel text not null,
    id text not null,
    body text not null,
    created_ms integer not null,
    attempts integer not null default 0,
    next_ms integer not null,
    unique (channel, id)
  ) strict;

  -- Who decided it, and why; null: fuelbridge itself, or an entry from before these columns.
  alter table audit add column who text;
  alter table audit add column reason text;
  create index audit_of_people on audit (audit) where who is not null;

  -- Who sees to a delivery in quarantine, and what people wrote about it.
  create table assignment (
    delivery integer primary key references delivery,
    assignee text not null,
    at_ms integer not null
  ) strict;
  create table quarantine_note (
    note integer primary key,
    delivery integer not null references delivery,
    at_ms integer not null,
    who text not null,
    text text not null
  ) strict;
  create index quarantine_note_delivery on quarantine_note (delivery);
    `,
  answersOfPartners,
  rhythm,
  consoleFacts,
  answersOfSap,
  correctedFields,
  backfillsKept,
  auditChained,
  bytesMayGo,
  countsKept,
  notebooksOfEndpoints,
  flowsWatched,
  `
  -- Requests of each day (UTC) by purpose: the running month and the last one. \`usage\` has the sums of all months.
  create table usage_day (
    day text not null,
    purpose text not null,
    requests integer not null,
    primary key (day, purpose)
  ) strict, without rowid;
  `,
  countsByPage,
  lighterMoves,
  comparedMoves,
  `
  -- Of what came and was refused: the hash of its bytes. It stands until a person settles it or it comes whole. Null: it
  -- lies there unread, as of the last reading.
  alter table obstacle add column id text;
  `,
  `
  -- What a reconciliation could not compare, JSON; null: nothing, or an older version ran it.
  alter table sweep add column unasked text;

  -- Walks for records that were committed late, flow by flow: how far the last one reached, and what became of the last try.
  create table deep_walk (
    flow integer primary key references flow,
    -- The flow's watermark when the last one that succeeded began; null: none has.
    watermark text,
    walked_ms integer,
    -- When a whole quarter was last walked.
    quarter_ms integer,
    -- When the last try failed, and why; null: it succeeded.
    failed_ms integer,
    message text,
    next text
  ) strict;
  `,
  `
  -- Records that the newest whole list of their flow lacks (src/engine/lists.ts). \`concluded\`: the list was believed.
  create table unlisted (
    record integer primary key references record,
    flow integer not null references flow,
    since_ms integer not null,
    concluded integer not null check (concluded in (0, 1))
  ) strict;
  create index unlisted_of_flow on unlisted (flow);

  -- How many records a list has that waits for a person, and how many a person has accepted.
  create table list_limit (
    flow integer primary key references flow,
    held integer,
    accepted integer
  ) strict;

  -- A record that its list lacks is told as a disagreement is, and closes as one does.
  create table disagreement_of_lists (
    record integer not null references record,
    finder text not null check (finder in ('inspection', 'reconciliation', 'list')),
    delivery integer not null references delivery,
    was text not null check (was in ('delivered', 'skipped')),
    digest text not null,
    primary key (record, finder)
  ) strict, without rowid;
  insert into disagreement_of_lists select record, finder, delivery, was, digest from disagreement;
  drop table disagreement;
  alter table disagreement_of_lists rename to disagreement;
  `,
  documentsByTheirIds,
  withSums,
];
