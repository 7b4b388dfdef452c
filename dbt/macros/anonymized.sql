{#
  A model whose table is a verified release of its rows. The rows themselves never become a table: they go to a
  private copy, mahrem makes the release folder of it, and the table is what that folder publishes.

    {{ config(materialized='anonymized', release='releases/patients', policy='policies/patients.toml') }}

  `options` is a list of further words of the command line, such as ['--memory', '4GB'].
#}
{% materialization anonymized, adapter='duckdb' %}
  {%- set release = config.require('release') -%}
  {%- set target_relation = this.incorporate(type='table') -%}
  {%- set existing = load_cached_relation(this) -%}
  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {%- set place = mahrem.copied(compiled_code) -%}
  {%- set words = mahrem.release_words(place, release, config.get('policy'), config.get('options', [])) -%}
  {%- set code = mahrem.exit_code(words, place) -%}
  {%- if code != 0 -%}
    {% do exceptions.raise_compiler_error(
      'mahrem made no release of ' ~ this.identifier ~ ': exit code ' ~ code ~ ' (1: it does not hold, 2: asked '
      ~ 'wrongly, 3: cannot be reached, 74: cannot be written); what it said stands above'
    ) %}
  {%- endif -%}

  {% if existing is not none and existing.type != 'table' %}{{ adapter.drop_relation(existing) }}{% endif %}
  {% call statement('main') -%}
    create or replace table {{ target_relation }} as
    select * from read_parquet('{{ release | replace("'", "''") }}/data.parquet')
  {%- endcall %}
  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {% do persist_docs(target_relation, model) %}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}


{#
  The same as a post-hook of a model that stays as it is: a release folder beside its table.

    {{ config(post_hook="{{ mahrem.release(this, 'releases/patients', policy='policies/patients.toml') }}") }}
#}
{% macro release(relation, folder, policy=none, options=[]) -%}
  {%- if execute -%}
    {%- set place = mahrem.copied('select * from ' ~ relation) -%}
    {%- set code = mahrem.exit_code(mahrem.release_words(place, folder, policy, options), place) -%}
    {%- if code != 0 -%}
      {% do exceptions.raise_compiler_error('mahrem made no release: exit code ' ~ code) %}
    {%- endif -%}
  {%- endif -%}
  select 1
{%- endmacro %}
