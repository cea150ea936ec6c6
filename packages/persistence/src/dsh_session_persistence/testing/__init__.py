"""The contract of a persistence, as pytest classes that a backend's own tests inherit."""

import pytest

pytest.register_assert_rewrite(f"{__name__}.contract", f"{__name__}.coordinator_contract")
