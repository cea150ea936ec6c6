#!/usr/bin/env bash
# First contact: install the contract with pip, copy the guide on backends from top to bottom, and let pytest judge it.
# Needs CLONE (for the page), DIST (the folder that stands for the index) and PYTHON (one that has virtualenv).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
"$PYTHON" "$here/fences.py" "$CLONE/docs/guides/writing-a-backend.md" python > test_documents.py

"$PYTHON" -m virtualenv --quiet --no-download environment
export PATH="$PWD/environment/bin:$PATH"
for wheel in "$DIST"/*.whl; do
  name=$(basename "$wheel"); name=${name%%-*}
  echo "${name//_/-} @ file://$wheel"
done > constraints.txt
export PIP_CONSTRAINT="$PWD/constraints.txt" PIP_FIND_LINKS="$DIST" PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1
pip install 'dsh-session-persistence[testing]'
pytest -q test_documents.py | tee report.txt
grep -qE '^[0-9]{3,} passed' report.txt

# The contract is not satisfied by anything: a backend that stores the first event of a batch alone is caught.
sed 's/for event in events)\])/for event in events[:1])])/' test_documents.py > test_forgetful.py
if cmp -s test_documents.py test_forgetful.py; then echo "the guide no longer writes a batch here"; exit 1; fi
sed -i '/^for name in (/,$d' test_forgetful.py
sed -i '/^assert .*asyncio.run(main())/d' test_forgetful.py
code=0; pytest -q test_forgetful.py > forgetful.txt || code=$?
if [ "$code" != 1 ]; then echo "the contract accepts a backend that forgets events"; tail -20 forgetful.txt; exit 1; fi
grep -q '^FAILED .*TestDocuments::test_' forgetful.txt
