{# A command of mahrem as an expression of DuckDB that gives its exit code; words may hold anything. #}
{% macro command(words) -%}
mahrem([{% for word in words %}'{{ (word | string) | replace("'", "''") }}'{% if not loop.last %}, {% endif %}{% endfor %}])
{%- endmacro %}


{# The words that make a release of a file: a policy file, or options as on the command line, or both. #}
{% macro release_words(source, folder, policy=none, options=[]) -%}
  {%- set words = ['anonymize', source, '--output', folder, '--format', 'parquet', '--force', '--quiet'] -%}
  {%- if policy is not none -%}{%- set words = words + ['--policy', policy] -%}{%- endif -%}
  {{ return(words + options) }}
{%- endmacro %}


{# The words that check what a file promises. #}
{% macro audit_words(source, policy=none, options=[]) -%}
  {%- set words = ['audit', source, '--quiet'] -%}
  {%- if policy is not none -%}{%- set words = words + ['--policy', policy] -%}{%- endif -%}
  {{ return(words + options) }}
{%- endmacro %}


{# A copy of rows that only this user can read, for a command to look at; gives where it lies. #}
{% macro copied(rows) -%}
  {%- set place = run_query('select mahrem_place()').columns[0].values()[0] -%}
  {#- The rows end on a line of their own: a model may end in a comment. -#}
  {%- do run_query("copy (\n" ~ rows ~ "\n) to '" ~ (place | replace("'", "''")) ~ "' (format parquet)") -%}
  {{ return(place) }}
{%- endmacro %}


{# Run a command and give its exit code; the copy it looked at goes with it. #}
{% macro exit_code(words, place) -%}
  {%- set code = run_query('select ' ~ mahrem.command(words)).columns[0].values()[0] -%}
  {%- do run_query("select mahrem_forget('" ~ (place | replace("'", "''")) ~ "')") -%}
  {{ return(code | int) }}
{%- endmacro %}
