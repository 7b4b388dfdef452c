#!/usr/bin/env bash
# Installs the system packages that tests need, with apt-get where it may, and says what is missing where it may not.
set -euo pipefail
missing=()
compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || missing+=(postgresql)
# Spark runs on Java 17 or newer.
java="${JAVA_HOME:+$JAVA_HOME/bin/}java"
version="$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)" || true
[ "${version:-0}" -ge 17 ] || missing+=(openjdk-17-jre-headless)
# The report is looked at in a real browser.
command -v chromium >/dev/null || missing+=(chromium)
[ "${#missing[@]}" -eq 0 ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null && exit 0
fi
echo "missing system packages: ${missing[*]} (only tests need them; install them with: apt-get install ${missing[*]})" >&2
