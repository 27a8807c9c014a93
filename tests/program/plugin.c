// SPDX-License-Identifier: GPL-2.0-only
/* A library that myserver.cc loads while it runs. */
__attribute__((visibility("default"))) long tax(long income)
{
	return income / 5;
}
