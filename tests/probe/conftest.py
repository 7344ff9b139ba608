# SPDX-License-Identifier: MIT
"""What the probe's tests share: FreeRTOS's image."""

import pytest

from rtqual.board.system import Rtos
from rtqual.candidate import rtos


@pytest.fixture(scope="session")
def image() -> Rtos:
    return rtos.prepare("freertos")
