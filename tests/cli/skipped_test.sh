#!/usr/bin/env bash
# The summary of skipped tests: what was skipped, why, and whether this machine could have run it.
source "$(dirname "$0")/check.sh"
mkdir "$work/reports"
cat >"$work/reports/test_a.xml" <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<testsuites><testsuite name="A">
<testcase name="Runs" classname="A" result="completed"/>
<testcase name="Lacks" classname="A" result="skipped">
<skipped message="a.cpp:3&#x0A;needs fixture thing/x.safetensors&#x0A;"><![CDATA[a.cpp:3
needs fixture thing/x.safetensors
]]></skipped></testcase>
</testsuite></testsuites>
XML
summary=(env ADDP_FIXTURES="$work/fixtures" tools/skipped.py "$work/reports")
check lacking 0 --out '^  1 needs fixture thing/x.safetensors: A.Lacks$' -- "${summary[@]}" --strict
check count 0 --out '^1 tests were skipped$' -- "${summary[@]}"
mkdir -p "$work/fixtures/thing"
touch "$work/fixtures/thing/x.safetensors"
check here 0 --out 'x.safetensors, which is here: A.Lacks' -- "${summary[@]}"
check here-strict 1 --err 'this machine could run' -- "${summary[@]}" --strict
rm "$work/reports/test_a.xml"
ADDP_REPORTS=$work/reports skip part 'needs file /nowhere' >/dev/null
check shell 0 --out '^  1 needs file /nowhere: part$' -- "${summary[@]}" --strict
ADDP_REPORTS=$work/reports skip page 'needs browser environment' >/dev/null
check browser 0 --out '^  1 needs browser environment: page$' -- env XDG_CACHE_HOME="$work" "${summary[@]}" --strict
ADDP_REPORTS=$work/reports skip other 'no time' >/dev/null
check unknown-reason 0 --out '^  1 without a known reason: other$' -- "${summary[@]}"
check unknown-reason-strict 1 -- "${summary[@]}" --strict
finish
