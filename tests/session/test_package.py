"""The package as its users meet it: names, import, errors, documents."""

import ast
import doctest
import importlib
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

import dsh_session
from dsh_session import errors
from dsh_session.reference import event_schema, render_event_reference, render_event_schema
from dsh_session.vocabulary import registered_models
from dsh_session.vocabulary.samples import SAMPLES

ROOT = Path(__file__).parents[2]
MODULES = [module.name for module in pkgutil.walk_packages(dsh_session.__path__, "dsh_session.")]


def test_importing_the_package_builds_no_models():
    """The models take longer to build than everything else together, and a command line may not need them."""
    code = "import sys, dsh_session; print('pydantic.main' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


def test_every_public_name_exists_and_is_listed():
    """Lazy names must be found by tools as eager ones are."""
    assert sorted(dsh_session.__all__, key=str.lower) == sorted(set(dsh_session.__all__), key=str.lower)
    for name in dsh_session.__all__:
        assert getattr(dsh_session, name) is not None
        assert name in dir(dsh_session)
    with pytest.raises(AttributeError):
        _ = dsh_session.nothing


def test_the_lazy_names_are_those_that_a_type_checker_sees():
    """Two lists of one thing drift apart unless something compares them."""
    tree = ast.parse(Path(dsh_session.__file__).read_text(encoding="utf-8"))
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name: node.module for node in guarded.body for alias in node.names}
    assert seen == dsh_session._LAZY


def test_the_errors_are_the_tree_that_their_docstring_draws():
    """A reader decides by the branch who must act."""
    classes = {
        name: value
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.SessionError)
    }
    drawn = errors.__doc__
    for name, error in classes.items():
        assert name in drawn
        assert name in dsh_session.__all__
        if error.__bases__ != (errors.SessionError,) and error is not errors.SessionError:
            assert set(error.__bases__) <= {errors.CallerError, errors.DataError, errors.WorldError}


@pytest.mark.parametrize(
    "error",
    [
        errors.NotJsonSerializable("t", "a.b", "nan"),
        errors.InvalidEvent("r", event_type="t", path="p", index=3),
        errors.InvalidHeader("r", key="id"),
        errors.UnsupportedVersion(7, 0),
        errors.NestingViolation("t", "r", open_turn=1),
        errors.InvalidSurfaceOp("t", "r"),
        errors.InvalidSeed(2, "r"),
        errors.InvalidSessionId("", "empty"),
        errors.InvalidCwd("x"),
        errors.DuplicateSession("s"),
        errors.NotAttached("s"),
        errors.WrongThread("s"),
        errors.ReservedEventType("turn/start"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_says_every_field_it_carries(error):
    """People read the text, programs the fields."""
    for value in vars(error).values():
        if value is not None and value != "" and not (isinstance(value, int) and value == 1):
            assert str(value) in str(error) or repr(value) in str(error)


@pytest.mark.repository
def test_the_reference_on_disk_is_the_one_that_the_models_give():
    """A page that has drifted is worse than none."""
    page = ROOT / "docs/reference/events.md"
    assert page.read_text(encoding="utf-8") == render_event_reference()


def test_every_core_type_has_a_section_and_an_example():
    """The reference is complete."""
    page = render_event_reference()
    for event_type in SAMPLES:
        assert f"### `{event_type}`" in page
    assert set(SAMPLES) <= set(registered_models())
    assert json.loads(render_event_schema()) == event_schema()


def test_the_schema_accepts_every_sample_and_every_real_line(log_path: Path):
    """Other languages validate logs with it."""
    schema = event_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for line in log_path.read_bytes().splitlines()[1:]:
        validator.validate(json.loads(line))


@pytest.mark.parametrize("event_type", SAMPLES)
def test_the_schema_accepts_samples_and_refuses_broken_ones(event_type):
    """A schema that accepts everything would prove nothing."""
    validator = jsonschema.Draft202012Validator(event_schema())
    event = dsh_session.SessionEvent(type=event_type, seq=0, time=0, data=SAMPLES[event_type])
    wire = json.loads(event.line)
    validator.validate(wire)
    first = next(iter(wire["data"]))
    for broken in (
        {**wire, "data": {key: value for key, value in wire["data"].items() if key != first}},
        {**wire, "data": {**wire["data"], first: 5.5}},
        {**wire, "extra": 1},
        {**wire, "seq": -1},
        {**wire, "surfaceOp": "remove"},
    ):
        assert not validator.is_valid(broken)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_docstrings_run(name):
    """An example that does not run teaches the wrong thing."""
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


@pytest.mark.repository
@pytest.mark.parametrize("path", ["packages/session/README.md", "docs/guides/sessions.md"])
def test_the_examples_in_documents_run_top_to_bottom(path):
    """They are what a newcomer copies."""
    document = Sybil(parsers=[PythonCodeBlockParser()]).parse(ROOT / path)
    examples = list(document.examples())
    assert examples
    for example in examples:
        example.evaluate()
