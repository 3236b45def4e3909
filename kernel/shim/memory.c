// SPDX-License-Identifier: GPL-2.0
/* The functions that the core calls: memory, and the end of a thread that panics. */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "core.h"

/* For tests: the allocation of this number, counted from now, fails. A test goes through every place that allocates. */
static unsigned int fail_allocation;
module_param(fail_allocation, uint, 0600);
MODULE_PARM_DESC(fail_allocation, "for tests: the allocation that fails, counted from now (0: none)");

/* May sleep; never starts I/O, since a frozen queue may be what the memory is for. */
void *iw_memory_get(size_t size, size_t align)
{
	if (fail_allocation && !--fail_allocation)
		return NULL;
	/* Small memory is aligned to its size where that is a power of two; large, to pages. */
	if (align > ARCH_KMALLOC_MINALIGN && size < PAGE_SIZE)
		size = roundup_pow_of_two(max(size, align));
	return kvmalloc(size, GFP_NOIO | __GFP_NOWARN);
}

void iw_memory_put(void *memory)
{
	kvfree(memory);
}

void iw_panic(const char *text, size_t length)
{
	pr_emerg("idlewise: the scheduler's code panicked: %.*s\n", (int)length, text);
	pr_emerg("idlewise: this is a mistake in idlewise. Save what you can through other disks, restart, and report the lines around this one.\n");
	BUG();
}
