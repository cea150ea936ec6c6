#!/usr/bin/env bash
# First contact: write an RFC and get it through the gates, here by CONTRIBUTING.md and elsewhere from an empty folder.
# Needs CLONE (a clone of the repository that may change) and PROGRAMS (an environment with the wheels).
set -euo pipefail
export PATH="$PROGRAMS:$PATH"
here=$(cd "$(dirname "$0")" && pwd)

echo "== here, following CONTRIBUTING.md"
cd "$CLONE"
dsh-rfc check
steps=$(mktemp)
python "$here/fences.py" CONTRIBUTING.md shell | grep -vE '^(make|export PATH|dsh-rfc pairs|$)' > "$steps"
grep -q '^git switch' "$steps"
# The page says: make the file, write it from the skeleton, check, renew the index.
while IFS= read -r line; do
  echo "\$ $line"
  eval "$line"
  if [[ $line == touch* ]]; then
    rfc=$(git status --porcelain --untracked-files=all | sed -n 's/^?? //p')
    [ -f "$rfc" ]
    if dsh-rfc check; then echo "an empty file passes"; exit 1; fi
    python "$here/fences.py" docs/rfc/README.md markdown 2 > "$rfc"  # the first block is the header alone
    if dsh-rfc check; then echo "a bare skeleton passes"; exit 1; fi
    sed -i 's/<title>/A shorter topic/; s/^## .*/&\n\nWords about it./' "$rfc"
    dsh-rfc index
  fi
done < "$steps"
dsh-rfc check
dsh-rfc index --check

echo "== elsewhere, from an empty folder"
cd "$(mktemp -d)"
git init --quiet
rfc=docs/rfc/proposed/feature/2026-08-01-shorter-start.md
mkdir -p "$(dirname "$rfc")"
printf '# RFC: A shorter start\n\nStatus: proposed\n\n## Problem\n\nA start takes four seconds.\n' > "$rfc"
code=0; dsh-rfc check > findings.txt || code=$?
[ "$code" = 1 ]
grep -q 'section-missing' findings.txt
# The command names what is missing; what it names is written.
dsh-rfc explain section-missing > /dev/null
for section in Proposal 'Alternatives considered' 'Acceptance criteria' Risks; do
  printf '\n## %s\n\nWords about it.\n' "$section" >> "$rfc"
done
dsh-rfc index
dsh-rfc check
