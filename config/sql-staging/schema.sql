-- Tables between fuelbridge and the ERP's own job. `fuelbridge sql schema postgresql` (or mariadb) prints them for a server.
-- A document is a row of fuelbridge_document for each of its versions; its lines and taxes are rows by its seq.

create table fuelbridge_document (
  seq {identity} primary key,
  -- invoice, bill, payment; the platform's id; its version, from 1; a hash of what the job is told
  kind varchar(10) not null,
  id varchar(100) not null,
  version bigint not null,
  content varchar(64) not null,
  written_at {instant} default {now} not null,
  -- the platform's number; open or void; sale or purchase
  number varchar(100) not null,
  state varchar(10) not null,
  side varchar(10) not null,
  -- of an invoice or bill: its party by the code of the cross-reference, and by the platform's id
  party_code varchar(80),
  party_name varchar(200),
  party_company_id varchar(100),
  document_date date not null,
  due_date date,
  ended_date date,
  po_number varchar(100),
  ship_to varchar(500),
  -- of an invoice its contract, of a payment its method and reference
  description varchar(1000),
  -- of a payment: the number of the check or transfer, and the id of the invoice or bill
  reference varchar(200),
  invoice_id varchar(100),
  currency varchar(3) not null,
  subtotal numeric(24, 8),
  tax numeric(24, 8),
  total numeric(24, 8) not null,
  -- the job's answer: new, then taken, then accepted or rejected; fuelbridge alone writes superseded and withdrawn
  status varchar(10) default 'new' not null,
  message varchar(2000),
  erp_number varchar(100),
  answered_at {instant},
  -- fuelbridge's own: which answer it has read, and when
  told varchar(10),
  told_at {instant},
  told_in bigint,
  untold varchar(10) generated always as (case when status in ('accepted', 'rejected', 'withdrawn') and (told is null or told <> status
    or (told_at is null) <> (answered_at is null) or told_at <> answered_at) then kind end) stored,
  check (kind in ('invoice', 'bill', 'payment')),
  check (state in ('open', 'void')),
  check (status in ('new', 'taken', 'accepted', 'rejected', 'superseded', 'withdrawn')),
  check (status <> 'rejected' or message is not null),
  check (status not in ('accepted', 'rejected') or answered_at is not null)
){options};

create table fuelbridge_line (
  document_seq bigint not null,
  line bigint not null,
  product varchar(80),
  account varchar(80),
  quantity numeric(24, 8) not null,
  unit varchar(20),
  unit_price numeric(24, 8) not null,
  amount numeric(24, 8) not null,
  description varchar(1000) not null,
  primary key (document_seq, line),
  foreign key (document_seq) references fuelbridge_document (seq)
){options};

create table fuelbridge_tax (
  document_seq bigint not null,
  line bigint not null,
  account varchar(80) not null,
  description varchar(500) not null,
  base numeric(24, 8) not null,
  amount numeric(24, 8) not null,
  authority varchar(200),
  product varchar(80),
  gallons numeric(24, 8),
  rate numeric(24, 8),
  primary key (document_seq, line),
  foreign key (document_seq) references fuelbridge_document (seq)
){options};

-- The first one stands between a document and its double; the second one finds what the job has answered. What tells one row from
-- all others comes first: a server that has not counted its rows yet takes a wrong index else, and reads the table for each row.
create unique index fuelbridge_once on fuelbridge_document (id, kind, version);
create index fuelbridge_untold on fuelbridge_document (untold, seq);
create index fuelbridge_told_in on fuelbridge_document (told_in);
create index fuelbridge_work on fuelbridge_document (status, seq);
create index fuelbridge_number on fuelbridge_document (number, kind);
create index fuelbridge_paid on fuelbridge_document (invoice_id, kind);
create index fuelbridge_day on fuelbridge_document (document_date, kind);
