# SPDX-License-Identifier: Apache-2.0
"""modelrun with other packages: each module imports the one that it names."""
