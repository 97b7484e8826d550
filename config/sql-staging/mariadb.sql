-- What MariaDB has of the tables, in the words of schema.sql: columns, indexes and the encoding of the database.
select concat(table_name, '.', column_name) as name,
  concat(
    case data_type when 'decimal' then 'numeric' else data_type end,
    case when data_type = 'decimal' then concat('(', numeric_precision, ', ', numeric_scale, ')')
      when character_maximum_length > 0 then concat('(', character_maximum_length, ')') else '' end,
    case is_nullable when 'NO' then ' not null' else '' end
  ) as type
from information_schema.columns where table_schema = database() and table_name like 'fuelbridge%'
union all
select index_name, concat(case max(non_unique) when 0 then 'unique ' else '' end, '(', group_concat(column_name order by seq_in_index separator ', '), ')')
from information_schema.statistics where table_schema = database() group by table_name, index_name
union all
select 'encoding', replace(default_character_set_name, 'utf8mb4', 'utf8') from information_schema.schemata where schema_name = database()
