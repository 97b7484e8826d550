-- What PostgreSQL has of the tables, in the words of schema.sql: columns, indexes and the encoding of the database.
select concat(table_name, '.', column_name) as name,
  concat(
    case data_type when 'character varying' then 'varchar' when 'timestamp with time zone' then 'timestamptz' else data_type end,
    case when data_type = 'numeric' then concat('(', numeric_precision, ', ', numeric_scale, ')')
      when character_maximum_length > 0 then concat('(', character_maximum_length, ')') end,
    case is_nullable when 'NO' then ' not null' end
  ) as type
from information_schema.columns where table_schema = current_schema() and table_name like 'fuelbridge%'
union all
select indexname, concat(case when indexdef like 'CREATE UNIQUE%' then 'unique ' end, substring(indexdef from '[(].*$'))
from pg_indexes where schemaname = current_schema()
union all
select 'encoding', lower(getdatabaseencoding())
