# SPDX-License-Identifier: Apache-2.0
"""Tessera on the nodes of Slurm allocations. Python 3.9 or later, no packages."""
