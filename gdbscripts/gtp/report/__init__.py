# SPDX-License-Identifier: GPL-2.0-only
# `gtp report`: writes the run as one HTML page for a browser.
