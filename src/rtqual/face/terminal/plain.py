# SPDX-License-Identifier: MIT
"""Results as JSON knows them."""

import math
from dataclasses import asdict, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def plain(value: object) -> object:
    """Dataclasses, enums, arrays and infinities as JSON knows them (an infinity is null: no bound)."""
    if is_dataclass(value) and not isinstance(value, type):
        return fields_of(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.value if isinstance(value, Enum) else value


def fields_of(value: "DataclassInstance") -> dict[str, object]:
    return {name: plain(item) for name, item in asdict(value).items()}
