#!/usr/bin/env bash
# Installs the system packages that tests need, with apt-get where it may, and says what is missing where it may not.
set -euo pipefail
missing=()
compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || missing+=(postgresql)
[ "${#missing[@]}" -eq 0 ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null && exit 0
fi
echo "missing system packages: ${missing[*]} (only tests need them; install them with: apt-get install ${missing[*]})" >&2
