# SPDX-License-Identifier: Apache-2.0
"""Every fixture, in the order in which they are made."""

from . import text

FIXTURES = [*text.FIXTURES]
