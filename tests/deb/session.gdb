# SPDX-License-Identifier: GPL-2.0-only
# Job: what a user tells GDB once it is connected; every read of 4242 bytes is a hit, and the shell makes 100 of them.
# The place is the first one behind the function tracer's site, so that the table lets a jump stand there.
set pagination off
set confirm off
source /usr/share/gdbtp/gdbscripts/gtp.py
gtp check
delete tracepoints
trace *(vfs_read+9) if count == 4242
actions
collect count, $cpu_id
end
tstart
shell dd if=/dev/zero of=/dev/null bs=4242 count=100 status=none
tstop
monitor probes
tstatus
tfind start
tfind 99
printf "last frame has %d\n", (int)count
tfind 100
