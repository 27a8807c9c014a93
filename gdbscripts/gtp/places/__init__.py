# SPDX-License-Identifier: GPL-2.0-only
"""Where tracepoints can be: functions, lines, events, markers, exits, and the names that expressions have there."""
