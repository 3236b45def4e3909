// SPDX-License-Identifier: GPL-2.0
/* The functions that the core calls for memory. */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "core.h"
#include "shared.h"

/* May sleep; never starts I/O, since a frozen queue may be what the memory is for. */
void *iw_memory_get(size_t size, size_t align)
{
	if (iw_allocation_fails())
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
