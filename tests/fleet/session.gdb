# SPDX-License-Identifier: GPL-2.0-only
# Job: the session of these tests: what the machines collect and count.
gtp trace add
gtp collect $clock, $cpu_id, a, b
gtp count by b at add
gtp hist a at add
