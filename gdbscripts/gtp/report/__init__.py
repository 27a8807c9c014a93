# SPDX-License-Identifier: GPL-2.0-only
# The run as one page for a browser: gtp report.
