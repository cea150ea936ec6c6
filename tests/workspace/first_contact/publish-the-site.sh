#!/usr/bin/env bash
# First contact: from a clone and nothing else to a site that could be copied to a web server.
# Needs CLONE (a clone of the repository that may change) and PYTHON (a Python with pip).
set -euo pipefail
cd "$CLONE"
make setup PYTHON="$PYTHON"
.venv/bin/python scripts/site.py build --without-diagrams
for page in index.html rfc/index.html zh/index.html 404.html search/search_index.json sitemap.xml; do
  [ -s "build/site/$page" ] || { echo "the site has no $page"; find build/site -maxdepth 2 | head -50; exit 1; }
done
# Every RFC has its page.
find docs/rfc -name '20*.md' ! -name '*.zh.md' | sed 's|^docs/||; s|\.md$||' | while IFS= read -r rfc; do
  [ -s "build/site/$rfc/index.html" ] || { echo "$rfc is not on the site"; exit 1; }
done
# What is published is the folder: served from anywhere else, it is whole.
published=$(mktemp -d)
cp -r build/site/. "$published"
(cd "$published" && exec "$PYTHON" -c '
import functools, http.server, pathlib, threading, urllib.request
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=".")
with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/rfc/") as answer:
        text = answer.read().decode()
    assert "Event-sourced" in text, text[:500]
    server.shutdown()
')
[ -z "$(git status --porcelain)" ] || { git status --short; exit 1; }
