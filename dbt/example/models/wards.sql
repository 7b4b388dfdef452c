{{ config(
    materialized='view',
    post_hook="{{ mahrem.release(this, 'releases/wards', options=['--qi', 'ward', '--sensitive', 'diagnosis', '-k', '10', '--no-html']) }}"
) }}

select
  case i % 3 when 0 then 'A' when 1 then 'B' else 'C' end as ward,
  case i % 2 when 0 then 'flu' else 'gout' end as diagnosis
from range(1, 301) as rows (i)
