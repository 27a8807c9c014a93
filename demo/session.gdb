# SPDX-License-Identifier: GPL-2.0-only
# The demonstration's GDB session; demo/show.py shows each command before it runs it.

# --- GDB connects to the running kernel. Nothing stops: it goes on while GDB looks at it. ---
# (The place it shows is only the kernel's first address; GDB wants one.)
target remote /proc/gtp
set print elements 100
source gdbscripts/gtp.py
gtp check
x/s linux_banner
print jiffies_64
print init_task.comm

# --- 1. Who reads more than 4 KiB at once, from which file, and where was it called from? ---
tvariable $bytes = 0
trace vfs_read if count > 4096
actions
  collect $args, file->f_path.dentry->d_iname
  collect ((struct task_struct *)$current_task)->comm, $current_task_pid, $cpu_id
  collect $regs, *(unsigned char *)$rsp@256
  teval $bytes = $bytes + count
end
passcount 12

# --- 2. Which paths are opened? collect/s takes a string up to its end. ---
trace do_filp_open
actions
  collect/s pathname->name
  collect ((struct task_struct *)$current_task)->comm, $current_task_pid
end

# --- Go. The twelfth large read ends the run (passcount), and continue waits for that. ---
# (SIGTRAP is GDB's word for: the wait is over.)
tstart
continue
tstatus

# --- What was collected, frame by frame, in the order of time over all CPUs. ---
tfind start
while $trace_frame != -1
  if $tracepoint == 1
    printf "%-10s %5d  cpu %d  reads up to %6lu bytes from %s\n", ((struct task_struct *)$current_task)->comm, $current_task_pid, $cpu_id, count, file->f_path.dentry->d_iname
  else
    printf "%-10s %5d         opens %s\n", ((struct task_struct *)$current_task)->comm, $current_task_pid, pathname->name
  end
  tfind
end

# --- All large reads together, counted inside the kernel: ---
print $bytes

# --- One frame as if the kernel had stopped there: its arguments, its callers. ---
tfind start
tfind tracepoint 1
info args
backtrace 3
tfind none

# --- The frames can be kept and read on another machine (target tfile). ---
tsave /tmp/demo.tf

# --- 3. Who has the kernel allocate memory? Counted by stacks inside the kernel, without a frame for each. ---
# (The symbols of modules are loaded for it, since the file system is one.)
delete
gtp modules
gtp count by $kstack, current->comm at kmem_cache_alloc
tstart
shell sleep 5
tstop
gtp stacks --top 2
gtp export flamegraph build/demo/flamegraph.svg --by current->comm

# --- 4. How long do reads take, and what runs meanwhile? All of it as one page for a browser. ---
delete
gtp trace vfs_read
gtp collect $clock, $latency, $cpu_id, current->pid, current->comm, count, $ret
gtp collect/s file->f_path.dentry->d_name.name
gtp event sched:sched_switch if prev->pid != 0
gtp collect $clock, $cpu_id, current->pid, current->comm, next->comm
gtp hist $latency by current->comm at vfs_read
gtp count by $kstack at kmem_cache_alloc
tstart
shell sleep 5
tstop
gtp report -o build/demo/report.html

gtp status
disconnect
