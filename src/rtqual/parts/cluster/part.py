# SPDX-License-Identifier: MIT
"""What this part brings."""

from rtqual.protocols.part import Keyed, Part

PART = Part("cluster", runners=(Keyed(10, "rtqual.parts.cluster.cluster:CLUSTER", "cluster"),))
