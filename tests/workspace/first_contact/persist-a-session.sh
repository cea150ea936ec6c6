#!/usr/bin/env bash
# First contact: install a wheel with pip and follow the quickstart until a session outlives its process.
# Needs CLONE (for the page), DIST (the folder that stands for the index) and PYTHON (one that has virtualenv).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
page="$CLONE/docs/guides/quickstart.md"
"$PYTHON" "$here/fences.py" "$page" python > quickstart.py
"$PYTHON" "$here/fences.py" "$page" shell > quickstart.sh

"$PYTHON" -m virtualenv --quiet --no-download environment
export PATH="$PWD/environment/bin:$PATH"
# Our own distributions come from the folder and from nowhere else.
for wheel in "$DIST"/*.whl; do
  name=$(basename "$wheel"); name=${name%%-*}
  echo "${name//_/-} @ file://$wheel"
done > constraints.txt
export PIP_CONSTRAINT="$PWD/constraints.txt" PIP_FIND_LINKS="$DIST" PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1
grep -q '^pip install dsh-' quickstart.sh
bash -euo pipefail quickstart.sh
python -W error quickstart.py
pip check
