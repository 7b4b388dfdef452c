{#
  A test of a model or source: its table, as it lies in the warehouse, keeps what a policy promises.

    data_tests:
      - mahrem.keeps_promise:
          policy: policies/patients.toml      # or
          options: ['--qi', 'age,sex', '-k', '5']
#}
{% test keeps_promise(model, policy=none, options=[]) %}
  {%- if execute and flags.WHICH in ('test', 'build') -%}
    {%- set place = mahrem.copied('select * from ' ~ model) -%}
    {%- set code = mahrem.exit_code(mahrem.audit_words(place, policy, options), place) -%}
  {%- else -%}
    {%- set code = 0 -%}
  {%- endif -%}
  select exit_code from (select {{ code }} as exit_code) as audited where exit_code <> 0
{% endtest %}
