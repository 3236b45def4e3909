/* SPDX-License-Identifier: GPL-2.0 */
/* What each of the two modules defines for what both have. */
#ifndef IW_SHARED_H
#define IW_SHARED_H

#include <linux/types.h>

/* Called at the end of a panic in the Rust half (asm/guard.h). */
void iw_panicked(const char *text, size_t length, const void *first);

/* For tests: whether this allocation is to fail. */
bool iw_allocation_fails(void);

#endif
