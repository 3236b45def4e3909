// SPDX-License-Identifier: GPL-2.0
/* The same as for the schedulers' module: a file can belong to one module only. */
#include "../shim/memory.c"

bool iw_allocation_fails(void)
{
	return false;
}
