# SPDX-License-Identifier: Apache-2.0
"""Every fixture, in the order in which they are made."""

from . import custom, encoder_decoder, executorch_only, gemma, precision, text, vision

FIXTURES = [
    *text.FIXTURES,
    *gemma.FIXTURES,
    *encoder_decoder.FIXTURES,
    *vision.FIXTURES,
    *custom.FIXTURES,
    *executorch_only.FIXTURES,
    *precision.FIXTURES,
]
