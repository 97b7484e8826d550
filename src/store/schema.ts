/**
 * The store's schema. Version 1 is the first that was released: from then on a step is never edited, the next one is
 * appended (database.ts runs them). The shape follows what was measured (bench/pull): rowid tables, ids of platform records
 * as 16 bytes, no index that an insert pays for and no question needs. `sum`: the row's checksum (statements.ts).
 */
import { deliveryMoves } from "../core/record.ts";
import { legalMoves } from "../core/request.ts";
import { isOneOf } from "./statements.ts";

/** A table of legal moves as SQL: even a faulty statement cannot make another. */
function legal(table: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(table)
    .filter(([, targets]) => targets.length > 0)
    .map(([from, targets]) => `old.state = '${from}' and ${isOneOf("new.state", targets)}`)
    .join(" or ");
}

/** Of deliveries, as their index has it. */
export const IS_CLOSED = isOneOf("state", ["echo", "skipped", "resolved"]);

const flows = `
  create table flow (
    flow integer primary key,
    name text not null unique,
    -- What its documents are (src/core/kinds.ts); null: it was not told.
    kind text,
    position text,
    next_due_ms integer,
    last_run_ms integer,
    -- Why the last run did not read its source; null: it did.
    last_error_code text,
    last_error text,
    last_error_next text,
    -- When its source was last read, and since when that fails; null: never, and not.
    success_ms integer,
    failing_ms integer,
    -- How many pages its last complete reading came to: what the next reading of a list that is read whole will cost.
    pages integer,
    -- Since when a person has paused it; null: nobody has.
    held_ms integer,
    -- What came until then may be at the receiver though no link says so: its first reading, and what a restored store had before
    -- its release (src/engine/copies.ts). Null: its first reading has not ended.
    doubtful_ms integer,
    -- How often something came in each hour of the week (src/core/pace.ts), JSON; null: it was not looked at yet.
    rates text,
    -- 1: the versions that newer ones replace are kept, too (earlier_version).
    keeps_versions integer not null default 0 check (keeps_versions in (0, 1))
  ) strict;

  -- The newest runs of each flow, for people.
  create table flow_run (
    run integer primary key,
    flow integer not null references flow,
    ended_ms integer not null,
    took_ms integer not null,
    received integer not null,
    error text
  ) strict;
  create index flow_run_flow on flow_run (flow, run);

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
  -- The longest silence in each hour of the week, UTC.
  create table silent_hour (
    flow integer not null references flow,
    hour integer not null check (hour between 0 and 167),
    longest_ms integer not null,
    primary key (flow, hour)
  ) strict, without rowid;

  -- Files that came, known by the hash of their bytes and by their numbers: the same ones may come again.
  create table receipt (
    flow integer not null references flow,
    id text not null,
    name text not null,
    received_ms integer not null,
    turn integer not null,
    primary key (flow, id)
  ) strict, without rowid;

  -- What lies at a flow's source and cannot be read, as of its last reading; with an \`id\` (the hash of its bytes) what came
  -- and was refused, until a person settles it or it comes whole. \`file\`: the whole of it, JSON.
  create table blocked_file (
    flow integer not null references flow,
    name text not null,
    code text not null,
    since_ms integer not null,
    file text not null,
    id text,
    unique (flow, name, code)
  ) strict;

  -- Past periods that are read anew beside the live position (src/engine/backfill.ts).
  create table backfill (
    backfill integer primary key,
    flow integer not null references flow,
    from_day text not null,
    to_day text not null,
    state text not null check (state in ('reading', 'paused', 'done')),
    position text not null,
    share integer not null,
    asked_by text not null,
    began_ms integer not null,
    changed_ms integer not null,
    expected integer,
    gone integer not null default 0,
    records integer not null default 0,
    received integer not null default 0,
    requests integer not null default 0,
    code text,
    message text,
    next text
  ) strict;
  create unique index backfill_open on backfill (flow, from_day, to_day) where state <> 'done';

  -- What the platform's records have that the contract does not know (src/core/shape.ts); \`record\`: the first that had it.
  create table drift (
    flow integer not null references flow,
    what text not null check (what in ('new', 'value', 'missing')),
    field text not null,
    value text not null,
    count integer not null,
    record text not null,
    first_ms integer not null,
    last_ms integer not null,
    primary key (flow, what, field, value)
  ) strict, without rowid;

  -- Walks for records that were committed late: how far the last one reached, and what became of the last try.
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
`;

const documents = `
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
    sum integer,
    unique (flow, id)
  ) strict;

  -- What newer versions have replaced, of flows that keep it: which price was in force when (src/match).
  create table earlier_version (
    earlier_version integer primary key,
    record integer not null references record,
    replaced_ms integer not null,
    text text not null,
    sum integer
  ) strict;
  create index earlier_version_of_record on earlier_version (record);

  -- Records by the first ten characters of their version: its day, where it is a time stamp. '' stands for none. What is
  -- inserted is counted page by page (records.ts): a trigger for each row took a quarter of storing it (ADR 0001).
  create table record_count (
    flow integer not null references flow,
    day text not null,
    count integer not null,
    primary key (flow, day)
  ) strict, without rowid;
  create trigger record_changed after update of version on record
  when substr(old.version, 1, 10) is not substr(new.version, 1, 10)
  begin
    update record_count set count = count - 1
    where flow = old.flow and day = coalesce(substr(old.version, 1, 10), '');
    insert into record_count (flow, day, count) values (new.flow, coalesce(substr(new.version, 1, 10), ''), 1)
    on conflict do update set count = count + 1;
  end;

  -- One change on its way to one sink. received = the sum over all states, always.
  create table delivery (
    delivery integer primary key,
    flow integer not null references flow,
    record integer not null references record,
    revision text not null,
    received_ms integer not null,
    state text not null default 'pending' check ${isOneOf("state", Object.keys(deliveryMoves))},
    request integer references request,
    -- Goes only with those of the same group: parts of a refused batch (src/engine/deliver.ts).
    bisect_group integer,
    number text,
    -- The number as duplicates are looked for by it (\`comparedNumber\`, src/core/kinds.ts); null: it is written so.
    folded text,
    amount text,
    party text,
    content text,
    note text,
    -- The other site that it belongs to, which is why it was skipped.
    site text,
    -- What it was told by (the file and line, the version): its record knows that of the newest version only.
    version text,
    origin text,
    sum integer
  ) strict;
  create unique index delivery_open on delivery (record) where state in ('pending', 'quarantined');
  create index delivery_pending on delivery (flow, delivery) where state = 'pending';
  create index delivery_of_record on delivery (record);
  create index delivery_of_request on delivery (request) where request is not null;
  create index delivery_bisect_group on delivery (bisect_group) where bisect_group is not null;
  -- With the record, so that the newest ones under a prefix are found without reading their deliveries.
  create index delivery_number on delivery (number, record) where number is not null;
  create index delivery_folded on delivery (folded) where folded is not null;
  -- Records of other sites, which are counted.
  create index delivery_elsewhere on delivery (flow, site, record) where site is not null;
  -- What is closed, which people choose documents by. Each move of a delivery asks this twice: of a list SQLite would make a
  -- table each time.
  create index delivery_closed on delivery (state, record) where ${IS_CLOSED};

  -- What a hub has decided, in this order (src/engine/sites.ts): the site that a version of a record goes to. A row never
  -- changes: sites name the last one that they have read.
  create table routed (
    routed integer primary key,
    flow integer not null references flow,
    record integer not null references record,
    site text not null,
    at_ms integer not null
  ) strict;
  create index routed_of_record on routed (record, site);
  -- What is new to a site, in order: a look with nothing new reads no row.
  create index routed_of_site on routed (flow, site, routed);

  create table delivery_count (
    flow integer not null references flow,
    state text not null,
    count integer not null,
    primary key (flow, state)
  ) strict, without rowid;
  -- A trigger that runs before an update costs more than one after it; what this one refuses is taken back all the same.
  create trigger delivery_moves after update of state on delivery when old.state <> new.state
  begin
    select raise(abort, 'illegal move of a delivery') where not (${legal(deliveryMoves)});
    update delivery_count set count = count - 1 where flow = old.flow and state = old.state;
    insert into delivery_count (flow, state, count) values (new.flow, new.state, 1)
    on conflict do update set count = count + 1;
  end;

  -- The frozen bytes under one key, and what is known about them (src/core/request.ts).
  create table request (
    request integer primary key,
    flow integer not null references flow,
    operation text not null,
    kind text not null,
    number text not null,
    folded text,
    revision text not null,
    ordering_key text not null,
    key text not null unique,
    target text not null,
    body text not null,
    body_sha256 text not null,
    state text not null,
    -- 1 until it is final: indexes on it are left alone by every other move of the state.
    live integer,
    machine text not null,
    created_ms integer not null,
    updated_ms integer not null,
    -- When its bytes last left.
    sent_ms integer,
    body_gone_ms integer,
    sum integer
  ) strict;
  create unique index request_live on request (operation, number) where live = 1;
  create index request_ordering_key on request (ordering_key, flow) where live = 1;
  create index request_number on request (number);
  create index request_folded on request (folded) where folded is not null;
  create trigger request_moves after update of state on request
  when old.state <> new.state and not (${legal(legalMoves)})
  begin select raise(abort, 'illegal move of a request'); end;
  -- Bytes of replaced requests go when their time is over (requests.ts): what was sent is then known by its hash.
  create trigger request_frozen before update of body, target, body_sha256, body_gone_ms on request
  when not (old.live is null and old.body_gone_ms is null and new.body_gone_ms is not null and new.body = ''
    and new.target = old.target and new.body_sha256 = old.body_sha256)
  begin select raise(abort, 'frozen bytes do not change'); end;

  -- Requests that carried a delivery before the one that carries it now: its story has them, too.
  create table carried_before (
    delivery integer not null references delivery,
    request integer not null references request,
    primary key (delivery, request)
  ) strict, without rowid;
  create index carried_before_request on carried_before (request);
  create trigger delivery_carried after update of request on delivery
  when old.request is not null and new.request is not old.request
  begin insert or ignore into carried_before values (old.delivery, old.request); end;

  -- platform id <-> ERP id of the same thing, and what was last written under it.
  create table link (
    kind text not null,
    platform_id text not null,
    erp_id text not null,
    born text not null check (born in ('platform', 'erp')),
    number text not null,
    folded text,
    content text,
    amount text,
    party text,
    linked_ms integer not null,
    sum integer,
    primary key (kind, platform_id),
    unique (kind, erp_id)
  ) strict, without rowid;
  create index link_number on link (number);
  create index link_folded on link (folded) where folded is not null;

  -- Where documents of a kind that are born on a side go, since when: what was linked before is another receiver's
  -- (src/engine/left.ts). A row for each change of it.
  create table receiver (
    kind text not null,
    born text not null check (born in ('platform', 'erp')),
    since_ms integer not null,
    receiver text not null,
    primary key (kind, born, since_ms)
  ) strict, without rowid;

  -- The last number of each sequence that requests are numbered by (ADR 0019).
  create table sequence (
    sequence text primary key,
    last integer not null
  ) strict, without rowid;

  -- By what a copy of a document would be known (src/engine/lifecycle.ts): one row for each way, of each document that went.
  create table likeness (
    likeness text not null,
    record integer not null references record,
    primary key (likeness, record)
  ) strict, without rowid;
  create index likeness_record on likeness (record);
`;

const lifecycle = `
  -- Why a delivery needs a person; those of one flow, code and group_key are one group (src/core/record.ts, groupKey).
  create table quarantine (
    delivery integer primary key references delivery,
    code text not null,
    cause text not null,
    next text not null,
    field text,
    -- The cause without its values; what the group says.
    reason text,
    group_key text not null,
    -- The document that it waits for.
    awaits_kind text,
    awaits_id text,
    -- The receiver's ids of what may be the same document, a JSON array.
    candidates text,
    -- What the receiver made of it comes to, as digits, where that is another amount than was sent.
    amount text,
    -- The row of a cross-reference table that is missing.
    lookup_table text,
    lookup_key text,
    since_ms integer not null
  ) strict;
  create index quarantine_group on quarantine (code, group_key);
  create index quarantine_awaits on quarantine (awaits_kind, awaits_id) where awaits_id is not null;

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

  -- Fields that people corrected, beside the records as they were received (ADR 0007).
  create table correction (
    correction integer primary key,
    record integer not null references record,
    field text not null,
    -- What was received; null: the field was empty.
    was text,
    value text not null,
    -- Of the record with its corrections. Another one there: a newer version has come.
    revision text not null,
    who text not null,
    reason text not null,
    at_ms integer not null,
    -- Null: it stands.
    ended_ms integer
  ) strict;
  create unique index correction_standing on correction (record, field) where ended_ms is null;

  -- Delivered, and not settled yet: an invoice that waits for its payments (src/engine/delivered.ts). It is sent again when
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

  -- What happened to a record and matters for its later versions, whatever its number is by now.
  create table incident (
    record integer not null references record,
    incident text not null check (incident in ('gone', 'turned', 'unfinished')),
    state text not null check (state in ('open', 'retried', 'over')),
    primary key (record, incident)
  ) strict, without rowid;

  -- Documents of the receiver of which a person has said that they are not this one.
  create table dismissed (
    record integer not null references record,
    counterpart text not null,
    primary key (record, counterpart)
  ) strict, without rowid;

  -- Where a receiver holds other values than those that a record was brought to, or its list lacks it: the delivery that is
  -- with a person for it, or was resolved, and the state that it has when both agree again.
  create table disagreement (
    record integer not null references record,
    finder text not null check (finder in ('inspection', 'reconciliation', 'list')),
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

  -- Records that the newest whole list of their flow lacks (src/engine/pull.ts). \`concluded\`: the list was believed.
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

  -- What receivers tell later of documents that were delivered (src/engine/delivered.ts). \`counterpart\`: what the
  -- receiver calls it, \`due_ms\`: until when it is awaited, once it was delivered, and \`said_at\`: when the receiver said it,
  -- by its own clock; empty: it does not tell. \`told\`: 1 once a person has it.
  create table acknowledgement (
    exchange text not null,
    item text not null,
    -- What the exchange went as, where its receiver says that again; empty: it does not.
    sent_as text not null,
    flow integer not null references flow,
    delivery integer not null references delivery,
    state text not null default 'awaited' check (state in ('awaited', 'accepted', 'refused')),
    is_delivered integer not null default 0 check (is_delivered in (0, 1)),
    counterpart text,
    due_ms integer,
    told integer not null default 0 check (told in (0, 1)),
    detail text not null default '',
    reason text not null default '',
    said_at text not null default '',
    primary key (exchange, item)
  ) strict, without rowid;
  create index acknowledgement_open on acknowledgement (flow, state, due_ms) where told = 0 and state <> 'accepted';
  create index acknowledgement_delivery on acknowledgement (delivery);
`;

const reconciliation = `
  -- Reconciliations of both sides (src/engine/reconcile): each run, what it was about and how it ended.
  create table reconciliation_run (
    run integer primary key,
    scope text not null,
    -- One flow's name, or the papers that were matched alone; null: all. Company days, null: all of them.
    flow text,
    from_day text,
    to_day text,
    state text not null check (state in ('reading', 'done', 'failed')),
    asked_by text not null,
    started_ms integer not null,
    ended_ms integer,
    requests integer not null default 0,
    counts text,
    agrees integer,
    detail text,
    -- What it could not compare, JSON; null: it did not end.
    unasked text
  ) strict;
  create index reconciliation_run_scope on reconciliation_run (scope);

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
    -- The whole case as the run found it, JSON: both values of every field. Null: its time is over (requests.ts).
    case_row text,
    state text not null check (state in ('seen', 'open', 'accepted', 'disputed', 'cleared')),
    -- Who settled a finding of papers with these values, and why.
    note text,
    first_ms integer not null,
    last_ms integer not null,
    last_run integer not null references reconciliation_run,
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
`;

const daemon = `
  -- Which store this is, made when it is first opened, and whose it is; null until a daemon first opens it (ADR 0002).
  create table identity (
    store text not null,
    company text,
    platform text,
    environment text
  ) strict;

  -- What happened to requests and what people decided, as a chain (journal.ts). Append only. \`parts\`: what an entry says of
  -- each delivery of a request that carries several, JSON: {"DELIVERY": "what is said of it"}. \`who\`: the person who decided
  -- it, and \`reason\`: why; null: fuelbridge itself.
  create table audit (
    audit integer primary key,
    at_ms integer not null,
    flow integer references flow,
    request integer,
    delivery integer,
    event text not null,
    detail text not null,
    parts text,
    who text,
    reason text,
    chain blob not null
  ) strict;
  create index audit_request on audit (request) where request is not null;
  create index audit_delivery on audit (delivery) where delivery is not null;
  create index audit_of_people on audit (audit) where who is not null;
  create trigger audit_kept before delete on audit begin select raise(abort, 'the audit is append only'); end;
  create trigger audit_fixed before update on audit begin select raise(abort, 'the audit is append only'); end;

  create table breaker (
    breaker text not null,
    scope text not null,
    since_ms integer not null,
    retry_ms integer,
    message text not null,
    next text not null,
    primary key (breaker, scope)
  ) strict, without rowid;
  -- When a person last cleared each.
  create table released (
    breaker text primary key,
    at_ms integer not null,
    released_by text not null
  ) strict, without rowid;
  -- First sends that were answered with a replay (src/engine/breakers.ts).
  create table replay (
    at_ms integer not null,
    request integer not null references request
  ) strict;
  create index replay_at on replay (at_ms);

  -- Requests to the platform by month, and of the running month and the last one by day (UTC), by purpose.
  create table usage (
    month text not null,
    purpose text not null,
    requests integer not null,
    primary key (month, purpose)
  ) strict, without rowid;
  -- \`flow\`: whose work asked for them; 0: that of none.
  create table usage_day (
    day text not null,
    flow integer not null,
    purpose text not null,
    requests integer not null,
    primary key (day, flow, purpose)
  ) strict, without rowid;

  -- How far looks are ahead of what the rest of the month allows (src/core/budget.ts), as of \`at_ms\`; one row.
  create table haste (
    row integer primary key check (row = 1),
    requests real not null,
    at_ms integer not null
  ) strict;

  -- How many changes of a flow were stored and delivered in a month (UTC), by how long after the platform had them: a length
  -- as src/core/pace.ts counts it; 0: it does not say, or the flow's first reading brought them. \`worked\`: in office hours.
  create table staleness (
    month text not null,
    flow integer not null references flow,
    step text not null check (step in ('stored', 'delivered')),
    worked integer not null check (worked in (0, 1)),
    length integer not null,
    count integer not null,
    primary key (month, flow, step, worked, length)
  ) strict, without rowid;

  -- Small texts of an endpoint, by its own names for them (src/core/contract.ts, Notebook).
  create table notebook (
    endpoint text not null,
    name text not null,
    text text not null,
    primary key (endpoint, name)
  ) strict, without rowid;

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

  -- Rows of cross-reference tables that a document asked for: when first and last, the latter to the day.
  create table row_use (
    lookup_table text not null,
    key text not null,
    first_ms integer not null,
    last_ms integer not null,
    primary key (lookup_table, key)
  ) strict, without rowid;

  -- By what a document is found beside its number: the other party, the amount, the day (src/store/queries.ts). It is
  -- made from the records and can be made again.
  create table search_party (
    party integer primary key,
    name text not null unique
  ) strict;
  create table search_record (
    record integer primary key references record,
    party integer references search_party,
    -- As people call the party.
    name text,
    -- As it is written, with its currency; and in hundredths, rounded, which it is found and sorted by.
    amount text,
    currency text,
    cents integer,
    -- Its own day, or the one on which it came.
    day text not null,
    number text not null
  ) strict;
  create index search_by_party on search_record (party) where party is not null;
  create index search_by_amount on search_record (cents) where cents is not null;
  create index search_by_day on search_record (day);
  create index search_by_name on search_record (name) where name is not null;
  create index search_by_number on search_record (number);
  -- The last delivery whose record was taken into it.
  create table search_end (delivery integer not null) strict;
  insert into search_end values (0);
`;

/** Each makes of a store of the version before it one of its own, which is its place in the list, from 1. */
export const schemaSteps: readonly string[] = [
  flows + documents + lifecycle + reconciliation + daemon,
];
