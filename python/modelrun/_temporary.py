# SPDX-License-Identifier: Apache-2.0
"""A folder that goes with the object."""

import shutil
import tempfile
import weakref


class TemporaryFolder:
    """A new folder, removed when nobody holds this object any more."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="modelrun-")
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
