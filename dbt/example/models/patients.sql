{{ config(materialized='anonymized', release='releases/patients', policy='policy.toml', options=['--no-html']) }}

-- Rows that never become a table of their own: what is asked for here is published as a release.
select
  20 + (i * 7) % 60 as age,
  case when i % 2 = 0 then 'f' else 'm' end as sex,
  case i % 5 when 0 then 'flu' when 1 then 'gout' when 2 then 'asthma' when 3 then 'migraine' else 'none' end as diagnosis
from range(1, 2001) as rows (i)
