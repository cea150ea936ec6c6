"""From documents to the trees that a site builder renders.

The step between the files that people edit and the builder: one tree per language, plain Markdown and plain assets,
with everything that is ours already written into them. Nothing here knows which builder comes next. `staging.stage`
is the step, `command` its command line; importing this package imports neither.

Flow: settings -> sources -> reprinted bodies and the links between them -> pages, explorer, feeds -> files.
"""
