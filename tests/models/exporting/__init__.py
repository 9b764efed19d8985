# SPDX-License-Identifier: Apache-2.0
"""What make.py is made of: tiny source models, their exports, their goldens."""
