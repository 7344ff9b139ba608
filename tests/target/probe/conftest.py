# SPDX-License-Identifier: MIT
"""What the probe's tests share: FreeRTOS's image."""

import pytest

from rtqual.engine.candidates import rtos
from rtqual.protocols.board.system import Rtos


@pytest.fixture(scope="session")
def image() -> Rtos:
    return rtos.prepare("freertos")
