/* SPDX-License-Identifier: GPL-2.0 */
/* The data of a disk, in memory: pages that were written, and zeroes elsewhere. */
#ifndef IWD_STORE_H
#define IWD_STORE_H

#include <linux/blk-mq.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>

struct iwd_store {
	spinlock_t lock;	/* a page may be discarded while another processor reads */
	struct xarray pages;	/* by number, PAGE_SIZE of the disk each */
};

void iwd_store_init(struct iwd_store *store);
void iwd_store_empty(struct iwd_store *store);

/* Moves the data of a request, or forgets what it discards. Does not sleep. */
blk_status_t iwd_store_serve(struct iwd_store *store, struct request *rq);

#endif
