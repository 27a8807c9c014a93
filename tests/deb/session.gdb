# SPDX-License-Identifier: GPL-2.0-only
# Job: the commands of a user of GDB after connecting; every read of 4242 bytes is a hit, and the shell makes 100 of them.
# The place is the instruction after the function tracer's site, where the table allows a jump.
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
